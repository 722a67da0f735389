"""A language model engine that says what a test tells it, in the chunks of the real one."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tertulia.domain.errors import TertuliaError
from tertulia.domain.prompts import Json

type Piece = str | dict[str, Json] | Exception
type EngineScript = Iterable[Piece] | Callable[[Mapping[str, Json]], Iterable[Piece]]


@dataclass
class ScriptedEngine:
    """Answers each call with the next script; the last one serves all further calls."""

    scripts: tuple[EngineScript, ...] = (("Hello", " there."),)
    context: int = 4096
    seconds_a_piece: float = 0.0
    load_error: TertuliaError | None = None
    bodies: list[Mapping[str, Json]] = field(default_factory=list)
    stopped: int = 0
    loads: int = 0
    closed: bool = False

    def begin(self) -> None:
        if self.load_error:
            raise self.load_error

    def load(self) -> None:
        self.loads += 1
        if self.load_error:
            raise self.load_error

    def complete(self, body: Mapping[str, Json], on_chunk: Callable[[Json], bool]) -> None:
        self.load()
        script = self.scripts[min(len(self.bodies), len(self.scripts) - 1)]
        self.bodies.append(body)
        said = 0
        for piece in script(body) if callable(script) else script:
            if isinstance(piece, Exception):
                raise piece
            chunk = {"choices": [{"index": 0, "delta": {"content": piece}}]} if isinstance(piece, str) else piece
            if on_chunk(chunk):
                self.stopped += 1
                return
            said += 1
            time.sleep(self.seconds_a_piece)
        on_chunk({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": said}})

    def close(self) -> None:
        self.closed = True


def context_exceeded(tokens: int) -> dict[str, Json]:
    """Return the refusal of a prompt of so many tokens."""
    return {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": 4096}}
