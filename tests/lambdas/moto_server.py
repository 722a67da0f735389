"""AWS on this machine: moto as a server in a process of its own, whose functions run in the tests' Lambda service.

Tests that use moto in their own process wipe its memory there; here nobody does.
"""

import json
import sys
from typing import Any

import httpx
from moto.awslambda.models import LambdaFunction
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple


def main(port: int, service: str) -> None:
    """Serve until the process is ended."""

    def invoke(function: LambdaFunction, event: Any = None) -> tuple[str, bool, str]:
        payload = event if isinstance(event, str | bytes) else json.dumps(event or {})
        address = f"{service}/2015-03-31/functions/{function.function_name}/invocations"
        answer = httpx.post(address, content=payload, timeout=900)
        return answer.text, "X-Amz-Function-Error" in answer.headers, ""

    # Its own way to run a function needs Docker.
    LambdaFunction._invoke_lambda = invoke  # type: ignore[method-assign, assignment]
    run_simple("127.0.0.1", port, DomainDispatcherApplication(create_backend_app), threaded=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
