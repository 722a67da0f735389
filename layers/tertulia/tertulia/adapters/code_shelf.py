"""The signs of many vectors side by side: a hundred thousand are looked through in a few milliseconds.

Each number is kept as one bit, so that a vector of 384 takes 48 bytes. Vectors that differ in few signs are near;
of these the best are chosen by the numbers of the one asked for, and whoever asks compares those exactly.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

SIFTED = 3_000
"""So many that differ in few signs are looked at again."""
_FIRST_PLACES = 256
_WORD_BITS = 64


def code_of(vector: Sequence[float]) -> bytes:
    """Return the signs of a vector, filled up to whole words of 64."""
    import numpy as np

    bits = np.zeros(-(-len(vector) // _WORD_BITS) * _WORD_BITS, dtype=bool)
    bits[: len(vector)] = np.asarray(vector, dtype=np.float32) > 0
    return np.packbits(bits).tobytes()


class CodeShelf:
    """Codes of one length by number."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._numbers: Any = None
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
        words = np.frombuffer(b"".join(given.values()), dtype=np.uint64).reshape(len(given), -1)
        self._make_room(words.shape[1])
        self._columns[:, places] = words.T
        self._numbers[places] = list(given)

    def nearest(self, vector: Sequence[float], most: int) -> list[int]:
        """Return the numbers of the codes that fit a vector best, in no order."""
        import numpy as np

        count = len(self._places)
        if count <= most:
            return [int(number) for number in self._numbers[:count]] if count else []
        differing = np.zeros(count, dtype=np.uint16)
        # Column by column: each is one run of memory, and no sum goes over an axis of six.
        for column, word in zip(self._columns, np.frombuffer(code_of(vector), dtype=np.uint64), strict=True):
            differing += np.bitwise_count(column[:count] ^ word)
        places = np.argpartition(differing, min(SIFTED + most, count - 1))[: SIFTED + most]
        fitting = np.argpartition(-self._fits(places, vector), most)[:most] if len(places) > most else slice(None)
        return [int(number) for number in self._numbers[places[fitting]]]

    def _fits(self, places: Any, vector: Sequence[float]) -> Any:
        """Return how well codes fit the numbers of a vector, which tell more than its signs."""
        import numpy as np

        codes = np.ascontiguousarray(self._columns[:, places].T).view(np.uint8)
        asked = np.zeros(codes.shape[1] * 8, dtype=np.float32)
        asked[: len(vector)] = vector
        signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
        by_byte = signs @ asked.reshape(-1, 8).T
        return by_byte[codes, np.arange(codes.shape[1])].sum(axis=1)

    def _make_room(self, words: int) -> None:
        import numpy as np

        has = 0 if self._columns is None else self._columns.shape[1]
        needed = len(self._places)
        if needed <= has:
            return
        places = max(_FIRST_PLACES, needed, 2 * has)
        columns: np.ndarray[Any, Any] = np.zeros((words, places), dtype=np.uint64)
        numbers = np.zeros(places, dtype=np.int64)
        if has:
            columns[:, :has] = self._columns
            numbers[:has] = self._numbers
        self._columns, self._numbers = columns, numbers
