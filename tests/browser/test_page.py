"""The page as people use it: typed and spoken turns, in a real browser against the real server."""

import asyncio
import json
import re
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.async_api import Page, Request, expect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tertulia.assistant import Assistant
from tertulia.domain.errors import ModelUnreachable
from tertulia.entrypoints.http.app import create_app
from tests.browser.conftest import OpenPage
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedDetector, ScriptedModel, ScriptedTranscriber
from tests.http.clients import TWO_USERS, eventually

pytestmark = pytest.mark.browser

MARKUP = '<img src=x onerror="alert(1)"> <svg onload=alert(1)> [here](javascript:alert(1))'


async def ready(assistant: Assistant) -> FastAPI:
    await assistant.start()
    return create_app(assistant)


async def write(page: Page, text: str) -> None:
    await page.get_by_label("Write a message").fill(text)
    await page.keyboard.press("Enter")


async def say_something(page: Page) -> None:
    await page.get_by_role("button", name="Speak", exact=True).click()
    await expect(page.get_by_text("Listening…")).to_be_visible()
    await page.wait_for_timeout(500)
    await page.get_by_role("button", name="Stop and send").click()


async def played(page: Page, sentences: int) -> None:
    """Wait until so many sentences are played; asked from here, since the page's policy lets no waiting code in."""
    async with asyncio.timeout(10):
        while await page.evaluate("window.played.length") != sentences:
            await asyncio.sleep(0.05)


async def kept_titles(assistant: Assistant) -> list[str]:
    return [kept.title for kept in (await assistant.conversations.page("user-1")).items]


