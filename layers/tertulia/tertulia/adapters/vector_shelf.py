"""Vectors of one model in one block of numbers: all are compared in one step."""

from array import array
from collections.abc import Mapping, Sequence
from math import sumprod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_FIRST_ROWS = 64


class VectorShelf:
    """Vectors by name. Without numpy, which listing does without, each is compared by itself."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._names: list[str] = []
        self._block: Any = None

    def put(self, name: str, vector: bytes) -> None:
        """Keep a vector under a name; raises ValueError for one of another length."""
        numbers = array("f", vector)
        row = self._rows.setdefault(name, len(self._names))
        if row == len(self._names):
            self._names.append(name)
        self._room(len(numbers))[row] = numbers

    def remove(self, name: str) -> None:
        """Forget a vector; the last one takes its row."""
        row = self._rows.pop(name, None)
        if row is None:
            return
        last = self._names.pop()
        if last != name:
            self._names[row] = last
            self._rows[last] = row
            self._block[row] = self._block[len(self._names)]

    def compared(self, asked: Sequence[float]) -> "Likenesses":
        """Compare every vector with the one asked for; with none when that is of another length."""
        if not self._names or len(self._block[0]) != len(asked):
            return Likenesses({}, [], ())
        if isinstance(self._block, list):
            likenesses: Any = [sumprod(asked, vector) for vector in self._block[: len(self._names)]]
        else:
            import numpy as np

            likenesses = self._block[: len(self._names)] @ np.asarray(asked, dtype=np.float32)
        return Likenesses(self._rows, self._names, likenesses)

    def _room(self, width: int) -> "np.ndarray[Any, Any] | list[Any]":
        """Return the block with a row free at its end."""
        if self._block is None:
            self._block = _block(_FIRST_ROWS, width)
        if isinstance(self._block, list):
            self._block += [None] * (len(self._names) - len(self._block))
        elif len(self._names) > len(self._block):
            larger = _block(2 * len(self._block), width)
            larger[: len(self._block)] = self._block
            self._block = larger
        return self._block  # type: ignore[no-any-return]


class Likenesses:
    """How like each vector of a shelf is to another, read before the shelf changes."""

    def __init__(self, rows: Mapping[str, int], names: Sequence[str], likenesses: Any) -> None:
        self._rows = rows
        self._names = names
        self._likenesses = likenesses

    def of(self, name: str) -> float:
        """Return one; 0 where there is no vector of that name."""
        row = self._rows.get(name)
        return 0.0 if row is None else float(self._likenesses[row])

    def nearest(self, most: int, least: float) -> list[str]:
        """Return the names of so many vectors at most that are so like at least."""
        if not isinstance(self._likenesses, Sequence):
            import numpy as np

            if len(self._names) > most:
                nearest = np.argpartition(self._likenesses, len(self._names) - most)[-most:]
                return [self._names[row] for row in nearest if self._likenesses[row] >= least]
        rows = sorted(range(len(self._names)), key=lambda row: self._likenesses[row], reverse=True)[:most]
        return [self._names[row] for row in rows if self._likenesses[row] >= least]


def _block(rows: int, width: int) -> Any:
    try:
        import numpy as np
    except ImportError:
        return []
    return np.zeros((rows, width), dtype=np.float32)
