"""Groq's models, as the settings name them."""

from pydantic import SecretStr

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.provider import GroqModels
from tertulia.adapters.groq.transcriber import HearingHints
from tertulia.ports import Clock
from tertulia.settings import Settings


def groq_models(settings: Settings, key: SecretStr, clock: Clock) -> GroqModels:
    """Build the models that a key opens."""
    return GroqModels(
        connection=GroqConnection(key, clock, settings.groq_base_url),
        chat=settings.groq_llm_model,
        agent=settings.groq_agent_model,
        ear=settings.groq_stt_model,
        voice_model=settings.groq_tts_model,
        voice=settings.tts_voice,
        hints=HearingHints(words=settings.stt_prompt, language=settings.stt_language),
    )
