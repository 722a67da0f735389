"""Vectors of one model in one block of numbers: all are compared in one step."""

from array import array
from collections.abc import Sequence
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

    def near(self, asked: Sequence[float], least: float) -> list[tuple[str, float]]:
        """Return the vectors at least so like the one asked for; none when that is of another length."""
        if not self._names or len(self._block[0]) != len(asked):
            return []
        if isinstance(self._block, list):
            compared = [(name, sumprod(asked, self._block[row])) for row, name in enumerate(self._names)]
            return [(name, likeness) for name, likeness in compared if likeness >= least]
        import numpy as np

        likenesses = self._block[: len(self._names)] @ np.asarray(asked, dtype=np.float32)
        return [(self._names[row], float(likenesses[row])) for row in np.flatnonzero(likenesses >= least)]

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


def _block(rows: int, width: int) -> Any:
    try:
        import numpy as np
    except ImportError:
        return []
    return np.zeros((rows, width), dtype=np.float32)
