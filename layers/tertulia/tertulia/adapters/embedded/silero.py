"""Voice activity with Silero on onnxruntime."""

import asyncio
from functools import cached_property
from pathlib import Path
from typing import Any

from tertulia.adapters.embedded.onnx_session import open_session
from tertulia.domain.audio import Sound

RATE = 16_000
FRAME = 512
CONTEXT = 64
SPEECH = 0.5
LOUD = 0.5
MOST_GAIN = 30


class SileroDetector:
    """Tells for how long somebody speaks in a sound at 16 kHz."""

    def __init__(self, model: Path) -> None:
        self._model = model

    async def prepare(self) -> None:
        """Read the model, so that the first recording need not wait."""
        await self.speech_seconds(Sound(bytes(2 * FRAME), RATE))

    async def speech_seconds(self, sound: Sound) -> float:
        """Return for how long somebody speaks in the sound."""
        if sound.rate != RATE:
            raise ValueError(f"the sound has {sound.rate} samples a second, not {RATE}")
        frames = await asyncio.to_thread(self._speech_frames, sound.pcm)
        return frames * FRAME / RATE

    def _speech_frames(self, pcm: bytes) -> int:
        import numpy as np

        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
        # A microphone turned down makes speech that the model does not take for speech.
        samples *= min(LOUD / max(abs(samples).max(initial=0), 1e-9), MOST_GAIN)
        samples = np.concatenate([np.zeros(CONTEXT, np.float32), samples, np.zeros(-len(samples) % FRAME, np.float32)])
        state = np.zeros((2, 1, 128), np.float32)
        rate = np.array(RATE, np.int64)
        found = 0
        # The model wants each frame with the last samples of the one before it.
        for start in range(0, len(samples) - CONTEXT, FRAME):
            window = samples[None, start : start + CONTEXT + FRAME]
            probability, state = self._session.run(None, {"input": window, "state": state, "sr": rate})
            found += probability.item() >= SPEECH
        return found

    @cached_property
    def _session(self) -> Any:
        return open_session(self._model, threads=1)
