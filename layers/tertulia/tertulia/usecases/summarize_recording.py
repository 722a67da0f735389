"""Says what a recording was about, one part after the other, so that no call lasts long however long it is."""

from dataclasses import dataclass, replace

from tertulia.domain.audio import Transcript
from tertulia.domain.errors import Unavailable
from tertulia.domain.recordings import Recording
from tertulia.domain.sentences import pieces
from tertulia.domain.summaries import Digest, SummaryEntry, Vector, text_to_index
from tertulia.domain.turns import Turn
from tertulia.ports import Embedder
from tertulia.ports.follow_up import Summarizer, SummaryIndex
from tertulia.ports.recordings import RecordingStore

PIECE_CHARACTERS = 2_900
"""What a summarizer reads of one text without leaving out its middle."""


@dataclass(frozen=True, kw_only=True)
class SummarizeRecording:
    """Folds the parts of a recording into its digest, then makes it findable."""

    recordings: RecordingStore
    summarizer: Summarizer
    embedder: Embedder
    summaries: SummaryIndex

    async def __call__(self, user: str, recording_id: str) -> bool:
        """Fold the next part in; return whether the recording is summarized and indexed."""
        recording = await self.recordings.get(user, recording_id)
        if not recording.is_summarized:
            recording = await self._with_next_part(recording)
            await self.recordings.put(recording)
        if recording.is_summarized and recording.digest.title:
            await self._index(recording)
        return recording.is_summarized

    async def _with_next_part(self, recording: Recording) -> Recording:
        transcript = await self.recordings.transcript(recording, recording.summarized_parts)
        if transcript is None:
            raise Unavailable
        digest = recording.digest
        for text in pieces(transcript.text, PIECE_CHARACTERS):
            digest = await self._folded(digest, _as_turn(recording, transcript, text))
        return replace(recording, digest=digest, summarized_parts=recording.summarized_parts + 1)

    async def _folded(self, digest: Digest, turn: Turn) -> Digest:
        after = await self.summarizer.digest(digest, [turn])
        return after.keeping_what_is_done(digest.action_items)

    async def _index(self, recording: Recording) -> None:
        title, overview = recording.digest.title, recording.digest.overview
        [values] = await self.embedder.embed([text_to_index(title, overview)])
        entry = SummaryEntry(
            user=recording.user,
            conversation_id=recording.conversation_id,
            title=title,
            overview=overview,
            created_at=recording.created_at,
            vector=Vector(tuple(values), self.embedder.name),
        )
        await self.summaries.put(entry)


def _as_turn(recording: Recording, transcript: Transcript, text: str) -> Turn:
    return Turn(
        id=recording.id,
        number=0,
        text=text,
        answer="",
        language=transcript.language,
        created_at=recording.created_at,
        answered_at=recording.created_at,
    )
