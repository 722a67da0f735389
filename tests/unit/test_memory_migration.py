"""Memories of an older version are recalled by the newer one, under numbers that clients can hold."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.adapters.vectors import blob_of
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder

BEFORE = 5
"""The migrations that the older version had applied."""


async def test_memories_of_an_older_version_are_recalled_listed_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "tertulia.db"
    embedder = WordEmbedder()
    [vector] = await embedder.embed(["I like tea"])
    scripts = sorted(
        (each for each in (files("tertulia.adapters.embedded") / "migrations").iterdir() if each.name.endswith(".sql")),
        key=lambda each: each.name,
    )
    with closing(sqlite3.connect(path)) as connection:
        for script in scripts[:BEFORE]:
            connection.executescript(script.read_text("utf-8"))
        connection.execute(f"PRAGMA user_version = {BEFORE}")
        connection.execute(
            "INSERT INTO memories (user, id, content, likeness, kind, category, importance, created_at, model, vector)"
            " VALUES ('me', 't1-ab', 'I like tea', 'i like tea', 'long_term', 'fact', 0.5, ?, ?, ?)",
            ("2030-05-01T12:00:00.000000+00:00", embedder.name, blob_of(vector)),
        )
        connection.commit()
    database = Database(path)
    store = EmbeddedStores(database, tmp_path, FakeClock()).memories(embedder)
    [memory] = await store.recall("me", "I like tea", 5)
    assert (memory.content, memory.created_at) == ("I like tea", datetime(2030, 5, 1, 12, tzinfo=UTC))
    assert 0 < int(memory.id) < 2**53
    await store.forget("me", memory.id)
    assert await store.list("me") == []
    await database.close()
