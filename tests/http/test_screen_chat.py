"""Turns of the screen surface."""

import asyncio
import io

import httpx
import pytest

from tertulia.domain.errors import ModelBusy, ModelDown, ModelKey, NotConfigured, ProviderTimeout
from tertulia.domain.prompts import ToolCall
from tests.conftest import MakeAssistant
from tests.fakes.scripted import OneLanguage, ScriptedModel
from tests.http.clients import client_of, is_problem

MESSAGE = {"message": "What did I save about Lisbon?"}
MEGABYTE = 1024 * 1024


async def test_a_message_is_answered_as_a_message(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/chat/send", json=MESSAGE)).json()

    assert set(body) == {"conversation_id", "message"}
    assert set(body["message"]) == {"id", "role", "content", "tool_calls", "created_at"}
    assert body["message"]["role"] == "assistant"
    assert body["message"]["content"] == "Hello there."
    assert body["message"]["tool_calls"] == []
    assert 0 < body["message"]["id"] < 2**53
    assert body["message"]["created_at"].endswith(("Z", "+00:00"))


async def test_the_message_is_the_one_that_the_conversation_shows(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/chat/send", json=MESSAGE)).json()
    kept = (await client.get(f"/api/chat/conversations/{body['conversation_id']}")).json()

    assert kept["messages"][-1]["id"] == body["message"]["id"]
    assert kept["messages"][-1]["route"] == "context"


async def test_tool_calls_are_a_list_in_the_openai_shape(make_assistant: MakeAssistant) -> None:
    call = ToolCall(id="call_1", name="calculator", arguments='{"expression": "2+2"}')
    async with client_of(make_assistant(chat_model=ScriptedModel([[call], ["Four."]]))) as client:
        body = (await client.post("/api/chat/send", json={"message": "What is 2+2?"})).json()

    [made] = body["message"]["tool_calls"]
    assert (made["id"], made["type"], made["function"]["name"]) == ("call_1", "function", "calculator")
    assert made["function"]["arguments"] == '{"expression": "2+2"}'
    assert body["message"]["content"] == "Four."


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NotConfigured(), "llm_not_configured"),
        (ModelKey(), "llm_not_configured"),
        (ModelDown(), "llm_error"),
        (ModelBusy(retry_after=3), "llm_error"),
        (ProviderTimeout(), "llm_error"),
    ],
)
@pytest.mark.parametrize(("language", "word"), [("zh-CN", "警告: "), ("en-US", "Warning: ")])
async def test_a_failing_model_is_told_in_the_conversation(
    make_assistant: MakeAssistant, error: Exception, kind: str, language: str, word: str
) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([[error]]), languages=OneLanguage(language))
    async with client_of(assistant) as client:
        response = await client.post("/api/chat/send", json=MESSAGE)

    message = response.json()["message"]
    assert response.status_code == 200
    assert message["content"].startswith(word)
    assert len(message["content"]) > len(word)
    assert message["error_type"] == kind
    assert message["tool_calls"] == []
    assert response.json()["conversation_id"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_request"),
        ({"message": None}, 400, "invalid_request"),
        ({"message": 7}, 400, "invalid_request"),
        ({"message": "  "}, 400, "invalid_request"),
        ({"message": "a" * 32_769}, 413, "too_large"),
        ({"message": "a", "conversation_id": "../x"}, 422, "invalid_value"),
        ({"message": "a", "conversation_id": "abc"}, 404, "not_found"),
        ({"message": "a", "device_id": "d" * 129}, 422, "invalid_value"),
    ],
)
async def test_bad_messages_are_refused(
    client: httpx.AsyncClient, body: dict[str, object], status: int, code: str
) -> None:
    assert is_problem(await client.post("/api/chat/send", json=body), status, code)


