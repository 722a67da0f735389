"""What the command line shows: the answer on stdout as it is written, everything about it on stderr."""

import io
import json
import sys
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from tertulia.domain.audio import Sound, joined
from tertulia.domain.errors import TertuliaError
from tertulia.domain.prompts import Json
from tertulia.domain.replies import Done, Failed, ReplyEvent, Spoke, Token, ToolCalled, Transcribed, Waiting


def aside(text: str, style: str = "dim") -> None:
    """Say something on stderr that is no part of the answer."""
    Console(stderr=True, highlight=False).print(text, style=style, markup=False, soft_wrap=True)


def complain(message: str) -> None:
    """Say on one red line what failed."""
    aside(" ".join(message.split()), "red")


def show_json(value: Json) -> None:
    """Print one JSON value on stdout."""
    print_out(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def print_out(text: str) -> None:
    """Write to stdout at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


class TurnShown:
    """Shows a turn while it runs, and keeps what is needed after it."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.heard: Transcribed | None = None
        self.spoken: list[bytes] = []

    @property
    def is_silence(self) -> bool:
        """Whether nobody spoke."""
        return self.heard is not None and not self.heard.text

    def show(self, event: ReplyEvent) -> None:
        """Show one event; a failed turn raises its failure."""
        match event:
            case Spoke(audio=audio):
                self.spoken.append(audio)
            case Transcribed(final=True):
                self.heard = event
                if not self._as_json:
                    aside(f"> {event.text}" if event.text else "Nobody spoke.")
            case Failed(message=message):
                if not self._as_json:
                    print_out("\n")
                raise TertuliaError(message)
            case Done():
                self._end(event)
            case _ if not self._as_json:
                _show_progress(event)

    def _end(self, done: Done) -> None:
        if not self._as_json:
            print_out("\n" if done.response else "")
            return
        heard = {"transcript": self.heard.text, "outcome": self.heard.outcome} if self.heard else {}
        fields = asdict(done)
        del fields["type"], fields["interrupted"]
        show_json(heard | fields)


def _show_progress(event: ReplyEvent) -> None:
    match event:
        case Token(text=text):
            print_out(text)
        case Waiting(ahead=ahead):
            aside(f"The model is busy: {ahead} before you.")
        case ToolCalled(tool=tool):
            aside(f"Using {tool} …")


class FileProgress(Protocol):
    """Is told how much of a file is here."""

    def __call__(self, file: str, done: int, total: int) -> None:
        """Take the news."""
        ...


@contextmanager
def download_bars() -> Iterator[FileProgress]:
    """Show one bar for each file that is fetched."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks = {}

        def progress(file: str, done: int, total: int) -> None:
            if file not in tasks:
                tasks[file] = bars.add_task(file, total=total)
            bars.update(tasks[file], completed=done)

        yield progress


def joined_wav(parts: list[bytes]) -> bytes:
    """Join WAV files of one kind into one."""
    sounds = []
    for part in parts:
        with wave.open(io.BytesIO(part)) as reader:
            sounds.append(Sound(reader.readframes(reader.getnframes()), reader.getframerate()))
    return joined(sounds, sounds[0].rate).as_wav()
