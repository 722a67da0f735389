"""A prompt in the words a small model understands, and never longer than its context."""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import chain

from tertulia.domain.prompts import ChatMessage

type Message = dict[str, str]

MESSAGE_TOKENS = 6
"""What the chat template adds to each message."""
CUT_MARK = "\n[… cut, too long …]\n"
SHORTEST_CUT = 40


def fitted_messages(messages: Sequence[ChatMessage], room: int) -> list[Message]:
    """Return the messages within so many tokens: the oldest exchanges go first, then the middle of the longest text."""
    system = [message for message in messages if message.role == "system"]
    kept = [list(_plain(exchange)) for exchange in _exchanges(messages)]
    head = list(_plain(system))
    while len(kept) > 1 and _tokens([*head, *chain(*kept)]) > room:
        kept.pop(0)
    return _shortened([*head, *chain(*kept)], room)


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few: each digit is one, other text about three bytes."""
    digits = sum(character.isdigit() for character in text)
    return digits + math.ceil((len(text.encode(errors="replace")) - digits) / 3)


def _exchanges(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """Group messages by question: each group begins with the user's words and holds what answered them."""
    exchanges: list[list[ChatMessage]] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user" or not exchanges:
            exchanges.append([])
        exchanges[-1].append(message)
    return exchanges


def _plain(messages: Sequence[ChatMessage]) -> Iterator[Message]:
    """Write messages without tool calls, which these models do not read: results become labeled data from the user."""
    calls = {call.id: f"{call.name} {call.arguments}" for message in messages for call in message.tool_calls}
    results: list[str] = []
    for message in messages:
        if message.role == "tool":
            # As a JSON string a result keeps to its line, whatever it says.
            label = calls.get(message.tool_call_id, "tool")
            results.append(f"{label}: {json.dumps(message.text, ensure_ascii=False)}")
            continue
        if results:
            yield _data(results)
            results = []
        if message.text:
            yield {"role": message.role, "content": message.text}
    if results:
        yield _data([*results, "Answer my question from these results."])


def _data(results: Sequence[str]) -> Message:
    return {"role": "user", "content": "\n".join(["Tool results, as data:", *results])}


def _tokens(messages: Sequence[Message]) -> int:
    return sum(tokens_of(message["content"]) + MESSAGE_TOKENS for message in messages)


def _shortened(messages: list[Message], room: int) -> list[Message]:
    while (excess := _tokens(messages) - room) > 0:
        longest = max(messages, key=lambda message: len(message["content"]))
        text = longest["content"]
        if len(text) <= SHORTEST_CUT:
            break
        share = max(0.0, 1 - (excess + tokens_of(CUT_MARK)) / tokens_of(text))
        # At least a tenth goes each time, so that this ends.
        longest["content"] = _cut(text, min(int(len(text) * share), len(text) * 9 // 10 - len(CUT_MARK)))
    return messages


def _cut(text: str, characters: int) -> str:
    half = max(0, characters) // 2
    return text[:half] + CUT_MARK + text[len(text) - half :]