async def test_a_screen_message_may_be_longer_than_a_spoken_one(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/chat/send", json={"message": "a" * 32_768})).status_code == 200


async def test_a_double_tap_is_one_turn(make_assistant: MakeAssistant) -> None:
    """Case Y5, on this surface."""
    model = ScriptedModel(seconds_to_first=0.1)
    async with client_of(make_assistant(chat_model=model)) as client:
        post = [client.post("/api/chat/send", json=MESSAGE | {"client_message_id": "tap"}) for _ in range(2)]
        answers = await asyncio.gather(*post)
        answers.append(await client.post("/api/chat/send", json=MESSAGE, headers={"Idempotency-Key": "tap"}))

    assert len(model.prompts) == 1
    assert len({answer.json()["message"]["id"] for answer in answers}) == 1


async def test_the_words_of_a_file_reach_the_model(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    async with client_of(make_assistant(chat_model=model)) as client:
        response = await client.post(
            "/api/chat/send-with-file",
            data=MESSAGE | {"conversation_id": "", "skill_id": ""},
            files={"file": ("报告 终稿.txt", "Lisbon: pastéis at nine.".encode(), "application/octet-stream")},
        )
        kept = (await client.get(f"/api/chat/conversations/{response.json()['conversation_id']}")).json()

    prompt = model.prompts[0].messages[-1].text
    assert "Lisbon: pastéis at nine." in prompt
    assert "报告 终稿.txt" in prompt
    assert MESSAGE["message"] in prompt
    assert kept["messages"][0]["content"] == MESSAGE["message"]
    assert kept["messages"][0]["attachments"] == [{"name": "报告 终稿.txt", "media_type": "text/plain", "size": 25}]


@pytest.mark.parametrize("blank", [{}, {"message": ""}, {"message": "  "}])
async def test_a_file_alone_will_do(client: httpx.AsyncClient, blank: dict[str, str]) -> None:
    picture = {"file": ("a.bin", b"\x89PNG\r\n\x1a\n" + bytes(100))}
    note = {"file": ("a.txt", b"Buy milk")}

    for files, asked in ((picture, "Please look at this image"), (note, "[Attachment: a.txt (8 bytes)]")):
        response = await client.post("/api/chat/send-with-file", data=blank, files=files)
        kept = (await client.get(f"/api/chat/conversations/{response.json()['conversation_id']}")).json()
        assert kept["messages"][0]["content"] == asked


async def test_a_file_alone_asks_in_the_language_of_the_client(client: httpx.AsyncClient) -> None:
    headers = {"Accept-Language": "zh-CN,zh;q=0.9"}
    answers = [
        await client.post("/api/chat/send-with-file", files={"file": ("a", content)}, headers=headers)
        for content in (b"\xff\xd8\xff" + bytes(50), b"words")
    ]
    kept = [
        (await client.get(f"/api/chat/conversations/{answer.json()['conversation_id']}")).json() for answer in answers
    ]

    assert [each["messages"][0]["content"] for each in kept] == ["请分析这张图片", "[附件: a (5 bytes)]"]


async def test_without_file_and_words_there_is_nothing_to_answer(client: httpx.AsyncClient) -> None:
    assert is_problem(await client.post("/api/chat/send-with-file", data={"message": " "}), 400, "invalid_request")
    assert is_problem(await client.post("/api/chat/send-with-file"), 400, "invalid_request")


async def test_a_file_of_twenty_megabytes_is_taken_and_one_byte_more_is_not(client: httpx.AsyncClient) -> None:
    """Case Y1, on the local server."""
    whole = await client.post("/api/chat/send-with-file", data=MESSAGE, files={"file": ("a", bytes(20 * MEGABYTE))})
    over = await client.post("/api/chat/send-with-file", data=MESSAGE, files={"file": ("a", bytes(20 * MEGABYTE + 1))})

    assert whole.status_code == 200
    assert is_problem(over, 413, "too_large")
    assert "File too large" in over.json()["detail"]


async def test_a_file_that_is_no_file_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/chat/send-with-file", data=MESSAGE | {"file": "words"})

    assert is_problem(response, 422, "invalid_value")


async def test_a_file_named_by_its_bytes_keeps_them(client: httpx.AsyncClient, make_assistant: MakeAssistant) -> None:
    content = bytes(range(256)) * 40
    assistant = make_assistant()
    async with client_of(assistant) as own:
        files = {"file": ("año 图.bin", io.BytesIO(content))}
        body = (await own.post("/api/chat/send-with-file", data=MESSAGE, files=files)).json()
    conversation = await assistant.conversations.get("user-1", body["conversation_id"])
    [turn] = await assistant.conversations.turns(conversation)

    [attachment] = turn.attachments
    assert attachment.name == "año 图.bin"
    assert (await assistant.blobs.get("user-1", attachment.key)).data == content
