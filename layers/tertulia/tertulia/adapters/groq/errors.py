"""Groq's failures as ours: one table, the cause kept."""

import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from tertulia.domain.errors import (
    ModelBusy,
    ModelDenied,
    ModelDown,
    ModelKey,
    ModelMissing,
    ModelUnreachable,
    ProviderFailed,
    ProviderTimeout,
    TertuliaError,
    TooLarge,
    ToolCallFailed,
)
from tertulia.domain.languages import ENGLISH
from tertulia.domain.phrases import phrase
from tertulia.ports import Clock

if TYPE_CHECKING:
    from groq import APIError

logger = logging.getLogger(__name__)

_BY_CODE: Mapping[str, type[TertuliaError]] = MappingProxyType(
    {
        "tool_use_failed": ToolCallFailed,
        "output_parse_failed": ToolCallFailed,
        "model_not_found": ModelMissing,
        "model_decommissioned": ModelMissing,
        "model_terms_required": ModelDenied,
        "model_permission_blocked_org": ModelDenied,
        "model_permission_blocked_project": ModelDenied,
        "organization_restricted": ModelDenied,
        "invalid_api_key": ModelKey,
        "context_length_exceeded": TooLarge,
    }
)
_BY_STATUS: Mapping[int, type[TertuliaError]] = MappingProxyType(
    {
        401: ModelKey,
        403: ModelDenied,
        408: ModelDown,
        413: TooLarge,
        429: ModelBusy,
        498: ModelBusy,  # Groq's own: no capacity in the flex tier
    }
)
_SERVER_FAILED = 500


@dataclass(frozen=True)
class ModelChoice:
    """A model of Groq's, and the setting that chose it."""

    name: str
    setting: str


@contextmanager
def groq_failures(model: ModelChoice, clock: Clock) -> Iterator[None]:
    """Raise what the SDK and the connection raise as errors of ours."""
    import groq
    import httpx

    try:
        yield
    except TimeoutError as error:
        raise _made(ProviderTimeout) from error
    except (groq.GroqError, httpx.HTTPError, ValueError) as error:
        # ValueError is an answer that is no JSON, or holds nothing at all.
        failure = translated(error, clock.now())
        _explain(failure, model)
        raise failure from error


def translated(error: Exception, now: datetime) -> TertuliaError:
    """Return our error for one of Groq's."""
    import groq
    import httpx

    cause = error.__cause__ if isinstance(error, groq.APIConnectionError) else error
    if isinstance(error, groq.APIStatusError):
        wait = retry_after(error.response.headers.get("retry-after"), now)
        return _made(_kind(error, error.status_code), wait)
    if isinstance(cause, httpx.TimeoutException) and not isinstance(cause, httpx.ConnectTimeout):
        return _made(ProviderTimeout)
    if isinstance(error, groq.APIConnectionError | httpx.TransportError):
        return _made(ModelUnreachable)
    return _made(_kind(error, 0) if isinstance(error, groq.APIError) else ProviderFailed)


def _kind(error: "APIError", status: int) -> type[TertuliaError]:
    kind = _BY_CODE.get(_code(error.body)) or _BY_STATUS.get(status)
    return kind or (ModelDown if status >= _SERVER_FAILED else ProviderFailed)


def _code(body: object) -> str:
    """Read the code of an error: a response wraps it in `error`, a stream does not."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return str(inner.get("code") or "")
    return ""


def _made(kind: type[TertuliaError], wait: float | None = None) -> TertuliaError:
    if issubclass(kind, ModelBusy) and wait is not None:
        return kind(phrase("model_busy_wait", ENGLISH, seconds=str(math.ceil(wait))), retry_after=wait)
    if issubclass(kind, TooLarge):
        return kind("That is more than the model can take at once. Make it shorter, or start a new conversation.")
    return kind(phrase(kind.code, ENGLISH))


def _explain(failure: TertuliaError, model: ModelChoice) -> None:
    """Say in the log what its owner can do: nobody else is told which setting is wrong."""
    match failure:
        case ModelMissing():
            logger.error("Groq has no model %s: set %s to one that it offers", model.name, model.setting)
        case ModelDenied():
            logger.error(
                "Groq does not let this key use the model %s: allow it, or accept its terms, in the console, or set %s",
                model.name,
                model.setting,
            )
        case ModelKey():
            logger.error("Groq does not accept the key: set GROQ_API_KEY to a valid one")
        case _:
            logger.warning("Groq failed with model %s: %s", model.name, failure.code)


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
