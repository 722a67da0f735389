"""What a person is told, and what they can look at."""

import json
import re
from typing import Any

import pytest

from tertulia.entrypoints import telemetry
from tests.infra.transformed import Resource, resources, source

STACK = source("infra/observability.yaml")
ALARMS = resources("AWS::CloudWatch::Alarm", STACK)


def metrics_of(alarm: Resource) -> set[tuple[str, str]]:
    properties = alarm["Properties"]
    if "MetricName" in properties:
        return {(properties["Namespace"], properties["MetricName"])}
    told = (each["MetricStat"]["Metric"] for each in properties["Metrics"] if "MetricStat" in each)
    return {(each["Namespace"], each["MetricName"]) for each in told}


WATCHED = {
    "RequestsFail": {("AWS/ApiGateway", "5XXError")},
    "FunctionsAreThrottled": {("AWS/Lambda", "Throttles")},
    "TableIsThrottled": {("AWS/DynamoDB", "ReadThrottleEvents"), ("AWS/DynamoDB", "WriteThrottleEvents")},
    "SomethingIsLeftBehind": {("AWS/SQS", "ApproximateNumberOfMessagesVisible")},
    "DeviceMessagesAreLeftBehind": {("AWS/SQS", "ApproximateNumberOfMessagesVisible")},
    "WorkflowsFail": {("AWS/States", f"Executions{how}") for how in ("Failed", "TimedOut", "Aborted")},
    "KeepersFail": {("AWS/Lambda", "Errors")},
    "SpendIsHigh": {("Tertulia", "CostMicrodollars")},
}


def test_what_a_person_must_act_on_has_an_alarm() -> None:
    assert {name: metrics_of(alarm) for name, alarm in ALARMS.items()} == WATCHED


@pytest.mark.parametrize("name", sorted(ALARMS))
def test_an_alarm_tells_somebody_and_is_quiet_when_nothing_happens(name: str) -> None:
    properties = ALARMS[name]["Properties"]
    assert properties["AlarmActions"] == [{"Ref": "Alarms"}]
    assert properties["TreatMissingData"] == "notBreaching"
    assert len(properties["AlarmDescription"]) > 20


def test_the_alarm_of_cost_rings_before_turns_are_refused() -> None:
    properties = ALARMS["SpendIsHigh"]["Properties"]
    share, cost = properties["Metrics"]
    assert cost["MetricStat"]["Period"] == 86_400
    microdollars, cap = 4_200_000, 5
    told = re.sub(r"\$\{DailySpendUsd\}", str(cap), share["Expression"]["Fn::Sub"]).replace("cost", str(microdollars))
    microdollars_to_percent = [float(part) for part in told.split("/")]
    assert (
        microdollars_to_percent[0] / microdollars_to_percent[1] / microdollars_to_percent[2]
        == 84
        > properties["Threshold"]
    )


def widgets() -> list[dict[str, Any]]:
    (dashboard,) = resources("AWS::CloudWatch::Dashboard", STACK).values()
    return list(json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])["widgets"])


def test_the_dashboard_shows_latency_by_stage_errors_cost_and_queue_age() -> None:
    shown = json.dumps(widgets())
    for metric in (*telemetry.STAGE_METRICS.values(), "5XXError", "CostMicrodollars", "ApproximateAgeOfOldestMessage"):
        assert metric in shown
    assert all(widget["properties"]["title"] for widget in widgets())


def test_widgets_do_not_lie_over_each_other() -> None:
    places = {
        (x, y)
        for w in widgets()
        for x in range(w["x"], w["x"] + w["width"])
        for y in range(w["y"], w["y"] + w["height"])
    }
    assert len(places) == sum(widget["width"] * widget["height"] for widget in widgets())
    assert max(x for x, _ in places) < 24


def test_every_metric_of_ours_is_counted_by_the_code() -> None:
    # Once where the dashboard names the namespace; after that a point repeats it.
    shown = set(re.findall(r'"(\w+Milliseconds|CostMicrodollars)"', json.dumps([ALARMS, widgets()])))
    assert shown == {*telemetry.STAGE_METRICS.values(), telemetry.COST_METRIC}


def test_what_is_used_of_the_main_stack_is_given() -> None:
    stack = resources("AWS::CloudFormation::Stack")["Observability"]
    assert set(stack["Properties"]["Parameters"]) == set(STACK["Parameters"])
