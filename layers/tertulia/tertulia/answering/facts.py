"""Finds in a turn, with a chat model, what its user told about themselves.

The model sees the user's own words alone, and of them no questions: what it does not see, it cannot take for a fact.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tertulia.answering.json_answers import JsonAsker
from tertulia.answering.prompting import prompt_file
from tertulia.domain.evidence import told
from tertulia.domain.memories import CATEGORIES, HEALTH, Fact
from tertulia.domain.prompts import ChatMessage, Json, Prompt
from tertulia.domain.turns import Turn
from tertulia.ports import ChatModel

MOST_CHARACTERS = 4_000
MOST_TOKENS = 400
_TOPICS = (HEALTH, *CATEGORIES)
_FORM: Json = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": 8,
            "items": {
                "type": "object",
                "properties": {
                    "words": {"type": "string", "maxLength": 300},
                    "topic": {"enum": list(_TOPICS)},
                    "passing": {"type": "boolean"},
                },
                "required": ["words", "topic", "passing"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ModelFactFinder:
    """A FactFinder that asks a chat model to quote the user."""

    model: ChatModel
    seconds: float = 60.0

    async def facts(self, turn: Turn) -> list[Fact]:
        """Return what the model quotes; whether the user said it is for the caller to check."""
        words = told(turn.text)[:MOST_CHARACTERS]
        if not words:
            return []
        prompt = Prompt(
            messages=(
                ChatMessage(role="system", parts=(prompt_file("facts"),)),
                *_examples(),
                ChatMessage(role="user", parts=(words,)),
            ),
            temperature=0.0,
            max_tokens=MOST_TOKENS,
            seconds=self.seconds,
            form=_FORM,
        )
        listed = (await JsonAsker(self.model)(prompt)).get("facts")
        return [fact for entry in (listed if isinstance(listed, list) else ()) if (fact := _fact(entry))]


@cache
def _examples() -> tuple[ChatMessage, ...]:
    text = resources.files(__package__).joinpath("prompts", "fact_examples.json").read_text("utf-8")
    return tuple(message for asked, facts in json.loads(text) for message in _example(asked, facts))


def _example(asked: str, facts: list[Json]) -> tuple[ChatMessage, ChatMessage]:
    answer = json.dumps({"facts": facts}, ensure_ascii=False)
    return ChatMessage(role="user", parts=(asked,)), ChatMessage(role="assistant", parts=(answer,))


def _fact(entry: Json) -> Fact | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("words"), str):
        return None
    topic = entry.get("topic")
    return Fact(
        evidence=entry["words"], topic=topic if topic in _TOPICS else "fact", is_passing=entry.get("passing") is True
    )
