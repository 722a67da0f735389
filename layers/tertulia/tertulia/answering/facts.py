"""Finds in a turn, with a chat model, what its user told about themselves."""

from dataclasses import dataclass

from tertulia.answering.json_answers import JsonAsker
from tertulia.answering.prompting import prompt_file
from tertulia.domain.memories import CATEGORIES, HEALTH, Fact
from tertulia.domain.prompts import ChatMessage, Json, Prompt
from tertulia.domain.turns import Turn
from tertulia.ports import ChatModel

MOST_QUESTION_CHARACTERS = 4_000
MOST_ANSWER_CHARACTERS = 500
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
        prompt = Prompt(
            messages=(
                ChatMessage(role="system", parts=(prompt_file("facts"),)),
                ChatMessage(role="user", parts=(_shown(turn),)),
            ),
            temperature=0.0,
            max_tokens=MOST_TOKENS,
            seconds=self.seconds,
            form=_FORM,
        )
        listed = (await JsonAsker(self.model)(prompt)).get("facts")
        return [fact for entry in (listed if isinstance(listed, list) else ()) if (fact := _fact(entry))]


def _shown(turn: Turn) -> str:
    # The answer only tells what the user's words refer to: a quote from it is found in none of theirs.
    return f"<user>\n{turn.text[:MOST_QUESTION_CHARACTERS]}\n</user>\n<assistant>\n{turn.answer[:MOST_ANSWER_CHARACTERS]}\n</assistant>"


def _fact(entry: Json) -> Fact | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("words"), str):
        return None
    topic = entry.get("topic")
    return Fact(
        evidence=entry["words"], topic=topic if topic in _TOPICS else "fact", is_passing=entry.get("passing") is True
    )
