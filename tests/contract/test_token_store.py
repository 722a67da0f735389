"""What every store of tokens and sessions promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from tertulia.domain.accounts import EVERYTHING, ApiToken, PageSession, Scope, digest_of
from tertulia.domain.errors import NotFound
from tertulia.ports.accounts import SessionStore, TokenStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def tokens(stores: Stores) -> TokenStore:
    return stores.tokens


@pytest.fixture
def sessions(stores: Stores) -> SessionStore:
    return stores.sessions


@pytest.fixture
def token(clock: FakeClock) -> ApiToken:
    return ApiToken(
        id="a1",
        user="me",
        name="Kitchen, 廚房",
        scopes=frozenset({Scope.READ, Scope.FLOWS_WRITE}),
        digest=digest_of("one"),
        created_at=clock.now(),
    )


@pytest.fixture
def session(clock: FakeClock) -> PageSession:
    return PageSession(
        digest=digest_of("cookie"), token_digest=digest_of("one"), expires_at=clock.now() + timedelta(days=30)
    )


async def test_a_token_is_found_by_its_digest_as_it_was_kept(tokens: TokenStore, token: ApiToken) -> None:
    await tokens.put(token)
    assert await tokens.find(token.digest) == token


@pytest.mark.parametrize("digest", ["", "one", digest_of("two"), digest_of("one")[:-1]])
async def test_no_other_digest_finds_it(tokens: TokenStore, token: ApiToken, digest: str) -> None:
    await tokens.put(token)
    if digest:
        assert await tokens.find(digest) is None


@pytest.mark.parametrize("scopes", [frozenset[Scope](), EVERYTHING])
async def test_scopes_are_kept(tokens: TokenStore, token: ApiToken, scopes: frozenset[Scope]) -> None:
    await tokens.put(replace(token, scopes=scopes))
    found = await tokens.find(token.digest)
    assert found is not None
    assert found.scopes == scopes


async def test_a_user_sees_their_own_tokens_the_newest_first(
    tokens: TokenStore, token: ApiToken, clock: FakeClock
) -> None:
    clock.move(minutes=1)
    later = replace(token, id="b2", digest=digest_of("two"), created_at=clock.now())
    for each in (token, later, replace(token, user="you", digest=digest_of("three"))):
        await tokens.put(each)
    assert await tokens.list("me") == [later, token]
    assert await tokens.list("nobody") == []


async def test_a_revoked_token_is_found_no_more(tokens: TokenStore, token: ApiToken) -> None:
    other = replace(token, id="b2", digest=digest_of("two"))
    await tokens.put(token)
    await tokens.put(other)
    await tokens.revoke("me", "a1")
    assert await tokens.find(token.digest) is None
    assert await tokens.list("me") == [other]


@pytest.mark.parametrize(("user", "token_id"), [("you", "a1"), ("me", "b2"), ("me", ""), ("me", "A1"), ("", "a1")])
async def test_only_a_users_own_token_can_be_revoked(
    tokens: TokenStore, token: ApiToken, user: str, token_id: str
) -> None:
    await tokens.put(token)
    with pytest.raises(NotFound):
        await tokens.revoke(user, token_id)
    assert await tokens.find(token.digest) == token


async def test_revoking_twice_is_not_found_the_second_time(tokens: TokenStore, token: ApiToken) -> None:
    await tokens.put(token)
    await tokens.revoke("me", "a1")
    with pytest.raises(NotFound):
        await tokens.revoke("me", "a1")


async def test_the_last_use_is_noted(tokens: TokenStore, token: ApiToken, clock: FakeClock) -> None:
    await tokens.put(token)
    clock.move(hours=5)
    await tokens.used(token, clock.now())
    used = replace(token, last_used_at=clock.now())
    assert await tokens.find(token.digest) == used
    assert await tokens.list("me") == [used]


async def test_a_use_brings_no_revoked_token_back(tokens: TokenStore, token: ApiToken, clock: FakeClock) -> None:
    await tokens.put(token)
    await tokens.revoke("me", "a1")
    await tokens.used(token, clock.now())
    assert await tokens.find(token.digest) is None
    assert await tokens.list("me") == []


async def test_many_tokens_made_at_once_are_all_kept(tokens: TokenStore, token: ApiToken) -> None:
    made = [replace(token, id=f"{place:02}", digest=digest_of(f"{place}")) for place in range(20)]
    await asyncio.gather(*(tokens.put(each) for each in made))
    assert {each.id for each in await tokens.list("me")} == {each.id for each in made}


async def test_a_session_is_found_until_it_ends(sessions: SessionStore, session: PageSession, clock: FakeClock) -> None:
    await sessions.put(session)
    clock.move(days=30, seconds=-1)
    assert await sessions.find(session.digest) == session
    clock.move(seconds=1)
    assert await sessions.find(session.digest) is None


async def test_a_session_that_was_ended_is_found_no_more(sessions: SessionStore, session: PageSession) -> None:
    other = replace(session, digest=digest_of("other"))
    await sessions.put(session)
    await sessions.put(other)
    await sessions.end(session.digest)
    await sessions.end(session.digest)
    assert await sessions.find(session.digest) is None
    assert await sessions.find(other.digest) == other
