"""The assistant as Lambda builds it: its own parts over DynamoDB, S3 and a vendor, none of them replaced."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws
from pydantic import SecretStr

from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.assistant import Assistant
from tertulia.domain.errors import NotConfigured
from tertulia.domain.replies import Done
from tertulia.settings import Settings
from tests.fakes.vendor import FakeGroq, serving
from tests.turns import events_of, request


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in (
        ("AWS_DEFAULT_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
    ):
        monkeypatch.setenv(name, value)
    with mock_aws():
        boto3.client("dynamodb").create_table(**table_definition("tertulia"))
        yield


@pytest.mark.usefixtures("cloud")
async def test_a_turn_in_the_cloud_runs_on_its_own_parts(tmp_path: Path) -> None:
    with serving(FakeGroq()) as address:
        key = SecretStr("gsk_test")
        settings = Settings(
            profile="aws",
            data_dir=tmp_path,
            models_dir=tmp_path,
            groq_api_key=key,
            groq_base_url=address,
            recall_seconds=10,
        )
        assistant = Assistant(settings)
        done = (await events_of(assistant, request("Hello")))[-1]
        assert isinstance(done, Done), done
        assert done.response
        # No state machine is here: the turn is answered and kept all the same.
        assert done.receipt.degraded == ("follow_up",)
        [kept] = (await assistant.conversations.page("user-1")).items
        assert kept.id == done.conversation_id
        await assistant.close()


@pytest.mark.usefixtures("cloud")
def test_without_a_key_the_cloud_says_what_is_missing(tmp_path: Path) -> None:
    assistant = Assistant(Settings(profile="aws", data_dir=tmp_path))
    with pytest.raises(NotConfigured, match="GROQ_API_KEY"):
        _ = assistant.turns
