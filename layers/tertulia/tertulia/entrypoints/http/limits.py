"""How long a body may be on each route; a longer one is refused before it is read, or as soon as it grows too long."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tertulia.domain.errors import TooLarge
from tertulia.entrypoints.http.errors import problem
from tertulia.usecases.attach import ATTACHMENT_BYTES
from tertulia.usecases.hear import MOST_BYTES as VOICE_BYTES

MEGABYTE = 1024 * 1024
JSON_BYTES = MEGABYTE
FORM_BYTES = MEGABYTE
"""What the other fields of a form and its boundaries may take beside the file."""

JSON_MESSAGE = "The request is over 1 MB. Send long content as a file."
VOICE_MESSAGE = "The recording is over 25 MB. Send it in shorter pieces."
FILE_MESSAGE = "File too large: at most 20 MB."
CLOUD_MESSAGE = "A body over {megabytes} MB cannot be sent here directly. Send the file through POST /api/uploads."

_LIMITS = (
    ("/api/voice", VOICE_BYTES + FORM_BYTES, VOICE_MESSAGE),
    ("/api/stt", VOICE_BYTES + FORM_BYTES, VOICE_MESSAGE),
    ("/api/chat/send-with-file", ATTACHMENT_BYTES + FORM_BYTES, FILE_MESSAGE),
    ("/api/uploads/", VOICE_BYTES, VOICE_MESSAGE),
)


class BodyLimits:
    """Refuses bodies over the limit of their route, or over what the surroundings can carry."""

    def __init__(self, app: ASGIApp, most: int | None = None) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting its body."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        limit, message = self._limit(scope["path"])
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            return await problem(scope, TooLarge(message))(scope, receive, send)
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            part = await receive()
            seen += len(part.get("body", b""))
            if seen > limit:
                raise TooLarge(message)
            return part

        return await self._app(scope, counting, send)

    def _limit(self, path: str) -> tuple[int, str]:
        found = (found for found in _LIMITS if path.startswith(found[0]))
        _, limit, message = next(found, ("", JSON_BYTES, JSON_MESSAGE))
        if self._most is not None and limit > self._most:
            return self._most, CLOUD_MESSAGE.format(megabytes=self._most // MEGABYTE)
        return limit, message
