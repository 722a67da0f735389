"""What every store of claims promises."""

import asyncio
from dataclasses import replace

import pytest

from tertulia.ports import Claim, TurnClaims
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def claims(stores: Stores) -> TurnClaims:
    return stores.claims


@pytest.fixture
def claim(clock: FakeClock) -> Claim:
    return Claim(user="me", key="message-1", digest="d1", turn_id="t1", claimed_at=clock.now())


async def test_the_first_claim_holds_its_key(claims: TurnClaims, claim: Claim) -> None:
    assert await claims.claim(claim) == claim
    assert await claims.claim(replace(claim, digest="d2", turn_id="t2")) == claim


async def test_keys_of_two_users_do_not_meet(claims: TurnClaims, claim: Claim) -> None:
    other = replace(claim, user="you", turn_id="t2")
    assert await claims.claim(claim) == claim
    assert await claims.claim(other) == other


async def test_one_of_many_claims_at_once_wins(claims: TurnClaims, claim: Claim) -> None:
    rivals = [replace(claim, turn_id=f"t{place}") for place in range(8)]
    winners = set(await asyncio.gather(*(claims.claim(rival) for rival in rivals)))
    assert len(winners) == 1
    assert winners <= set(rivals)


async def test_a_key_given_back_can_be_claimed_again(claims: TurnClaims, claim: Claim) -> None:
    retry = replace(claim, turn_id="t2")
    await claims.claim(claim)
    await claims.release(claim)
    await claims.release(claim)
    assert await claims.claim(retry) == retry


async def test_only_the_holder_gives_a_key_back(claims: TurnClaims, claim: Claim) -> None:
    await claims.claim(claim)
    await claims.release(replace(claim, turn_id="t2"))
    assert await claims.claim(replace(claim, turn_id="t3")) == claim


async def test_a_key_is_free_again_after_24_hours(claims: TurnClaims, claim: Claim, clock: FakeClock) -> None:
    await claims.claim(claim)
    clock.move(hours=24, seconds=-1)
    assert await claims.claim(replace(claim, turn_id="t2", claimed_at=clock.now())) == claim
    clock.move(seconds=1)
    late = replace(claim, turn_id="t3", claimed_at=clock.now())
    assert await claims.claim(late) == late


@pytest.mark.parametrize("key", ["x" * 2000, "日本 #:;'\"", "a\nb"])
async def test_any_text_may_be_a_key(claims: TurnClaims, claim: Claim, key: str) -> None:
    odd = replace(claim, key=key)
    assert await claims.claim(odd) == odd
    assert await claims.claim(replace(odd, turn_id="t2")) == odd


async def test_a_key_tells_who_holds_it_without_being_claimed(
    claims: TurnClaims, claim: Claim, clock: FakeClock
) -> None:
    assert await claims.find("me", "message-1") is None
    await claims.claim(claim)
    assert await claims.find("me", "message-1") == claim
    assert await claims.find("you", "message-1") is None
    clock.move(hours=24)
    assert await claims.find("me", "message-1") is None
