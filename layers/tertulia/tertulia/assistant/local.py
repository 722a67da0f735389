"""The models that run on this machine, as the settings wish."""

from tertulia.adapters.embedded.local_models import LocalModels, LocalWishes
from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.settings import Settings


def local_models(settings: Settings, library: ModelLibrary) -> LocalModels:
    """Build the models that run on this machine."""
    wishes = LocalWishes(
        language_model=settings.local_llm,
        ear=settings.whisper,
        voice=settings.local_voice,
        vocabulary=settings.stt_prompt,
    )
    return LocalModels(library, wishes)
