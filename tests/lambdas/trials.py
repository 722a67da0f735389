"""Functions of the tests' own, behind an API of their own, run by the built layers like those that are deployed."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.infra.transformed import transform
from tests.lambdas.api import Api
from tests.lambdas.artifacts import Artifacts
from tests.lambdas.gateway import Gateway
from tests.lambdas.host import Function, Host
from tests.lambdas.invoke_api import lambda_service
from tests.lambdas.serving import served

TRIAL = Path(__file__).parent / "trial"
LAYERS = ("core", "tertulia")
ORIGIN = "https://app.example"
PATHS = ("echo/{name+}", "bytes", "large", "slow", "broken", "missing", "finished")
STREAMED_PATHS = ("events", "voice")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The functions, running."""

    url: str
    host: Host
    gateway: Gateway
    loop: asyncio.AbstractEventLoop

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the loop of the Lambda service, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def invoke(self, function: str, event: object = None) -> Any:
        """Call a function; raises FunctionFailed."""
        return json.loads(self.run(self.host.invoke(function, json.dumps(event).encode())))


def trial_function(artifacts: Artifacts, name: str, handler: str, seconds: float, **variables: str) -> Function:
    """Describe a function of the trial folder."""
    opt = artifacts.opt(LAYERS)
    environment = {
        "TERTULIA_PROFILE": "aws",
        "TERTULIA_CORS_ORIGINS": ORIGIN,
        "PYTHONPATH": f"{TRIAL}:{opt}/python:{artifacts.runtime}",
        "LAMBDA_RUNTIME_DIR": str(artifacts.runtime),
        **{key: value.replace("/opt/", f"{opt}/") for key, value in variables.items()},
    }
    return Function(
        name=name,
        task_root=TRIAL,
        handler=handler,
        command=(str(artifacts.python), "-m", "awslambdaric", handler),
        environment=environment,
        seconds=seconds,
    )


@contextmanager
def trial(artifacts: Artifacts, *, streams: bool, base_path: str | None = None, seconds: float = 20) -> Iterator[Trial]:
    """Run the functions behind an API that streams some routes, or none."""
    streaming = {"TERTULIA_STREAMING": "true", "AWS_LAMBDA_EXEC_WRAPPER": "/opt/stream-bootstrap"} if streams else {}
    host = Host(
        trial_function(artifacts, "TrialFunction", "handler.handler", seconds, **streaming),
        trial_function(artifacts, "Plain", "plain.handler", 2),
        trial_function(artifacts, "Unreadable", "unreadable.handler", 2),
        trial_function(artifacts, "Restored", "plain.handler", 2, AWS_LAMBDA_INITIALIZATION_TYPE="snap-start"),
        trial_function(artifacts, "Task", "tasks.handler", 3),
        trial_function(artifacts, "Queue", "tasks.queue", 3),
    )
    gateway = Gateway(Api(transform(_template(streams=streams), {})), host, base_path)
    with served(gateway, lambda_service(host, {}), host) as (loop, address):
        place = gateway.api.stage if base_path is None else base_path
        yield Trial(url=f"{address}/{place}".rstrip("/"), host=host, gateway=gateway, loop=loop)


def _template(*, streams: bool) -> dict[str, Any]:
    api = {"RestApiId": {"Ref": "Api"}, "Method": "ANY"}
    streamed = {"ResponseTransferMode": "RESPONSE_STREAM"} if streams else {}
    routes: list[tuple[str, dict[str, str]]] = [(path, {}) for path in PATHS] + [
        (path, streamed) for path in STREAMED_PATHS
    ]
    return {
        "Transform": "AWS::Serverless-2016-10-31",
        "Resources": {
            "Api": {"Type": "AWS::Serverless::Api", "Properties": {"StageName": "trial", "BinaryMediaTypes": ["*~1*"]}},
            "TrialFunction": {
                "Type": "AWS::Serverless::Function",
                "Properties": {
                    "Runtime": "python3.13",
                    "Handler": "handler.handler",
                    "CodeUri": "trial",
                    "Events": {
                        f"Route{number}": {"Type": "Api", "Properties": {**api, **more, "Path": f"/api/{path}"}}
                        for number, (path, more) in enumerate(routes)
                    },
                },
            },
        },
    }
