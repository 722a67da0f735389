"""A turn is handed over when its execution has been started, whatever AWS does meanwhile."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from moto.core.exceptions import JsonRESTError
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.dynamodb_failed_executions import DynamoFailedExecutions
from tertulia.adapters.aws.step_functions import MOST_NAME_CHARACTERS, StateMachine, client, execution_name
from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp
from tertulia.domain.errors import NotConfigured, Unavailable
from tertulia.domain.turns import Conversation
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_turn
from tests.workflow.machine import Event, Machine, run_tasks_by

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

ULID_OF_A_TURN = "01jy8q5zv4m8w2d3e5f6g7h8jk"


@pytest.fixture
def talk(clock: FakeClock) -> Conversation:
    return Conversation(id="a1b2c3d4e5f60718", user=ME, created_at=clock.now(), updated_at=clock.now())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Return what the first task of each execution is given."""
    given: list[Event] = []

    def task(function: str, state: Event) -> Any:
        if function == "extract_memories":
            given.append(state)
        return {"is_due": False}

    run_tasks_by(task, monkeypatch)
    return given


@pytest.fixture
def sfn(after_turn: Machine) -> "SFNClient":
    return client()


@pytest.fixture
def failures(table: DynamoTable, after_turn: Machine, sfn: "SFNClient", clock: FakeClock) -> DynamoFailedExecutions:
    return DynamoFailedExecutions(table, {"after_turn": StateMachine(after_turn.arn, sfn)}, clock)


@pytest.fixture
def follow_up(after_turn: Machine, sfn: "SFNClient", failures: DynamoFailedExecutions) -> StepFunctionsFollowUp:
    return StepFunctionsFollowUp(StateMachine(after_turn.arn, sfn), failures, quiet_seconds=0)


def refuse(monkeypatch: pytest.MonkeyPatch, times: int, code: str) -> list[str]:
    """Have the next starts refused as AWS refuses them; return the names that were asked for."""
    asked: list[str] = []
    start = StepFunctionsParserBackend.start_execution

    def refusing(self: Any, state_machine_arn: str, name: str, *rest: Any, **named: Any) -> Any:
        asked.append(name)
        if len(asked) <= times:
            raise JsonRESTError(code, "Not now.")
        return start(self, state_machine_arn, name, *rest, **named)

    monkeypatch.setattr(StepFunctionsParserBackend, "start_execution", refusing)
    return asked


def lose_answers(sfn: "SFNClient", times: int) -> None:
    """Have the answers to the next starts lost after AWS has obeyed."""
    asked: list[Any] = []

    def answer(request: Any, **_: object) -> Any:
        asked.append(request)
        if len(asked) > times:
            return None
        return SimpleNamespace(status_code=503, headers={}, content=b"{}")

    sfn.meta.events.register_first("before-send.sfn.StartExecution", answer)


async def test_an_execution_is_named_after_its_conversation_and_turn_and_started_with_ids_alone(
    follow_up: StepFunctionsFollowUp, talk: Conversation, after_turn: Machine, started: list[Event]
) -> None:
    await follow_up.start(talk, a_turn(ULID_OF_A_TURN, text="My sister is called Ana.", answer="Nice."))

    name = f"{talk.id}-{ULID_OF_A_TURN}"
    assert after_turn.names() == [name]
    assert after_turn.ended(name)["status"] == "SUCCEEDED"
    assert started == [{"user": ME, "conversation_id": talk.id, "turn_id": ULID_OF_A_TURN, "quiet_seconds": 0}]


async def test_a_turn_handed_over_twice_is_followed_up_once_and_the_second_time_is_success(
    follow_up: StepFunctionsFollowUp, talk: Conversation, after_turn: Machine, started: list[Event]
) -> None:
    turn = a_turn(ULID_OF_A_TURN)
    await follow_up.start(talk, turn)
    await follow_up.start(talk, turn)
    after_turn.ended(f"{talk.id}-{ULID_OF_A_TURN}")

    await follow_up.start(talk, turn)

    assert len(after_turn.names()) == len(started) == 1


async def test_a_start_that_aws_throttles_is_tried_again(
    follow_up: StepFunctionsFollowUp,
    talk: Conversation,
    after_turn: Machine,
    started: list[Event],
    failures: DynamoFailedExecutions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = refuse(monkeypatch, 2, "ThrottlingException")

    await follow_up.start(talk, a_turn(ULID_OF_A_TURN))

    assert len(asked) == 3
    assert after_turn.ended(f"{talk.id}-{ULID_OF_A_TURN}")["status"] == "SUCCEEDED"
    assert await failures.failed() == []


async def test_a_start_whose_answer_is_lost_is_asked_for_again_and_happens_once(
    follow_up: StepFunctionsFollowUp,
    talk: Conversation,
    after_turn: Machine,
    sfn: "SFNClient",
    started: list[Event],
    failures: DynamoFailedExecutions,
) -> None:
    lose_answers(sfn, times=1)

    await follow_up.start(talk, a_turn(ULID_OF_A_TURN))

    assert after_turn.ended(f"{talk.id}-{ULID_OF_A_TURN}")["status"] == "SUCCEEDED"
    assert len(after_turn.names()) == len(started) == 1
    assert await failures.failed() == []


async def test_a_turn_that_could_not_be_handed_over_is_told_noted_and_started_by_command(
    follow_up: StepFunctionsFollowUp,
    talk: Conversation,
    after_turn: Machine,
    started: list[Event],
    failures: DynamoFailedExecutions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuse(monkeypatch, 1, "ExecutionLimitExceeded")

    with pytest.raises(Unavailable):
        await follow_up.start(talk, a_turn(ULID_OF_A_TURN))

    assert [(failure.turn_id, failure.step, failure.error) for failure in await failures.failed()] == [
        (ULID_OF_A_TURN, "after_turn", "unavailable")
    ]
    assert await failures.retry(ULID_OF_A_TURN)
    [name] = after_turn.names()
    assert after_turn.ended(name)["status"] == "SUCCEEDED"
    assert started[0]["turn_id"] == ULID_OF_A_TURN
    assert await failures.failed() == []


async def test_a_deployment_without_a_state_machine_notes_what_is_left_undone(
    failures: DynamoFailedExecutions, talk: Conversation
) -> None:
    follow_up = StepFunctionsFollowUp(StateMachine(None), failures, quiet_seconds=0)

    with pytest.raises(NotConfigured):
        await follow_up.start(talk, a_turn())

    assert [failure.error for failure in await failures.failed()] == ["not_configured"]


@pytest.mark.parametrize(
    "ids",
    [
        ("f" * 64, ULID_OF_A_TURN),
        ("a1b2", "a turn with blanks"),
        ("a1b2", 'evil":"<>{}[]?*#%\\^|~`$&,;:/'),
        ("a1b2", "対話"),
    ],
)
def test_ids_that_make_no_name_give_one_all_the_same(ids: tuple[str, str]) -> None:
    name = execution_name(*ids)

    assert name.isalnum()
    assert name.isascii()
    assert len(name) <= MOST_NAME_CHARACTERS
    assert name == execution_name(*ids)
    assert name != execution_name(ids[0], f"{ids[1]}2")
