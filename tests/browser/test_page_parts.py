"""Parts of the page on their own, in the browser they are made for."""

from itertools import product

import pytest
from playwright.async_api import expect

from tertulia.domain.languages import LANGUAGES
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.sse import PING, ServerEvent, encoded
from tests.browser.conftest import OpenPage
from tests.conftest import MakeAssistant

pytestmark = pytest.mark.browser

TOKENS = ("a", "\n", "\n", "  b", "\r\n", " c", "data: x", "你好🌍é", "\u2028", "")
READ = """
async ([bytes, size]) => {
  const { eventsOf } = await import("/static/sse.js");
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(new Uint8Array(bytes.slice(at, at + size)));
      controller.close();
    },
  });
  const events = [];
  for await (const event of eventsOf(new Response(body))) events.push(event);
  return events;
}
"""
LOCALES = {
    "zh-CN": ("zh-CN", "输入消息"),
    "zh-HK": ("zh-TW", "輸入訊息"),
    "pt-PT": ("pt", "Escreva uma mensagem"),
    "sv-SE": ("en", "Write a message"),
}
TEXTS = "async () => (await import('/static/texts.js')).TEXTS"


async def test_events_are_whole_however_their_bytes_are_cut(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    page = await open_page(create_app(make_assistant()))
    events = [encoded(ServerEvent("token", {"text": text}, number)) for number, text in enumerate(TOKENS, start=1)]
    expected = [{"name": "token", "id": str(number), "text": text} for number, text in enumerate(TOKENS, start=1)]
    for line_end, size in product((b"\n", b"\r\n", b"\r"), (1, 2, 3, 7, 10_000)):
        sent = PING.join(events).replace(b"\n", line_end)
        assert await page.evaluate(READ, [list(sent), size]) == expected


async def test_every_language_says_everything(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    page = await open_page(create_app(make_assistant()))
    texts = await page.evaluate(TEXTS)
    assert len(texts) == len(LANGUAGES)
    assert {name.split("-")[0] for name in texts} == {name.split("-")[0] for name in LANGUAGES}
    for own in texts.values():
        assert own.keys() == texts["en"].keys()
        assert all(own.values())


async def test_the_page_speaks_the_browsers_language(make_assistant: MakeAssistant, open_page: OpenPage) -> None:
    app = create_app(make_assistant())
    for locale, (language, words) in LOCALES.items():
        page = await open_page(app, locale=locale)
        assert await page.evaluate("document.documentElement.lang") == language
        await expect(page.get_by_placeholder(words)).to_be_visible()
