"""The date and time, where the user is or anywhere else."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import Clock, ToolContext

LONGEST_ZONE = 64


class CurrentTime:
    """Tells the date and time with the weekday."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it."""
        return ToolSpec(
            name="current_time",
            description="Tell the present date, weekday and time, for the user or in another time zone.",
            parameters={
                "type": "object",
                "properties": {
                    "timezone": {
                        "type": "string",
                        "description": "An IANA name such as 'Europe/Paris'; leave out for the user's own.",
                    }
                },
                "additionalProperties": False,
            },
            effect=Effect.NONE,
            taints=False,
        )

    @property
    def is_configured(self) -> bool:
        """It needs nothing."""
        return True

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Return the time in the zone asked for, else in the user's; a user's zone that nobody knows is UTC."""
        asked = arguments.get("timezone")
        # Zones are read from files.
        zone = await asyncio.to_thread(_zone, str(asked or context.timezone))
        if zone is None and asked:
            return ToolResult(text="That time zone is unknown. Use an IANA name such as Europe/Paris.", ok=False)
        now = self._clock.now().astimezone(zone or UTC)
        offset = now.strftime("%:z")
        text = f"{now:%A}, {now.day} {now:%B %Y}, {now:%H:%M}, {zone or 'UTC'} (UTC{offset})"
        return ToolResult(
            text=text, summary=text, data={"iso": now.isoformat(timespec="seconds"), "timezone": str(zone or "UTC")}
        )


def _zone(name: str) -> tzinfo | None:
    """Return the zone of that name, or of the city of that name."""
    if len(name) > LONGEST_ZONE:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        city = name.strip().replace(" ", "_").casefold()
        found = [known for known in sorted(available_timezones()) if known.rpartition("/")[2].casefold() == city]
        return ZoneInfo(found[0]) if found else None
