"""Tells an answer that claims what no tool has done: a rule in ten languages, measured on written examples.

A sentence counts where somebody says of themselves to have changed something (or to remind the user later), and it
needs the successful result of a tool of the same kind: of this turn, or of an earlier one that it speaks of.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tertulia.answering.toolbox import Toolbox
from tertulia.domain.effects import Effect
from tertulia.domain.keywords import comparable
from tertulia.domain.prompts import texts_in
from tertulia.domain.turns import ToolUse, Turn

MOST_CHARACTERS = 8_000
# Patterns look for a thing before or behind a verb: in a text without end that would take time without end.
_SENTENCE = re.compile(r"[^.!?。！？\n]{1,240}[.!?。！？]*")
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_LOOKS_UP = re.compile(
    r"(?:^|[_-])(?:search|list|get|find|read|fetch|show|lookup|query|calculator|time)(?:[_-]|$)", re.I
)
_FEWEST_LETTERS = 2


_REACHES_OTHERS = re.compile(
    r"sent|mail|post|repl|book|order|bought|purchas|reserv"
    r"|gesendet|schickt|gebucht|bestellt|gekauft|reserviert"
    r"|envia|envie|manda|compra|pedi|reserva|envoy|command|achet|réserv"
    r"|отправ|послал|заброн|заказ|купил|发送|发出|发给|预订|订好|购买|买好|傳送|發送|寄|預訂|訂好|購買|買好"
    r"|送信|送り|予約|注文|購入|전송|발송|보냈|보내|예약|주문|구매"
)


@dataclass(frozen=True)
class Claim:
    """A sentence that claims a change."""

    sentence: str
    reaches_others: bool
    """Whether something would have been sent, booked or bought."""


@dataclass(frozen=True)
class _Rules:
    claims: tuple[re.Pattern[str], ...]
    negations: tuple[re.Pattern[str], ...]

    def claimed_in(self, sentence: str) -> str | None:
        """Return the verb of the claim."""
        if any(pattern.search(sentence) for pattern in self.negations):
            return None
        return next((found["verb"] or "" for pattern in self.claims if (found := pattern.search(sentence))), None)


def claims_too_much(text: str, done: Sequence[ToolUse], history: Sequence[Turn], toolbox: Toolbox) -> bool:
    """Whether an answer claims a change that no tool has made."""
    earlier = [use for turn in history for use in turn.tools]
    return any(
        not any(_bears_out(use, claim, toolbox) for use in done)
        and not any(_bears_out(use, claim, toolbox) and _is_about(claim.sentence, use) for use in earlier)
        for claim in claims_in(text)
    )


def claims_in(text: str) -> Iterator[Claim]:
    """Yield the sentences that claim a change."""
    for found in _SENTENCE.finditer(text[:MOST_CHARACTERS].translate(_APOSTROPHES)):
        sentence = found.group().strip().casefold()
        if sentence.endswith(("?", "？")):
            continue
        verbs = [verb for rules in _all_rules() if (verb := rules.claimed_in(sentence)) is not None]
        if verbs:
            yield Claim(sentence, all(_REACHES_OTHERS.search(verb) for verb in verbs))


def _bears_out(use: ToolUse, claim: Claim, toolbox: Toolbox) -> bool:
    tool = toolbox.find(use.name)
    guessed = Effect.NONE if _LOOKS_UP.search(use.name) else Effect.OUTWARD
    effect = tool.spec.effect if tool else guessed
    return use.ok and (effect is Effect.OUTWARD if claim.reaches_others else effect.is_change)


def _is_about(sentence: str, use: ToolUse) -> bool:
    """Whether a sentence names what an earlier call was about."""
    said = comparable(sentence)
    texts = (comparable(text).strip() for text in texts_in(use.arguments))
    return any(len(text) >= _FEWEST_LETTERS and text in said for text in texts)


@cache
def _all_rules() -> tuple[_Rules, ...]:
    text = resources.files(__package__).joinpath("claims.json").read_text("utf-8")
    return tuple(
        _Rules(
            tuple(re.compile(pattern, re.IGNORECASE) for pattern in rules["claims"]),
            tuple(re.compile(pattern, re.IGNORECASE) for pattern in rules["not"]),
        )
        for rules in json.loads(text).values()
    )
