"""`tertulia followup` against the cloud: only names and ids are in the environment, as an operator has them."""

import asyncio
import json

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import ModelKey
from tertulia.entrypoints.cli import main
from tests.fakes.kept_turns import ME, a_turn
from tests.workflow.cloud import Cloud


async def test_an_operator_lists_what_failed_in_the_cloud_and_has_it_run_again(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERTULIA_PROFILE", "aws")
    monkeypatch.setenv("TERTULIA_AFTER_TURN_ARN", cloud.machine.arn)
    cloud.listener.failures.append(ModelKey())
    conversation = await cloud.talk(ME, [a_turn("t1", 1), a_turn("t2", 2)])
    name = f"{conversation.id}-t2"
    cloud.functions("record_failure", cloud.failure(name))
    cloud.machine.ended(f"{conversation.id}-t1")
    capsys.readouterr()

    assert await followup("list", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["user"], row["turn_id"], row["step"], row["error"]) == (ME, "t2", "after_turn", "model_key")

    assert await followup("retry", "t2") == 0
    assert cloud.machine.ended(f"{name}-retry-1")["status"] == "SUCCEEDED"
    assert (await cloud.assistant.conversations.get(ME, conversation.id)).overview
    capsys.readouterr()

    assert await followup("list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
    assert await followup("retry", "t2") == 1


async def followup(*arguments: str) -> int:
    return await asyncio.to_thread(main, ["followup", *arguments], Assistant)
