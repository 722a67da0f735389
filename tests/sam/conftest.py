"""One engine, one image, one build and one cloud for all tests here."""

import asyncio
import ipaddress
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tertulia.adapters.aws.dynamodb import DynamoTable, table_definition
from tertulia.adapters.aws.dynamodb_accounts import DynamoTokens, DynamoUsers
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.domain.accounts import EVERYTHING, ApiToken, digest_of
from tests.fakes.vendor import Answer, FakeGroq, serving
from tests.sam import local
from tests.sam.engine import Engine, NoEngine, docker_engine
from tests.sam.look_alike import runtime_image
from tests.workflow.listening_model import Listener

ANYWHERE = "0.0.0.0"  # containers come in over a bridge
USER = "user-1"
TOKEN = "tertulia_of-the-recorded-event"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Run a Docker engine, or end it all here with one line."""
    try:
        with docker_engine() as running:
            yield running
    except NoEngine as reason:
        pytest.exit(str(reason), returncode=1)


@dataclass(frozen=True)
class Cloud:
    """An imitated AWS and a vendor."""

    port: int
    vendor: FakeGroq
    vendor_port: str

    def client(self, service: Any) -> Any:
        login: Any = {name.lower(): value for name, value in local.LOGIN.items() if "KEY" in name}
        return boto3.client(service, region_name=local.REGION, endpoint_url=f"http://127.0.0.1:{self.port}", **login)


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """Run them, with the table, the bucket and a token."""
    server = ThreadedMotoServer(ip_address=ANYWHERE, port=0, verbose=False)
    server.start()
    vendor = FakeGroq(chat=_said)
    with serving(vendor, ANYWHERE) as address:
        found = Cloud(server.get_host_and_port()[1], vendor, address.rsplit(":", 1)[1])
        dynamodb = found.client("dynamodb")
        dynamodb.create_table(**table_definition("tertulia"))
        found.client("s3").create_bucket(
            Bucket="tertulia", CreateBucketConfiguration={"LocationConstraint": local.REGION}
        )
        # What follows a turn is handed over to it; its own tests run the shipped file.
        found.client("stepfunctions").create_state_machine(
            name=local.WORKFLOW,
            definition=json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}),
            roleArn="arn:aws:iam::123456789012:role/any",
        )
        token = ApiToken(
            id="1", user=USER, name="recorded", scopes=EVERYTHING, digest=digest_of(TOKEN), created_at=datetime.now(UTC)
        )
        asyncio.run(_known(DynamoTable("tertulia", dynamodb), token))
        yield found
    server.stop()


@pytest.fixture(scope="session")
def sam(engine: Engine, cloud: Cloud) -> local.SamLocal:
    """Give SAM's local commands over a fresh build."""
    local.build()
    network = engine.run("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Subnet}}")
    host = next(ipaddress.ip_network(network).hosts())
    for name, value in {"GROQ_API_KEY": "gsk_test", "GROQ_BASE_URL": f"http://{host}:{cloud.vendor_port}"}.items():
        cloud.client("ssm").put_parameter(Name=f"/tertulia/dev/{name}", Value=value, Type="SecureString")
    commands = local.SamLocal(engine=engine, image=runtime_image(engine), cloud=f"http://{host}:{cloud.port}")
    commands.prepare()
    return commands


def _said(body: Mapping[str, Any]) -> Answer:
    """Answer what follows a turn in its own form, and everybody else with the usual words."""
    first, last = (str(body["messages"][place]["content"]) for place in (0, -1))
    said = Listener().says(first, last)
    return Answer() if said == "Fine." else Answer(pieces=(said,))


async def _known(table: DynamoTable, token: ApiToken) -> None:
    """Make the token known, and whose it is."""
    await DynamoTokens(table).put(token)
    await DynamoUsers(table, SystemClock()).add(token.user)
