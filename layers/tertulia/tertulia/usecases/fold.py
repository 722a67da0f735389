"""Folds the events of a turn into one reply, for surfaces that answer in one piece."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from tertulia.domain.errors import TertuliaError
from tertulia.domain.replies import Done, Failed, Numbered, Spoke, Transcribed


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A whole answer: how it ended, what was heard, and its sentences as sound."""

    done: Done
    transcript: Transcribed | None = None
    speech: tuple[Spoke, ...] = ()

    @property
    def is_silence(self) -> bool:
        """Whether nobody spoke, so that there was no turn."""
        return self.transcript is not None and self.transcript.outcome == "silence"


async def folded(events: AsyncIterator[Numbered]) -> Reply:
    """Return the reply of a turn, or raise the failure that ended it."""
    transcript: Transcribed | None = None
    speech: list[Spoke] = []
    async for numbered in events:
        match numbered.event:
            case Transcribed(final=True) as heard:
                transcript = heard
            case Spoke() as spoke:
                speech.append(spoke)
            case Done() as done:
                return Reply(done=done, transcript=transcript, speech=tuple(speech))
            case Failed() as failed:
                raise failure_of(failed)
    raise TertuliaError


def failure_of(failed: Failed) -> TertuliaError:
    """Return the error that an `error` event tells of, with the sentence it came with."""
    kind = next((kind for kind in _kinds(TertuliaError) if kind.code == failed.code), TertuliaError)
    return kind(failed.message, retry_after=failed.retry_after)


def _kinds(kind: type[TertuliaError]) -> Iterator[type[TertuliaError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
