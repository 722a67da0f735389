"""Recordings: handed over when they are stored, their files, how they are cut, and what was heard in their parts."""

from typing import Protocol

from tertulia.domain.audio import Transcript
from tertulia.domain.recordings import Recording


class RecordingStore(Protocol):
    """Recordings of users, with files too large to hold at once."""

    async def put(self, recording: Recording) -> None:
        """Keep a recording, in place of what was known of it."""
        ...

    async def get(self, user: str, recording_id: str) -> Recording:
        """Return a recording of the user's, or raise NotFound."""
        ...

    async def read(self, recording: Recording, start: int, end: int) -> bytes:
        """Return some bytes of its file, fewer at its end; NotFound when the file is gone."""
        ...

    async def keep_transcript(self, recording: Recording, place: int, transcript: Transcript) -> None:
        """Keep what was heard in a part."""
        ...

    async def transcript(self, recording: Recording, place: int) -> Transcript | None:
        """Return what was heard in a part, or None where it was not heard yet."""
        ...


class RecordingWorkflow(Protocol):
    """Where a stored recording is handed over."""

    async def start(self, recording: Recording) -> None:
        """Hand it over: it is cut, heard and summarized, whatever happens here. The same recording twice is one."""
        ...
