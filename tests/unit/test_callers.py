"""Who asks is told even where nothing can be written, and never guessed."""

from datetime import datetime

import pytest

from tertulia.adapters.embedded.sqlite_accounts import SqliteTokens, SqliteUsers
from tertulia.domain.accounts import ApiToken, Caller, Scope
from tertulia.domain.errors import SessionOver, Unauthorized, Unavailable
from tertulia.usecases.callers import Callers
from tests.conftest import MakeAssistant


class ReadOnlyTokens(SqliteTokens):
    """Tokens on a disk that is full."""

    async def used(self, token: ApiToken, at: datetime) -> None:
        raise Unavailable


class ReadOnlyUsers(SqliteUsers):
    """Users of a table that is throttled, until it is not."""

    fails = True

    async def add(self, user: str) -> bool:
        if self.fails:
            raise Unavailable
        return await super().add(user)


class Signed:
    """An identity provider that believes everything."""

    async def user_of(self, token: str) -> str:
        return token.partition(".")[0]


@pytest.fixture
def callers(make_assistant: MakeAssistant) -> Callers:
    assistant = make_assistant()
    return Callers(
        tokens=ReadOnlyTokens(assistant.database),
        sessions=assistant.sessions,
        users=ReadOnlyUsers(assistant.database, assistant.clock),
        clock=assistant.clock,
        configured={"of-the-owner": "user-1"},
        provider=Signed(),
    )


async def test_a_use_that_cannot_be_noted_keeps_nobody_out(callers: Callers, make_assistant: MakeAssistant) -> None:
    made = await make_assistant().accounts.add_token(Caller(user="ana"), "phone", frozenset({Scope.READ}))
    assert await callers.of_token(made.secret) == Caller(user="ana", scopes=frozenset({Scope.READ}))


async def test_a_newcomer_who_cannot_be_noted_comes_in_and_is_noted_later(callers: Callers) -> None:
    users = callers.users
    assert isinstance(users, ReadOnlyUsers)
    assert (await callers.of_token("ben.a.b")).user == "ben"
    assert not await users.knows("ben")
    users.fails = False
    assert (await callers.of_token("ben.a.b")).user == "ben"
    assert await users.knows("ben")


@pytest.mark.parametrize("token", ["", "of-the-owne", "of-the-owner ", "OF-THE-OWNER", "é", "\udcff", "x" * 100_000])
async def test_what_is_not_the_token_is_nobodys(callers: Callers, token: str) -> None:
    assert await callers.of_token("of-the-owner") == Caller(user="user-1")
    with pytest.raises(Unauthorized):
        await callers.of_token(token)
    with pytest.raises(Unauthorized):
        await callers.begin_session(token)
    with pytest.raises(SessionOver):
        await callers.of_session(token)


async def test_a_session_is_another_secret_than_its_token(callers: Callers) -> None:
    caller, session, _ = await callers.begin_session("of-the-owner")
    assert caller == await callers.of_session(session) == Caller(user="user-1")
    with pytest.raises(Unauthorized):
        await callers.of_token(session)
    with pytest.raises(SessionOver):
        await callers.of_session("of-the-owner")
