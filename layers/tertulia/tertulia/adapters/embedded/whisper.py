"""Speech to text on this machine, with Whisper in 8 bits."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertulia.domain.audio import HearingOutcome, Sound, Transcript, Utterance
from tertulia.domain.errors import ModelDown, ModelMissing
from tertulia.domain.hearing import Segment, heard_words
from tertulia.domain.languages import closest_language

if TYPE_CHECKING:
    import numpy as np

    type Features = np.ndarray[Any, np.dtype[np.float32]]

THREADS = 2
FRAMES_A_SECOND = 100
LEAST_WINDOW = 8 * FRAMES_A_SECOND
MARGIN = 4 * FRAMES_A_SECOND
TOKENS_A_SECOND = 10


class WhisperTranscriber:
    """Writes down what is said, one recording at a time."""

    def __init__(self, folder: Path, vocabulary: str = "") -> None:
        self._folder = folder
        self._vocabulary = vocabulary
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hearing")

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._folder.name

    async def prepare(self) -> None:
        """Read the model."""
        await asyncio.get_running_loop().run_in_executor(self._worker, lambda: self._model)

    async def warm(self) -> None:
        """Use the model once, since the first time takes longer."""
        await self.transcribe(Utterance(b"", "wav", Sound(bytes(16_000), 16_000)), "en-US")

    async def close(self) -> None:
        """Let the worker go."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        """Write down what is said; what the model itself takes for no speech is silence."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._transcribe, utterance.sound, language)

    def _transcribe(self, sound: Sound, language: str | None) -> Transcript:
        import numpy as np

        # A second of silence after the words, without which the smaller models say the words again and again.
        samples = np.frombuffer(sound.pcm + bytes(2 * sound.rate), "<i2").astype(np.float32) / 32768
        try:
            found, info = self._model.transcribe(
                samples,
                language=self._whisper_language(language),
                initial_prompt=self._vocabulary or None,
                beam_size=1,
                # The later temperatures are for what the model itself finds repetitive or unlikely.
                temperature=(0.0, 0.2, 0.4),
                condition_on_previous_text=False,
                without_timestamps=True,
                # Bounds what a model that repeats itself can take.
                max_new_tokens=min(220, 24 + int(sound.seconds * TOKENS_A_SECOND)),
            )
            words = heard_words(Segment(text=each.text, no_speech_probability=each.no_speech_prob) for each in found)
        except (RuntimeError, ValueError) as error:
            raise ModelDown("The recording could not be transcribed.") from error
        return Transcript(
            text=words,
            language=closest_language(language or info.language),
            seconds=sound.seconds,
            outcome=HearingOutcome.SPEECH if words else HearingOutcome.SILENCE,
        )

    def _whisper_language(self, language: str | None) -> str | None:
        if not self._model.model.is_multilingual:
            return "en"
        primary = (language or "").replace("_", "-").split("-")[0].lower()
        return primary if primary in self._model.supported_languages else None

    @cached_property
    def _model(self) -> Any:
        from faster_whisper import WhisperModel  # type: ignore[import-untyped]

        if not (self._folder / "model.bin").is_file():
            raise ModelMissing(f"The speech model {self.name} is missing.")
        try:
            model = WhisperModel(
                str(self._folder), device="cpu", compute_type="int8", cpu_threads=THREADS, local_files_only=True
            )
        except (RuntimeError, ValueError) as error:
            raise ModelDown(f"The speech model {self.name} cannot be read.") from error
        model.encode = ShortEncoder(model.encode)
        return model


class ShortEncoder:
    """Encodes what was said without most of the padding to 30 s, which takes longer than the words.

    It also keeps its last result, which is asked for twice where the language is detected first.
    """

    def __init__(self, encode: Any) -> None:
        self._encode = encode
        self._last: tuple[Features, Any] | None = None

    def __call__(self, features: "Features") -> Any:
        """Return what the decoder needs of the sound."""
        import numpy as np

        frames = without_padding(features)
        if self._last is None or not np.array_equal(self._last[0], frames):
            self._last = (frames, self._encode(frames))
        return self._last[1]


def without_padding(features: "Features") -> "Features":
    """Cut the zeros at the end, all but a margin that the model needs to find the end."""
    used = features.any(axis=tuple(range(features.ndim - 1))).nonzero()[0]
    last = int(used[-1]) + 1 if used.size else 0
    return features[..., : max(last + MARGIN, LEAST_WINDOW)]
