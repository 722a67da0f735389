"""The opaque cursor of lists sorted by last change, and times written so that they sort as text."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from tertulia.domain.errors import InvalidValue


@dataclass(frozen=True)
class Position:
    """The last row of a page: the next page begins below it."""

    changed: str
    id: str

    def as_cursor(self) -> str:
        """Return it as a client carries it."""
        return base64.urlsafe_b64encode(json.dumps([self.changed, self.id]).encode()).decode().rstrip("=")


def position_of(cursor: str) -> Position:
    """Read a cursor; raises InvalidValue for one that is not ours."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        changed, row = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        return Position(sortable(datetime.fromisoformat(changed)), row.encode().decode())
    except (binascii.Error, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidValue("This cursor is not one of ours. Begin again without a cursor.") from error


def sortable(at: datetime) -> str:
    """Write a time with a fixed number of digits, in UTC: without them, text order is not time order."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
