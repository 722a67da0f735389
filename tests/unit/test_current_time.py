"""The current time, with its weekday, in any zone."""

from datetime import UTC, datetime

import pytest

from tertulia.ports import Tool, ToolContext
from tertulia.tools.catalog import built_in_tools, find_tool, tool_specs
from tertulia.tools.current_time import CurrentTime


class StillClock:
    """Always half an hour before midnight, the last day of November."""

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 23, 30, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")


def context(timezone: str = "UTC") -> ToolContext:
    return ToolContext(user="user-1", timezone=timezone)


@pytest.mark.parametrize(
    ("asked", "own", "text"),
    [
        (None, "UTC", "Monday, 30 November 2026, 23:30, UTC (UTC+00:00)"),
        (None, "Asia/Shanghai", "Tuesday, 1 December 2026, 07:30, Asia/Shanghai (UTC+08:00)"),
        ("", "Asia/Shanghai", "Tuesday, 1 December 2026, 07:30, Asia/Shanghai (UTC+08:00)"),
        ("America/Sao_Paulo", "UTC", "Monday, 30 November 2026, 20:30, America/Sao_Paulo (UTC-03:00)"),
        ("Asia/Kolkata", "UTC", "Tuesday, 1 December 2026, 05:00, Asia/Kolkata (UTC+05:30)"),
        ("Tokyo", "UTC", "Tuesday, 1 December 2026, 08:30, Asia/Tokyo (UTC+09:00)"),
        ("new york", "UTC", "Monday, 30 November 2026, 18:30, America/New_York (UTC-05:00)"),
        (None, "Mars/Olympus", "Monday, 30 November 2026, 23:30, UTC (UTC+00:00)"),
    ],
)
async def test_the_time_is_told_in_the_zone_asked_for_or_the_users(asked: str | None, own: str, text: str) -> None:
    result = await CurrentTime(StillClock())({} if asked is None else {"timezone": asked}, context(own))
    assert (result.ok, result.text) == (True, text)


async def test_programs_get_the_time_as_iso_with_its_zone() -> None:
    result = await CurrentTime(StillClock())({"timezone": "Europe/Paris"}, context())
    assert result.data == {"iso": "2026-12-01T00:30:00+01:00", "timezone": "Europe/Paris"}


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "America", "a\x00b", "x" * 5_000, {"a": 1}]
)
async def test_an_unknown_zone_gets_a_clear_sentence(zone: object) -> None:
    result = await CurrentTime(StillClock())({"timezone": zone}, context())
    assert (result.ok, result.text) == (False, "That time zone is unknown. Use an IANA name such as Europe/Paris.")


class NotSetUp(CurrentTime):
    """A tool whose key is missing."""

    @property
    def is_configured(self) -> bool:
        return False


def test_the_catalog_finds_tools_by_name_and_shows_models_the_configured_ones() -> None:
    tools: tuple[Tool, ...] = built_in_tools(StillClock())
    assert [spec.name for spec in tool_specs(tools)] == ["calculator", "current_time"]
    assert [spec.parameters["type"] for spec in tool_specs(tools)] == ["object", "object"]
    assert find_tool(tools, "calculator") is tools[0]
    assert find_tool(tools, "delete_everything") is None
    assert tool_specs([NotSetUp(StillClock())]) == ()
