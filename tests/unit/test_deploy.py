"""`tertulia deploy` against a cloud on this machine.

There is no AWS account here. A server that imitates AWS keeps keys, table and stack; only `sam`, whose upload needs
AWS, is stood in for by a program that makes the stack there. `sam build` itself is run by `make test-sam`.
"""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from moto.server import ThreadedMotoServer

from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.adapters.sam import SamTool
from tertulia.domain.accounts import digest_of
from tertulia.entrypoints.cli import main

REGION = "eu-central-1"
URL = "https://abc.execute-api.eu-central-1.amazonaws.com/dev"
KEY = "gsk_of_ana"
SETSID = str(shutil.which("setsid"))
SECONDS_OF_SILENCE = 30
STAND_IN = f"""#!{sys.executable}
import json, sys, boto3
arguments = sys.argv[1:]
with open("sam.log", "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if "fail-at-" + arguments[0] in open("wishes").read():
    sys.exit("sam: it failed")
if arguments[0] == "deploy":
    name = arguments[arguments.index("--stack-name") + 1]
    cloud = boto3.client("cloudformation", region_name=arguments[arguments.index("--region") + 1])
    if name not in [stack["StackName"] for stack in cloud.describe_stacks()["Stacks"]]:
        cloud.create_stack(StackName=name, TemplateBody=open("stack.json").read())
"""


