"""A memory as a row or an item holds it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tertulia.adapters.cursors import sortable
from tertulia.domain.memories import Memory, MemoryKind, MemorySource


def memory_fields(memory: Memory) -> dict[str, Any]:
    """Return every field of a memory but its importance, which not every database takes as a number."""
    return {
        "user": memory.user,
        "id": memory.id,
        "content": memory.content,
        "kind": memory.kind.value,
        "category": memory.category,
        "created_at": sortable(memory.created_at),
        "key": memory.key,
        "source": memory.source.value,
        "source_id": memory.source_id,
        "device_id": memory.device_id,
        "valid_from": _written(memory.valid_from),
        "valid_to": _written(memory.valid_to),
        "access_count": memory.access_count,
        "used_at": _written(memory.used_at),
        "vendor_id": memory.vendor_id,
    }


def memory_of(fields: Mapping[str, Any], expires_at: str | None) -> Memory:
    """Read a memory; fields that hold nothing may be missing."""
    return Memory(
        id=fields["id"],
        user=fields["user"],
        content=fields["content"],
        created_at=datetime.fromisoformat(fields["created_at"]),
        kind=MemoryKind(fields["kind"]),
        category=fields["category"],
        importance=float(fields["importance"]),
        expires_at=_read(expires_at),
        key=fields["key"],
        source=MemorySource(fields["source"]),
        source_id=fields["source_id"],
        device_id=fields.get("device_id"),
        valid_from=_read(fields.get("valid_from")),
        valid_to=_read(fields.get("valid_to")),
        access_count=fields["access_count"],
        used_at=_read(fields.get("used_at")),
        vendor_id=fields["vendor_id"],
    )


def _written(at: datetime | None) -> str | None:
    return sortable(at) if at else None


def _read(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
