"""Writes, with a chat model, what a conversation was about."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tertulia.answering.json_answers import JsonAsker, UnreadableAnswer
from tertulia.answering.prompting import prompt_file
from tertulia.domain.languages import LANGUAGES, closest_language
from tertulia.domain.prompts import ChatMessage, Json, Prompt
from tertulia.domain.summaries import MOST_ITEMS, ActionItem, Digest, is_borne_out, short_overview, short_title
from tertulia.domain.turns import Turn
from tertulia.ports import ChatModel

MOST_TURN_CHARACTERS = 6_000
"""All turns together: what a small model on a laptop can read beside the rest."""
MOST_TOKENS = 500
_FORM: Json = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "overview": {"type": "string", "maxLength": 1200},
        "action_items": {
            "type": "array",
            "maxItems": MOST_ITEMS,
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string", "maxLength": 300}, "due": {"type": ["string", "null"]}},
                "required": ["text", "due"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["title", "overview", "action_items"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ModelSummarizer:
    """A Summarizer that reads the last digest and what was said since."""

    model: ChatModel
    temperature: float = 0.2
    seconds: float = 60.0

    async def digest(self, before: Digest, turns: Sequence[Turn]) -> Digest:
        """Return the digest of both, in the language of the last turn."""
        language = closest_language(turns[-1].language)
        system = f"{prompt_file('summary')}\nWrite in {LANGUAGES[language]}."
        prompt = Prompt(
            messages=(
                ChatMessage(role="system", parts=(system,)),
                ChatMessage(role="user", parts=(_known(before), _said(turns))),
            ),
            temperature=self.temperature,
            max_tokens=MOST_TOKENS,
            seconds=self.seconds,
            form=_FORM,
        )
        digest = _digest(await JsonAsker(self.model)(prompt))
        said = " ".join([*(item.text for item in before.action_items), *(turn.text for turn in turns)])
        items = tuple(item for item in digest.action_items if is_borne_out(item, said))
        return replace(digest, action_items=items)


def _known(before: Digest) -> str:
    if not before.title:
        return ""
    items = [{"text": item.text, "due": item.due} for item in before.action_items if not item.done]
    known = {"title": before.title, "overview": before.overview, "action_items": items}
    return f"<summary_so_far>\n{json.dumps(known, ensure_ascii=False)}\n</summary_so_far>"


def _said(turns: Sequence[Turn]) -> str:
    room = MOST_TURN_CHARACTERS // (2 * len(turns))
    lines = [line for turn in turns for line in (f"User: {_cut(turn.text, room)}", f"You: {_cut(turn.answer, room)}")]
    return "\n".join(["<conversation>", *lines, "</conversation>"])


def _cut(text: str, room: int) -> str:
    """Keep the beginning and the end of a long text: people ask at either."""
    words = " ".join(text.split())
    return words if len(words) <= room else f"{words[: room * 2 // 3]} … {words[-room // 3 :]}"


def _digest(answer: dict[str, Json]) -> Digest:
    title, overview, items = answer.get("title"), answer.get("overview"), answer.get("action_items")
    if not isinstance(title, str) or not isinstance(overview, str) or not short_title(title) or not overview.strip():
        raise UnreadableAnswer
    return Digest(
        title=short_title(title),
        overview=short_overview(overview),
        action_items=tuple(item for entry in (items if isinstance(items, list) else ()) if (item := _item(entry))),
    )


def _item(entry: Json) -> ActionItem | None:
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str) or not entry["text"].strip():
        return None
    due = entry.get("due")
    return ActionItem.of(entry["text"], due[:64] if isinstance(due, str) and due.strip() else None)
