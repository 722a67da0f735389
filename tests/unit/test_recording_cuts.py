"""Recordings are cut without decoding them: each part is a sound file, and together they are the whole."""

import io
import struct
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.domain.audio import Transcript
from tertulia.domain.errors import NoAudio, TooLarge, UnsupportedMedia
from tertulia.domain.recording_cuts import HEAD_BYTES, MOST_PART_BYTES, PART_SECONDS, OggCutter, cut_wav, file_of
from tertulia.domain.recordings import Recording
from tertulia.usecases.cut_recording import BYTES_AT_ONCE, CutRecording
from tests.fakes.kept_turns import ME, NOON
from tests.sounds import chunk, pcm_format, recording, riff, tone

RISING_SECONDS = 30


def ogg_of(seconds: int) -> bytes:
    """Return Ogg pages of one second each, after the two that begin Ogg Opus."""
    return b"".join([ogg_heads(), *(page(bytes(300), second * 48_000, second + 1) for second in range(1, seconds + 1))])


def ogg_heads() -> bytes:
    """Return the two pages that begin Ogg Opus."""
    return page(b"OpusHead" + bytes(11), 0, 0) + page(b"OpusTags" + bytes(8), 0, 1)


def page(content: bytes, granule: int, number: int) -> bytes:
    lengths = bytes([255] * (len(content) // 255) + [len(content) % 255])
    return struct.pack("<4sBBqIIIB", b"OggS", 0, 0, granule, 1, number, 0, len(lengths)) + lengths + content


@pytest.fixture(scope="module")
def rising() -> bytes:
    """Return Ogg Opus whose tone is higher in every second, so that a sound tells when it was."""
    import av

    rate, file = 48_000, io.BytesIO()
    time = np.arange(RISING_SECONDS * rate) / rate
    wave = (12_000 * np.sin(2 * np.pi * (200 + np.floor(time) * 50) * time)).astype(np.int16)
    with av.open(file, "w", format="ogg") as target:
        stream = target.add_stream("libopus", rate=rate)
        stream.layout = "mono"
        for start in range(0, len(wave), rate):
            frame = av.AudioFrame.from_ndarray(wave[None, start : start + rate], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, start
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    return file.getvalue()


def cut_ogg(data: bytes, part_seconds: float, sizes: tuple[int, ...] = (1_000_000,)) -> OggCutter:
    cutter, place, turn = OggCutter(part_seconds), 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        cutter.feed(data[place : place + size])
        place, turn = place + size, turn + 1
    return cutter


async def seconds_heard(file: bytes) -> list[int]:
    """Return the seconds of the rising tone that a file holds."""
    sound = (await PyavDecoder().decode(file)).sound
    samples = np.frombuffer(sound.pcm, np.int16).astype(float)
    middles = range(sound.rate // 2, len(samples) - sound.rate // 4, sound.rate)
    spectra = [np.abs(np.fft.rfft(samples[middle - 2_000 : middle + 2_000])) for middle in middles]
    return [round((int(np.argmax(spectrum)) * sound.rate / 4_000 - 200) / 50) for spectrum in spectra]


async def test_the_parts_of_ogg_opus_hold_every_second_once_and_tell_when_they_begin(rising: bytes) -> None:
    cut = cut_ogg(rising, part_seconds=7).cut()

    assert len(cut.parts) == 5
    head = rising[: cut.head_bytes]
    assert head + b"".join(rising[part.start : part.end] for part in cut.parts) == rising
    heard = [await seconds_heard(file_of(head, rising[part.start : part.end])) for part in cut.parts]
    assert [second for seconds in heard for second in seconds] == list(range(RISING_SECONDS))
    assert [round(part.seconds) for part in cut.parts] == [seconds[0] for seconds in heard]


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.integers(1, 70_000), min_size=1, max_size=5))
def test_however_the_file_comes_it_is_cut_in_the_same_places(sizes: list[int]) -> None:
    pages = ogg_of(seconds=100)

    assert cut_ogg(pages, 30, tuple(sizes)).cut() == cut_ogg(pages, 30).cut()


def test_a_last_page_cut_short_is_left_out() -> None:
    assert cut_ogg(ogg_of(seconds=20)[:-10], 30).cut().parts[-1].end == len(ogg_of(seconds=19))


async def test_a_damaged_place_costs_no_more_than_itself(rising: bytes) -> None:
    middle = len(rising) // 2
    damaged = rising[:middle] + bytes(1_000) + rising[middle + 1_000 :]

    cut = cut_ogg(damaged, part_seconds=7).cut()

    head = damaged[: cut.head_bytes]
    heard = [await seconds_heard(file_of(head, damaged[part.start : part.end])) for part in cut.parts]
    assert heard[0] == [0, 1, 2, 3, 4, 5, 6]
    assert heard[-1][-2:] == [28, 29]


@pytest.mark.parametrize("data", [b"", ogg_heads(), ogg_heads()[:40], ogg_heads() + bytes(1_100_000)])
def test_a_file_without_sound_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedMedia):
        cut_ogg(data, 30).cut()


@pytest.mark.parametrize(("rate", "channels", "bits"), [(16_000, 1, 16), (48_000, 2, 16), (44_100, 2, 24)])
def test_the_parts_of_a_wav_are_wav_files_with_all_its_frames(rate: int, channels: int, bits: int) -> None:
    frames = bytes(range(256)) * 4_500
    form = pcm_format(rate=rate, channels=channels, bits=bits)
    whole = riff(chunk(b"LIST", b"odd"), chunk(b"fmt ", form), chunk(b"data", frames, claimed_size=0xFFFFFFFF))

    cut = cut_wav(whole[:HEAD_BYTES], len(whole), part_seconds=1)

    frame = channels * bits // 8
    assert len(cut.parts) == -(-len(frames) // (rate * frame))
    parts = [file_of(whole[: cut.head_bytes], whole[part.start : part.end]) for part in cut.parts]
    assert all(part.startswith(b"RIFF" + struct.pack("<I", len(part) - 8) + b"WAVEfmt ") for part in parts)
    assert b"".join(part[part.index(b"data") + 8 :] for part in parts) == frames
    assert [part.seconds for part in cut.parts] == list(range(len(cut.parts)))


@pytest.mark.parametrize(
    "head",
    [
        b"RIFF",
        b"RIFF\0\0\0\0WAVE",
        riff(chunk(b"data", b"1234")),
        riff(chunk(b"fmt ", pcm_format(rate=0)), chunk(b"data", b"1234")),
        riff(chunk(b"fmt ", pcm_format()), chunk(b"LIST", b"", claimed_size=0xFFFFFFF0)),
    ],
)
def test_a_wav_without_format_or_sound_is_refused(head: bytes) -> None:
    with pytest.raises(UnsupportedMedia):
        cut_wav(head, 1_000_000)


@dataclass
class EndlessFile:
    """A recording store whose one file is made while it is read: a head, then the same bytes again and again."""

    recording: Recording
    head: bytes
    again: bytes
    most_read: int = 0
    kept: list[Recording] = field(default_factory=list)

    async def put(self, recording: Recording) -> None:
        self.kept.append(recording)

    async def get(self, user: str, recording_id: str) -> Recording:
        return self.kept[-1] if self.kept else self.recording

    async def read(self, recording: Recording, start: int, end: int) -> bytes:
        end = min(end, recording.size)
        self.most_read = max(self.most_read, end - start)
        shift = max(start - len(self.head), 0) % len(self.again)
        body = (self.again * ((end - start) // len(self.again) + 2))[shift:]
        return (self.head[start:] + body)[: end - start]

    async def keep_transcript(self, recording: Recording, place: int, transcript: Transcript) -> None:
        raise NotImplementedError

    async def transcript(self, recording: Recording, place: int) -> Transcript | None:
        raise NotImplementedError


def a_recording(size: int) -> Recording:
    return Recording(id="r1", user=ME, key="r1.ogg", size=size, created_at=NOON, conversation_id="c1")


async def test_ten_hours_are_cut_by_reading_a_few_megabytes_at_a_time() -> None:
    head = riff(chunk(b"fmt ", pcm_format()), chunk(b"data", b"", claimed_size=0))
    store = EndlessFile(a_recording(len(head) + 10 * 3_600 * 32_000), head, tone(1))

    assert await CutRecording(recordings=store)(ME, "r1") == 10 * 3_600 // PART_SECONDS
    assert store.most_read <= HEAD_BYTES
    assert max(part.end - part.start for part in store.kept[-1].parts) <= MOST_PART_BYTES

    assert await CutRecording(recordings=store)(ME, "r1") == 10 * 3_600 // PART_SECONDS
    assert len(store.kept) == 1, "cutting again finds the cuts"


async def test_two_hundred_megabytes_of_ogg_are_read_once_from_end_to_end() -> None:
    second = page(bytes(4_000), 48_000, 2)
    store = EndlessFile(a_recording(200_000_000), ogg_heads(), second)

    # Its pages all tell the same time, so that only their bytes divide it.
    assert await CutRecording(recordings=store)(ME, "r1") == 10
    assert store.most_read <= BYTES_AT_ONCE
    assert all(part.end - part.start <= MOST_PART_BYTES + 65_536 for part in store.kept[-1].parts)


async def test_a_container_that_cannot_be_cut_is_heard_whole_while_vendors_take_it() -> None:
    file = recording("capital_of_france.mp3")
    store = EndlessFile(a_recording(len(file)), file, b"\0")
    assert await CutRecording(recordings=store)(ME, "r1") == 1
    [part] = store.kept[-1].parts
    assert (part.start, part.end) == (0, len(file))

    with pytest.raises(TooLarge):
        await CutRecording(recordings=replace(store, recording=a_recording(25_000_001), kept=[]))(ME, "r1")
    with pytest.raises(NoAudio):
        await CutRecording(recordings=replace(store, recording=a_recording(0), kept=[]))(ME, "r1")
