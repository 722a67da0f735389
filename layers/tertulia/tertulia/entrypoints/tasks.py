"""The way in for what nobody waits for: steps of workflows, schedules, queues, device messages, and the authorizer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidRequest, TertuliaError, Unavailable
from tertulia.domain.prompts import Json
from tertulia.entrypoints import cloud
from tertulia.entrypoints.telemetry import Handling

type Event = dict[str, Any]
"""What a task gets: ids and settings, a JSON object."""
type Work = Callable[[Assistant, Event], Awaitable[Json]]
"""A task."""

NOT_AN_OBJECT: Final = "A task gets a JSON object."

logger = logging.getLogger(__name__)


class Retryable(Exception):
    """The task failed, and trying again helps; Step Functions retries by this name."""


class Refused(Exception):
    """The task failed, and trying again does not help; Step Functions fails by this name."""


class Defect(Exception):
    """The task failed in a way that nobody foresaw; the log says more."""


def task_handler(work: Work) -> Handling:
    """Return the Lambda handler of a task; its failures are Retryable, Refused or Defect, and hold no words of people."""

    def handling(event: object, context: LambdaContext) -> Json:
        return _run(work, event, context)

    return _measured(handling)


def queue_handler(work: Work) -> Handling:
    """Return the Lambda handler of a queue: each message is a task, and those that fail come again by themselves."""

    def handling(event: object, context: LambdaContext) -> PartialItemFailureResponse:
        def on_message(record: SQSRecord) -> Json:
            return _run(work, _message(record), context)

        records = event.get("Records") if isinstance(event, dict) else None
        if not isinstance(records, list):
            logger.error("a queue's function got an event without records")
            raise Refused(InvalidRequest.__name__)
        # Failing as a whole would hide which messages failed.
        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        with processor(records, on_message, context):
            processor.process()
        return processor.response()

    return _measured(handling, lambda answer: bool(answer["batchItemFailures"]))


def _measured(handling: Handling, has_failed: Callable[[Any], bool] = lambda _: False) -> Handling:
    measured: WeakKeyDictionary[cloud.Environment, Handling] = WeakKeyDictionary()

    def handler(event: object, context: LambdaContext) -> Any:
        environment = cloud.environment()
        if environment not in measured:
            measured[environment] = environment.telemetry.around(handling, has_failed)
        return measured[environment](event, context)

    return handler


def _message(record: SQSRecord) -> object:
    try:
        return record.json_body
    except ValueError:
        return None


def _run(work: Work, event: object, context: LambdaContext) -> Json:
    environment, seconds = cloud.environment(), cloud.seconds_left(context)
    try:
        return environment.run(_in_time(work, environment.assistant, event, seconds), seconds)
    except TertuliaError as error:
        # Named in its own words, which are the same for everyone: the message is shown in the history of executions.
        logger.warning("a task failed: %s", error.code)
        raise (Retryable if error.retryable else Refused)(type(error).__name__) from None
    except Exception as error:
        logger.exception("a task failed in a defect", exc_info=error)
        raise Defect(type(error).__name__) from None


async def _in_time(work: Work, assistant: Assistant, event: object, seconds: float) -> Json:
    if not isinstance(event, dict):
        raise InvalidRequest(NOT_AN_OBJECT)
    try:
        async with asyncio.timeout(seconds) as limit:
            return await work(assistant, event)
    except TimeoutError as error:
        if limit.expired():
            raise Unavailable from error
        raise
