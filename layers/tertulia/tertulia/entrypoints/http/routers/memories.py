"""What the assistant remembers of the user: listed, counted, written, corrected, deleted by them."""

import re
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import AfterValidator, BaseModel, Field

from tertulia.domain.errors import NotFound
from tertulia.domain.memories import Memory, MemoryKind, MemorySource, MemoryStats, MemoryWish
from tertulia.domain.turns import Page, checked_words
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import Absent, Label
from tertulia.entrypoints.http.who import User
from tertulia.usecases.keep_memories import MemoryFields

router = APIRouter(prefix="/api/memories", tags=["memories"])

PAGE_SIZE = 50
MOST_CHARACTERS = 2_000
_NUMBER = re.compile(r"[1-9][0-9]{0,15}")
WRITING = problems(401, 409, 429, 503)

Category = Literal["fact", "people", "project", "finance", "schedule", "preference", "interest", "habit"]


def _number_in_path(text: str) -> str:
    if not _NUMBER.fullmatch(text):
        raise NotFound
    return text


def _content(text: str) -> str:
    return checked_words(text, MOST_CHARACTERS)


Content = Annotated[
    str,
    AfterValidator(_content),
    Field(
        json_schema_extra={"maxLength": MOST_CHARACTERS},
        description="What is so, in the user's own words.",
        examples=["I'm allergic to peanuts"],
    ),
]
MemoryInPath = Annotated[str, Path(alias="id", max_length=64), AfterValidator(_number_in_path)]
Kind = Annotated[MemoryKind | None, Absent, Field(description="`short_term` lasts 48 hours.")]
Importance = Annotated[Annotated[float, Field(ge=0, le=1)] | None, Absent]


class MemoryView(BaseModel):
    """A memory as clients see it."""

    id: int
    """Below 2^53; the ids that answers name are the same, as text."""
    content: str
    memory_type: MemoryKind
    source_type: MemorySource
    category: str
    importance: float
    """What it matters now: a tenth less for each week in which no answer used it."""
    access_count: int
    created_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    """Since when it is so no more: no answer uses it from then on."""
    key: str | None
    turn_id: str | None
    """The turn that told it."""
    device_id: str | None


class MemoryList(BaseModel):
    """A page of memories, the newest first."""

    total: int
    page: int
    page_size: int
    items: list[MemoryView]
    cursor: str | None


class MemoryCounts(BaseModel):
    """How many memories there are."""

    total: int
    short_term: int
    long_term: int
    categories: dict[str, int]


class NewMemory(BaseModel):
    """Something to be remembered; the same words are remembered once."""

    content: Content
    memory_type: Kind = None
    category: Annotated[Category | None, Absent] = None
    importance: Importance = None
    device_id: Label = None


class NamedMemory(NewMemory):
    """Something of which there is one, by its name."""

    key: Annotated[str, Field(min_length=1, max_length=64, pattern=r"\S", examples=["coffee"])]


class Correction(BaseModel):
    """What to change of a memory; what is left out stays."""

    content: Annotated[Content | None, Absent] = None
    memory_type: Kind = None
    category: Annotated[Category | None, Absent] = None
    importance: Importance = None


class Wish(BaseModel):
    """Which part of the list is asked for."""

    memory_type: Kind = None
    category: Annotated[Category | None, Absent] = None
    device_id: Label = None
    page: Annotated[Annotated[int, Field(ge=1, le=1000)] | None, Absent] = None
    page_size: Annotated[Annotated[int, Field(ge=1, le=100)] | None, Absent] = None
    cursor: Annotated[Annotated[str, Field(max_length=512)] | None, Absent] = None


@router.get("", responses=READING)
async def memories(wish: Annotated[Wish, Query()], assistant: Parts, user: User) -> MemoryList:
    """List memories, the newest first; what is so no more is among them, with its `valid_to`."""
    which = MemoryWish(kind=wish.memory_type, category=wish.category, device_id=wish.device_id)
    size = wish.page_size or PAGE_SIZE
    found: Page[Memory] = Page((), wish.cursor)
    for place in range(wish.page or 1):
        if place and found.cursor is None:
            found = Page((), total=found.total)
            break
        found = await assistant.memories.page(user, which, cursor=found.cursor, limit=size)
    now = assistant.clock.now()
    return MemoryList(
        total=found.total or 0,
        page=wish.page or 1,
        page_size=size,
        items=[_view(memory, now) for memory in found.items],
        cursor=found.cursor,
    )


@router.get("/stats", responses=READING)
async def stats(assistant: Parts, user: User) -> MemoryCounts:
    """Count memories."""
    counted: MemoryStats = await assistant.memories.stats(user)
    return MemoryCounts(
        total=counted.total,
        short_term=counted.short_term,
        long_term=counted.long_term,
        categories=counted.categories,
    )


@router.post("", status_code=201, responses=WRITING)
async def add(fields: NewMemory, assistant: Parts, user: User) -> MemoryView:
    """Remember something from now on."""
    kept = await assistant.keep_memories.add(user, _fields(fields), device_id=fields.device_id)
    return _view(kept, assistant.clock.now())


@router.put("", responses=WRITING)
async def put(fields: NamedMemory, assistant: Parts, user: User) -> MemoryView:
    """Remember something in place of what its key said before, which ends now."""
    kept = await assistant.keep_memories.add(user, _fields(fields), key=fields.key.strip(), device_id=fields.device_id)
    return _view(kept, assistant.clock.now())


@router.get("/{id}", responses=READING)
async def memory(memory_id: MemoryInPath, assistant: Parts, user: User) -> MemoryView:
    """Return a memory, such as one that an answer names."""
    return _view(await assistant.memories.get(user, memory_id), assistant.clock.now())


@router.patch("/{id}", responses=WRITING)
async def correct(memory_id: MemoryInPath, fields: Correction, assistant: Parts, user: User) -> MemoryView:
    """Correct a memory; 409 where another one says the same."""
    return _view(await assistant.keep_memories.correct(user, memory_id, _fields(fields)), assistant.clock.now())


@router.delete("/{id}", status_code=204, responses=problems(401, 503), response_class=Response)
async def delete(memory_id: MemoryInPath, assistant: Parts, user: User) -> Response:
    """Forget something for good."""
    await assistant.memories.forget(user, memory_id)
    return Response(status_code=204)


def _fields(asked: NewMemory | Correction) -> MemoryFields:
    return MemoryFields(
        content=asked.content, kind=asked.memory_type, category=asked.category, importance=asked.importance
    )


def _view(memory: Memory, now: datetime) -> MemoryView:
    return MemoryView(
        id=int(memory.id),
        content=memory.content,
        memory_type=memory.kind,
        source_type=memory.source,
        category=memory.category,
        importance=round(memory.importance_at(now), 3),
        access_count=memory.access_count,
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        key=memory.key or None,
        turn_id=memory.source_id or None,
        device_id=memory.device_id,
    )
