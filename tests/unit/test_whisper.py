"""The part of the local ears that saves most of their time."""

from typing import TYPE_CHECKING

import numpy as np

from tertulia.adapters.embedded.whisper import ShortEncoder, without_padding

if TYPE_CHECKING:
    from tertulia.adapters.embedded.whisper import Features


def features(frames: int, padded_to: int = 3000) -> "Features":
    sound = np.zeros((1, 80, padded_to), np.float32)
    sound[..., :frames] = 0.5
    return sound


def test_the_padding_after_a_short_sound_is_cut_to_a_margin() -> None:
    assert without_padding(features(1000)).shape == (1, 80, 1400)


def test_a_very_short_sound_and_silence_keep_the_least_window() -> None:
    assert without_padding(features(100)).shape == (1, 80, 800)
    assert without_padding(features(0)).shape == (1, 80, 800)


def test_a_long_sound_keeps_everything() -> None:
    assert without_padding(features(3000)).shape == (1, 80, 3000)


def test_the_same_sound_is_encoded_once_and_another_anew() -> None:
    calls: list[tuple[int, ...]] = []

    def encode(sound: "Features") -> int:
        calls.append(sound.shape)
        return len(calls)

    encoder = ShortEncoder(encode)
    assert [encoder(features(500)), encoder(features(500)), encoder(features(600)), encoder(features(500))] == [
        1,
        1,
        2,
        3,
    ]
