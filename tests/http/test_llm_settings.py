"""/api/config/llm: each user's own language model, whose key goes in and never comes out."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.fakes.vendor import Answer, Failure, FakeGroq
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem

LLM = "/api/config/llm"
KEY = "sk-secret"
OURS = {"provider": "embedded", "base_url": "", "api_key_set": False, "model": ""}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Allow servers on this machine, where the small vendor of the tests is."""
    return settings.model_copy(update={"private_model_servers": True})


@pytest.fixture
async def guarded(make_assistant: MakeAssistant, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a deployment that takes public servers only."""
    public = settings.model_copy(update={"private_model_servers": False})
    async with client_of(make_assistant(public), TWO_USERS) as client:
        yield client


async def put(client: httpx.AsyncClient, **fields: object) -> httpx.Response:
    return await client.put(LLM, headers=ANA, json=fields)


async def said(client: httpx.AsyncClient, who: dict[str, str] = ANA) -> str:
    answered = await client.post("/api/chat", headers=who, json={"text": "Hi"})
    return str(answered.json().get("response") or answered.json()["code"])


async def test_what_answers_without_a_choice_is_shown(shared: httpx.AsyncClient) -> None:
    shown = (await shared.get(LLM, headers=ANA)).json()
    assert {name: shown[name] for name in OURS} == OURS


async def test_a_choice_is_kept_for_its_user_and_the_key_is_not_shown(shared: httpx.AsyncClient) -> None:
    chosen = await put(shared, provider="openai", api_key=KEY, temperature=0.2)
    assert chosen.json() == {
        "provider": "openai",
        "base_url": "https://api.openai.com/v1",
        "api_key_set": True,
        "model": "gpt-4.1-mini",
        "max_context_tokens": 1047576,
        "temperature": 0.2,
    }
    assert (await shared.get(LLM, headers=ANA)).json() == chosen.json()
    assert KEY not in chosen.text
    assert (await shared.get(LLM, headers=BEN)).json()["provider"] == "embedded"
    assert (await shared.get("/api/me/settings", headers=ANA)).json().keys() >= {"language", "keeps_audio"}


async def test_the_same_address_keeps_the_key_and_another_drops_it(shared: httpx.AsyncClient) -> None:
    await put(shared, provider="openai", api_key=KEY)
    again = await put(shared, provider="openai", base_url="https://api.openai.com/v1/", model="gpt-4.1")
    assert (again.json()["api_key_set"], again.json()["model"]) == (True, "gpt-4.1")
    moved = await put(shared, provider="openai", base_url="https://example.org/v1")
    assert moved.json()["api_key_set"] is False
    back = await put(shared, provider="openai")
    assert back.json()["api_key_set"] is False


async def test_presets_are_listed_and_applied_with_a_key(shared: httpx.AsyncClient) -> None:
    listed = (await shared.get(f"{LLM}/presets", headers=ANA)).json()["presets"]
    assert set(listed) == {"groq", "openai", "anthropic", "google", "deepseek", "embedded"}
    assert set(listed["deepseek"]) == {"provider", "base_url", "model", "max_context_tokens"}
    applied = await shared.post(f"{LLM}/presets/deepseek/apply", headers=ANA, json={"api_key": KEY})
    assert (applied.json()["model"], applied.json()["api_key_set"]) == ("deepseek-chat", True)
    assert is_problem(await shared.post(f"{LLM}/presets/mimo/apply", headers=ANA, json={}), 404, "not_found")


@pytest.mark.parametrize(
    "fields",
    [
        {"provider": "openai", "api_key": "with space"},
        {"provider": "openai", "base_url": "file:///etc/passwd"},
        {"provider": "openai", "base_url": "https://user:word@example.org/v1"},
        {"provider": "openai", "base_url": "https://example.org/v1?to=me"},
        {"provider": "nobody"},
        {"provider": "compatible", "model": "llama"},
        {"provider": "compatible", "base_url": "https://example.org/v1"},
        {"provider": "openai", "temperature": 3},
        {},
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    shared: httpx.AsyncClient, fields: dict[str, object]
) -> None:
    assert (await put(shared, **fields)).status_code in {400, 422}
    assert (await shared.get(LLM, headers=ANA)).json()["provider"] == "embedded"


async def test_a_turn_is_answered_by_the_model_of_its_user_and_paid_by_its_name(
    shared: httpx.AsyncClient, vendor: FakeGroq, vendor_server: tuple[FakeGroq, str]
) -> None:
    address = f"{vendor_server[1]}/openai/v1"
    await put(shared, provider="openai", base_url=address, api_key=KEY, model="gpt-4.1-mini")
    vendor.chats = [Answer(pieces=("I am", " yours."))]
    answered = (await shared.post("/api/chat", headers=ANA, json={"text": "Hi"})).json()
    assert answered["response"] == "I am yours."
    assert answered["receipt"]["models"]["simple"] == "gpt-4.1-mini"
    assert answered["receipt"]["cost_microdollars"] == 16
    assert vendor.asked["chat"][0].headers["authorization"] == f"Bearer {KEY}"
    assert await said(shared, BEN) == "Hello there."
    await shared.delete(LLM, headers=ANA)
    assert await said(shared) == "Hello there."
    assert len(vendor.asked["chat"]) == 1


async def test_a_changed_choice_counts_from_the_next_turn(
    shared: httpx.AsyncClient, vendor: FakeGroq, vendor_server: tuple[FakeGroq, str]
) -> None:
    address = f"{vendor_server[1]}/openai/v1"
    for model in ("one", "two"):
        await put(shared, provider="compatible", base_url=address, api_key=KEY, model=model)
        await said(shared)
    assert [asked.body["model"] for asked in vendor.asked["chat"]] == ["one", "two"]


async def test_a_wrong_key_or_a_withdrawn_model_of_a_user_is_told_plainly(
    shared: httpx.AsyncClient, vendor: FakeGroq, vendor_server: tuple[FakeGroq, str]
) -> None:
    address = f"{vendor_server[1]}/openai/v1"
    await put(shared, provider="compatible", base_url=address, api_key="wrong", model="any")
    assert await said(shared) == "model_key"
    await put(shared, provider="compatible", base_url=address, api_key=KEY, model="gone")
    vendor.chats = [Failure(status=404, code="model_not_found")]
    assert await said(shared) == "model_missing"


async def test_a_server_inside_the_network_is_neither_kept_without_encryption_nor_reached(
    guarded: httpx.AsyncClient, vendor: FakeGroq, vendor_server: tuple[FakeGroq, str]
) -> None:
    http = f"{vendor_server[1]}/openai/v1"
    refused = await put(guarded, provider="compatible", base_url=http, model="any")
    assert is_problem(refused, 422, "invalid_value")
    await put(guarded, provider="compatible", base_url=http.replace("http://", "https://"), model="any", api_key=KEY)
    assert await said(guarded) == "model_unreachable"
    assert vendor.asked["chat"] == []


async def test_the_deployments_key_goes_to_no_address_of_a_user(
    make_assistant: MakeAssistant, settings: Settings, vendor: FakeGroq, vendor_server: tuple[FakeGroq, str]
) -> None:
    ours = {"openai_api_key": KEY, "openai_base_url": f"{vendor_server[1]}/openai/v1"}
    with_key = Settings(data_dir=settings.data_dir, private_model_servers=True, **ours)  # type: ignore[arg-type]
    async with client_of(make_assistant(with_key), TWO_USERS) as client:
        assert (await put(client, provider="openai")).json()["api_key_set"] is True
        assert await said(client) == "Hello there."
        elsewhere = vendor_server[1].replace("127.0.0.1", "localhost") + "/openai/v1"
        moved = await put(client, provider="openai", base_url=elsewhere)
        assert moved.json()["api_key_set"] is False
        assert await said(client) == "model_key"
    assert [asked.headers.get("authorization") for asked in vendor.asked["chat"]] == [f"Bearer {KEY}", None]


async def test_without_a_choice_no_turn_looks_for_one(
    assistant: Assistant, shared: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    async def find(user: str) -> None:
        looked.append(user)

    monkeypatch.setattr(assistant.llm_choices, "find", find)
    assert await said(shared) == "Hello there."
    assert looked == []
    assert isinstance(assistant.chat_model, ScriptedModel)
