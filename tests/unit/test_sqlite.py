"""The traps of a database file: full disks, other processes, newer versions, tasks that leave in the middle."""

import asyncio
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_conversations import SqliteConversations
from tertulia.domain.errors import Unavailable
from tertulia.domain.turns import Conversation
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import a_turn

ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_conversations import SqliteConversations
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import a_turn

async def main():
    name, database = sys.argv[2], Database(Path(sys.argv[1]))
    store = SqliteConversations(database, FakeClock())
    conversation = await store.open("me", None)
    for place in range(20):
        await store.append(conversation, a_turn(f"{name}-{place}", place))
    await database.close()

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "tertulia.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    database = Database(path)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> SqliteConversations:
    return SqliteConversations(database, FakeClock())


async def begun(store: SqliteConversations) -> Conversation:
    conversation = await store.open("me", None)
    await store.append(conversation, a_turn())
    return await store.get("me", conversation.id)


def own_threads() -> set[threading.Thread]:
    """Return the threads beside those that the loop keeps for everybody."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio")}


async def pragma(database: Database, command: str) -> object:
    """Set something on the connection that writes."""
    async with database.writing() as connection:
        return [tuple(row) for row in await connection.execute_fetchall(f"PRAGMA {command}")]


async def test_a_full_disk_is_told_plainly_and_the_next_write_works_once_there_is_room(
    database: Database, store: SqliteConversations
) -> None:
    conversation = await begun(store)
    [(pages,)] = await database.rows("PRAGMA page_count")
    await pragma(database, f"max_page_count = {pages}")
    with pytest.raises(Unavailable, match="The disk is full"):
        await store.append(conversation, a_turn("t2", 2, answer="x" * 100_000))
    assert await store.get("me", conversation.id) == conversation
    assert await store.turns(conversation) == [a_turn()]
    await pragma(database, "max_page_count = 100000")
    await store.append(conversation, a_turn("t2", 2, answer="x" * 100_000))
    assert len(await store.recent(conversation, 9)) == 2


async def test_data_that_cannot_be_written_is_told_plainly(database: Database, store: SqliteConversations) -> None:
    conversation = await begun(store)
    await pragma(database, "query_only = 1")
    with pytest.raises(Unavailable, match="cannot be written"):
        await store.append(conversation, a_turn("t2", 2))
    assert await store.recent(conversation, 9) == [a_turn()]


async def test_a_folder_that_cannot_be_made_is_told_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    database = Database(tmp_path / "file" / "tertulia.db")
    with pytest.raises(Unavailable, match="cannot be opened"):
        await database.open()
    (tmp_path / "file").unlink()
    await database.open()
    await database.close()


async def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"my letters, " * 1000)
    database = Database(path)
    with pytest.raises(Unavailable, match="damaged"):
        await database.open()
    await database.close()
    assert path.read_bytes() == b"my letters, " * 1000


async def test_data_of_a_newer_version_is_refused_and_left_alone(database: Database, path: Path) -> None:
    await database.open()
    await database.close()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 999")
    newer.close()
    older = Database(path)
    with pytest.raises(Unavailable, match="newer version"):
        await older.open()
    await older.close()


async def test_a_half_done_transaction_leaves_nothing_when_its_task_is_cancelled(
    database: Database, store: SqliteConversations
) -> None:
    conversation = await begun(store)

    async def leave_in_the_middle() -> None:
        async with database.writing() as connection:
            await connection.execute("DELETE FROM turns")
            await asyncio.sleep(60)

    task = asyncio.create_task(leave_in_the_middle())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.append(conversation, a_turn("t2", 2))
    assert len(await store.recent(conversation, 9)) == 2


async def test_writes_cancelled_at_any_moment_never_block_the_next(store: SqliteConversations) -> None:
    conversation = await begun(store)
    for place in range(2, 30):
        task = asyncio.create_task(store.append(conversation, a_turn(f"t{place}", place)))
        await asyncio.sleep(place * 0.0001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await store.append(conversation, a_turn("last", 99))
    turns = await store.turns(conversation)
    assert turns[-1].id == "last"
    assert (await store.get("me", conversation.id)).message_count == 2 * len(turns)


async def test_readers_do_not_see_a_transaction_that_is_not_stored_yet(
    database: Database, store: SqliteConversations
) -> None:
    conversation = await begun(store)
    async with database.writing() as connection:
        await connection.execute("DELETE FROM turns")
        assert await store.turns(conversation) == [a_turn()]
    assert await store.turns(conversation) == []


async def test_a_writer_waits_for_another_process(path: Path, store: SqliteConversations) -> None:
    conversation = await begun(store)
    other = sqlite3.connect(path, autocommit=True, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, lambda: other.execute("COMMIT")).start()
    await store.append(conversation, a_turn("t2", 2))
    other.close()
    assert len(await store.recent(conversation, 9)) == 2


async def test_several_processes_begin_one_database_together_and_lose_nothing(
    path: Path, store: SqliteConversations
) -> None:
    running = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", ANOTHER_PROCESS, str(path), name)
        for name in ("a", "b", "c")
    ]
    assert [await process.wait() for process in running] == [0, 0, 0]
    page = await store.page("me")
    assert [conversation.message_count for conversation in page.items] == [40, 40, 40]


async def test_a_closed_database_stays_closed_and_leaves_no_files_or_threads(path: Path) -> None:
    before = own_threads()
    database = Database(path)
    await begun(SqliteConversations(database, FakeClock()))
    await database.close()
    await database.close()
    with pytest.raises(Unavailable):
        await database.rows("SELECT 1")
    with pytest.raises(Unavailable):
        async with database.writing():
            pass
    assert [each.name for each in path.parent.iterdir()] == ["tertulia.db"]
    # A thread that has said it is done still takes a moment to end.
    async with asyncio.timeout(5):
        while own_threads() - before:
            await asyncio.sleep(0.01)


async def test_only_the_owner_may_look_into_the_data_folder(database: Database, path: Path) -> None:
    await database.open()
    assert path.parent.stat().st_mode & 0o077 == 0


async def test_a_mistake_in_our_own_query_is_not_called_an_outage(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await database.rows("SELECT nothing FROM nowhere")
