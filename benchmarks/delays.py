"""The fixed delays that stand for vendors, in seconds, and the answer they give."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tertulia.domain.memories import Memory
from tests.fakes.scripted import ScriptedClassifier, ScriptedMemories, ScriptedModel, ScriptedTranscriber, ToneVoice

SENTENCES = 4
TOKENS_A_SENTENCE = 15
CHARACTERS_A_SENTENCE = 60


@dataclass(frozen=True, kw_only=True)
class Delays:
    """How long each vendor takes; recall is the published median of the hosted memory service."""

    recall: float = 0.880
    classify: float = 0.180
    first_token: float = 0.220
    next_token: float = 0.025
    speech: float = 0.250
    speech_a_character: float = 0.010
    transcribe: float = 0.350


def answer_tokens() -> list[str]:
    """Return 60 tokens: four sentences of 15 tokens and 60 characters each."""
    tokens: list[str] = []
    for sentence in range(SENTENCES):
        words = ["Word" if sentence == 0 else " Now", *[" and"] * (TOKENS_A_SENTENCE - 2), " it."]
        tokens += words
    text = "".join(tokens)
    assert len(tokens) == SENTENCES * TOKENS_A_SENTENCE
    assert len(text) == SENTENCES * CHARACTERS_A_SENTENCE, len(text)
    return tokens


def memories() -> Sequence[Memory]:
    """Return what the memory service finds."""
    at = datetime(2026, 8, 30, tzinfo=UTC)
    return [Memory(id=f"m{place}", user="user-1", content=f"fact {place}", created_at=at) for place in range(2)]


class Vendors:
    """The parts of a turn behind fixed delays."""

    def __init__(self, delays: Delays) -> None:
        self.model = ScriptedModel(
            scripts=[answer_tokens()],
            runs_side_by_side=True,
            seconds_to_first=delays.first_token,
            seconds_a_token=delays.next_token,
        )
        self.classifier = ScriptedClassifier(seconds=delays.classify)
        self.memories = ScriptedMemories(memories(), seconds=delays.recall)
        self.ear = ScriptedTranscriber(seconds=delays.transcribe)
        self.voice = ToneVoice(
            most_characters=400, seconds_a_call=delays.speech, seconds_a_character=delays.speech_a_character
        )
