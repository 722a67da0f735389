"""What follows a turn, at the command line: done before it ends, listed where it failed, tried again on demand."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tertulia.assistant import Assistant
from tertulia.entrypoints.cli import main
from tertulia.settings import Settings
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import ScriptedModel, scripted_parts
from tests.unit.test_follow_up_runner import a_model

type Run = Callable[..., int]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("TERTULIA_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")

    def make(settings: Settings, model: ScriptedModel) -> Assistant:
        assistant = Assistant(settings, **{**scripted_parts(model), "embedder": WordEmbedder()})
        del assistant.__dict__["memories"]
        return assistant

    def run(*arguments: str, model: ScriptedModel | None = None) -> int:
        return main(arguments, lambda settings: make(settings, model or a_model()))

    return run


def memories(tmp_path: Path) -> list[str]:
    async def listed() -> list[str]:
        assistant = Assistant(Settings(data_dir=tmp_path), embedder=WordEmbedder())
        try:
            return [memory.content for memory in await assistant.memories.list("user-1")]
        finally:
            await assistant.close()

    return asyncio.run(listed())


def test_what_was_told_is_remembered_before_the_command_ends(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ask", "I like green tea") == 0
    assert capsys.readouterr().out == "Hello.\n"
    assert memories(tmp_path) == ["I like green tea"]


def test_a_follow_up_that_fails_spoils_no_answer(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ask", "I like green tea", model=ScriptedModel()) == 0
    assert capsys.readouterr() == ("Hello there.\n", "")


def test_nothing_failed_is_said_in_words_and_as_json(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("followup", "list") == 0
    assert "No follow-up has failed" in capsys.readouterr().err
    assert run("followup", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_what_failed_is_listed_and_tried_again(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ask", "I like green tea", model=ScriptedModel()) == 0
    asyncio.run(_give_up(tmp_path))
    capsys.readouterr()

    assert run("followup", "list", "--json") == 0
    [failure] = json.loads(capsys.readouterr().out)
    assert (failure["user"], failure["step"], failure["error"]) == ("user-1", "summary", "model_failed")
    assert run("followup", "list") == 0
    assert failure["turn_id"] in capsys.readouterr().out
    assert run("followup", "retry", failure["turn_id"]) == 0
    assert run("followup", "retry", failure["turn_id"]) == 1
    assert "No follow-up of this turn has failed" in capsys.readouterr().err


async def _give_up(tmp_path: Path) -> None:
    assistant = Assistant(Settings(data_dir=tmp_path))
    async with assistant.database.writing() as connection:
        await connection.execute(
            "UPDATE follow_up_jobs SET due_at = '2020' || substr(due_at, 5) WHERE kind = 'summary'"
        )
    job = await assistant.jobs.take()
    assert job
    await assistant.jobs.fail(replace(job, attempts=6, error="model_failed"))
    await assistant.close()
