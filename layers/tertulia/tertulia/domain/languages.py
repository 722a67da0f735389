"""The languages the assistant has fixed texts, keywords and names for."""

from collections.abc import Mapping
from types import MappingProxyType

ENGLISH = "en-US"

LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        "en-US": "English",
        "zh-CN": "Simplified Chinese",
        "zh-TW": "Traditional Chinese",
        "ja": "Japanese",
        "ko": "Korean",
        "de": "German",
        "es-ES": "Spanish",
        "fr": "French",
        "pt-BR": "Brazilian Portuguese",
        "ru": "Russian",
    }
)

_TRADITIONAL_REGIONS = frozenset({"tw", "hk", "mo", "hant"})


def closest_language(tag: str | None) -> str:
    """Return the known language for a BCP 47 tag, English when none fits."""
    primary, *rest = (tag or "").strip().replace("_", "-").lower().split("-")
    if primary == "zh":
        return "zh-TW" if _TRADITIONAL_REGIONS.intersection(rest) else "zh-CN"
    known = (name for name in LANGUAGES if name.split("-")[0] == primary)
    return next(known, ENGLISH)
