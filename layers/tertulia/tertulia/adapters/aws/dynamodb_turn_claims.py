"""Claims of client message ids in DynamoDB."""

import hashlib
from datetime import datetime, timedelta

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Key
from tertulia.adapters.cursors import sortable
from tertulia.domain.errors import Unavailable
from tertulia.ports import Claim, Clock

_HELD = timedelta(hours=24)
_MOST_ATTEMPTS = 3


class DynamoTurnClaims:
    """Exactly one turn for one client_message_id, over all functions that share the table."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def claim(self, claim: Claim) -> Claim:
        """Store the claim and return it, or return the one that holds its key already."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                await self._put(claim)
            except ConditionFailed:
                holder = await self._table.get(_key(claim.user, claim.key))
                if holder is not None:
                    return _claim(holder)
                # It was given back between the two calls.
            else:
                return claim
        raise Unavailable

    async def find(self, user: str, key: str) -> Claim | None:
        """Return the claim that holds a key."""
        holder = await self._table.get(_key(user, key))
        if holder is None or holder["expires_at"] <= int(self._clock.now().timestamp()):
            return None
        return _claim(holder)

    async def release(self, claim: Claim) -> None:
        """Give the key back, where this claim holds it."""
        try:
            await self._table.delete(_key(claim.user, claim.key), "#turn_id = :turn_id", {":turn_id": claim.turn_id})
        except ConditionFailed:
            return

    async def _put(self, claim: Claim) -> None:
        item = {
            **_key(claim.user, claim.key)._asdict(),
            "user": claim.user,
            "key": claim.key,
            "digest": claim.digest,
            "turn_id": claim.turn_id,
            "claimed_at": sortable(claim.claimed_at),
            "expires_at": int((claim.claimed_at + _HELD).timestamp()),
        }
        # DynamoDB removes expired items hours late, so their time is compared here.
        condition = "attribute_not_exists(#pk) OR #expires_at <= :now"
        await self._table.put(item, condition, {":now": int(self._clock.now().timestamp())})


def _key(user: str, key: str) -> Key:
    # A sort key ends at 1,024 bytes; a digest always fits.
    return Key(f"USER#{user}", f"CLAIM#{hashlib.sha256(key.encode()).hexdigest()}")


def _claim(item: dict[str, str]) -> Claim:
    return Claim(
        user=item["user"],
        key=item["key"],
        digest=item["digest"],
        turn_id=item["turn_id"],
        claimed_at=datetime.fromisoformat(item["claimed_at"]),
    )
