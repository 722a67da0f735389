"""Vectors as stores keep them, and how like two are; with numpy where it is installed, without where it is not."""

from array import array
from collections.abc import Sequence
from math import sumprod


def blob_of(vector: Sequence[float]) -> bytes:
    """Write a vector as 32-bit numbers."""
    return array("f", vector).tobytes()


def likenesses(asked: Sequence[float], stored: Sequence[bytes]) -> list[float]:
    """Return how like each stored vector is to the one asked for: their cosine, since all have length 1."""
    if not stored:
        return []
    try:
        import numpy as np
    except ImportError:
        return [sumprod(asked, array("f", vector)) for vector in stored]
    matrix = np.frombuffer(b"".join(stored), dtype=np.float32).reshape(len(stored), -1)
    return [float(each) for each in matrix @ np.asarray(asked, dtype=np.float32)]
