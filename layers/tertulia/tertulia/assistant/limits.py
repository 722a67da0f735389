"""How much users may ask for, by the settings."""

from typing import TYPE_CHECKING

from tertulia.domain.prices import MILLION
from tertulia.domain.surfaces import SCREEN, SPOKEN
from tertulia.ports.limits import RateCounter, UsageStore
from tertulia.usecases.limits import APART, Allowance, Limits
from tertulia.usecases.spending import Caps, Spending

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def rates(parts: "Assistant") -> RateCounter:
    """Return what counts what users did in the last minute."""
    return parts.stores.rates


def usage(parts: "Assistant") -> UsageStore:
    """Return where it is counted what turns used and cost."""
    return parts.stores.usage


def spending(parts: "Assistant") -> Spending:
    """Build what counts and caps what a day costs."""
    settings = parts.settings
    caps = Caps(user=_microdollars(settings.user_daily_spend_usd), deployment=_microdollars(settings.daily_spend_usd))
    built = Spending(parts.usage, parts.wishes, parts.clock, caps)
    for listener in parts.cost_listeners:
        built.tell_cost(listener)
    return built


def limits(parts: "Assistant") -> Limits:
    """Build what lets turns in: the one user of a machine without a token of its own is not slowed down."""
    settings = parts.settings
    is_alone = not parts.is_in_the_cloud and settings.api_token is None
    allowance = Allowance(
        turns_a_minute={
            SPOKEN.counted_as: settings.turns_a_minute,
            APART: settings.turns_a_minute,
            SCREEN.counted_as: settings.generations_a_minute,
        },
        device_turns_a_minute=settings.device_turns_a_minute,
        running_turns=settings.running_turns,
        turn_seconds=settings.turn_seconds,
        uncounted=frozenset({settings.user_id} if is_alone else ()),
    )
    return Limits(parts.rates, parts.spending, parts.clock, allowance)


def _microdollars(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * MILLION)
