"""Everything that can go wrong in words a client understands.

TertuliaError
├── InvalidRequest            the request cannot be read, or something required is missing or blank
├── InvalidValue              readable, but a value is not acceptable
│   ├── NoAudio               the recording holds no sound that could be heard
│   └── Silence               there is sound, but nobody speaks
├── Unauthorized              no valid token
│   └── SessionOver           the session of a page has ended
├── Forbidden                 a valid token without the needed scope
│   └── OriginRefused         a web page that is not ours asks
├── NotFound                  unknown, or another user's: the two look the same
├── Conflict                  the state does not allow it now
│   ├── InProgress            the first request with this key still runs
│   └── KeyReused             the key was used with another body
├── TooLarge                  over a limit
├── UnsupportedMedia          a kind of file we do not take
├── RateLimited               too many requests of this user
├── NotConfigured             a needed key or setting is missing
├── Unavailable               cannot be served now, try again
│   ├── Starting              the server is not ready yet
│   └── ServiceFailed         a service that a tool works with failed or refused
│       └── QuotaUsedUp       its plan allows no more for now
└── ProviderFailed            a vendor or a model failed
    ├── ModelKey ModelDenied ModelMissing ModelDown ModelUnreachable
    ├── ModelBusy             too many requests, or the local queue is full
    ├── ToolCallFailed        the model wrote its tool call as text; trying again helps
    └── ProviderTimeout       no answer in time
"""

from typing import ClassVar


class TertuliaError(Exception):
    """A failure with a stable code for programs and a sentence for people."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    default_message: ClassVar[str] = "Something went wrong on our side."

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        self.message = message or self.default_message
        self.retry_after = retry_after
        super().__init__(self.message)


class InvalidRequest(TertuliaError):
    """The request cannot be read, or something required is missing or blank."""

    code = "invalid_request"
    default_message = "The request could not be read."


class InvalidValue(TertuliaError):
    """Readable, but a value is not acceptable."""

    code = "invalid_value"
    default_message = "A value in the request is not acceptable."


class NoAudio(InvalidValue):
    """The recording holds no sound that could be heard."""

    code = "no_audio"
    default_message = "The recording holds no sound. Record again, for at least half a second."


class Silence(InvalidValue):
    """There is sound, but nobody speaks."""

    code = "silence"
    default_message = "I heard nothing. Speak a little louder or closer."


class Unauthorized(TertuliaError):
    """No valid token came with the request."""

    code = "unauthorized"
    default_message = "A valid token is needed: send it as 'Authorization: Bearer …'."


class SessionOver(Unauthorized):
    """The session of a page has ended, or its token was revoked."""


class Forbidden(TertuliaError):
    """The token is valid but does not allow this."""

    code = "forbidden"
    default_message = "This token does not allow that."


class OriginRefused(Forbidden):
    """A web page that is not ours asked."""

    code = "origin"
    default_message = "Requests from this web page or host name are not allowed."


class NotFound(TertuliaError):
    """Unknown, or another user's: the two look the same."""

    code = "not_found"
    default_message = "There is no such thing here."


class Conflict(TertuliaError):
    """The present state does not allow it."""

    code = "conflict"
    default_message = "That is not possible in the present state."


class InProgress(Conflict):
    """The first request with this key still runs."""

    code = "in_progress"
    retryable = True
    default_message = "The first request with this key is still running. Try again shortly."


class KeyReused(Conflict):
    """The idempotency key came before with another body."""

    code = "key_reused"
    default_message = "This client_message_id was already used for another request."


class TooLarge(TertuliaError):
    """Over a limit; the message says which, and the way round it where one exists."""

    code = "too_large"
    default_message = "That is too large."


class UnsupportedMedia(TertuliaError):
    """A kind of file that is not taken."""

    code = "unsupported_media"
    default_message = "This kind of file is not supported. Send WAV, WebM, Ogg, MP4, MP3 or FLAC audio."


class RateLimited(TertuliaError):
    """Too many requests of this user."""

    code = "rate_limited"
    retryable = True
    default_message = "Too many requests. Wait a little and try again."


class NotConfigured(TertuliaError):
    """A needed key or setting is missing."""

    code = "not_configured"
    default_message = "This is not configured."


class Unavailable(TertuliaError):
    """It cannot be served now; trying again helps."""

    code = "unavailable"
    retryable = True
    default_message = "This is not available right now. Try again shortly."


class Starting(Unavailable):
    """The server is not ready to answer yet."""

    code = "starting"
    default_message = "The assistant is still starting. Try again in a few seconds."


class ServiceFailed(Unavailable):
    """A service that a tool works with failed, refused or took too long; the message says what helps."""


class QuotaUsedUp(ServiceFailed):
    """The plan with a service allows no more for now: another attempt does not help."""

    retryable = False


class ProviderFailed(TertuliaError):
    """A vendor or a model failed in a way that has no better name."""

    code = "model_failed"
    default_message = "The model could not answer."


class ModelKey(ProviderFailed):
    """The vendor does not accept the key."""

    code = "model_key"


class ModelDenied(ProviderFailed):
    """The key may not use this model or region."""

    code = "model_denied"


class ModelMissing(ProviderFailed):
    """The model does not exist, or was withdrawn by its vendor."""

    code = "model_missing"


class ModelBusy(ProviderFailed):
    """Too many requests at the vendor, or the local queue is full."""

    code = "model_busy"
    retryable = True


class ModelDown(ProviderFailed):
    """The vendor answers with a failure of its own."""

    code = "model_down"
    retryable = True


class ModelUnreachable(ProviderFailed):
    """No connection to the vendor."""

    code = "model_unreachable"
    retryable = True


class ProviderTimeout(ProviderFailed):
    """No answer in time."""

    code = "model_timeout"
    retryable = True


class ToolCallFailed(ProviderFailed):
    """The model wrote its tool call as text (`tool_use_failed`); another attempt helps."""

    code = "model_failed"
    retryable = True
