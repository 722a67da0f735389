"""Hears one part of a recording."""

from dataclasses import dataclass

from tertulia.domain.audio import HearingOutcome, Transcript
from tertulia.domain.errors import NoAudio, NotFound
from tertulia.domain.languages import closest_language
from tertulia.domain.recording_cuts import file_of
from tertulia.domain.recordings import Recording
from tertulia.ports.recordings import RecordingStore
from tertulia.usecases.hear import Hear


@dataclass(frozen=True, kw_only=True)
class TranscribePart:
    """Writes down what is said in one part, once."""

    recordings: RecordingStore
    hear: Hear

    async def __call__(self, user: str, recording_id: str, place: int) -> None:
        """Hear a part, unless it was heard before; a part without speech is kept as silence."""
        recording = await self.recordings.get(user, recording_id)
        if not 0 <= place < len(recording.parts):
            raise NotFound
        if await self.recordings.transcript(recording, place) is None:
            await self.recordings.keep_transcript(recording, place, await self._heard(recording, place))

    async def _heard(self, recording: Recording, place: int) -> Transcript:
        part = recording.parts[place]
        head = await self.recordings.read(recording, 0, recording.head_bytes) if recording.head_bytes else b""
        sound = file_of(head, await self.recordings.read(recording, part.start, part.end))
        try:
            return await self.hear(sound, recording.language)
        except NoAudio:
            # The last part may be a few samples long.
            language = closest_language(recording.language)
            return Transcript(text="", language=language, seconds=0.0, outcome=HearingOutcome.SILENCE)
