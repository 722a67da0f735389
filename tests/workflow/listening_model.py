"""A scripted model and ear for what follows: it quotes facts, writes digests from what it is shown, and hears tones."""

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tertulia.answering.prompting import prompt_file
from tertulia.domain.audio import Transcript, Utterance
from tertulia.domain.errors import TertuliaError
from tertulia.domain.prompts import Prompt
from tests.fakes.scripted import ScriptedModel, Step

_FACT = re.compile(r"I (?:am|like|live|have)\b[^.!?\n]*")


@dataclass
class Listener:
    """Quotes sentences such as "I like tea", and counts in a title how often a conversation was summarized."""

    digests: list[str] = field(default_factory=list)
    """What was to be summarized, each time."""
    failures: list[Exception] = field(default_factory=list)
    """What the next digests end in."""
    deaf: list[Exception] = field(default_factory=list)
    """What the next attempts to hear end in."""
    heard: list[Utterance] = field(default_factory=list)
    name: str = "listener"

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        """Tell how high the tone of an utterance is."""
        if self.deaf:
            raise self.deaf.pop(0)
        self.heard.append(utterance)
        seconds = utterance.sound.seconds
        return Transcript(text=f"A tone of {_pitch(utterance)} Hz.", language=language or "en-US", seconds=seconds)

    def model(self) -> ScriptedModel:
        """Return the model."""
        return ScriptedModel(scripts=(self._answer,))

    def says(self, told: str, shown: str) -> str:
        """Return what a model writes that is told and shown this; raises what the next digest is to end in."""
        if told.startswith(prompt_file("facts")):
            return json.dumps({"facts": [_fact(words) for words in _FACT.findall(shown)]})
        if not told.startswith(prompt_file("summary")):
            return "Fine."
        if self.failures:
            raise self.failures.pop(0)
        self.digests.append(shown)
        return json.dumps(_digest(shown), ensure_ascii=False)

    def _answer(self, prompt: Prompt) -> list[Step]:
        try:
            return [self.says(prompt.messages[0].text, prompt.messages[-1].text)]
        except TertuliaError as error:
            return [error]


def _pitch(utterance: Utterance) -> int:
    samples = utterance.sound.pcm[1::2]
    signs = [sample >= 0x80 for sample in samples]
    crossings = sum(before != after for before, after in pairwise(signs))
    return round(crossings / 2 / utterance.sound.seconds / 10) * 10


def _fact(words: str) -> dict[str, Any]:
    return {"words": words, "topic": "preference" if "like" in words else "personal", "passing": "today" in words}


def _digest(shown: str) -> dict[str, Any]:
    asked = re.findall(r"^User: (.{1,40})", shown, re.MULTILINE)
    return {
        "title": f"Talk about {asked[0].split('.')[0]}" if asked else "Talk",
        "overview": f"They spoke of {'; '.join(asked)}.",
        "action_items": [{"text": "Buy tea", "due": None}] if "tea" in shown else [],
    }
