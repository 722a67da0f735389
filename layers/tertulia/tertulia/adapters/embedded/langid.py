"""The language of a text: by its script where that is clear, else by letter statistics."""

import asyncio
import re
from collections.abc import Iterable

from tertulia.adapters.embedded.latin_grams import LatinGrams

LEAST_SURE = 0.6
CHARACTERS_TO_LOOK_AT = 1000
SCRIPTS = {
    "ko": re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "ja": re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]"),
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
}
LETTERS_A_SYMBOL = 3
"""A character of the east Asian scripts says as much as so many letters."""
LATIN = {"en": "en-US", "de": "de", "es": "es-ES", "fr": "fr", "pt": "pt-BR"}
NOT_RUSSIAN = re.compile(r"[іїєґўђћџљњјѓќ]", re.IGNORECASE)


class LangidDetector:
    """A LanguageDetector for the languages of the product."""

    def __init__(self) -> None:
        self._latin_grams = LatinGrams()

    async def warm(self) -> None:
        """Load the statistics ahead of the first use."""
        await asyncio.to_thread(self._latin, "warm")

    def detect(self, text: str) -> str | None:
        """Return the language, or None when in doubt, as for most single words."""
        looked_at = text[:CHARACTERS_TO_LOOK_AT]
        match _main_script(looked_at):
            case "zh":
                return _chinese(looked_at)
            case "ru":
                return None if NOT_RUSSIAN.search(looked_at) else "ru"
            case "latin":
                return self._latin(looked_at)
            case script:
                return script

    def _latin(self, text: str) -> str | None:
        language, certainty = self._latin_grams.classify(text)
        return LATIN[language] if certainty >= LEAST_SURE else None


def _main_script(text: str) -> str | None:
    counts = {script: len(pattern.findall(text)) for script, pattern in SCRIPTS.items()}
    # Japanese is written with Chinese characters too; its own syllables tell it apart.
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    weights = {
        script: count * (1 if script in {"ru", "latin"} else LETTERS_A_SYMBOL) for script, count in counts.items()
    }
    main = max(weights, key=lambda script: weights[script])
    return main if weights[main] else None


def _chinese(text: str) -> str:
    """Tell the two scripts apart by the character sets of the two regions."""
    simplified = _known_to(text, "gb2312") - _known_to(text, "big5")
    traditional = _known_to(text, "big5") - _known_to(text, "gb2312")
    return "zh-TW" if len(traditional) > len(simplified) else "zh-CN"


def _known_to(characters: Iterable[str], charset: str) -> set[str]:
    return {character for character in characters if character.encode(charset, "ignore")}
