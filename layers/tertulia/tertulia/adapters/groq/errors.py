"""Groq's failures as ours: the cause kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from tertulia.adapters.model_failures import ModelChoice, explain, kind_of, made, retry_after
from tertulia.domain.errors import ModelUnreachable, ProviderFailed, ProviderTimeout, TertuliaError
from tertulia.ports import Clock


@contextmanager
def groq_failures(model: ModelChoice, clock: Clock) -> Iterator[None]:
    """Raise what the SDK and the connection raise as errors of ours."""
    import groq
    import httpx

    try:
        yield
    except TimeoutError as error:
        raise made(ProviderTimeout) from error
    except (groq.GroqError, httpx.HTTPError, ValueError) as error:
        # ValueError is an answer that is no JSON, or holds nothing at all.
        failure = translated(error, clock.now())
        explain(failure, model)
        raise failure from error


def translated(error: Exception, now: datetime) -> TertuliaError:
    """Return our error for one of Groq's."""
    import groq
    import httpx

    cause = error.__cause__ if isinstance(error, groq.APIConnectionError) else error
    if isinstance(error, groq.APIStatusError):
        wait = retry_after(error.response.headers.get("retry-after"), now)
        return made(kind_of((_code(error.body),), error.status_code), wait)
    if isinstance(cause, httpx.TimeoutException) and not isinstance(cause, httpx.ConnectTimeout):
        return made(ProviderTimeout)
    if isinstance(error, groq.APIConnectionError | httpx.TransportError):
        return made(ModelUnreachable)
    return made(kind_of((_code(error.body),), 0) if isinstance(error, groq.APIError) else ProviderFailed)


def _code(body: object) -> str:
    """Read the code of an error: a response wraps it in `error`, a stream does not."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return str(inner.get("code") or "")
    return ""
