"""The note that a running server leaves in its data folder, so that the command line finds it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

NOTE = "server.json"


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """Where a server answers, and which process it is."""

    address: str
    pid: int


@contextmanager
def noted(data_dir: Path, address: str) -> Iterator[None]:
    """Leave the note while the server runs."""
    server = RunningServer(address=address, pid=os.getpid())
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = data_dir / f"{NOTE}.{server.pid}"
    draft.write_text(json.dumps(asdict(server)) + "\n", "utf-8")
    draft.replace(data_dir / NOTE)
    try:
        yield
    finally:
        # A second server of the same folder may have left its own note since.
        if running_server(data_dir) == server:
            (data_dir / NOTE).unlink(missing_ok=True)


def running_server(data_dir: Path) -> RunningServer | None:
    """Return the server that runs on a data folder; a note whose process is gone counts for nothing."""
    with suppress(OSError, ValueError, TypeError):
        server = RunningServer(**json.loads((data_dir / NOTE).read_text("utf-8")))
        if _lives(server.pid):
            return server
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
