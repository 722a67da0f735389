"""`tertulia user` and `tertulia token`: what they print, and what their tokens open."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tertulia.assistant import Assistant
from tertulia.entrypoints.cli import main
from tertulia.entrypoints.http.context import Surroundings
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.scripted import scripted_parts
from tests.http.clients import client_of

type Run = Callable[..., int]
type Said = pytest.CaptureFixture[str]


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command over the data folder of `settings`, whose assistants a test may ask too."""
    monkeypatch.setenv("TERTULIA_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: main(arguments, lambda found: Assistant(found, **scripted_parts()))


def test_a_new_user_gets_a_token_on_stdout_and_nothing_else_goes_there(run: Run, capsys: Said) -> None:
    assert run("user", "add", "ana") == 0
    said = capsys.readouterr()
    assert re.fullmatch(r"tertulia_[\w-]{43}\n", said.out)
    assert "ana" in said.err
    assert said.out.strip() not in said.err


def test_users_are_listed_the_owner_first(run: Run, capsys: Said) -> None:
    for name in ("zoe", "ana", "Zoë"):
        assert run("user", "add", name) == 0
    capsys.readouterr()
    assert run("user", "list") == 0
    assert capsys.readouterr().out == "user-1\nZoë\nana\nzoe\n"
    assert run("user", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == ["user-1", "Zoë", "ana", "zoe"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("user", "add", "user-1"), "There is a user user-1 already."),
        (("user", "add", "a b"), "A user's name is"),
        (("user", "add", ""), "A user's name is"),
        (("user", "add", "x" * 65), "A user's name is"),
        (("user", "add", "a/../b"), "A user's name is"),
        (("token", "add", "phone", "--user", "nobody"), "tertulia user add nobody"),
        (("token", "list", "--user", "nobody"), "tertulia user add nobody"),
        (("token", "add", " "), "A token's name is"),
        (("token", "revoke", "0123456789abcdef"), "no such thing"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run: Run, capsys: Said, arguments: tuple[str, ...], said: str) -> None:
    assert run(*arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_user_is_added_once(run: Run, capsys: Said) -> None:
    assert run("user", "add", "ana") == 0
    assert run("user", "add", "ana") == 1
    assert "There is a user ana already." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("user",), ("token",), ("token", "add"), ("token", "add", "a", "-s", "all")])
def test_wrong_use_shows_how(run: Run, capsys: Said, arguments: tuple[str, ...]) -> None:
    assert run(*arguments) == 2
    said = capsys.readouterr()
    assert "Usage:" in said.out + said.err


@pytest.mark.parametrize(
    "arguments", [("user", "add"), ("user", "list"), ("token", "add"), ("token", "list"), ("token", "revoke")]
)
def test_help_shows_examples(run: Run, capsys: Said, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, "--help") == 0
    assert f"tertulia {' '.join(arguments)}" in capsys.readouterr().out.split("Examples:")[1]


def test_a_token_is_made_listed_and_revoked(run: Run, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("token", "add", "phone", "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["user"], made["name"], made["scopes"]) == ("user-1", "phone", "read turns")
    assert run("token", "list", "--json") == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert listed == {name: value for name, value in made.items() if name not in {"user", "token"}}
    monkeypatch.setenv("COLUMNS", "40")
    assert run("token", "list") == 0
    assert made["id"] in capsys.readouterr().out
    assert run("token", "revoke", made["id"]) == 0
    assert run("token", "revoke", made["id"]) == 1
    capsys.readouterr()
    assert run("token", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_token_of_one_user_cannot_be_revoked_as_anothers(run: Run, capsys: Said) -> None:
    run("user", "add", "ana", "--json")
    token_id = json.loads(capsys.readouterr().out)["id"]
    assert run("token", "revoke", token_id) == 1
    assert run("token", "revoke", token_id, "--user", "ana") == 0


async def test_what_the_commands_make_and_revoke_counts_for_a_running_server(
    run: Run, capsys: Said, make_assistant: MakeAssistant, tmp_path: Path
) -> None:
    async with client_of(make_assistant(), Surroundings(users={"of-the-owner": "user-1"})) as client:
        assert await asyncio.to_thread(run, "user", "add", "ana", "--json") == 0
        made = json.loads(capsys.readouterr().out)
        ana = {"Authorization": f"Bearer {made['token']}"}
        assert (await client.get("/api/me", headers=ana)).json()["user_id"] == "ana"
        assert (await client.post("/api/chat", headers=ana, json={"text": "Hello"})).status_code == 200
        assert await asyncio.to_thread(run, "token", "revoke", made["id"], "-u", "ana") == 0
        assert (await client.get("/api/me", headers=ana)).status_code == 401
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or made["token"].encode() not in file.read_bytes()
