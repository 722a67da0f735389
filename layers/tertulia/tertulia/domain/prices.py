"""What vendors charge, and what a turn costs by it."""

from collections.abc import Mapping
from dataclasses import dataclass

MILLION = 1_000_000
SECONDS_AN_HOUR = 3600


@dataclass(frozen=True, kw_only=True)
class Price:
    """Microdollars by unit: a million tokens in and out, an hour of sound heard, a million characters spoken."""

    tokens_in: int = 0
    tokens_out: int = 0
    audio_hour: int = 0
    characters: int = 0


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a model was used for in one turn."""

    tokens_in: int = 0
    tokens_out: int = 0
    audio_seconds: float = 0.0
    characters: int = 0


@dataclass(frozen=True)
class PriceTable:
    """Prices by model name; what has no price, local models among it, is free."""

    prices: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> int:
        """Return whole microdollars, rounded up so that a receipt never understates."""
        price = self.prices.get(model, Price())
        by_million = (
            usage.tokens_in * price.tokens_in
            + usage.tokens_out * price.tokens_out
            + usage.characters * price.characters
        )
        exact = by_million / MILLION + usage.audio_seconds * price.audio_hour / SECONDS_AN_HOUR
        return -int(-exact // 1)
