"""Every store in the cloud: one DynamoDB table and one S3 bucket."""

from functools import cached_property

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.dynamodb_accounts import DynamoSessions, DynamoTokens, DynamoUsers
from tertulia.adapters.aws.dynamodb_conversations import DynamoConversations
from tertulia.adapters.aws.dynamodb_devices import DynamoDeviceInbox, DynamoDevices
from tertulia.adapters.aws.dynamodb_limits import DynamoRates, DynamoUsage
from tertulia.adapters.aws.dynamodb_memories import DynamoMemories
from tertulia.adapters.aws.dynamodb_summaries import DynamoSummaries
from tertulia.adapters.aws.dynamodb_turn_claims import DynamoTurnClaims
from tertulia.adapters.aws.dynamodb_turn_events import DynamoTurnEvents
from tertulia.adapters.aws.s3 import S3Blobs
from tertulia.adapters.aws.s3_slices import S3UtteranceSlices
from tertulia.ports import Clock, Embedder


class AwsStores:
    """The stores over one table and one bucket, each built once."""

    def __init__(self, table: str, bucket: str, clock: Clock) -> None:
        self._bucket = bucket
        self._clock = clock
        self.table = DynamoTable(table)

    @cached_property
    def conversations(self) -> DynamoConversations:
        """Conversations and their turns."""
        return DynamoConversations(self.table, self._clock)

    @cached_property
    def claims(self) -> DynamoTurnClaims:
        """Who asked first."""
        return DynamoTurnClaims(self.table, self._clock)

    @cached_property
    def events(self) -> DynamoTurnEvents:
        """The events of turns."""
        return DynamoTurnEvents(self.table, self._clock)

    @cached_property
    def users(self) -> DynamoUsers:
        """Users and their settings."""
        return DynamoUsers(self.table, self._clock)

    @cached_property
    def tokens(self) -> DynamoTokens:
        """Personal tokens."""
        return DynamoTokens(self.table)

    @cached_property
    def sessions(self) -> DynamoSessions:
        """Sessions of pages."""
        return DynamoSessions(self.table, self._clock)

    def memories(self, embedder: Embedder) -> DynamoMemories:
        """What is known about users, found with an embedder."""
        return DynamoMemories(self.table, embedder, self._clock)

    @cached_property
    def summaries(self) -> DynamoSummaries:
        """What conversations were about."""
        return DynamoSummaries(self.table)

    @cached_property
    def rates(self) -> DynamoRates:
        """What users did in the last minute."""
        return DynamoRates(self.table, self._clock)

    @cached_property
    def usage(self) -> DynamoUsage:
        """What users' turns have used and cost."""
        return DynamoUsage(self.table)

    @cached_property
    def blobs(self) -> S3Blobs:
        """Files of users."""
        return S3Blobs(self._bucket)

    @cached_property
    def devices(self) -> DynamoDevices:
        """Which device is whose."""
        return DynamoDevices(self.table)

    @cached_property
    def inbox(self) -> DynamoDeviceInbox:
        """What devices have said."""
        return DynamoDeviceInbox(self.table, self._clock)

    @cached_property
    def slices(self) -> S3UtteranceSlices:
        """Recordings of devices under way."""
        return S3UtteranceSlices(self._bucket)
