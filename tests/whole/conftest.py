"""A server of the product's own, started as a user starts it, on the real small models."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.model_files import model_library

SECONDS_TO_START = 90


@dataclass(frozen=True)
class Server:
    """Where the server answers, and the line it said so with."""

    address: str
    announced: str
    data_dir: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir, port = tmp_path_factory.mktemp("data"), free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TERTULIA_", "GROQ_"))} | {
        "TERTULIA_PORT": str(port),
        "TERTULIA_DATA_DIR": str(data_dir),
        "TERTULIA_MODELS_DIR": str(model_library().root),
        "TERTULIA_LOCAL_LLM": "0.5b",
        "TERTULIA_WHISPER": "tiny.en",
        "TERTULIA_LOCAL_VOICE": "kokoro",
    }
    tertulia = Path(sys.executable).with_name("tertulia")
    with subprocess.Popen([tertulia, "serve"], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        yield Server(f"http://127.0.0.1:{port}", line, data_dir)
        process.terminate()
        assert process.wait(30) == 0


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.address, timeout=180) as client:
        yield client


def wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while httpx.get(f"{address}/api/health").status_code != httpx.codes.OK:
        assert time.monotonic() < deadline
        time.sleep(0.2)
