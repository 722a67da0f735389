"""Logger, tracer and metrics of the functions. Neither events nor answers are logged or traced: they hold people's words."""

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from tertulia.domain.replies import Done

type Handling = Callable[[Any, LambdaContext], Any]
"""A Lambda handler: it gets whatever caused the call."""

NAMESPACE = "Tertulia"
SERVICE = "tertulia"
STAGES = ("transcribe", "recall", "route", "first_token", "model", "tools", "first_speech", "total")
"""Each is a metric of its own, and each metric costs."""
STAGE_METRICS = MappingProxyType({stage: f"{stage.title().replace('_', '')}Milliseconds" for stage in STAGES})
COST_METRIC = "CostMicrodollars"
"""What models cost; the alarm of cost and the dashboard read it."""
_ID = re.compile(r"[\w.=-]{1,128}")


def correlation_id(event: object, context: LambdaContext) -> str:
    """Return the id of a request: API Gateway's own, else Lambda's, and never one that a client sent."""
    # A header of the client's would be in every line of the log.
    gateway = event.get("requestContext") if isinstance(event, dict) else None
    request_id = gateway.get("requestId") if isinstance(gateway, dict) else None
    if isinstance(request_id, str) and _ID.fullmatch(request_id):
        return request_id
    return str(context.aws_request_id)


class Telemetry:
    """What is measured around every call of a function."""

    def __init__(self) -> None:
        self._logger = Logger(service=SERVICE)
        self._tracer = Tracer(service=SERVICE, patch_modules=["botocore"])
        self._metrics = Metrics(namespace=NAMESPACE, service=SERVICE)

    def around(self, handling: Handling, has_failed: Callable[[Any], bool] = lambda _: False) -> Handling:
        """Return the same handler with its measures taken; it has failed when it raises, or as its answer tells."""

        def counted(event: Any, context: LambdaContext) -> Any:
            self._logger.set_correlation_id(correlation_id(event, context))
            failures = 1
            try:
                answer = handling(event, context)
                failures = int(has_failed(answer))
            finally:
                self._metrics.add_metric("Requests", MetricUnit.Count, 1)
                self._metrics.add_metric("Failures", MetricUnit.Count, failures)
            return answer

        measured = self._metrics.log_metrics(counted, capture_cold_start_metric=True)
        traced = self._tracer.capture_lambda_handler(measured, capture_response=False, capture_error=False)
        # No correlation path: it is set above, from what no client can write.
        return self._logger.inject_lambda_context(traced, log_event=False)


def count(metric: str, value: float = 1) -> None:
    """Add to a metric of this call, which is written when the call ends."""
    Metrics(namespace=NAMESPACE, service=SERVICE).add_metric(metric, MetricUnit.Count, value)


def measure_cost(microdollars: int) -> None:
    """Add what a turn cost; the sum of a day has an alarm."""
    count(COST_METRIC, microdollars)


def measure_turn(_: str, done: Done) -> None:
    """Add how long the stages of a stored turn took."""
    metrics = Metrics(namespace=NAMESPACE, service=SERVICE)
    for stage, metric in STAGE_METRICS.items():
        if stage in done.receipt.stages:
            metrics.add_metric(metric, MetricUnit.Milliseconds, done.receipt.stages[stage])
