"""The models that run on this machine: which of them, and each built once."""

from dataclasses import dataclass
from functools import cached_property

from tertulia.adapters.embedded.cores import Cores
from tertulia.adapters.embedded.kokoro import KokoroSynthesizer
from tertulia.adapters.embedded.llama import LlamaModel
from tertulia.adapters.embedded.llama_engine import LlamaEngine
from tertulia.adapters.embedded.machine import free_memory, share_heaps
from tertulia.adapters.embedded.minilm import MiniLmEmbedder
from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.adapters.embedded.piper import PiperSynthesizer, piper_is_installed
from tertulia.adapters.embedded.silero import SileroDetector
from tertulia.adapters.embedded.whisper import WhisperTranscriber
from tertulia.domain.errors import NotConfigured
from tertulia.ports import Synthesizer

LANGUAGE_MODELS = {"1.5b": "qwen-1.5b", "0.5b": "qwen-0.5b"}
EARS = {"base": "whisper-base", "tiny.en": "whisper-tiny-en"}
KOKORO, PIPER = "kokoro", "piper-joe"


@dataclass(frozen=True, kw_only=True)
class LocalWishes:
    """What is wished of the local models; `auto` is chosen by what this machine has."""

    language_model: str = "auto"
    ear: str = "auto"
    voice: str = "auto"
    vocabulary: str = ""
    """Words that the ear should expect."""


class LocalModels:
    """The local language model, ear, voice and embedder."""

    def __init__(self, library: ModelLibrary, wishes: LocalWishes | None = None) -> None:
        share_heaps()
        self._library = library
        self._wishes = wishes or LocalWishes()
        self._cores = Cores()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The models in use, as the manifest names them."""
        chosen = {
            "qwen": LANGUAGE_MODELS.get(self._wishes.language_model),
            "whisper": EARS.get(self._wishes.ear),
            KOKORO: self._voice_name(),
        }
        defaults = self._library.default_names(free_memory())
        return tuple(chosen.get(name.split("-")[0]) or name for name in defaults)

    @cached_property
    def chat_model(self) -> LlamaModel:
        """The language model."""
        name = self._named("qwen")
        return LlamaModel(LlamaEngine(lambda: self._library.path(name), cores=self._cores), name)

    @property
    def agent_model(self) -> LlamaModel:
        """The same: two would not fit."""
        return self.chat_model

    @cached_property
    def transcriber(self) -> WhisperTranscriber:
        """The ear."""
        return WhisperTranscriber(self._library.path(self._named("whisper")), self._wishes.vocabulary)

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """The voice."""
        if PIPER in self.names:
            return PiperSynthesizer(self._library.path(PIPER), self._cores)
        return KokoroSynthesizer(self._library.path(KOKORO), cores=self._cores)

    @cached_property
    def detector(self) -> SileroDetector:
        """Voice activity."""
        return SileroDetector(self._library.path("silero-vad"))

    @cached_property
    def embedder(self) -> MiniLmEmbedder:
        """Texts to vectors."""
        return MiniLmEmbedder(self._library.path("minilm"))

    def _voice_name(self) -> str:
        if self._wishes.voice == "piper" and not piper_is_installed():
            raise NotConfigured(
                "The voice piper is not installed. Run `make fast-voice`, or unset TERTULIA_LOCAL_VOICE."
            )
        is_there = self._wishes.voice == "auto" and piper_is_installed() and not self._library.missing([PIPER])
        return PIPER if self._wishes.voice == "piper" or is_there else KOKORO

    def _named(self, kind: str) -> str:
        return next(name for name in self.names if name.startswith(kind))
