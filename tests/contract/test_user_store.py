"""What every store of users promises."""

import asyncio

import pytest

from tertulia.domain.accounts import UserSettings
from tertulia.domain.surfaces import Style
from tertulia.ports.accounts import UserStore
from tests.contract.conftest import Stores

ALL = UserSettings(
    language="pt-BR",
    timezone="America/São_Paulo",
    voice="autumn",
    style=Style.SCREEN,
    retention_days=30,
    daily_spend_microdollars=2**40,
    keeps_audio=True,
    has_own_model=True,
)


@pytest.fixture
def users(stores: Stores) -> UserStore:
    return stores.users


async def test_a_user_is_added_once(users: UserStore) -> None:
    assert await users.add("ana")
    assert not await users.add("ana")
    assert [user async for user in users.users()] == ["ana"]


async def test_of_many_who_add_a_user_at_once_one_did(users: UserStore) -> None:
    assert sum(await asyncio.gather(*(users.add("ana") for _ in range(8)))) == 1


async def test_only_those_who_were_added_are_known(users: UserStore) -> None:
    await users.add("ana")
    await users.save_settings("ben", ALL)
    assert await users.knows("ana")
    assert not await users.knows("ben")
    assert not await users.knows("Ana")


async def test_every_user_is_listed_over_all_pages(users: UserStore) -> None:
    names = {f"user-{place}-{'é' * 450}" for place in range(600)}
    for some in (sorted(names)[:300], sorted(names)[300:]):
        await asyncio.gather(*(users.add(name) for name in some))
    listed = [user async for user in users.users()]
    assert len(listed) == len(names)
    assert set(listed) == names


async def test_without_settings_everything_is_unset(users: UserStore) -> None:
    assert await users.settings("nobody") == UserSettings()


async def test_settings_are_kept_and_replaced_as_a_whole(users: UserStore) -> None:
    await users.save_settings("ana", ALL)
    assert await users.settings("ana") == ALL
    assert await users.settings("ben") == UserSettings()
    await users.save_settings("ana", UserSettings(language="de"))
    assert await users.settings("ana") == UserSettings(language="de")


async def test_a_user_removed_is_gone_with_their_settings(users: UserStore) -> None:
    for user in ("ana", "ben"):
        await users.add(user)
        await users.save_settings(user, ALL)
    await users.remove("ana")
    await users.remove("ana")
    assert [user async for user in users.users()] == ["ben"]
    assert not await users.knows("ana")
    assert await users.settings("ana") == UserSettings()
    assert await users.settings("ben") == ALL


@pytest.mark.parametrize("user", ["a#b", "USER#x", "日本", "a b'; DROP TABLE users", "x" * 500])
async def test_any_name_an_identity_provider_gives_may_be_a_user(users: UserStore, user: str) -> None:
    assert await users.add(user)
    await users.save_settings(user, ALL)
    assert [each async for each in users.users()] == [user]
    assert await users.settings(user) == ALL
