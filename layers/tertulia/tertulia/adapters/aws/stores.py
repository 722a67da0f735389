"""Every store in the cloud: one DynamoDB table and one S3 bucket."""

from functools import cached_property
from typing import TYPE_CHECKING

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.recordings import AwsRecordings
from tertulia.ports import Clock, Embedder

if TYPE_CHECKING:
    from tertulia.adapters.aws.dynamodb_accounts import DynamoSessions, DynamoTokens, DynamoUsers
    from tertulia.adapters.aws.dynamodb_conversations import DynamoConversations
    from tertulia.adapters.aws.dynamodb_devices import DynamoDeviceInbox, DynamoDevices
    from tertulia.adapters.aws.dynamodb_limits import DynamoRates, DynamoUsage
    from tertulia.adapters.aws.dynamodb_llm_choices import DynamoLlmChoices
    from tertulia.adapters.aws.dynamodb_reminders import DynamoReminders
    from tertulia.adapters.aws.dynamodb_safety import DynamoConfirmations, DynamoJournal
    from tertulia.adapters.aws.dynamodb_summaries import DynamoSummaries
    from tertulia.adapters.aws.dynamodb_todos import DynamoTodos
    from tertulia.adapters.aws.dynamodb_turn_claims import DynamoTurnClaims
    from tertulia.adapters.aws.dynamodb_turn_events import DynamoTurnEvents
    from tertulia.adapters.aws.dynamodb_user_events import DynamoUserEvents
    from tertulia.adapters.aws.s3 import S3Blobs
    from tertulia.adapters.aws.s3_slices import S3UtteranceSlices
    from tertulia.adapters.mirrored_memories import MirroredMemories


class AwsStores:
    """The stores over one table and one bucket, each built and imported once a function touches it."""

    def __init__(self, table: str, bucket: str, clock: Clock) -> None:
        self._bucket = bucket
        self._clock = clock
        self.table = DynamoTable(table)

    @cached_property
    def conversations(self) -> "DynamoConversations":
        """Conversations and their turns."""
        from tertulia.adapters.aws.dynamodb_conversations import DynamoConversations

        return DynamoConversations(self.table, self._clock)

    @cached_property
    def claims(self) -> "DynamoTurnClaims":
        """Who asked first."""
        from tertulia.adapters.aws.dynamodb_turn_claims import DynamoTurnClaims

        return DynamoTurnClaims(self.table, self._clock)

    @cached_property
    def events(self) -> "DynamoTurnEvents":
        """The events of turns."""
        from tertulia.adapters.aws.dynamodb_turn_events import DynamoTurnEvents

        return DynamoTurnEvents(self.table, self._clock)

    @cached_property
    def users(self) -> "DynamoUsers":
        """Users and their settings."""
        from tertulia.adapters.aws.dynamodb_accounts import DynamoUsers

        return DynamoUsers(self.table, self._clock)

    @cached_property
    def llm_choices(self) -> "DynamoLlmChoices":
        """The language models that users chose."""
        from tertulia.adapters.aws.dynamodb_llm_choices import DynamoLlmChoices

        return DynamoLlmChoices(self.table)

    @cached_property
    def tokens(self) -> "DynamoTokens":
        """Personal tokens."""
        from tertulia.adapters.aws.dynamodb_accounts import DynamoTokens

        return DynamoTokens(self.table)

    @cached_property
    def sessions(self) -> "DynamoSessions":
        """Sessions of pages."""
        from tertulia.adapters.aws.dynamodb_accounts import DynamoSessions

        return DynamoSessions(self.table, self._clock)

    def memories(self, embedder: Embedder) -> "MirroredMemories":
        """Return what is known about users, found with an embedder."""
        from tertulia.adapters.aws.dynamodb_memories import DynamoMemoryRecords
        from tertulia.adapters.mirrored_memories import MirroredMemories

        return MirroredMemories(DynamoMemoryRecords(self.table, self._clock), embedder, self._clock)

    @cached_property
    def summaries(self) -> "DynamoSummaries":
        """What conversations were about."""
        from tertulia.adapters.aws.dynamodb_summaries import DynamoSummaries

        return DynamoSummaries(self.table, self._clock)

    @cached_property
    def todos(self) -> "DynamoTodos":
        """What users mean to do."""
        from tertulia.adapters.aws.dynamodb_todos import DynamoTodos

        return DynamoTodos(self.table, self._clock)

    @cached_property
    def rates(self) -> "DynamoRates":
        """What users did in the last minute."""
        from tertulia.adapters.aws.dynamodb_limits import DynamoRates

        return DynamoRates(self.table, self._clock)

    @cached_property
    def usage(self) -> "DynamoUsage":
        """What users' turns have used and cost."""
        from tertulia.adapters.aws.dynamodb_limits import DynamoUsage

        return DynamoUsage(self.table)

    @cached_property
    def blobs(self) -> "S3Blobs":
        """Files of users."""
        from tertulia.adapters.aws.s3 import S3Blobs

        return S3Blobs(self._bucket)

    @property
    def transfers(self) -> "S3Blobs":
        """Files that clients send and fetch by themselves."""
        return self.blobs

    @cached_property
    def recordings(self) -> AwsRecordings:
        """Recordings and their files."""
        return AwsRecordings(self.table, self._bucket)

    @cached_property
    def devices(self) -> "DynamoDevices":
        """Which device is whose."""
        from tertulia.adapters.aws.dynamodb_devices import DynamoDevices

        return DynamoDevices(self.table)

    @cached_property
    def inbox(self) -> "DynamoDeviceInbox":
        """What devices have said."""
        from tertulia.adapters.aws.dynamodb_devices import DynamoDeviceInbox

        return DynamoDeviceInbox(self.table, self._clock)

    @cached_property
    def slices(self) -> "S3UtteranceSlices":
        """Recordings of devices under way."""
        from tertulia.adapters.aws.s3_slices import S3UtteranceSlices

        return S3UtteranceSlices(self._bucket)

    @cached_property
    def confirmations(self) -> "DynamoConfirmations":
        """Steps that wait for a yes."""
        from tertulia.adapters.aws.dynamodb_safety import DynamoConfirmations

        return DynamoConfirmations(self.table, self._clock)

    @cached_property
    def journal(self) -> "DynamoJournal":
        """What tools changed."""
        from tertulia.adapters.aws.dynamodb_safety import DynamoJournal

        return DynamoJournal(self.table, self._clock)

    @cached_property
    def reminders(self) -> "DynamoReminders":
        """What users are told at a time."""
        from tertulia.adapters.aws.dynamodb_reminders import DynamoReminders

        return DynamoReminders(self.table, self._clock)

    @cached_property
    def user_events(self) -> "DynamoUserEvents":
        """The users' own event streams."""
        from tertulia.adapters.aws.dynamodb_user_events import DynamoUserEvents

        return DynamoUserEvents(self.table, self._clock)
