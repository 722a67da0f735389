"""A real Chromium that opens the page of a scripted assistant, on the real server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Protocol

import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, Page, async_playwright

from tests.http.clients import served

CHROMIUM = "/usr/bin/chromium"
QUIETLY = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)
LISTEN = """
window.played = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (when = 0) {
  window.played.push({ at: when, seconds: this.buffer.duration });
  return start.call(this, when);
};
"""


class OpenPage(Protocol):
    """Serves an application and opens its page."""

    async def __call__(self, app: FastAPI, **habits: Any) -> Page: ...


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Start Chromium."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=QUIETLY)
        yield browser
        await browser.close()


@pytest.fixture
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Open pages whose scripts must not fail, and close them with their servers."""
    failures: list[str] = []
    async with AsyncExitStack() as stack:

        async def opened(app: FastAPI, **habits: Any) -> Page:
            client = await stack.enter_async_context(served(app))
            wishes = {"permissions": ["microphone"], "locale": "en-US", "reduced_motion": "reduce"} | habits
            context = await browser.new_context(**wishes)
            stack.push_async_callback(context.close)
            context.set_default_timeout(5000)
            page = await context.new_page()
            page.on("pageerror", lambda error: failures.append(str(error)))
            await page.add_init_script(LISTEN)
            await page.goto(str(client.base_url))
            return page

        yield opened
    assert not failures
