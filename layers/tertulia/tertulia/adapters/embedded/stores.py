"""Every store of one machine: a SQLite database and a folder of files."""

from functools import cached_property
from pathlib import Path

from tertulia.adapters.embedded.files import FileBlobs
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_accounts import SqliteSessions, SqliteTokens, SqliteUsers
from tertulia.adapters.embedded.sqlite_conversations import SqliteConversations
from tertulia.adapters.embedded.sqlite_devices import SqliteDeviceInbox, SqliteDevices, SqliteUtteranceSlices
from tertulia.adapters.embedded.sqlite_limits import SqliteRates, SqliteUsage
from tertulia.adapters.embedded.sqlite_llm_choices import SqliteLlmChoices
from tertulia.adapters.embedded.sqlite_memories import SqliteMemoryRecords
from tertulia.adapters.embedded.sqlite_reminders import SqliteReminders
from tertulia.adapters.embedded.sqlite_safety import SqliteConfirmations, SqliteJournal
from tertulia.adapters.embedded.sqlite_summaries import SqliteSummaries
from tertulia.adapters.embedded.sqlite_todos import SqliteTodos
from tertulia.adapters.embedded.sqlite_turn_claims import SqliteTurnClaims
from tertulia.adapters.embedded.sqlite_turn_events import SqliteTurnEvents
from tertulia.adapters.embedded.sqlite_user_events import SqliteUserEvents
from tertulia.adapters.mirrored_memories import MirroredMemories
from tertulia.ports import Clock, Embedder


class EmbeddedStores:
    """The stores over one database, each built once."""

    def __init__(self, database: Database, files: Path, clock: Clock) -> None:
        self._database = database
        self._files = files
        self._clock = clock

    async def prepare(self) -> None:
        """Open the database and bring it up to date."""
        await self._database.open()

    @cached_property
    def conversations(self) -> SqliteConversations:
        """Conversations and their turns."""
        return SqliteConversations(self._database, self._clock)

    @cached_property
    def claims(self) -> SqliteTurnClaims:
        """Who asked first."""
        return SqliteTurnClaims(self._database, self._clock)

    @cached_property
    def events(self) -> SqliteTurnEvents:
        """The events of turns."""
        return SqliteTurnEvents(self._database, self._clock)

    @cached_property
    def users(self) -> SqliteUsers:
        """Users and their settings."""
        return SqliteUsers(self._database, self._clock)

    @cached_property
    def llm_choices(self) -> SqliteLlmChoices:
        """The language models that users chose."""
        return SqliteLlmChoices(self._database)

    @cached_property
    def tokens(self) -> SqliteTokens:
        """Personal tokens."""
        return SqliteTokens(self._database)

    @cached_property
    def sessions(self) -> SqliteSessions:
        """Sessions of pages."""
        return SqliteSessions(self._database, self._clock)

    def memories(self, embedder: Embedder) -> MirroredMemories:
        """Return what is known about users, found with an embedder."""
        return MirroredMemories(SqliteMemoryRecords(self._database, self._clock), embedder, self._clock)

    @cached_property
    def summaries(self) -> SqliteSummaries:
        """What conversations were about."""
        return SqliteSummaries(self._database)

    @cached_property
    def todos(self) -> SqliteTodos:
        """What users mean to do."""
        return SqliteTodos(self._database, self._clock)

    @cached_property
    def rates(self) -> SqliteRates:
        """What users did in the last minute."""
        return SqliteRates(self._database, self._clock)

    @cached_property
    def usage(self) -> SqliteUsage:
        """What users' turns have used and cost."""
        return SqliteUsage(self._database, self._clock)

    @cached_property
    def blobs(self) -> FileBlobs:
        """Files of users."""
        return FileBlobs(self._files)

    @property
    def transfers(self) -> None:
        """Nothing passes this server by: it takes what is large, and gives it."""

    @cached_property
    def devices(self) -> SqliteDevices:
        """Which device is whose."""
        return SqliteDevices(self._database)

    @cached_property
    def inbox(self) -> SqliteDeviceInbox:
        """What devices have said."""
        return SqliteDeviceInbox(self._database, self._clock)

    @cached_property
    def slices(self) -> SqliteUtteranceSlices:
        """Recordings of devices under way."""
        return SqliteUtteranceSlices(self._database, self._clock)

    @cached_property
    def confirmations(self) -> SqliteConfirmations:
        """Steps that wait for a yes."""
        return SqliteConfirmations(self._database, self._clock)

    @cached_property
    def journal(self) -> SqliteJournal:
        """What tools changed."""
        return SqliteJournal(self._database, self._clock)

    @cached_property
    def reminders(self) -> SqliteReminders:
        """What users are told at a time."""
        return SqliteReminders(self._database, self._clock)

    @cached_property
    def user_events(self) -> SqliteUserEvents:
        """The users' own event streams."""
        return SqliteUserEvents(self._database, self._clock)
