"""A scripted model for what follows a turn: it quotes facts and writes digests from what it is shown."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

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

    def model(self) -> ScriptedModel:
        """Return the model."""
        return ScriptedModel(scripts=(self._answer,))

    def _answer(self, prompt: Prompt) -> list[Step]:
        shown = "\n".join(str(part) for part in prompt.messages[-1].parts)
        properties: Any = (prompt.form or {}).get("properties", {})
        if "facts" in properties:
            return [json.dumps({"facts": [_fact(words) for words in _FACT.findall(_said_by_the_user(shown))]})]
        if "overview" in properties:
            if self.failures:
                return [self.failures.pop(0)]
            self.digests.append(shown)
            return [json.dumps(_digest(shown), ensure_ascii=False)]
        return ["Fine."]


def _said_by_the_user(shown: str) -> str:
    return shown.partition("</user>")[0]


def _fact(words: str) -> dict[str, Any]:
    return {"words": words, "topic": "preference" if "like" in words else "personal", "passing": "today" in words}


def _digest(shown: str) -> dict[str, Any]:
    asked = re.findall(r"^User: (.{1,40})", shown, re.MULTILINE)
    return {
        "title": f"Talk about {asked[0].split('.')[0]}" if asked else "Talk",
        "overview": f"They spoke of {'; '.join(asked)}.",
        "action_items": [{"text": "Buy tea", "due": None}] if "tea" in shown else [],
    }
