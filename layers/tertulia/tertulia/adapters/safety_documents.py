"""Waiting steps and journal entries as the documents that stores keep."""

from datetime import datetime, timedelta

from pydantic import TypeAdapter

from tertulia.adapters.documents import from_document, to_document
from tertulia.domain.actions import Action
from tertulia.domain.confirmations import Confirmation

JOURNAL_KEPT_FOR = timedelta(days=90)

_CONFIRMATIONS = TypeAdapter(Confirmation)
_ACTIONS = TypeAdapter(Action)


def confirmation_document(confirmation: Confirmation) -> str:
    """Write a waiting step."""
    return to_document(_CONFIRMATIONS.dump_python(confirmation, mode="json"))


def confirmation_of(document: str) -> Confirmation:
    """Read a waiting step."""
    return _CONFIRMATIONS.validate_python(from_document(document))


def action_document(action: Action) -> str:
    """Write a journal entry; whether it was taken back is kept beside it."""
    fields = _ACTIONS.dump_python(action, mode="json")
    del fields["undone_at"]
    return to_document(fields)


def action_of(document: str, undone_at: str | None) -> Action:
    """Read a journal entry."""
    when = datetime.fromisoformat(undone_at) if undone_at else None
    return _ACTIONS.validate_python({**from_document(document), "undone_at": when})
