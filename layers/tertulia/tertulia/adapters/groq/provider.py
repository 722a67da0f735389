"""Groq as the provider of a turn's models, over one connection."""

from dataclasses import dataclass
from functools import cached_property

from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.synthesizer import GroqSynthesizer
from tertulia.adapters.groq.transcriber import GroqTranscriber, HearingHints


@dataclass(frozen=True, kw_only=True)
class GroqModels:
    """Which models of Groq do what, each built once."""

    connection: GroqConnection
    chat: str
    agent: str
    ear: str
    voice_model: str
    voice: str
    hints: HearingHints

    @cached_property
    def chat_model(self) -> GroqChat:
        """Writes answers."""
        return GroqChat(self.connection, self.chat)

    @cached_property
    def agent_model(self) -> GroqChat:
        """Calls tools."""
        return GroqChat(self.connection, self.agent, "GROQ_AGENT_MODEL")

    @cached_property
    def transcriber(self) -> GroqTranscriber:
        """The ear."""
        return GroqTranscriber(self.connection, self.ear, self.hints)

    @cached_property
    def synthesizer(self) -> GroqSynthesizer:
        """The voice."""
        return GroqSynthesizer(self.connection, self.voice_model, self.voice)

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()
