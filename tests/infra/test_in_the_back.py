"""What nobody waits for: each way has a queue for what fails for good."""

import json

import pytest

from tertulia.adapters.aws.schedules import SOURCE
from tests.architecture.source_tree import CHECKOUT
from tests.infra.transformed import environment_of, resources, source

FAILURES = {"Fn::GetAtt": ["Failures", "Arn"]}
CALLED_IN_THE_BACK = ("RecordFailureFunction", "RemindFunction", "RetentionFunction", "DeviceUplinkFunction")
MOST_SECONDS = 1_209_600
"""SQS keeps a message 14 days and no longer."""


@pytest.mark.parametrize("function", CALLED_IN_THE_BACK)
def test_a_function_that_is_called_in_the_back_leaves_what_fails_in_a_queue(function: str) -> None:
    told = resources("AWS::Lambda::EventInvokeConfig")[f"{function}EventInvokeConfig"]["Properties"]
    assert told["DestinationConfig"] == {"OnFailure": {"Destination": FAILURES}}
    role = json.dumps(resources("AWS::IAM::Role")[f"{function}Role"])
    assert "sqs:SendMessage" in role


def test_every_rule_has_a_queue_for_what_it_cannot_deliver() -> None:
    rules = resources("AWS::Events::Rule")
    assert rules
    for rule in rules.values():
        for target in rule["Properties"]["Targets"]:
            assert target["DeadLetterConfig"] == {"Arn": FAILURES}
            assert target["RetryPolicy"]["MaximumRetryAttempts"] > 0


def test_every_schedule_has_a_queue_for_what_it_cannot_deliver() -> None:
    schedules = resources("AWS::Scheduler::Schedule")
    assert schedules
    for schedule in schedules.values():
        assert schedule["Properties"]["Target"]["DeadLetterConfig"] == {"Arn": FAILURES}


def test_rules_may_write_to_the_queue() -> None:
    (policy,) = resources("AWS::SQS::QueuePolicy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    allowed = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
    assert sorted(arn["Fn::GetAtt"][0] for arn in (allowed if isinstance(allowed, list) else [allowed])) == sorted(
        resources("AWS::Events::Rule")
    )


@pytest.mark.parametrize("path", ["template.yaml", "infra/devices.yaml"])
def test_a_queue_of_failures_keeps_them_as_long_as_can_be_and_encrypted(path: str) -> None:
    queues = resources("AWS::SQS::Queue", source(path))
    assert list(queues) == ["Failures"]
    assert queues["Failures"]["Properties"] == {"SqsManagedSseEnabled": True, "MessageRetentionPeriod": MOST_SECONDS}


def test_failed_late_and_ended_executions_of_every_machine_are_noted() -> None:
    rule = resources("AWS::Events::Rule")["RecordFailureFunctionFailed"]
    pattern = rule["Properties"]["EventPattern"]
    assert pattern["source"] == ["aws.states"]
    assert pattern["detail"]["status"] == ["FAILED", "TIMED_OUT", "ABORTED"]
    machines = sorted(resources("AWS::StepFunctions::StateMachine"))
    assert sorted(arn["Ref"] for arn in pattern["detail"]["stateMachineArn"]) == machines
    (target,) = rule["Properties"]["Targets"]
    assert target["Arn"] == {"Fn::GetAtt": ["RecordFailureFunction", "Arn"]}


def test_every_machine_is_a_standard_one_over_its_own_file_and_traced() -> None:
    machines = resources("AWS::StepFunctions::StateMachine")
    files = {resource["Properties"]["DefinitionS3Location"]["Key"] for resource in machines.values()}
    assert files == {f"infra/{path.name}" for path in CHECKOUT.glob("infra/*.asl.json")}
    for machine in machines.values():
        assert machine["Properties"]["StateMachineType"] == "STANDARD"
        assert machine["Properties"]["TracingConfiguration"] == {"Enabled": True}


def test_every_step_of_a_machine_is_a_function_of_the_stack() -> None:
    for machine in resources("AWS::StepFunctions::StateMachine").values():
        text = (CHECKOUT / machine["Properties"]["DefinitionS3Location"]["Key"]).read_text()
        steps = machine["Properties"]["DefinitionSubstitutions"]
        assert {f"${{{name}}}" for name in steps} == {f"${{{part.split('}')[0]}}}" for part in text.split("${")[1:]}
        assert {arn["Fn::GetAtt"][0] for arn in steps.values()} <= set(resources("AWS::Lambda::Function"))


def test_forgetting_runs_every_day_with_the_time_it_needs() -> None:
    (schedule,) = resources("AWS::Scheduler::Schedule").values()
    assert schedule["Properties"]["ScheduleExpression"].startswith("cron(")
    assert schedule["Properties"]["ScheduleExpression"].endswith("* * ? *)")
    assert schedule["Properties"]["Target"]["Arn"] == {"Fn::GetAtt": ["RetentionFunction", "Arn"]}
    assert resources("AWS::Lambda::Function")["RetentionFunction"]["Properties"]["Timeout"] == 900


def test_a_reminder_that_is_due_reaches_the_function_that_rings_it_on_its_own_stage_alone() -> None:
    rule = resources("AWS::Events::Rule")["RemindFunctionDue"]["Properties"]
    group = resources("AWS::Scheduler::ScheduleGroup")["Reminders"]["Properties"]["Name"]
    assert rule["EventPattern"] == {"source": [SOURCE], "detail-type": [group]}
    assert [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": ["RemindFunction", "Arn"]}]
    for function in ("ChatFunction", "VoiceFunction", "DeviceUplinkFunction", "RemindersFunction", "RemindFunction"):
        assert environment_of(function)["TERTULIA_REMINDERS_GROUP"] == group
        assert environment_of(function)["TERTULIA_REMINDERS_ROLE"] == {"Fn::GetAtt": ["RemindersRole", "Arn"]}


def test_the_role_of_schedules_may_put_events_on_the_bus_and_nothing_else() -> None:
    role = resources("AWS::IAM::Role")["RemindersRole"]["Properties"]
    ((statement,),) = [policy["PolicyDocument"]["Statement"] for policy in role["Policies"]]
    assert statement["Action"] == "events:PutEvents"
    assert statement["Resource"] == environment_of("RemindFunction")["TERTULIA_REMINDERS_BUS"]
