"""Many vectors side by side in short codes: a hundred thousand are looked through in a few milliseconds.

A code has one byte for each number. The signs of all are compared first, one bit for each number; of those that
differ in few signs the best are chosen by their bytes, and whoever asks compares these exactly.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

SIFTED = 2_000
"""So many that differ in few signs are looked at again."""
_FIRST_PLACES = 256
_WORD_BITS = 64
_SCALE = 508
"""Of 384 numbers of a vector of length 1, hardly any is above a quarter."""


def code_of(vector: Sequence[float]) -> bytes:
    """Return a vector with one byte for each number."""
    import numpy as np

    return np.clip(np.rint(np.asarray(vector, dtype=np.float32) * _SCALE), -127, 127).astype(np.int8).tobytes()


class CodeShelf:
    """Codes of one length by number."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._numbers: Any = None
        self._codes: Any = None
        self._columns: Any = None

    def __len__(self) -> int:
        return len(self._places)

    def put(self, codes: Iterable[tuple[int, bytes]]) -> None:
        """Keep codes, each in place of an earlier one of its number."""
        import numpy as np

        given = dict(codes)
        if not given:
            return
        places = [self._places.setdefault(number, len(self._places)) for number in given]
        block = np.frombuffer(b"".join(given.values()), dtype=np.int8).reshape(len(given), -1)
        self._make_room(block.shape[1])
        self._codes[places] = block
        self._columns[:, places] = _signs(block).T
        self._numbers[places] = list(given)

    def nearest(self, vector: Sequence[float], most: int) -> list[int]:
        """Return the numbers of the codes that fit a vector best, in no order."""
        import numpy as np

        count = len(self._places)
        if count <= most:
            return [int(number) for number in self._numbers[:count]] if count else []
        places = self._sifted(vector, SIFTED + most)
        fits = self._codes[places].astype(np.float32) @ np.asarray(vector, dtype=np.float32)
        best = np.argpartition(-fits, most)[:most] if len(places) > most else slice(None)
        return [int(number) for number in self._numbers[places[best]]]

    def _sifted(self, vector: Sequence[float], most: int) -> Any:
        import numpy as np

        count = len(self._places)
        if count <= most:
            return np.arange(count)
        differing = np.zeros(count, dtype=np.uint16)
        [asked] = _signs(np.asarray([vector], dtype=np.float32))
        # Column by column: each is one run of memory, and no sum goes over an axis of six.
        for column, word in zip(self._columns, asked, strict=True):
            differing += np.bitwise_count(column[:count] ^ word)
        return np.argpartition(differing, most)[:most]

    def _make_room(self, width: int) -> None:
        import numpy as np

        has = 0 if self._numbers is None else len(self._numbers)
        needed = len(self._places)
        if needed <= has:
            return
        places = max(_FIRST_PLACES, needed, 2 * has)
        words = -(-width // _WORD_BITS)
        before = (self._codes, self._columns, self._numbers)
        self._codes = np.zeros((places, width), dtype=np.int8)
        self._columns = np.zeros((words, places), dtype=np.uint64)
        self._numbers = np.zeros(places, dtype=np.int64)
        if has:
            self._codes[:has], self._columns[:, :has], self._numbers[:has] = before


def _signs(block: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return the signs of rows of numbers, filled up to whole words."""
    import numpy as np

    rows, width = block.shape
    bits = np.zeros((rows, -(-width // _WORD_BITS) * _WORD_BITS), dtype=bool)
    bits[:, :width] = block > 0
    return np.packbits(bits, axis=1).view(np.uint64)
