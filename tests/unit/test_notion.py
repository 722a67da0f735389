"""To-dos in Notion, by its SDK over real HTTP: any columns, any number of rows, and what goes wrong."""

import logging
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from tertulia.adapters.notion.connection import NotionConnection
from tertulia.adapters.notion.todos import NotionTodos
from tertulia.assistant.checks import notion_checks
from tertulia.domain.checkups import State
from tertulia.domain.errors import NotFound, ServiceFailed
from tertulia.settings import Settings
from tests.fakes.notion import (
    CHECKBOX,
    DATABASE,
    FIRST,
    KEY,
    SECOND,
    STATUS,
    TITLE,
    FakeNotion,
    Refusal,
    Schema,
    states,
)


@pytest.fixture
async def todos(fake_notion: FakeNotion, notion_server: tuple[FakeNotion, str]) -> AsyncIterator[NotionTodos]:
    todos = NotionTodos(NotionConnection(SecretStr(KEY), notion_server[1], seconds=5.0), DATABASE)
    yield todos
    await todos.close()


async def titles(todos: NotionTodos, *, with_done: bool = False) -> list[str]:
    return [todo.title for todo in await todos.list("ana", with_done=with_done)]


async def test_the_first_of_several_data_sources_is_used_and_named(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    fake_notion.schemas[SECOND] = {"Name": dict(TITLE)}
    fake_notion.row("elsewhere", source=SECOND)

    await todos.add("ana", "Buy milk")

    assert await titles(todos) == ["Buy milk"]
    assert todos.name == "Notion, data source 'ds1', the first of 2"
    assert not any("/databases/" in asked and "query" in asked for asked in fake_notion.asked)


async def test_the_setting_may_name_a_data_source_itself(
    fake_notion: FakeNotion, notion_server: tuple[FakeNotion, str]
) -> None:
    fake_notion.schemas[SECOND] = {"Name": dict(TITLE)}
    todos = NotionTodos(NotionConnection(SecretStr(KEY), notion_server[1]), SECOND)

    await todos.add("ana", "Buy milk")

    assert [page["parent"]["data_source_id"] for page in fake_notion.pages.values()] == [SECOND]
    assert todos.name == "Notion"
    await todos.close()


@pytest.mark.parametrize(
    "written",
    [DATABASE.replace("-", ""), f"https://www.notion.so/team/To-Do-{DATABASE.replace('-', '')}?v=" + "f" * 32],
)
async def test_the_database_may_be_written_as_people_copy_it(
    fake_notion: FakeNotion, notion_server: tuple[FakeNotion, str], written: str
) -> None:
    todos = NotionTodos(NotionConnection(SecretStr(KEY), f"{notion_server[1]}/v1/"), written)

    assert await titles(todos) == []
    await todos.close()


@pytest.mark.parametrize("name", ["任务", "Name", "Task (what?)", "Título"])
async def test_the_title_is_found_whatever_it_is_called(todos: NotionTodos, fake_notion: FakeNotion, name: str) -> None:
    fake_notion.schemas[FIRST] = {"Done": dict(CHECKBOX), name: dict(TITLE)}

    await todos.add("ana", "Buy milk")

    assert await titles(todos) == ["Buy milk"]


async def test_rows_of_all_pages_are_read_without_those_in_the_trash(
    todos: NotionTodos, fake_notion: FakeNotion
) -> None:
    for number in range(150):
        fake_notion.row(f"task {number}", trashed=number < 10)

    found = await titles(todos)

    assert len(found) == 140
    assert "task 137" in found
    assert "task 3" not in found
    assert sum("query" in asked for asked in fake_notion.asked) == 2


@pytest.mark.parametrize(
    ("column", "done", "opened"),
    [
        (STATUS, "Done", "Not started"),
        (states("status", "À faire", "En cours", "Terminé", last_group="Terminé"), "Terminé", "À faire"),
        (states("status", "未开始", "已取消", "完成", complete=2), "完成", "未开始"),
        (states("select", "To Do", "Done"), "Done", "To Do"),
        (states("select", "待办", "已完成"), "已完成", "待办"),
        (CHECKBOX, True, False),
    ],
)
async def test_a_to_do_is_ticked_off_by_the_column_that_tells_done(
    todos: NotionTodos, fake_notion: FakeNotion, column: Schema, done: str | bool, opened: str | bool
) -> None:
    fake_notion.schemas[FIRST] = {"Name": dict(TITLE), "Marke": column}
    milk = fake_notion.row("Buy milk")
    fake_notion.row("Call Ben")

    await todos.complete("ana", milk)
    assert fake_notion.value(milk, "Marke") == done
    assert await titles(todos) == ["Call Ben"]
    assert [todo.is_done for todo in await todos.list("ana", with_done=True)] == [True, False]

    await todos.complete("ana", milk, done=False)
    assert fake_notion.value(milk, "Marke") == opened
    assert await titles(todos) == ["Buy milk", "Call Ben"]


async def test_a_to_do_gets_the_very_state_back_that_it_had(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    milk = fake_notion.row("Buy milk", Status="In progress")
    [before] = await todos.list("ana")

    await todos.complete("ana", milk)
    await todos.complete("ana", milk, done=False, state=before.state)

    assert fake_notion.value(milk, "Status") == "In progress"


@pytest.mark.parametrize(
    ("schema", "chosen"),
    [
        ({"Wichtig": CHECKBOX, "Erledigt": CHECKBOX}, "Erledigt"),
        ({"Priority": states("select", "High", "Low"), "Tick": CHECKBOX}, "Tick"),
        ({"Tick": CHECKBOX, "Status": STATUS}, "Status"),
        ({"Kind": states("select", "Finished goods", "Done"), "Status": STATUS}, "Status"),
    ],
)
async def test_the_column_is_chosen_with_care(
    todos: NotionTodos, fake_notion: FakeNotion, schema: Schema, chosen: str
) -> None:
    fake_notion.schemas[FIRST] = {"Name": dict(TITLE), **schema}
    milk = fake_notion.row("Buy milk")

    before = {name: fake_notion.value(milk, name) for name in schema}
    await todos.complete("ana", milk)

    assert [name for name in schema if fake_notion.value(milk, name) != before[name]] == [chosen]


@pytest.mark.parametrize(
    "schema", [{}, {"Urgent": CHECKBOX, "Shared": CHECKBOX}, {"Priority": states("select", "High", "Low")}]
)
async def test_where_nothing_tells_done_nothing_is_ticked(
    todos: NotionTodos, fake_notion: FakeNotion, schema: Schema
) -> None:
    fake_notion.schemas[FIRST] = {"Name": dict(TITLE), **schema}
    milk = fake_notion.row("Buy milk")

    assert await titles(todos) == ["Buy milk"]
    with pytest.raises(ServiceFailed, match="nothing can be ticked off"):
        await todos.complete("ana", milk)
    assert not any(asked.startswith("PATCH") for asked in fake_notion.asked)


async def test_what_is_deleted_lies_in_the_trash_and_comes_back(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    milk = fake_notion.row("Buy milk", Status="In progress")

    await todos.delete("ana", milk)
    assert fake_notion.pages[milk]["in_trash"]
    assert await titles(todos) == []

    assert (await todos.restore("ana", milk)).title == "Buy milk"
    assert await titles(todos) == ["Buy milk"]


async def test_only_trashed_rows_of_this_database_are_brought_back(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    fake_notion.schemas[SECOND] = {"Name": dict(TITLE)}
    foreign = fake_notion.row("somebody's secret", trashed=True, source=SECOND)
    listed = fake_notion.row("Buy milk")

    for page in (foreign, listed, "cccccccc-cccc-cccc-cccc-cccccccccccc"):
        with pytest.raises(NotFound):
            await todos.restore("ana", page)
    assert fake_notion.pages[foreign]["in_trash"]


async def test_an_id_that_is_no_id_reaches_no_other_address(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    for change in (todos.delete, todos.complete, todos.restore):
        with pytest.raises((NotFound, ServiceFailed)):
            await change("ana", "../databases/x")
    assert not any("databases/x" in asked for asked in fake_notion.asked)


async def test_a_long_note_is_written_in_order_a_hundred_paragraphs_at_a_time(
    todos: NotionTodos, fake_notion: FakeNotion
) -> None:
    lines = [f"line {number}" for number in range(191)]

    todo = await todos.add("ana", "Plan", "\n".join(lines))

    assert fake_notion.blocks[todo.id] == lines
    assert fake_notion.block_counts == [100, 91]


@pytest.mark.parametrize("note", ["x" * 9_999, "🥛" * 5_000, "a\n\nb", ""])
async def test_a_note_of_any_shape_arrives_whole(todos: NotionTodos, fake_notion: FakeNotion, note: str) -> None:
    todo = await todos.add("ana", "Plan", note)

    assert "\n".join(fake_notion.blocks[todo.id]) == note


async def test_a_note_that_breaks_off_leaves_no_half_to_do(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    fake_notion.fails = [Refusal(status=502, at="PATCH /blocks/")]

    with pytest.raises(ServiceFailed):
        await todos.add("ana", "Plan", "\n".join(["line"] * 150))

    assert await titles(todos) == []


@pytest.mark.parametrize("renamed", ["Aufgabe", "Task"])
async def test_columns_renamed_meanwhile_are_looked_up_anew(
    todos: NotionTodos, fake_notion: FakeNotion, renamed: str
) -> None:
    await todos.add("ana", "Buy milk")
    fake_notion.schemas[FIRST] = {renamed: dict(TITLE), "Stand": STATUS}
    fake_notion.pages.clear()

    await todos.add("ana", "Call Ben")

    assert await titles(todos) == ["Call Ben"]


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (Refusal(status=401, code="unauthorized"), "does not accept the key"),
        (Refusal(status=403, code="restricted_resource"), "allowed to read, insert and update"),
        (Refusal(status=404, code="object_not_found", at="/databases/"), "connect it there"),
        (Refusal(status=400, code="validation_error"), "did not take that"),
        (Refusal(status=409, code="conflict_error", at="POST"), "Try again"),
        (Refusal(status=500, code="internal_server_error", at="POST"), "could not do it just now"),
        (Refusal(status=502, raw="<html>Bad gateway</html>"), "could not do it just now"),
        (Refusal(status=418, code="teapot"), "could not do it just now"),
        (Refusal(status=200, raw="<html>Please log in</html>"), "no answer"),
        (Refusal(status=200, raw="[]"), "no answer"),
    ],
)
async def test_failures_are_told_in_words_that_help(
    todos: NotionTodos, fake_notion: FakeNotion, fails: Refusal, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    fake_notion.fails = [fails] * 4

    with caplog.at_level(logging.DEBUG), pytest.raises(ServiceFailed, match=told) as failed:
        await todos.add("ana", "Buy milk")

    assert "own words" not in failed.value.message
    assert "own words" not in caplog.text
    assert KEY not in caplog.text
    assert fake_notion.pages == {}


async def test_a_hurried_notion_is_asked_once_more(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    fake_notion.fails = [Refusal(status=429, code="rate_limited", headers={"retry-after": "0"}, at="POST /pages")]

    await todos.add("ana", "Buy milk")

    assert await titles(todos) == ["Buy milk"]


async def test_what_failed_on_notions_side_is_not_added_twice(todos: NotionTodos, fake_notion: FakeNotion) -> None:
    fake_notion.fails = [Refusal(status=503, code="service_unavailable", at="POST /pages")]

    with pytest.raises(ServiceFailed):
        await todos.add("ana", "Buy milk")

    assert fake_notion.asked.count("POST /pages") == 1


@pytest.mark.parametrize(
    ("schema", "database", "state", "what"),
    [
        ({"任务": TITLE, "Stand": STATUS}, DATABASE, State.FINE, "'任务' is the title, 'Stand' tells what is done"),
        ({"Name": TITLE}, DATABASE, State.NOTE, "nothing can be ticked off"),
        ({"Name": TITLE}, SECOND, State.PROBLEM, "connect it there"),
    ],
)
async def test_the_doctor_tells_which_columns_would_be_used(
    fake_notion: FakeNotion,
    notion_server: tuple[FakeNotion, str],
    settings: Settings,
    schema: Schema,
    database: str,
    state: State,
    what: str,
) -> None:
    fake_notion.schemas[FIRST] = schema
    keys = {"notion_api_key": SecretStr(KEY), "notion_base_url": notion_server[1], "notion_database_id": database}

    [check] = notion_checks(settings.model_copy(update=keys))
    [finding] = await check()

    assert finding.state is state
    assert what in finding.what
    assert notion_checks(settings) == []


async def test_a_notion_that_cannot_be_reached_is_told_as_such() -> None:
    todos = NotionTodos(NotionConnection(SecretStr(KEY), "http://127.0.0.1:1"), DATABASE)

    with pytest.raises(ServiceFailed, match="cannot be reached"):
        await todos.list("ana")
    await todos.close()


async def test_a_notion_that_hangs_is_left(fake_notion: FakeNotion, notion_server: tuple[FakeNotion, str]) -> None:
    fake_notion.seconds = 1.0
    todos = NotionTodos(NotionConnection(SecretStr(KEY), notion_server[1], seconds=0.2), DATABASE)

    with pytest.raises(ServiceFailed, match="took too long"):
        await todos.list("ana")
    await todos.close()