async def test_a_typed_question_is_answered_word_by_word_and_kept(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    model = ScriptedModel(scripts=[("Paris ", "is ", "the capital ", "of France.")], seconds_a_token=0.4)
    page = await open_page(await ready(make_assistant(chat_model=model)))
    await write(page, "What is the capital of France?")
    answer = page.locator(".answer .words")
    await expect(answer).to_have_text(re.compile("^Paris (is )?(the capital )?$"))
    await expect(page.locator("#state")).to_contain_text("Answering")
    await expect(answer).to_have_text("Paris is the capital of France.")
    await page.get_by_text("Details").click()
    await expect(page.locator(".receipt")).to_contain_text("in all")
    await expect(page.get_by_text("Ready")).to_be_visible()
    await page.reload()
    await expect(page.locator(".question .words")).to_have_text("What is the capital of France?")
    await expect(answer).to_have_text("Paris is the capital of France.")


async def test_markup_in_questions_answers_and_titles_is_shown_as_text(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    model = ScriptedModel(scripts=[("You wrote: ", MARKUP)])
    page = await open_page(await ready(make_assistant(chat_model=model)))
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    await write(page, MARKUP)
    await expect(page.locator(".answer .words")).to_have_text(f"You wrote: {MARKUP}")
    await expect(page.get_by_text("Details")).to_be_visible()
    await page.reload()
    await expect(page.locator(".question .words")).to_have_text(MARKUP)
    await expect(page.locator(".open-one .title")).to_contain_text("<img src=x")
    assert await page.locator(":is(#thread, #conversations) :is(img, a, script, svg:not(.icon))").count() == 0
    assert not alerts


async def test_a_spoken_question_is_heard_shown_and_answered_aloud_in_order(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    model = ScriptedModel(scripts=[("Paris is the capital. ", "It lies on the river Seine in the north.")])
    ear = ScriptedTranscriber(text="What is the capital of France?")
    page = await open_page(await ready(make_assistant(chat_model=model, transcriber=ear)))
    await say_something(page)
    await expect(page.locator(".question .words")).to_have_text("What is the capital of France?")
    await expect(page.locator(".answer .words")).to_have_text(
        "Paris is the capital. It lies on the river Seine in the north."
    )
    assert ear.heard[0].data.startswith(b"\x1aE\xdf\xa3"), "a WebM recording"
    await played(page, 2)
    first, second = await page.evaluate("window.played")
    assert first["seconds"] < second["seconds"]
    assert second["at"] >= first["at"] + first["seconds"] - 0.001


async def test_written_answers_are_read_aloud_only_where_wished(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    page = await open_page(await ready(make_assistant()))
    await write(page, "Hi")
    await expect(page.locator(".answer .words")).to_have_text("Hello there.")
    await page.get_by_role("button", name="Read answers aloud").click()
    await write(page, "Hi again")
    await played(page, 1)
    assert await page.locator(".answer").count() == 2


async def test_silence_gets_a_kind_hint_and_keeps_nothing(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    assistant = make_assistant(detector=ScriptedDetector(seconds=0))
    page = await open_page(await ready(assistant))
    await say_something(page)
    await expect(page.get_by_text("I heard nothing")).to_be_visible()
    assert await page.locator(".message").count() == 0
    assert await kept_titles(assistant) == []


async def test_stop_ends_the_answer_and_what_was_said_stays(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    model = ScriptedModel(scripts=[("one ",) * 400], seconds_a_token=0.05)
    page = await open_page(await ready(make_assistant(chat_model=model)))
    await write(page, "Count")
    await expect(page.locator(".answer .words")).to_contain_text("one one")
    await page.get_by_role("button", name="Stop", exact=True).click()
    await expect(page.get_by_text("Stopped")).to_be_visible()
    assert await eventually(lambda: model.stopped == 1)
    await expect(page.get_by_role("button", name="Send")).to_be_enabled()
    await page.reload()
    await expect(page.locator(".answer .words")).to_contain_text("one one")
    await expect(page.get_by_text("Stopped")).to_be_visible()


async def test_a_conversation_is_deleted_after_a_yes(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    assistant = make_assistant()
    page = await open_page(await ready(assistant))
    await write(page, "Forget this")
    remove = page.get_by_role("button", name="Delete: Forget this")
    await remove.click()
    await page.get_by_role("button", name="Cancel").click()
    assert await kept_titles(assistant) == ["Forget this"]
    await remove.click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.get_by_text("What shall we talk about?")).to_be_visible()
    await expect(page.get_by_text("Nothing here yet.")).to_be_visible()
    assert await kept_titles(assistant) == []


async def test_a_failure_is_one_sentence_keeps_the_words_and_is_tried_again_under_the_same_key(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    model = ScriptedModel(scripts=[(ModelUnreachable(),), ("Here I am.",)])
    assistant = make_assistant(chat_model=model)
    page = await open_page(await ready(assistant))
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(posted(request)) if request.url.endswith("/stream") else None)
    await write(page, "Are you there?")
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("Write a message")).to_have_value("Are you there?")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator(".answer .words")).to_have_text("Here I am.")
    await expect(page.get_by_label("Write a message")).to_have_value("")
    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert len(asked[0]["client_message_id"]) == 32
    assert await page.locator(".question").count() == 1
    assert await kept_titles(assistant) == ["Are you there?"]


async def test_words_survive_a_lost_server_and_a_reload(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    page = await open_page(await ready(make_assistant()))
    await page.route("**/api/chat/stream", lambda route: route.abort())
    await write(page, "First line\nsecond line")
    await expect(page.get_by_role("alert")).to_contain_text("Cannot reach the server")
    await page.reload()
    await expect(page.get_by_label("Write a message")).to_have_value("First line\nsecond line")
    await page.unroute("**/api/chat/stream")
    await page.get_by_label("Write a message").press("Enter")
    await expect(page.locator(".answer .words")).to_have_text("Hello there.")


class CutShort:
    """Ends the first stream of an application after some events, as a gateway does; the turn goes on."""

    def __init__(self, app: ASGIApp, after: int) -> None:
        self._app = app
        self._left = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.body":
                self._left -= 1
                if self._left < 0:
                    return
                message = {**message, "more_body": self._left > 0}
            await send(message)

        if scope["path"] == "/api/chat/stream":
            await self._app(scope, _waiting(receive), sending)
        else:
            await self._app(scope, receive, send)


def _waiting(receive: Receive) -> Receive:
    """Hear of the body, and of nothing after it: the gateway stays connected."""

    async def received() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            await asyncio.Event().wait()
        return message

    return received


async def test_a_stream_that_breaks_is_taken_up_where_it_ended(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    words = tuple(f"{number} " for number in range(30))
    model = ScriptedModel(scripts=[words], seconds_a_token=0.05)
    app = await ready(make_assistant(chat_model=model))
    app.add_middleware(CutShort, after=4)
    page = await open_page(app)
    resumed: list[str] = []
    page.on(
        "request",
        lambda request: resumed.append(request.headers.get("last-event-id", "")) if "events" in request.url else None,
    )
    await write(page, "Count")
    await expect(page.locator(".answer .words")).to_have_text("".join(words))
    assert len(resumed) == 1
    assert int(resumed[0]) > 0
    assert len(model.prompts) == 1


async def test_the_page_fits_a_narrow_phone(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    model = ScriptedModel(scripts=[("w" * 300,)])
    phone = {"viewport": {"width": 320, "height": 600}, "has_touch": True}
    page = await open_page(await ready(make_assistant(chat_model=model)), **phone)
    await write(page, "x" * 300)
    await expect(page.locator(".answer .words")).to_have_text("w" * 300)
    assert await page.evaluate("document.querySelector('main').scrollWidth") <= 320
    for button in await page.get_by_role("button").all():
        box = await button.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    await page.get_by_role("button", name="Conversations").click()
    await expect(page.get_by_role("button", name="New conversation")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
    await expect(page.get_by_role("button", name="Conversations")).to_be_focused()


async def test_a_token_is_asked_for_where_the_server_wants_one(
    make_assistant: MakeAssistant, open_page: OpenPage
) -> None:
    assistant = make_assistant()
    await assistant.start()
    page = await open_page(create_app(assistant, surroundings=TWO_USERS))
    await page.get_by_label("Access token").fill("not-the-token")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("This token is not accepted.")).to_be_visible()
    await page.get_by_label("Access token").fill("token-of-ana")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing here yet.")).to_be_visible()
    await write(page, "Hi")
    await expect(page.locator(".answer .words")).to_have_text("Hello there.")


async def test_the_page_waits_for_a_starting_server(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    assistant = make_assistant()
    page = await open_page(create_app(assistant))
    await expect(page.get_by_text("Starting…")).to_be_visible()
    await assistant.start()
    await expect(page.get_by_text("Ready")).to_be_visible()


def posted(request: Request) -> Any:
    return json.loads(request.post_data or "null")
