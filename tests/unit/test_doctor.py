"""What `tertulia doctor` finds, on this machine, at vendors and in an imitated cloud."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.assistant import Assistant
from tertulia.assistant.checks import ADDRESSES, cloud_checks, prices, vendor_checks
from tertulia.assistant.plain_checks import Bill
from tertulia.domain.checkups import Finding, State, fine
from tertulia.domain.errors import Unavailable
from tertulia.domain.idle_costs import idle_costs
from tertulia.entrypoints.cli import main
from tertulia.settings import Settings
from tertulia.usecases.examine import examine
from tests.fakes.embedder import WordEmbedder

CHECKOUT = Path(__file__).parents[2]
MODELS = ("qwen/qwen3.6-27b", "openai/gpt-oss-20b", "whisper-large-v3", "canopylabs/orpheus-v1-english")


@dataclass
class Vendor:
    """A vendor that answers as it is told."""

    url: str
    status: int = 200
    body: Any = field(default_factory=lambda: {"data": [{"id": model} for model in MODELS], "dimension": 384})
    seconds_off: float = 0
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append((self.path, dict(self.headers)))
            body = json.dumps(told.body).encode()
            self.send_response_only(told.status)
            self.send_header("Date", format_datetime(datetime.now(UTC) + timedelta(seconds=told.seconds_off), True))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    told = Vendor(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TERTULIA_") or name.endswith(("_API_KEY", "_URL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TERTULIA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TERTULIA_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("TERTULIA_PORT", "0")


def vendors(url: str, *names: str) -> Settings:
    fields: Any = {f"{name}_api_key": "secret-of-ana" for name in names} | {f"{name}_base_url": url for name in names}
    return Settings(**fields)


def problems(found: list[Finding]) -> list[str]:
    return [finding.matter for finding in found if finding.state is State.PROBLEM]


def doctor(*arguments: str) -> int:
    return main(["doctor", *arguments], lambda settings: Assistant(settings, embedder=WordEmbedder()))


def test_missing_models_are_named_with_what_to_do_and_the_exit_code_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor() == 1
    said = capsys.readouterr().out
    assert "!!    models: Not on this machine: " in said
    assert "→ Run `tertulia models fetch`." in said


def test_json_holds_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    doctor("--json")
    found = json.loads(capsys.readouterr().out)
    assert {"models", "embeddings", "data folder", "port", "scenarios"} <= {finding["matter"] for finding in found}
    assert all(finding.keys() == {"matter", "state", "what", "do"} for finding in found)
    assert all(bool(finding["do"]) == (finding["state"] == "problem") for finding in found)


def test_nobody_is_called_whose_key_is_not_set() -> None:
    assert vendor_checks(Settings()) == []


@pytest.mark.parametrize("name", ADDRESSES)
async def test_a_key_that_a_vendor_takes_is_fine_and_travels_in_a_header(name: str, vendor: Vendor) -> None:
    settings = vendors(vendor.url, name)
    found = await examine(vendor_checks(settings))
    assert problems(found) == []
    [(path, headers)] = vendor.asked
    assert any("secret-of-ana" in value for value in headers.values())
    assert "secret-of-ana" not in path + repr(found) + repr(vendor_checks(settings))


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_a_problem(status: int, vendor: Vendor) -> None:
    vendor.status = status
    found = await examine(vendor_checks(vendors(vendor.url, "groq")))
    assert problems(found) == ["GROQ_API_KEY"]
    assert "set GROQ_API_KEY" in found[0].do


async def test_a_model_that_is_offered_no_more_is_named(vendor: Vendor) -> None:
    vendor.body = {"data": [{"id": model} for model in MODELS[1:]]}
    found = await examine(vendor_checks(vendors(vendor.url, "groq")))
    [what] = [finding.what for finding in found if finding.state is State.PROBLEM]
    assert MODELS[0] in what


async def test_an_index_of_another_dimension_is_a_problem_and_a_missing_one_is_none(vendor: Vendor) -> None:
    settings = vendors(vendor.url, "pinecone")
    vendor.body = {"dimension": 1536}
    assert problems(await examine(vendor_checks(settings))) == ["index"]
    vendor.status = 404
    assert problems(await examine(vendor_checks(settings))) == []
    assert vendor.asked[0][0] == "/indexes/conversations"


@pytest.mark.parametrize(("seconds", "wrong"), [(30, []), (-30, []), (400, ["clock"]), (-400, ["clock"])])
async def test_a_clock_that_is_minutes_off_is_a_problem(seconds: float, wrong: list[str], vendor: Vendor) -> None:
    vendor.seconds_off = seconds
    assert problems(await examine(vendor_checks(vendors(vendor.url, "deepseek")))) == wrong


@pytest.mark.parametrize("body", [[], "text", None, {"data": [{}]}])
async def test_an_answer_of_another_shape_breaks_nothing(body: Any, vendor: Vendor) -> None:
    vendor.body = body
    assert {"models"} == set(problems(await examine(vendor_checks(vendors(vendor.url, "groq")))))


async def test_a_vendor_out_of_reach_is_a_problem_and_hides_no_other() -> None:
    found = await examine(vendor_checks(vendors("http://127.0.0.1:9", "groq", "tavily")))
    assert problems(found) == ["GROQ_API_KEY", "TAVILY_API_KEY"]


def test_a_port_that_another_program_has_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("TERTULIA_PORT", str(other.getsockname()[1]))
        doctor("--json")
    found = {finding["matter"]: finding for finding in json.loads(capsys.readouterr().out)}
    assert found["port"]["state"] == "problem"
    assert "TERTULIA_PORT" in found["port"]["do"]


@dataclass
class Slow:
    """A check that never ends, or fails."""

    failure: Exception | None = None
    matter = "slow"

    async def __call__(self) -> list[Finding]:
        if self.failure:
            raise self.failure
        await asyncio.sleep(60)
        return [fine(self.matter, "at last")]


@pytest.mark.parametrize(
    "failure", [None, Unavailable("It is away."), OSError("no such place"), ValueError("no number")]
)
async def test_a_check_that_hangs_or_fails_is_a_finding_itself(failure: Exception | None) -> None:
    assert problems(await examine([Slow(failure)], seconds=0.05)) == ["slow"]


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with mock_aws():
        dynamodb = boto3.client("dynamodb")
        dynamodb.create_table(**table_definition("turns"))
        dynamodb.update_continuous_backups(
            TableName="turns", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        boto3.client("s3").create_bucket(Bucket="files")
        yield Settings(profile="aws", table_name="turns", bucket_name="files")


async def test_what_a_deployment_lacks_is_named(deployed: Settings) -> None:
    checks = {check.matter: check for check in cloud_checks(deployed)}
    assert problems(await examine([checks["table"], checks["bucket"]])) == []
    gone = deployed.model_copy(update={"table_name": "no", "bucket_name": "none-of-ours", "after_turn_arn": MACHINE})
    checks = {check.matter: check for check in cloud_checks(gone)}
    assert problems(await examine([checks[each] for each in ("table", "bucket", "follow-up")])) == [
        "table",
        "bucket",
        "follow-up",
    ]


MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:none"


async def test_a_table_that_cannot_be_restored_is_a_problem(deployed: Settings) -> None:
    boto3.client("dynamodb").update_continuous_backups(
        TableName="turns", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
    )
    checks = {check.matter: check for check in cloud_checks(deployed)}
    assert problems(await examine([checks["table"]])) == ["table"]


def test_a_stage_that_was_never_deployed_is_one_line(deployed: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor("--stage", "nowhere", "--region", "us-east-1") == 1
    assert capsys.readouterr().err.strip() == "There is no stack tertulia-nowhere in this account and region."


def test_the_keys_of_a_stage_are_those_stored_for_it(
    deployed: Settings, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {name: {"Value": value} for name, value in {"TableName": "turns", "BucketName": "files"}.items()}
    resources = {"Topic": {"Type": "AWS::SNS::Topic"}}
    boto3.client("cloudformation").create_stack(
        StackName="tertulia-dev", TemplateBody=json.dumps({"Resources": resources, "Outputs": outputs})
    )
    monkeypatch.setenv("GROQ_API_KEY", "of-this-machine")
    monkeypatch.setenv("GROQ_BASE_URL", vendor.url)
    doctor("--stage", "dev", "--json")
    assert "keys" in [each["matter"] for each in json.loads(capsys.readouterr().out) if each["state"] == "problem"]
    boto3.client("ssm").put_parameter(Name="/tertulia/dev/GROQ_API_KEY", Value="of-the-stage", Type="SecureString")
    doctor("--stage", "dev", "--json")
    found = {each["matter"]: each["state"] for each in json.loads(capsys.readouterr().out)}
    assert found["keys"] == found["table"] == found["GROQ_API_KEY"] == "fine"
    assert [headers["Authorization"] for _, headers in vendor.asked] == ["Bearer of-the-stage"]


def test_the_bill_counts_what_costs_by_being_there() -> None:
    template = "  A:\n    Type: AWS::CloudWatch::Alarm\n  B:\n    Type: AWS::CloudWatch::Alarm\n  T:\n    Type: AWS::DynamoDB::Table\n"
    [alarms] = idle_costs([template], prices())
    assert (alarms.count, alarms.dollars) == (2, 0.2)


async def test_the_bill_of_this_project_is_told_with_its_source_and_date() -> None:
    said = " ".join(finding.what for finding in await Bill(CHECKOUT, prices())())
    alarms = sum(
        text.count("Type: AWS::CloudWatch::Alarm")
        for text in (place.read_text() for place in [CHECKOUT / "template.yaml", *(CHECKOUT / "infra").glob("*.yaml")])
    )
    assert f"{alarms} alarms" in said
    assert prices()["date"] in said
    assert "aws.amazon.com" in said
