"""A DynamoDB that keeps its data on the disk and is stricter than moto: dynalite, as a process of its own."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).parent / "npm/node_modules/.bin/dynalite"


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run it over a folder and yield its address."""
    assert PROGRAM.exists(), "run `make packages` first"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(PROGRAM), "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)]
    at_once = ["--createTableMs", "0", "--deleteTableMs", "0"]
    with subprocess.Popen([*command, *at_once], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert "listening" in server.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
