"""What every list of to-dos that is kept here promises."""

import asyncio

import pytest

from tertulia.domain.errors import NotFound
from tertulia.domain.todos import Todo
from tertulia.ports.tools import OwnTodoList
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def todos(stores: Stores) -> OwnTodoList:
    return stores.todos


async def titles(todos: OwnTodoList, user: str = "ana", *, with_done: bool = False) -> list[str]:
    return [todo.title for todo in await todos.list(user, with_done=with_done)]


async def test_to_dos_are_listed_oldest_first_for_their_user_alone(todos: OwnTodoList, clock: FakeClock) -> None:
    for title in ("buy milk", "call Ben", "买牛奶 🥛"):
        await todos.add("ana", title, f"about {title}")
        clock.move(seconds=1)

    assert await titles(todos) == ["buy milk", "call Ben", "买牛奶 🥛"]
    assert [todo.note for todo in await todos.list("ana")][2] == "about 买牛奶 🥛"
    assert await titles(todos, "ben") == []


async def test_what_is_done_leaves_the_open_ones_and_comes_back(todos: OwnTodoList) -> None:
    milk = await todos.add("ana", "buy milk")

    await todos.complete("ana", milk.id)
    assert await titles(todos) == []
    assert [todo.is_done for todo in await todos.list("ana", with_done=True)] == [True]

    await todos.complete("ana", milk.id, done=False)
    assert await todos.list("ana") == [milk]


async def test_what_is_deleted_is_gone_and_can_be_brought_back(todos: OwnTodoList) -> None:
    milk = await todos.add("ana", "buy milk", "two liters")
    await todos.complete("ana", milk.id)
    await todos.delete("ana", milk.id)
    assert await titles(todos, with_done=True) == []

    assert await todos.restore("ana", milk.id) == Todo(id=milk.id, title="buy milk", note="two liters", is_done=True)
    assert await titles(todos, with_done=True) == ["buy milk"]


async def test_a_day_later_what_was_deleted_is_gone_for_good(todos: OwnTodoList, clock: FakeClock) -> None:
    milk = await todos.add("ana", "buy milk")
    await todos.delete("ana", milk.id)
    clock.move(hours=24, seconds=1)
    await todos.add("ana", "call Ben")

    with pytest.raises(NotFound):
        await todos.restore("ana", milk.id)
    assert await titles(todos) == ["call Ben"]


async def test_nobody_changes_another_users_to_dos_nor_what_is_not_there(todos: OwnTodoList) -> None:
    milk = await todos.add("ana", "buy milk")

    for user, todo_id in (("ben", milk.id), ("ana", "nothing")):
        for change in (todos.complete, todos.delete, todos.restore):
            with pytest.raises(NotFound):
                await change(user, todo_id)
    with pytest.raises(NotFound):
        await todos.restore("ana", milk.id)
    assert await todos.list("ana") == [milk]


async def test_a_deleted_one_is_neither_ticked_off_nor_deleted_again(todos: OwnTodoList) -> None:
    milk = await todos.add("ana", "buy milk")
    await todos.delete("ana", milk.id)

    for change in (todos.complete, todos.delete):
        with pytest.raises(NotFound):
            await change("ana", milk.id)
    assert await todos.restore("ana", milk.id) == milk


async def test_everything_of_a_user_is_erased_deleted_ones_too(todos: OwnTodoList) -> None:
    gone = await todos.add("ana", "buy milk")
    await todos.add("ana", "call Ben")
    await todos.delete("ana", gone.id)
    await todos.add("ben", "call Ana")

    assert await todos.delete_all("ana") == 2
    assert await todos.delete_all("ana") == 0
    with pytest.raises(NotFound):
        await todos.restore("ana", gone.id)
    assert await titles(todos, "ben") == ["call Ana"]


async def test_many_at_once_are_all_kept(todos: OwnTodoList) -> None:
    added = await asyncio.gather(*(todos.add("ana", f"to-do {number}", "n" * 10_000) for number in range(120)))

    assert len({todo.id for todo in added}) == 120
    assert len(await todos.list("ana")) == 120
