"""The shipped state machines with the built functions as their tasks, each in processes of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.dynamodb_conversations import DynamoConversations
from tertulia.adapters.aws.dynamodb_failed_executions import DynamoFailedExecutions
from tertulia.adapters.aws.dynamodb_memories import DynamoMemoryRecords
from tertulia.adapters.aws.recordings import AwsRecordings
from tertulia.adapters.aws.s3 import object_key
from tertulia.adapters.aws.step_functions import StateMachine
from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp, StepFunctionsRecordings
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.adapters.mirrored_memories import MirroredMemories
from tertulia.domain.recordings import Recording
from tertulia.domain.turns import Conversation, Turn
from tests.fakes.embedder import WordEmbedder
from tests.fakes.kept_turns import NOON, a_turn
from tests.fakes.vendor import Answer, Chatted, Failure, Heard
from tests.lambdas.cloud import LocalCloud
from tests.sounds import tone, wav
from tests.workflow.listening_model import Listener
from tests.workflow.machine import MOST_STATE_BYTES, Machine, state_sizes

TEA, LISBON = "I like tea. Where do I find some?", "I live in Lisbon."


@dataclass
class Vendor:
    """Groq, as a listener lets it answer, and how often it fails first."""

    listener: Listener
    failures: list[Failure]

    def __call__(self, body: Mapping[str, Any]) -> Chatted:
        told, shown = (_text(body["messages"][place]["content"]) for place in (0, -1))
        if "<conversation>" in shown and self.failures:
            return self.failures.pop(0)
        return Answer(pieces=(self.listener.says(told, shown),))


def _text(content: str | list[Mapping[str, str]]) -> str:
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


class Workflows:
    """A user of the deployment, whose turns are handed over as its functions hand them over."""

    def __init__(self, cloud: LocalCloud) -> None:
        self.user, clock, sfn = f"user-{uuid4().hex[:8]}", SystemClock(), cloud.client("stepfunctions")
        self.table = DynamoTable(cloud.outputs["Table"], cloud.client("dynamodb"))
        self.after_turn, self.recording = (Machine(cloud.outputs[name], sfn) for name in ("AfterTurn", "Recording"))
        turns, recordings = StateMachine(self.after_turn.arn, sfn), StateMachine(self.recording.arn, sfn)
        self.failures = DynamoFailedExecutions(self.table, {"after_turn": turns, "recording": recordings}, clock)
        self.conversations = DynamoConversations(self.table, clock)
        self.memories = MirroredMemories(DynamoMemoryRecords(self.table, clock), WordEmbedder(), clock)
        self.recordings = AwsRecordings(self.table, cloud.outputs["Files"], cloud.client("s3"))
        self.record = StepFunctionsRecordings(recordings, self.failures).start
        self._turns = turns

    async def talk(self, turns: Sequence[Turn], quiet_seconds: int = 0, handed_over: int | None = None) -> Conversation:
        """Hold a conversation, and hand over its turns, or the last of them."""
        conversation = await self.conversations.open(self.user, None)
        follow_up = StepFunctionsFollowUp(self._turns, self.failures, quiet_seconds)
        for place, turn in enumerate(turns):
            await self.conversations.append(conversation, turn)
            if handed_over is None or place >= len(turns) - handed_over:
                await follow_up.start(conversation, turn)
        return conversation


@pytest.fixture
def vendor(local_cloud: LocalCloud) -> Iterator[Vendor]:
    answering = Vendor(Listener(), [])
    before, local_cloud.vendor.chat = local_cloud.vendor.chat, answering
    yield answering
    local_cloud.vendor.chat = before
    local_cloud.vendor.forget()


@pytest.fixture
def workflows(local_cloud: LocalCloud) -> Workflows:
    return Workflows(local_cloud)


def some_turns(*texts: str) -> list[Turn]:
    return [a_turn(uuid4().hex, place, text=text) for place, text in enumerate(texts, start=1)]


def succeeded(machine: Machine, execution: str) -> None:
    ended = machine.ended(execution, 120)
    assert ended["status"] == "SUCCEEDED", ended.get("cause")


async def test_two_turns_are_remembered_and_summarized(workflows: Workflows, vendor: Vendor) -> None:
    turns = some_turns(TEA, LISBON)
    conversation = await workflows.talk(turns)

    for turn in turns:
        succeeded(workflows.after_turn, f"{conversation.id}-{turn.id}")
    kept = await workflows.conversations.get(workflows.user, conversation.id)
    assert kept.title == "Talk about I like tea"
    assert [item.text for item in kept.action_items] == ["Buy tea"]
    assert {memory.content for memory in await workflows.memories.list(workflows.user)} == {
        "I like tea",
        "I live in Lisbon",
    }


async def test_one_turn_is_not_summarized_and_a_burst_is_once(workflows: Workflows, vendor: Vendor) -> None:
    [alone] = some_turns(TEA)
    short = await workflows.talk([alone])
    burst = some_turns(*(f"Word {place}." for place in range(4)))
    long = await workflows.talk(burst, quiet_seconds=3)

    for conversation, turn in [(short, alone), *((long, turn) for turn in burst)]:
        succeeded(workflows.after_turn, f"{conversation.id}-{turn.id}")
    assert (await workflows.conversations.get(workflows.user, short.id)).summarized_at is None
    assert len(vendor.listener.digests) == 1
    assert (await workflows.conversations.get(workflows.user, long.id)).overview.endswith("Word 3..")


async def test_a_vendor_that_is_down_for_a_while_delays_a_summary_and_no_more(
    workflows: Workflows, vendor: Vendor
) -> None:
    vendor.failures += [Failure(status=503)] * 4
    turns = some_turns(TEA, LISBON)
    conversation = await workflows.talk(turns, handed_over=1)

    succeeded(workflows.after_turn, f"{conversation.id}-{turns[-1].id}")
    assert vendor.failures == []
    assert (await workflows.conversations.get(workflows.user, conversation.id)).overview


async def test_a_failure_is_recorded_listed_and_run_again_by_command(
    local_cloud: LocalCloud, workflows: Workflows, vendor: Vendor
) -> None:
    vendor.failures.append(Failure(status=401, code="invalid_api_key"))
    turns = some_turns(TEA, LISBON)
    conversation = await workflows.talk(turns, handed_over=1)
    name = f"{conversation.id}-{turns[-1].id}"
    ended = workflows.after_turn.ended(name, 120)
    assert ended["status"] == "FAILED"
    told = {key: ended.get(key) for key in ("name", "status", "input", "error", "cause", "stateMachineArn")}
    for _ in range(2):
        local_cloud.invoke("RecordFailureFunction", {"source": "aws.states", "detail": told})

    [row] = [row for row in json.loads(followup(local_cloud, "list", "--json")) if row["user"] == workflows.user]
    assert (row["turn_id"], row["step"], row["error"]) == (turns[-1].id, "after_turn", "model_key")
    followup(local_cloud, "retry", turns[-1].id)

    succeeded(workflows.after_turn, f"{name}-retry-1")
    assert (await workflows.conversations.get(workflows.user, conversation.id)).overview
    assert workflows.user not in followup(local_cloud, "list", "--json")


def followup(cloud: LocalCloud, *arguments: str) -> str:
    """Run the command as an operator does, with names of the deployment in the environment."""
    environment = {
        **cloud.environment,
        "TERTULIA_PROFILE": "aws",
        "TERTULIA_TABLE_NAME": cloud.outputs["Table"],
        "TERTULIA_AFTER_TURN_ARN": cloud.outputs["AfterTurn"],
    }
    command = [str(Path(sys.executable).with_name("tertulia")), "followup", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("text", "count"),
    [("All work and no play. " * 450, 32), ("你" * 10_000, 9)],
    ids=["300 KB", "90,000 Chinese characters"],
)
async def test_a_very_long_conversation_is_summarized_within_the_limits_of_a_state(
    workflows: Workflows, vendor: Vendor, text: str, count: int
) -> None:
    turns = some_turns(*[text] * count)
    conversation = await workflows.talk(turns, handed_over=1)
    name = f"{conversation.id}-{turns[-1].id}"

    succeeded(workflows.after_turn, name)
    assert max(state_sizes(workflows.after_turn.history(name))) < 1_000 < MOST_STATE_BYTES
    kept = await workflows.conversations.get(workflows.user, conversation.id)
    assert kept.summarized_number == turns[-1].answer_number


async def test_a_turn_over_the_api_is_handed_over_once_before_it_is_done(
    local_cloud: LocalCloud, workflows: Workflows, vendor: Vendor
) -> None:
    headers = {"Authorization": f"Bearer {local_cloud.token_of(workflows.user)}"}
    body = {"text": "Hello there", "client_message_id": uuid4().hex}

    answers = [
        httpx.post(f"{local_cloud.url}/api/chat", json=body, headers=headers, timeout=60).json() for _ in range(2)
    ]

    assert answers[0]["turn_id"] == answers[1]["turn_id"], answers
    name = f"{answers[0]['conversation_id']}-{answers[0]['turn_id']}"
    assert workflows.after_turn.names().count(name) == 1
    arn = f"{workflows.after_turn.arn.replace(':stateMachine:', ':execution:')}:{name}"
    given = json.loads(workflows.after_turn.client.describe_execution(executionArn=arn)["input"])
    assert given == {
        "user": workflows.user,
        "conversation_id": answers[0]["conversation_id"],
        "turn_id": answers[0]["turn_id"],
        "quiet_seconds": 30,
    }
    workflows.after_turn.client.stop_execution(executionArn=arn)


async def test_a_recording_is_heard_and_summarized(
    local_cloud: LocalCloud, workflows: Workflows, vendor: Vendor
) -> None:
    local_cloud.vendor.hearings += [Heard(text="They talk about tea."), Heard(text="Then about Lisbon.")]
    file = wav(tone(1) * 310)
    kept = Recording(
        id=uuid4().hex,
        user=workflows.user,
        key="session.wav",
        size=len(file),
        created_at=NOON,
        conversation_id=uuid4().hex,
    )
    local_cloud.client("s3").put_object(
        Bucket=local_cloud.outputs["Files"], Key=object_key(workflows.user, kept.key), Body=file
    )
    await workflows.recordings.put(kept)
    await workflows.record(kept)

    succeeded(workflows.recording, kept.id)
    heard = await workflows.recordings.get(workflows.user, kept.id)
    assert [part.seconds for part in heard.parts] == [0, 300]
    assert heard.is_summarized
    assert heard.digest.title
    told = [await workflows.recordings.transcript(heard, place) for place in (0, 1)]
    assert {transcript.text for transcript in told if transcript} == {"They talk about tea.", "Then about Lisbon."}