class Place:
    """A checkout with a stand-in for `sam`, and the cloud it deploys to."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self.folder = folder
        self._endpoint = endpoint

    def client(self, service: Any) -> Any:
        return boto3.client(service, region_name=REGION, endpoint_url=self._endpoint)

    @property
    def runs_of_sam(self) -> list[list[str]]:
        log = self.folder / "sam.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def wish(self, text: str) -> None:
        (self.folder / "wishes").write_text(text)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def place(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    httpx.post(f"{endpoint}/moto-api/reset").raise_for_status()
    for name in [name for name in os.environ if name.startswith(("TERTULIA_", "AWS_")) or name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {"sam": STAND_IN, "make": "", "uv": "", "python3.13": ""}.items():
        (programs / name).write_text(text or "#!/bin/sh\n")
        (programs / name).chmod(0o755)
    # Nothing else is on the path: what is taken away is missing.
    (programs / "env").symlink_to(str(shutil.which("env")))
    variables = {
        "PATH": str(programs),
        "HOME": str(tmp_path),
        "TERTULIA_DATA_DIR": str(tmp_path / "data"),
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "COLUMNS": "200",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    (checkout / "template.yaml").write_text("# the real one is too much for the imitation\n")
    (checkout / "stack.json").write_text(json.dumps(stack()))
    (checkout / "wishes").write_text("")
    return Place(checkout, endpoint)


def stack() -> dict[str, Any]:
    table = {name: value for name, value in table_definition("any").items() if name != "TableName"}
    outputs = {
        "Url": {"Value": URL},
        "TableName": {"Value": {"Ref": "Table"}},
        "BucketName": {"Value": {"Ref": "Files"}},
    }
    resources = {"Table": {"Type": "AWS::DynamoDB::Table", "Properties": table}, "Files": {"Type": "AWS::S3::Bucket"}}
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources, "Outputs": outputs}


def deploy(*arguments: str) -> int:
    return main(["deploy", "--region", REGION, "--user", "ana", *arguments])


def test_a_dry_run_says_each_step_and_does_none(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert deploy("--dry-run", "--stage", "prod", "--set", "LogDays=90") == 0
    said = capsys.readouterr().out
    assert [line[:2] for line in said.splitlines()] == ["1.", "2.", "3.", "4.", "5."]
    assert "/tertulia/prod" in said
    assert "sam build --parameter-overrides LogDays=90 Stage=prod" in said
    assert "sam deploy --stack-name tertulia-prod" in said
    assert place.runs_of_sam == []
    assert place.client("ssm").describe_parameters()["Parameters"] == []


def test_a_first_deployment_stores_the_key_and_gives_the_address_and_a_token_that_works(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    assert deploy("--yes") == 0
    said = capsys.readouterr()
    url, token = said.out.split()
    assert url == URL
    stored = place.client("ssm").get_parameter(Name="/tertulia/dev/GROQ_API_KEY", WithDecryption=True)["Parameter"]
    assert (stored["Type"], stored["Value"]) == ("SecureString", KEY)
    assert [run[0] for run in place.runs_of_sam] == ["build", "deploy"]
    [table] = place.client("dynamodb").list_tables()["TableNames"]
    kept = json.dumps(place.client("dynamodb").scan(TableName=table)["Items"])
    assert digest_of(token) in kept
    assert token not in kept
    written = "".join(json.dumps(run) for run in place.runs_of_sam) + said.out + said.err
    assert KEY not in written


def test_deploying_again_is_an_upgrade_that_asks_no_keys_and_makes_no_second_token(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    assert deploy("--yes") == 0
    monkeypatch.delenv("GROQ_API_KEY")
    capsys.readouterr()
    assert deploy("--yes") == 0
    said = capsys.readouterr()
    assert said.out.split() == [URL]
    assert "has a token already" in said.err
    assert [run[0] for run in place.runs_of_sam] == ["build", "deploy"] * 2


def test_without_a_key_nothing_is_built(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert deploy("--yes") == 1
    assert "GROQ_API_KEY is needed" in capsys.readouterr().err
    assert place.runs_of_sam == []


@pytest.mark.parametrize(
    ("program", "said"), [("sam", "SAM CLI"), ("make", "make"), ("uv", "uv"), ("python3.13", "3.13")]
)
def test_a_missing_tool_is_named_before_anything_is_done(
    program: str, said: str, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.folder.parent / "programs" / program).unlink()
    assert deploy("--yes") == 1
    assert said in capsys.readouterr().err
    assert place.client("ssm").describe_parameters()["Parameters"] == []


def test_without_credentials_it_says_how_to_get_some(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert deploy("--yes") == 1
    assert "aws configure" in capsys.readouterr().err
    assert place.runs_of_sam == []


def test_a_cloud_out_of_reach_is_one_plain_line(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert deploy("--yes") == 1
    assert capsys.readouterr().err.strip() == "AWS cannot be reached: check the network and the region's name."


@pytest.mark.parametrize("step", ["build", "deploy"])
def test_when_sam_fails_no_user_is_made_and_the_same_again_goes_on(
    step: str, place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    place.wish(f"fail-at-{step}")
    assert deploy("--yes") == 1
    assert f"`sam {step}` failed" in capfd.readouterr().err
    place.wish("")
    assert deploy("--yes") == 0
    assert len(capfd.readouterr().out.split()) == 2


def test_what_is_missing_is_asked_and_keys_are_not_shown(place: Place) -> None:
    answers = {
        "AWS region": REGION,
        "Name of the first user": "ana",
        "GROQ_API_KEY (not shown)": KEY,
        "A further key": "TAVILY_API_KEY",
        "TAVILY_API_KEY (not shown)": "tvly-1",
    }
    shown = talk([str(Path(sys.executable).parent / "tertulia"), "deploy"], answers)
    assert URL in shown
    assert KEY not in shown
    assert "tvly-1" not in shown
    stored = place.client("ssm").get_parameters_by_path(Path="/tertulia/dev", WithDecryption=True)["Parameters"]
    assert {each["Name"].rsplit("/")[-1]: each["Value"] for each in stored} == {
        "GROQ_API_KEY": KEY,
        "TAVILY_API_KEY": "tvly-1",
    }


def talk(command: list[str], answers: dict[str, str]) -> str:
    """Run a command on a terminal of its own, answering its questions; an empty line to what is asked once more."""
    terminal, inner = pty.openpty()
    # Hidden questions are asked of the controlling terminal.
    process = subprocess.Popen([SETSID, "--ctty", *command], stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    shown, answered = "", 0
    while select.select([terminal], [], [], SECONDS_OF_SILENCE)[0]:
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:
            break
        asked = shown[answered:]
        # The space comes once the terminal shows no more what is typed; anything sent before is thrown away.
        if asked.endswith(": "):
            question = next((question for question in answers if question in asked.splitlines()[-1]), None)
            answered = len(shown)
            os.write(terminal, (answers.pop(question) if question else "").encode() + b"\n")
    process.terminate()
    process.wait(10)
    os.close(terminal)
    return shown


def test_layers_are_built_for_the_processor_of_the_functions(tmp_path: Path) -> None:
    build, _ = SamTool(tmp_path).commands("tertulia", "eu-central-1", {"Architecture": "x86_64", "Stage": "dev"})
    assert build == "ARCH=x86_64 sam build --parameter-overrides Architecture=x86_64 Stage=dev"
