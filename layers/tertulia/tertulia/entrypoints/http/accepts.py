"""What a client would rather have, by its `Accept` header."""

from collections.abc import Sequence

WAV = "audio/wav"
JSON = "application/json"
EVENTS = "text/event-stream"


def preferred(accept: str | None, offers: Sequence[str]) -> str:
    """Return the offer the client likes best, the first one where it does not care or likes none."""
    wishes = dict(_wish(part) for part in (accept or "*/*").lower().replace("x-wav", "wav").split(","))
    return max(offers, key=lambda offer: _liking(offer, wishes))


def _wish(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        return kind, float(quality)
    except ValueError:
        return kind, 0.0


def _liking(offer: str, wishes: dict[str, float]) -> float:
    family = offer.partition("/")[0] + "/*"
    return next((wishes[kind] for kind in (offer, family, "*/*") if kind in wishes), 0.0)
