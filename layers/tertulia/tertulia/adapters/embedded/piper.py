"""The fast voice: text to speech on this machine with Piper, which is licensed under the GPL and never a default."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tertulia.adapters.embedded.cores import Cores
from tertulia.adapters.embedded.onnx_session import open_session
from tertulia.domain.audio import Sound
from tertulia.domain.errors import ModelDown, ModelMissing

RATE = 22_050
THREADS = 2
MODEL = "en_US-joe-medium.onnx"
NOTHING_TO_SAY = Sound(bytes(2 * round(RATE * 0.12)), RATE)


def piper_is_installed() -> bool:
    """Tell whether somebody chose to install Piper."""
    return find_spec("piper") is not None


class PiperSynthesizer:
    """Speaks English with one voice, one text at a time."""

    name = "piper/en_US-joe-medium"
    rate = RATE
    most_characters = 300

    def __init__(self, folder: Path, cores: Cores | None = None) -> None:
        self._cores = cores or Cores()
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="speaking")

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
        if not any(character.isalnum() for character in text):
            return NOTHING_TO_SAY
        try:
            # Two brackets would make Piper take what follows for phonemes.
            with self._cores.hurried():
                spoken = [chunk.audio_int16_bytes for chunk in self._voice.synthesize(text.replace("[[", "["))]
        except (RuntimeError, ValueError) as error:
            raise ModelDown("The text could not be pronounced.") from error
        return Sound(b"".join(spoken), RATE) if spoken else NOTHING_TO_SAY

    @cached_property
    def _voice(self) -> Any:
        from piper import PiperConfig, PiperVoice

        # Piper itself would open the model with as many threads as there are cores, and let them spin.
        session = open_session(self._folder / MODEL, threads=THREADS)
        return PiperVoice(session=session, config=PiperConfig.from_dict(self._config()))

    def _config(self) -> dict[str, Any]:
        file = self._folder / f"{MODEL}.json"
        try:
            config: dict[str, Any] = json.loads(file.read_bytes())
        except OSError as error:
            raise ModelMissing(f"The voice file {file.name} is missing.") from error
        return config
