"""The local server: one process, all routes, the page; it listens at once and says when it can answer."""

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from tertulia.assistant import Assistant
from tertulia.domain.errors import Unavailable
from tertulia.entrypoints.daily import forget_daily
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.running_server import noted
from tertulia.settings import Settings, SettingsError

logger = logging.getLogger(__name__)

SECONDS_TO_LEAVE = 5
"""How long streams that are still open keep a stopped server."""


def reserve(settings: Settings) -> socket.socket:
    """Take the port without listening yet, so that a port in use is known before anything is fetched or loaded."""
    if settings.api_token is None and not is_loopback(settings.host):
        raise SettingsError(
            f"TERTULIA_HOST is {settings.host}, which others can reach: set TERTULIA_API_TOKEN to a token of your own, "
            "or use 127.0.0.1."
        )
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((settings.host, settings.port))
    except OSError as error:
        taken.close()
        raise Unavailable(_why_not(settings, error)) from error
    return taken


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(taken: socket.socket) -> str:
    """Return the address to open on this machine."""
    host, port = taken.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(assistant: Assistant, taken: socket.socket, announce: Callable[[str], None]) -> None:
    """Answer until told to stop; `announce` gets the address once a turn can be answered."""
    address = address_of(taken)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(assistant),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SECONDS_TO_LEAVE,
        )
    )
    with noted(assistant.settings.data_dir, address), _stopping_quietly(server):
        answering = asyncio.create_task(server.serve(sockets=[taken]))
        starting = asyncio.create_task(assistant.start())
        following_up: asyncio.Task[None] | None = None
        forgetting: asyncio.Task[None] | None = None
        ringing: asyncio.Task[None] | None = None
        try:
            await asyncio.wait({answering, starting}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                following_up = asyncio.create_task(assistant.follow_up_runner.run())
                following_up.add_done_callback(_log_a_defect)
                forgetting = asyncio.create_task(forget_daily(assistant))
                ringing = asyncio.create_task(assistant.reminder_timer.run())
                await assistant.user_jobs.resume()
                announce(f"Tertulia answers at {address}")
                await answering
        finally:
            server.should_exit = True
            in_the_back = [task for task in (starting, following_up, forgetting, ringing) if task]
            for task in in_the_back:
                task.cancel()
            await asyncio.gather(answering, *in_the_back, return_exceptions=True)
            await assistant.close()


def configure_logs(settings: Settings) -> None:
    """Log to stderr, warnings only, and more where `DEBUG` or `TOOL_DEBUG` ask for it."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in settings.loggers:
        logging.getLogger(name).setLevel(logging.DEBUG)
    if settings.tool_debug:
        logging.getLogger("tertulia.tools").setLevel(logging.DEBUG)


def _log_a_defect(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (defect := task.exception()):
        logger.error("what follows turns has ended in a defect; the next start goes on with it", exc_info=defect)


@contextmanager
def _stopping_quietly(server: uvicorn.Server) -> Iterator[None]:
    # uvicorn raises a caught signal once more after its shutdown; here a stop that was asked for is a success.
    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _why_not(settings: Settings, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {settings.port} on {settings.host} is in use by another program. "
            f"Choose another: TERTULIA_PORT={settings.port + 1} tertulia serve"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {settings.port} is not allowed for you. Choose one above 1023: TERTULIA_PORT=8000 tertulia serve"
    return f"The server cannot listen on {settings.host}, port {settings.port}: {os.strerror(error.errno or 0)}."
