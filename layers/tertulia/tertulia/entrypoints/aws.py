"""The way in on Lambda: one assistant and one event loop for each execution environment, warm from call to call."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities import parameters
from fastapi import APIRouter
from mangum import Mangum
from mangum.adapter import DEFAULT_TEXT_MIME_TYPES
from mangum.types import LambdaContext

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.app import create_app
from tertulia.settings import Settings, SettingsError
from tertulia.variables import names_of

SECONDS_TO_ANSWER = 1.0
"""What is left of the deadline for the response itself when work that goes on has to be ended."""
_TEXTS = [*DEFAULT_TEXT_MIME_TYPES, "application/problem+json"]

type Event = dict[str, Any]
type Answering = Callable[[Event, LambdaContext], Event]


class Telemetry:
    """Logger, tracer and metrics. Neither events nor answers are logged or traced: they hold people's words."""

    def __init__(self) -> None:
        self._logger = Logger(service="tertulia")
        self._tracer = Tracer(service="tertulia", patch_modules=["botocore"])
        self._metrics = Metrics(namespace="Tertulia", service="tertulia")

    def around(self, answering: Answering) -> Answering:
        """Return the same with its measures taken."""

        def counted(event: Event, context: LambdaContext) -> Event:
            response = answering(event, context)
            self._metrics.add_metric("Requests", MetricUnit.Count, 1)
            self._metrics.add_metric(
                "Failures", MetricUnit.Count, int(response["statusCode"] >= HTTPStatus.INTERNAL_SERVER_ERROR)
            )
            return response

        measured = self._metrics.log_metrics(counted, capture_cold_start_metric=True)
        traced = self._tracer.capture_lambda_handler(measured, capture_response=False, capture_error=False)
        # No correlation path: whatever a client puts into a header would be in every line.
        return self._logger.inject_lambda_context(traced, log_event=False)


@dataclass(frozen=True, eq=False)
class HttpHandler:
    """A Lambda function that serves the routes of some routers, and loads only what these need."""

    routers: tuple[APIRouter, ...]

    def __call__(self, event: Event, context: LambdaContext) -> Event:
        """Answer an event of API Gateway, of a REST API or an HTTP API."""
        return environment().answer(self, event, context)


class Environment:
    """What lives as long as the execution environment."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.loop = asyncio.new_event_loop()
        self._telemetry = Telemetry()
        self._answering: dict[HttpHandler, Answering] = {}

    def answer(self, handler: HttpHandler, event: Event, context: LambdaContext) -> Event:
        """Answer an event by the routes of a handler."""
        # Mangum runs the application in whatever loop is the current one; clients and turns are tied to theirs.
        asyncio.set_event_loop(self.loop)
        if handler not in self._answering:
            self._answering[handler] = self._telemetry.around(self._served(handler.routers))
        return self._answering[handler](event, context)

    def close(self) -> None:
        """End it, as only tests do: Lambda freezes an environment and throws it away."""
        self.loop.run_until_complete(self._assistant.close())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        self.loop.close()

    def _served(self, routers: tuple[APIRouter, ...]) -> Answering:
        # With "auto", Mangum would start and stop the application around every call.
        served = Mangum(create_app(self._assistant, routers), lifespan="off", text_mime_types=_TEXTS)

        def answering(event: Event, context: LambdaContext) -> Event:
            response = served(event, context)
            seconds = context.get_remaining_time_in_millis() / 1000 - SECONDS_TO_ANSWER
            self.loop.run_until_complete(_settled(max(0.0, seconds)))
            return response

        return answering


async def _settled(seconds: float) -> None:
    """Let the tasks that still run end: after the response they would be frozen in the middle."""
    running = asyncio.all_tasks() - {asyncio.current_task()}
    if not running:
        return
    _, late = await asyncio.wait(running, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)


@cache
def environment() -> Environment:
    """Return the one of this process, made at its first event."""
    return Environment(Assistant(cloud_settings()))


def cloud_settings() -> Settings:
    """Read the environment, and the keys from the parameter store; the stores of a laptop are refused."""
    settings = Settings()
    if settings.profile != "aws":
        raise SettingsError("TERTULIA_PROFILE must be aws on Lambda: what is kept on its disk is lost.")
    if settings.secrets_path is None:
        return settings
    found = parameters.get_parameters(settings.secrets_path, decrypt=True)
    keys: dict[str, Any] = {
        setting: found[name]
        for setting in Settings.model_fields
        for name in reversed(names_of(setting))
        if name in found
    }
    return Settings(**keys)


def http_handler(*routers: APIRouter) -> HttpHandler:
    """Return the handler of a function for these routers."""
    return HttpHandler(routers)
