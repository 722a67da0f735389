"""What the functions count: metrics that the alarms and the dashboard read."""

from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools import Metrics

from tertulia.domain.replies import Done, Receipt
from tertulia.entrypoints.telemetry import NAMESPACE, SERVICE, STAGE_METRICS, STAGES, measure_turn


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    counted = Metrics(namespace=NAMESPACE, service=SERVICE)
    counted.clear_metrics()
    yield counted
    counted.clear_metrics()


def done(**stages: int) -> Done:
    return Done(response="Yes.", conversation_id="c0", turn_id="t0", route=None, receipt=Receipt(stages=stages))


def test_the_stages_of_a_turn_are_metrics(metrics: Metrics) -> None:
    measure_turn("ana", done(first_token=120, total=900))
    told: dict[str, Any] = {**metrics.serialize_metric_set()}
    assert (told["FirstTokenMilliseconds"], told["TotalMilliseconds"]) == ([120.0], [900.0])
    assert "ana" not in str(told)
    assert told["service"] == SERVICE


def test_a_stage_that_nobody_looks_at_costs_nothing(metrics: Metrics) -> None:
    measure_turn("ana", done(thinking_of_england=1, total=900))
    assert set(metrics.metric_set) == {"TotalMilliseconds"}


def test_each_stage_has_a_metric_of_its_own() -> None:
    assert len(set(STAGE_METRICS.values())) == len(STAGES)
