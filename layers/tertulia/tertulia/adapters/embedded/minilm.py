"""all-MiniLM-L6-v2 on onnxruntime: texts to vectors of length 1."""

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tertulia.adapters.embedded.cores import thread_count
from tertulia.adapters.embedded.onnx_session import open_session
from tertulia.domain.errors import NotConfigured

MOST_TOKENS = 256
BATCH = 32
SHORTEST = 1e-9


class MiniLmEmbedder:
    """An Embedder that runs in a thread of this process."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()

    async def prepare(self) -> None:
        """Load the model ahead of its first use; raises NotConfigured."""
        await asyncio.to_thread(self._loaded)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of 384 numbers for each text."""
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return [vector for batch in batches for vector in await asyncio.to_thread(self._embed, batch)]

    def _loaded(self) -> tuple[Any, Any]:
        with self._loading:
            return self._tokenizer, self._session

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(self._path("tokenizer.json"))
        tokenizer.enable_truncation(MOST_TOKENS)
        tokenizer.enable_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        return open_session(Path(self._path("model.onnx")), thread_count())

    def _path(self, name: str) -> str:
        path = self._folder / name
        if not path.is_file():
            raise NotConfigured("The embedding model is not on this machine yet. Run `tertulia models fetch`.")
        return str(path)

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        import numpy as np

        tokenizer, session = self._loaded()
        # Half of a surrogate pair is no text to the tokenizer.
        encoded = tokenizer.encode_batch([text.encode(errors="replace").decode() for text in texts])
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        inputs = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        [states] = session.run(["last_hidden_state"], inputs)
        weights = mask[:, :, None].astype(np.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        vectors: list[list[float]] = (means / np.maximum(lengths, SHORTEST)).tolist()
        return vectors
