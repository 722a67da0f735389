"""Cuts a recording into parts, reading its file once from end to end and holding a few megabytes of it."""

from dataclasses import dataclass, replace

from tertulia.domain.errors import NoAudio, TooLarge
from tertulia.domain.recording_cuts import HEAD_BYTES, PART_SECONDS, Cut, OggCutter, cut_wav
from tertulia.domain.recordings import Part, Recording
from tertulia.ports.recordings import RecordingStore

BYTES_AT_ONCE = 8_000_000
MOST_BYTES_WHOLE = 25_000_000
"""A container that cannot be cut is heard whole, as vendors take it."""


@dataclass(frozen=True, kw_only=True)
class CutRecording:
    """Finds where a recording can be cut."""

    recordings: RecordingStore
    part_seconds: float = PART_SECONDS

    async def __call__(self, user: str, recording_id: str) -> int:
        """Return how many parts the recording has; raises NotFound, NoAudio, TooLarge and UnsupportedMedia."""
        recording = await self.recordings.get(user, recording_id)
        if not recording.parts:
            cut = await self._cut(recording)
            if not cut.parts:
                raise NoAudio
            recording = replace(recording, parts=cut.parts, head_bytes=cut.head_bytes)
            await self.recordings.put(recording)
        return len(recording.parts)

    async def _cut(self, recording: Recording) -> Cut:
        head = await self.recordings.read(recording, 0, HEAD_BYTES)
        if head.startswith(b"RIFF"):
            return cut_wav(head, recording.size, self.part_seconds)
        if head.startswith(b"OggS") and b"OpusHead" in head:
            return await self._cut_ogg(recording)
        if not head:
            raise NoAudio
        if recording.size > MOST_BYTES_WHOLE:
            raise TooLarge("A recording over 25 MB must be Ogg Opus or WAV.")
        return Cut(0, (Part(start=0, end=recording.size, seconds=0.0),))

    async def _cut_ogg(self, recording: Recording) -> Cut:
        cutter = OggCutter(self.part_seconds)
        for start in range(0, recording.size, BYTES_AT_ONCE):
            cutter.feed(await self.recordings.read(recording, start, start + BYTES_AT_ONCE))
        return cutter.cut()
