"""Which of five languages a text in Latin letters is in, by its byte sequences: a naive Bayes model in half a megabyte.

The numbers are py3langid's, cut down to these languages by `python -m packing grams`: its own model takes a second and
70 MB to load, which a first answer would wait for.
"""

import math
import unicodedata
from array import array
from collections import Counter
from functools import cached_property
from importlib.resources import files

LANGUAGES = ("de", "en", "es", "fr", "pt")
LONGEST = 6
STEP = 1 / 16
"""The unit of the weights: logarithms of probabilities, each below that of the likeliest language."""


class LatinGrams:
    """Tells the language; reads its numbers when it is first asked."""

    def classify(self, text: str) -> tuple[str, float]:
        """Return the likeliest language and how sure that is, from 0.2 to 1."""
        data = _bytes_of(text)
        scores = [0.0] * len(LANGUAGES)
        for gram, count in Counter(self._grams_in(data)).items():
            weight = math.log1p(count) * STEP
            for place in range(len(LANGUAGES)):
                scores[place] += weight * self._weights[gram * len(LANGUAGES) + place]
        # Long texts would otherwise be surer than the grams, which are not independent, allow.
        likelihoods = [math.exp(score / math.sqrt(len(data) or 1)) for score in scores]
        best = max(range(len(LANGUAGES)), key=lambda place: likelihoods[place])
        return LANGUAGES[best], likelihoods[best] / (sum(likelihoods) or 1)

    def _grams_in(self, data: bytes) -> list[int]:
        """Return the number of the longest known gram that ends at each byte, where it tells languages apart."""
        places, weighted = self._places, len(self._weights) // len(LANGUAGES)
        found = []
        for end in range(1, len(data) + 1):
            for start in range(max(0, end - LONGEST), end):
                place = places.get(data[start:end])
                if place is not None:
                    if place < weighted:
                        found.append(place)
                    break
        return found

    @cached_property
    def _places(self) -> dict[bytes, int]:
        counts, grams, _ = self._file
        return {gram: place for place, gram in enumerate(_cut(counts, grams))}

    @cached_property
    def _weights(self) -> array[int]:
        return array("b", self._file[2])

    @cached_property
    def _file(self) -> tuple[list[int], bytes, bytes]:
        """Return how many grams of each length there are, first of those with weights, the grams, and the weights."""
        data = (files(__package__) / "latin_grams.bin").read_bytes()
        head = array("I", data[: 2 * LONGEST * 4]).tolist()
        size = sum(count * (place % LONGEST + 1) for place, count in enumerate(head))
        start = 2 * LONGEST * 4
        return head, data[start : start + size], data[start + size :]


def _cut(counts: list[int], grams: bytes) -> list[bytes]:
    cut, start = [], 0
    for place, count in enumerate(counts):
        length = place % LONGEST + 1
        end = start + count * length
        cut += [grams[at : at + length] for at in range(start, end, length)]
        start = end
    return cut


def _bytes_of(text: str) -> bytes:
    text = text.lower() if text.isupper() else text
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
