"""How stores keep the events of a turn: in batches, for an hour after the turn has ended."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from tertulia.adapters.documents import from_document, to_document
from tertulia.domain.replies import Done, Failed, Numbered
from tertulia.wire import numbered_from_json, numbered_to_json

KEPT_AFTER_END = timedelta(hours=1)
KEPT_WITHOUT_END = timedelta(hours=24)
"""A turn whose process died never ends; its events go after a day."""


def batch_document(events: Iterable[Numbered]) -> str:
    """Write a batch of events."""
    return to_document([numbered_to_json(each) for each in events])


def batch_of(document: str) -> list[Numbered]:
    """Read a batch of events."""
    return [numbered_from_json(each) for each in from_document(document)]


def is_last(events: Sequence[Numbered]) -> bool:
    """Whether the turn ends with these events."""
    return any(isinstance(each.event, Done | Failed) for each in events)
