"""One SQLite file for everything the embedded stores keep, safe for several processes."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tertulia.domain.errors import Unavailable

if TYPE_CHECKING:
    from aiosqlite import Connection

_BUSY_SECONDS = 5.0
_OWNER_ONLY = 0o700
_ROWS_AT_ONCE = 64
_PRIMARY_CODE = 0xFF
"""SQLite's extended codes keep the primary one in the lowest byte."""

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full. Free some space and try again.",
    sqlite3.SQLITE_READONLY: "The data folder cannot be written. Check who owns it and try again.",
    sqlite3.SQLITE_PERM: "The data folder cannot be written. Check who owns it and try again.",
    sqlite3.SQLITE_CANTOPEN: "The data folder cannot be opened. Check that it exists and who owns it.",
    sqlite3.SQLITE_BUSY: "The stored data is in use by another program. Try again shortly.",
    sqlite3.SQLITE_LOCKED: "The stored data is in use by another program. Try again shortly.",
    sqlite3.SQLITE_IOERR: "The stored data could not be read or written. Check the disk and try again.",
    sqlite3.SQLITE_CORRUPT: "The stored data is damaged. Restore it from a backup.",
    sqlite3.SQLITE_NOTADB: "The stored data is damaged. Restore it from a backup.",
}

type Value = str | int | float | bytes | None


class Database:
    """A database file, opened at first use: one connection reads, the other writes one transaction at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opening = asyncio.Lock()
        self._turn_to_write = asyncio.Lock()
        self._connections: tuple[Connection, Connection] | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Open the file and bring its tables up to date; reading and writing do it by themselves."""
        await self._opened()

    async def close(self) -> None:
        """Finish what is under way and let go of the file for good."""
        self._is_closed = True
        async with self._turn_to_write, self._opening:
            connections, self._connections = self._connections, None
            for connection in connections or ():
                await connection.close()

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query, which sees what was stored before it began."""
        reader, _ = await self._opened()
        with _plain_failures():
            return list(await reader.execute_fetchall(sql, parameters))

    async def row(self, sql: str, parameters: Sequence[Value] = ()) -> sqlite3.Row | None:
        """Return the first row of a query."""
        return next(iter(await self.rows(sql, parameters)), None)

    @asynccontextmanager
    async def writing(self, *, survives_power_loss: bool = True) -> AsyncIterator["Connection"]:
        """Hold a transaction: all of it is stored at the end, or nothing.

        A turn is "done" once it is stored, so by default the commit waits for the disk. What only serves a running
        process does without that wait: it survives the process, and the next full commit carries it along.
        """
        level = "FULL" if survives_power_loss else "NORMAL"
        async with self._turn_to_write:
            _, writer = await self._opened()
            with _plain_failures():
                try:
                    await writer.executescript(f"PRAGMA synchronous = {level}; BEGIN IMMEDIATE;")
                    yield writer
                    await writer.execute("COMMIT")
                except BaseException:
                    # After a full disk SQLite may have rolled back already, and then refuses to do so again.
                    with suppress(sqlite3.Error):
                        await writer.execute("ROLLBACK")
                    raise

    async def _opened(self) -> "tuple[Connection, Connection]":
        if self._connections is None:
            async with self._opening:
                if self._is_closed:
                    raise Unavailable("The stored data is closed.")
                if self._connections is None:
                    self._connections = await self._connect()
        return self._connections

    async def _connect(self) -> "tuple[Connection, Connection]":
        from aiosqlite import Connection

        with _plain_failures():
            # What may fail is done before: a connection that cannot open leaves a thread that outlives the loop.
            try:
                await asyncio.to_thread(_make_ready, self._path)
            except OSError as error:
                raise Unavailable(_SENTENCES[sqlite3.SQLITE_CANTOPEN]) from error
            writer = await Connection(lambda: _connection(self._path), _ROWS_AT_ONCE)
            try:
                return await Connection(lambda: _connection(self._path), _ROWS_AT_ONCE), writer
            except BaseException:
                await writer.close()
                raise


@contextmanager
def _plain_failures() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        sentence = _SENTENCES.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & _PRIMARY_CODE)
        if sentence is None:
            raise
        raise Unavailable(sentence) from error


def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, autocommit=True, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _make_ready(path: Path) -> None:
    path.parent.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    with closing(_connection(path)) as connection:
        # Tables come whole or not at all at this level too; the wait for the disk is for turns.
        connection.execute("PRAGMA synchronous = NORMAL")
        _use_write_ahead_log(connection)
        _migrate(connection)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL; SQLite does not wait for other processes here, so we do."""
    give_up = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


def _migrate(connection: sqlite3.Connection) -> None:
    scripts = _migrations()
    if _version(connection) == len(scripts):
        return
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have migrated while this one waited for the lock.
    done = _version(connection)
    if done > len(scripts):
        connection.execute("ROLLBACK")
        raise Unavailable("The stored data was written by a newer version of Tertulia. Update, then start again.")
    for script in scripts[done:]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {len(scripts)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrations() -> list[str]:
    folder = files("tertulia.adapters.embedded") / "migrations"
    scripts = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    return [script.read_text("utf-8") for script in scripts]
