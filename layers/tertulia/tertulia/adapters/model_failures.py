"""Failures of vendors' models as ours: one table, which setting helps, how long to wait."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from tertulia.domain.errors import (
    ModelBusy,
    ModelDenied,
    ModelDown,
    ModelKey,
    ModelMissing,
    ProviderFailed,
    TertuliaError,
    TooLarge,
    ToolCallFailed,
)
from tertulia.domain.languages import ENGLISH
from tertulia.domain.phrases import phrase

logger = logging.getLogger(__name__)

_BY_CODE: Mapping[str, type[TertuliaError]] = MappingProxyType(
    {
        "tool_use_failed": ToolCallFailed,
        "output_parse_failed": ToolCallFailed,
        "model_not_found": ModelMissing,
        "model_decommissioned": ModelMissing,
        "not_found_error": ModelMissing,
        "model_terms_required": ModelDenied,
        "model_permission_blocked_org": ModelDenied,
        "model_permission_blocked_project": ModelDenied,
        "organization_restricted": ModelDenied,
        "unsupported_country_region_territory": ModelDenied,
        "insufficient_quota": ModelDenied,  # OpenAI's 429 that no waiting helps
        "invalid_api_key": ModelKey,
        "api_key_invalid": ModelKey,  # Google's 400
        "authentication_error": ModelKey,
        "context_length_exceeded": TooLarge,
        "request_too_large": TooLarge,
        "overloaded_error": ModelBusy,
        "api_error": ModelDown,
    }
)
_BY_STATUS: Mapping[int, type[TertuliaError]] = MappingProxyType(
    {
        401: ModelKey,
        402: ModelDenied,  # DeepSeek's empty balance
        403: ModelDenied,
        408: ModelDown,
        413: TooLarge,
        429: ModelBusy,
        498: ModelBusy,  # Groq's own: no capacity in the flex tier
        529: ModelBusy,  # Anthropic's own: overloaded
    }
)
_SERVER_FAILED = 500


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A vendor's model, and the settings that chose it and hold its key."""

    name: str
    setting: str
    vendor: str = "Groq"
    key_setting: str = "GROQ_API_KEY"


def kind_of(codes: tuple[str, ...], status: int) -> type[TertuliaError]:
    """Return our kind of failure: by the first code that says something, else by the status."""
    known = (_BY_CODE[code] for code in map(str.lower, codes) if code in _BY_CODE)
    return next(known, None) or _BY_STATUS.get(status) or (ModelDown if status >= _SERVER_FAILED else ProviderFailed)


def made(kind: type[TertuliaError], wait: float | None = None) -> TertuliaError:
    """Make a failure with its sentence."""
    if issubclass(kind, ModelBusy) and wait is not None:
        return kind(phrase("model_busy_wait", ENGLISH, seconds=str(math.ceil(wait))), retry_after=wait)
    if issubclass(kind, TooLarge):
        return kind("That is more than the model can take at once. Make it shorter, or start a new conversation.")
    return kind(phrase(kind.code, ENGLISH))


def explain(failure: TertuliaError, model: ModelChoice) -> None:
    """Say in the log what its owner can do: nobody else is told which setting is wrong."""
    match failure:
        case ModelMissing():
            logger.error("%s has no model %s: set %s to one that it offers", model.vendor, model.name, model.setting)
        case ModelDenied():
            logger.error(
                "%s does not let this key use the model %s: allow it, or accept its terms, in the console, or set %s",
                model.vendor,
                model.name,
                model.setting,
            )
        case ModelKey():
            logger.error("%s does not accept the key: set %s to a valid one", model.vendor, model.key_setting)
        case _:
            logger.warning("%s failed with model %s: %s", model.vendor, model.name, failure.code)


def retry_after(header: str | None, now: datetime) -> float | None:
    """Read seconds, whole or fractional, or an HTTP date; None when it says nothing of use."""
    text = (header or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text, now)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(text: str, now: datetime) -> float:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return math.nan
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
