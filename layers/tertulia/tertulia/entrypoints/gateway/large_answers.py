"""Answers that Lambda would not carry: kept for a while, and their client is sent there."""

from datetime import timedelta

from ulid import ULID

from tertulia.assistant import Assistant
from tertulia.domain.errors import TertuliaError, TooLarge
from tertulia.entrypoints.gateway.requests import GatewayRequest
from tertulia.entrypoints.gateway.responses import WholeResponse
from tertulia.entrypoints.http.who import told_by_gateway
from tertulia.ports import Blob

FETCHED_WITHIN = timedelta(minutes=5)
ANSWER_TOO_LARGE = "The answer is too large to be sent in one piece. Ask for less at a time, or for a stream."


async def put_aside(assistant: Assistant, request: GatewayRequest, response: WholeResponse) -> None:
    """Keep the body apart and turn the response into the way there, or into a failure that says why not."""
    try:
        user = told_by_gateway(request.scope).get("user")
        response.redirect(await _kept(assistant, user, response))
    except TertuliaError as error:
        response.replace(request.scope, error)


async def _kept(assistant: Assistant, user: str | None, response: WholeResponse) -> str:
    if assistant.transfers is None or user is None:
        raise TooLarge(ANSWER_TOO_LARGE)
    key = f"answer-{ULID()}".lower()
    answer = Blob(
        key=key,
        data=bytes(response.body),
        name="answer",
        media_type=response.media_type,
        created_at=assistant.clock.now(),
    )
    await assistant.blobs.put(user, answer)
    return await assistant.transfers.way_out(user, key, int(FETCHED_WITHIN.total_seconds()))
