"""One completion that gives way to a voice: it is stopped in the middle, and goes on from what it has written."""

from collections.abc import Callable, Mapping

from tertulia.adapters.embedded.cores import Cores
from tertulia.domain.prompts import Json

type OnChunk = Callable[[Json], bool]
"""Takes a chunk of the stream; True stops the model."""


class Writing:
    """The state of one completion between its runs.

    The library writes ahead of whoever takes its chunks, so holding a chunk up would not free the cores: the run has to
    end. Going on costs one token, since all before it is in the model's cache.
    """

    def __init__(self, body: Mapping[str, Json], on_chunk: OnChunk, cores: Cores) -> None:
        self._body = body
        self._pass_on = on_chunk
        self._cores = cores
        self._pieces: list[str] = []
        self._may_pause = "response_format" not in body
        """A text in a fixed form could not be taken up in its middle."""
        self.goes_on = True

    def next_body(self) -> dict[str, Json]:
        """Return what the next run is asked: the same, with what is written so far to be continued."""
        self.goes_on = False
        if not self._pieces:
            return dict(self._body)
        so_far = {"role": "assistant", "content": "".join(self._pieces)}
        left = self._body["max_tokens"] - len(self._pieces)
        return {**self._body, "messages": [*self._body["messages"], so_far], "max_tokens": left}

    def on_chunk(self, chunk: Json) -> bool:
        """Pass a chunk on; return whether the run should end."""
        if usage := chunk.get("usage"):
            chunk = {**chunk, "usage": self._whole(usage)}
        if self._pass_on(chunk):
            return True
        texts = [text for choice in chunk.get("choices", ()) if (text := choice.get("delta", {}).get("content"))]
        self._pieces += texts
        is_over = any(choice.get("finish_reason") for choice in chunk.get("choices", ()))
        has_room = len(self._pieces) < self._body["max_tokens"]
        self.goes_on = bool(texts) and not is_over and has_room and self._may_pause and self._cores.are_hurried
        return self.goes_on

    def _whole(self, usage: Mapping[str, int]) -> dict[str, int]:
        """Count what earlier runs wrote as written, not as read."""
        written = max(0, len(self._pieces) - usage.get("completion_tokens", 0))
        return {
            **usage,
            "prompt_tokens": usage.get("prompt_tokens", 0) - written,
            "completion_tokens": usage.get("completion_tokens", 0) + written,
        }
