"""What turns use of models, and what that costs: counted by day and model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """What one model was used for."""

    tokens_in: int = 0
    tokens_out: int = 0
    audio_seconds: float = 0.0
    characters: int = 0
    cost_microdollars: int = 0

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        """Return both together."""
        return ModelUsage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            audio_seconds=self.audio_seconds + other.audio_seconds,
            characters=self.characters + other.characters,
            cost_microdollars=self.cost_microdollars + other.cost_microdollars,
        )


@dataclass(frozen=True, kw_only=True)
class UsageRecord:
    """What turns used, by model."""

    turns: int = 0
    models: Mapping[str, ModelUsage] = field(default_factory=dict)

    @property
    def cost_microdollars(self) -> int:
        """What all of it costs."""
        return sum(usage.cost_microdollars for usage in self.models.values())


@dataclass(frozen=True, kw_only=True)
class DayOfUsage:
    """What a user's turns used in one day, by the clock of UTC."""

    day: date
    used: UsageRecord
