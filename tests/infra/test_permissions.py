"""Who may do what: each function only what it uses, and nothing may do everything."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.transformed import Resource, Template, environment_of, resources, source, transformed

MANAGED = {
    "AWSLambdaBasicExecutionRole": "writes logs; the transform attaches it to every function",
    "AWSXrayWriteOnlyAccess": "writes traces, which AWS allows for all resources only",
    "AWSXRayDaemonWriteAccess": "writes traces, which AWS allows for all resources only",
}
"""Policies of AWS itself that hold a `*`, each with the reason."""
KEYS = "ssm:GetParametersByPath"
WITHOUT_KEYS = (
    "AccountFunction",
    "AuthorizerFunction",
    "CutRecordingFunction",
    "HealthFunction",
    "LoadTurnsFunction",
    "RecordFailureFunction",
    "RemindFunction",
    "RemindersFunction",
)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(role: Resource) -> Iterator[Resource]:
    for policy in role["Properties"].get("Policies", []):
        yield from listed(policy["PolicyDocument"]["Statement"])


def roles(template: Template | None = None) -> dict[str, Resource]:
    return resources("AWS::IAM::Role", template)


def actions_of(function: str) -> set[str]:
    return {action for each in statements(roles()[f"{function}Role"]) for action in listed(each["Action"])}


ALL_ROLES = {**roles(), **roles(source("infra/devices.yaml")), **roles(source("infra/observability.yaml"))}


@pytest.mark.parametrize("name", sorted(ALL_ROLES))
def test_a_role_may_not_do_everything_and_nothing_to_everything(name: str) -> None:
    for statement in statements(ALL_ROLES[name]):
        assert statement["Effect"] == "Allow"
        assert not any("*" in action for action in listed(statement["Action"])), statement
        for resource in listed(statement["Resource"]):
            # What is not written out refers to one resource of this stack, or to a part of it.
            text = resource if isinstance(resource, str) else resource.get("Fn::Sub", "one")
            assert text.strip("*"), statement
            assert not text.startswith("arn:*"), statement


@pytest.mark.parametrize("name", sorted(ALL_ROLES))
def test_a_role_has_no_policy_of_others_but_the_known_ones(name: str) -> None:
    for managed in ALL_ROLES[name]["Properties"].get("ManagedPolicyArns", []):
        assert json.dumps(managed).split("/")[-1].strip('"}]') in MANAGED


@pytest.mark.parametrize("name", sorted(ALL_ROLES))
def test_a_role_is_for_one_service(name: str) -> None:
    (trusted,) = ALL_ROLES[name]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    (service,) = listed(trusted["Principal"]["Service"])
    assert service.endswith(".amazonaws.com")


def test_no_function_may_be_called_by_just_any_api_or_rule() -> None:
    for permission in resources("AWS::Lambda::Permission").values():
        assert permission["Properties"].get("SourceArn") or permission["Properties"].get("SourceAccount")


@pytest.mark.parametrize("function", WITHOUT_KEYS)
def test_a_function_without_models_cannot_read_the_keys_of_vendors(function: str) -> None:
    assert KEYS not in actions_of(function)
    assert "TERTULIA_SECRETS_PATH" not in environment_of(function)


def test_a_function_looks_for_keys_exactly_when_it_may() -> None:
    for function in resources("AWS::Lambda::Function"):
        assert ("TERTULIA_SECRETS_PATH" in environment_of(function)) == (KEYS in actions_of(function)), function


def test_only_those_that_take_turns_or_are_asked_for_summaries_start_follow_ups() -> None:
    starting = {name for name in resources("AWS::Lambda::Function") if "states:StartExecution" in actions_of(name)}
    assert starting == {"ChatFunction", "VoiceFunction", "DeviceUplinkFunction", "ConversationsFunction"}
    for function in starting:
        assert environment_of(function)["TERTULIA_AFTER_TURN_ARN"] == {"Ref": "AfterTurn"}


def is_of_answers(statement: Resource) -> bool:
    return listed(statement["Resource"]) == [{"Fn::Sub": "${Files.Arn}/answers/*"}]


def test_who_reads_files_learns_that_one_is_not_there() -> None:
    for function in resources("AWS::Lambda::Function"):
        # Answers are read by clients, who have the address of one that is there.
        of_files = [each for each in statements(roles()[f"{function}Role"]) if not is_of_answers(each)]
        actions = {action for each in of_files for action in listed(each["Action"])}
        assert "s3:GetObject" not in actions or "s3:ListBucket" in actions, function


def test_who_may_answer_at_length_puts_answers_aside_and_changes_none() -> None:
    told = {
        name: {action for each in statements(role) if is_of_answers(each) for action in listed(each["Action"])}
        for name, role in roles().items()
    }
    assert {name for name, actions in told.items() if actions} == {
        f"{name}FunctionRole" for name in ("Chat", "Conversations", "Tts", "Voice")
    }
    assert set.union(*told.values()) == {"s3:GetObject", "s3:PutObject"}


def test_speaking_touches_no_file_and_deletes_nothing() -> None:
    for statement in statements(roles()["TtsFunctionRole"]):
        actions = listed(statement["Action"])
        assert is_of_answers(statement) or not any(action.startswith("s3:") for action in actions)
        assert not any("Delete" in action for action in actions)


def test_what_only_looks_cannot_write() -> None:
    assert actions_of("LoadTurnsFunction") == {"dynamodb:GetItem", "dynamodb:Query"}


def test_the_authorizer_sees_tokens_and_sessions_and_no_conversation() -> None:
    for statement in statements(roles()["AuthorizerFunctionRole"]):
        (keys,) = (condition["dynamodb:LeadingKeys"] for condition in statement["Condition"].values())
        assert not any(key.startswith("USER#") or key == "*" for key in keys)


def test_a_state_machine_may_call_its_own_steps_and_nothing_else() -> None:
    for name, machine in resources("AWS::StepFunctions::StateMachine").items():
        steps = machine["Properties"]["DefinitionSubstitutions"].values()
        allowed = [
            each for each in statements(roles()[f"{name}Role"]) if listed(each["Action"]) == ["lambda:InvokeFunction"]
        ]
        assert sorted(map(str, (arn for each in allowed for arn in listed(each["Resource"])))) == sorted(
            map(str, steps)
        )


def test_the_table_is_read_in_items_and_queries_and_never_as_a_whole() -> None:
    assert "dynamodb:Scan" not in json.dumps(transformed())
