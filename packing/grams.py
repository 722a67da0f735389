"""Cuts py3langid's model down to the languages of the product that are written in Latin letters."""

from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_DIR, MODEL_FILE  # type: ignore[import-untyped]
from py3langid.modelio import load_model  # type: ignore[import-untyped]

from packing.plan import PACKAGE
from tertulia.adapters.embedded.latin_grams import LANGUAGES, LONGEST, STEP

PLACE = PACKAGE / "adapters" / "embedded" / "latin_grams.bin"
NOT_LATIN = 0xC6
"""From this byte on, UTF-8 begins letters of other scripts, but for punctuation."""
PUNCTUATION = 0xE2
TELLING = 0.5
"""A gram whose probabilities differ by less tells nothing."""


def write_grams(into: Path = PLACE) -> None:
    """Write the file of the detector anew."""
    weights, _, classes, moves, rows, outputs = load_model(MODEL_DIR / MODEL_FILE)
    columns = weights[:, [classes.index(language) for language in LANGUAGES]].astype(np.float32)
    grams = _grams(np.asarray(moves).reshape(-1, 256)[np.asarray(rows)])
    telling, silent = _sorted_out(grams, np.asarray(outputs), columns)
    into.write_bytes(_head(telling) + _head(silent) + b"".join((*telling, *silent)) + _bytes(telling.values()))


def _grams(moves: NDArray[np.uint32]) -> dict[bytes, int]:
    """Walk the automaton from its beginning: the shortest way to a state is the text that the state stands for."""
    grams, reached = {b"": 0}, {0}
    edge = [b""]
    while edge:
        further = []
        for gram in edge:
            for byte, state in enumerate(moves[grams[gram]].tolist()):
                if state not in reached:
                    reached.add(state)
                    grams[gram + bytes([byte])] = state
                    further.append(gram + bytes([byte]))
        edge = further
    del grams[b""]
    return grams


def _sorted_out(
    grams: dict[bytes, int], outputs: NDArray[np.int32], columns: NDArray[np.float32]
) -> tuple[dict[bytes, NDArray[np.float32]], dict[bytes, None]]:
    telling: dict[bytes, NDArray[np.float32]] = {}
    silent: dict[bytes, None] = {}
    for gram, state in sorted(grams.items(), key=lambda item: (len(item[0]), item[0])):
        if any(byte >= NOT_LATIN and byte != PUNCTUATION for byte in gram):
            continue
        row = columns[outputs[state]] if outputs[state] >= 0 else np.zeros(len(LANGUAGES), np.float32)
        if np.ptp(row) > TELLING:
            telling[gram] = row
        else:
            silent[gram] = None
    return telling, silent


def _head(grams: dict[bytes, NDArray[np.float32]] | dict[bytes, None]) -> bytes:
    return array("I", [sum(len(gram) == length for gram in grams) for length in range(1, LONGEST + 1)]).tobytes()


def _bytes(rows: object) -> bytes:
    table = np.array(list(rows))  # type: ignore[call-overload]
    below = (table - table.max(axis=1, keepdims=True)) / STEP
    return bytes(np.clip(below.round(), -128, 0).astype(np.int8).tobytes())
