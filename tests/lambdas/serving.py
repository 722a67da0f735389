"""The API and the Lambda service over HTTP, in a thread with a loop of its own."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.lambdas.host import Host


@contextmanager
def served(api: ASGIApp, service: ASGIApp, host: Host) -> Iterator[tuple[asyncio.AbstractEventLoop, str]]:
    """Serve the API and the Lambda service from one loop, since both call the same processes."""

    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        await (service if scope["path"].startswith("/2015-03-31/") else api)(scope, receive, send)

    with listener() as bound:
        server = uvicorn.Server(uvicorn.Config(both, log_level=60, lifespan="off", ws="none", http="h11"))
        loops: list[asyncio.AbstractEventLoop] = []

        async def serve() -> None:
            loops.append(asyncio.get_running_loop())
            await server.serve(sockets=[bound])
            await host.close()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        yield loops[0], f"http://127.0.0.1:{bound.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def listener() -> socket.socket:
    """Return a socket on a free port of this machine."""
    # Named as TCP, or asyncio does not turn off Nagle's algorithm and small chunks wait.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.bind(("127.0.0.1", 0))
    return made
