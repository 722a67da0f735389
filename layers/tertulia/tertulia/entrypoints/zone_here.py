"""The time zone of this machine, which is that of whoever types at its command line."""

from pathlib import Path
from zoneinfo import ZoneInfo

CLOCK = Path("/etc/localtime")


def zone_here(clock: Path = CLOCK) -> str | None:
    """Return the IANA name of the zone that the machine's clock is set to, or None where it does not say."""
    try:
        _, found, name = clock.resolve(strict=True).as_posix().partition("/zoneinfo/")
        return ZoneInfo(name).key if found else None
    except (KeyError, ValueError, OSError):
        return None
