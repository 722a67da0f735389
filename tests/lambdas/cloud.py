"""The whole deployment on this machine: the template's resources in moto, its functions as built, its API over HTTP."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.dynamodb_accounts import DynamoTokens, DynamoUsers
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.domain.accounts import Caller, Scope
from tertulia.usecases.accounts import Accounts
from tests.fakes.vendor import FakeGroq, serving
from tests.infra.transformed import Template, folder_of, resources, source, transformed
from tests.lambdas.api import Api
from tests.lambdas.artifacts import Artifacts
from tests.lambdas.deployed import Clients, deploy, keep_keys
from tests.lambdas.gateway import Gateway
from tests.lambdas.host import REGION, Function, Host
from tests.lambdas.invoke_api import lambda_service
from tests.lambdas.orphans import not_outliving
from tests.lambdas.serving import listener, served

KEY = "gsk_of_the_deployment"
LOGIN = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": REGION}


@dataclass(frozen=True, kw_only=True)
class LocalCloud:
    """A deployment, running."""

    url: str
    """Where the API's stage answers."""
    aws: str
    """Where every service of AWS answers, Lambda among them."""
    client: Clients
    """SDK clients of these: `cloud.client("stepfunctions")`."""
    host: Host
    gateway: Gateway
    vendor: FakeGroq
    outputs: Mapping[str, str]
    """The names that resources got."""
    loop: asyncio.AbstractEventLoop

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the loop of the Lambda service, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def invoke(self, function: str, event: object) -> Any:
        """Call a function by its name in the template: `invoke("ChatFunction", {...})`; raises FunctionFailed."""
        return json.loads(self.run(self.host.invoke(function, json.dumps(event).encode())))

    def token_of(self, user: str, *scopes: Scope) -> str:
        """Make a personal token of a user's, with all scopes if none is named; users need not be added before."""
        table = DynamoTable(self.outputs["Table"], self.client("dynamodb"))
        clock = SystemClock()
        accounts = Accounts(DynamoUsers(table, clock), DynamoTokens(table), clock, user)
        allowed = frozenset(scopes or Scope)
        return self.run(accounts.add_token(Caller(user=user, scopes=allowed), "tests", allowed)).secret

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The variables that find this cloud, for the product's own adapters in a process."""
        return {**LOGIN, "AWS_ENDPOINT_URL": self.aws}


@contextmanager
def deployed(artifacts: Artifacts, vendor: FakeGroq, **parameters: str) -> Iterator[LocalCloud]:
    """Deploy the template here, with values for its parameters, and with this vendor's key in the parameter store."""
    template = transformed(*sorted({**_defaults(), **parameters}.items()))
    with ExitStack() as stack:
        vendor_url = stack.enter_context(serving(vendor))
        host, names = Host(), dict[str, str]()
        api, service = Gateway(Api(template), host), lambda_service(host, names)
        loop, url = stack.enter_context(served(api, service, host))
        aws = stack.enter_context(_moto(url))
        client = stack.enter_context(closing(Clients(aws)))
        outputs = deploy(template, client)
        names |= {physical: logical for logical, physical in outputs.items()}
        keep_keys(client, {"GROQ_API_KEY": KEY, "GROQ_BASE_URL": vendor_url}, f"/tertulia/{api.api.stage}")
        for function in _functions(template, client, outputs, artifacts):
            host.functions[function.name] = function
        yield LocalCloud(
            url=f"{url}/{api.api.stage}",
            aws=aws,
            client=client,
            host=host,
            gateway=api,
            vendor=vendor,
            outputs=outputs,
            loop=loop,
        )


def _defaults() -> dict[str, str]:
    defaults = {name: each["Default"] for name, each in source()["Parameters"].items() if "Default" in each}
    return {name: ",".join(value) if isinstance(value, list) else str(value) for name, value in defaults.items()}


def _functions(
    template: Template, client: Clients, outputs: Mapping[str, str], artifacts: Artifacts
) -> Iterator[Function]:
    deployed = client("lambda")
    for name, resource in resources("AWS::Lambda::Function", template).items():
        told = deployed.get_function_configuration(FunctionName=outputs[name])
        opt = artifacts.opt(_layer(each["Ref"]) for each in resource["Properties"].get("Layers", []))
        root = artifacts.task_root(folder_of(name))
        variables = {
            key: str(value).replace("/opt/", f"{opt}/") for key, value in told["Environment"]["Variables"].items()
        }
        variables |= {
            "PYTHONPATH": f"{root}:{opt}/python:{artifacts.runtime}",
            "LAMBDA_RUNTIME_DIR": str(artifacts.runtime),
            "AWS_ENDPOINT_URL": client.aws,
        }
        yield Function(
            name=name,
            task_root=root,
            command=(str(artifacts.python), "-m", "awslambdaric", told["Handler"]),
            environment=variables,
            seconds=float(told["Timeout"]),
            memory=told["MemorySize"],
        )


def _layer(resource: str) -> str:
    """Return the folder of a layer: the transform adds a digest to its name."""
    return resource.split("Layer", maxsplit=1)[0].lower()


@contextmanager
def _moto(service: str) -> Iterator[str]:
    with listener() as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [*not_outliving(), sys.executable, "-m", "tests.lambdas.moto_server", str(port), service]
    environment = {**LOGIN, "MOTO_PORT": str(port), "AWS_ENDPOINT_URL": address}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _configure(address, {"stepfunctions": {"execute_state_machine": True}})
            yield address
        finally:
            process.terminate()


def _configure(address: str, told: Mapping[str, Any]) -> None:
    """Tell moto its settings, as soon as it listens."""
    until = time.monotonic() + 60
    while True:
        try:
            httpx.post(f"{address}/moto-api/config", json=told)
        except httpx.TransportError:
            assert time.monotonic() < until, "moto does not start"
            time.sleep(0.05)
        else:
            return
