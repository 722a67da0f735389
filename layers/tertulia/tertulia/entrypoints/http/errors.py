"""Failures as `application/problem+json`: one table from the kind of error to its status, and nothing leaks."""

import json
import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tertulia.domain.confirmations import ConfirmationRequired
from tertulia.domain.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    InvalidValue,
    ModelBusy,
    NotConfigured,
    NotFound,
    ProviderFailed,
    ProviderTimeout,
    RateLimited,
    SessionOver,
    TertuliaError,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnsupportedMedia,
)
from tertulia.domain.languages import ENGLISH, closest_language
from tertulia.domain.phrases import phrase
from tertulia.entrypoints.credentials import COOKIE
from tertulia.wire import confirmation_for_client

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "tertulia.request_id"
"""Where a request's id stands in its scope."""

STATUSES: Mapping[type[TertuliaError], int] = MappingProxyType(
    {
        TertuliaError: 500,
        InvalidRequest: 400,
        InvalidValue: 422,
        Unauthorized: 401,
        Forbidden: 403,
        NotFound: 404,
        Conflict: 409,
        TooLarge: 413,
        UnsupportedMedia: 415,
        RateLimited: 429,
        NotConfigured: 503,
        Unavailable: 503,
        ProviderFailed: 502,
        ModelBusy: 503,
        ProviderTimeout: 504,
    }
)
_RETRY_AFTER_SECONDS = 2.0
_UNREADABLE = frozenset({"missing", "json_invalid", "string_too_short", "too_short"})

logger = logging.getLogger(__name__)


def status_of(error: TertuliaError) -> int:
    """Return the status of an error: that of the nearest kind in the table."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem(scope: Scope, error: TertuliaError, status: int | None = None) -> Response:
    """Tell a client of a failure."""
    status = status or status_of(error)
    request_id = scope.get(REQUEST_ID, "")
    detail = _detail(scope, error).encode(errors="replace").decode()
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": error.code,
        "request_id": request_id,
        "error": detail,
    }
    if isinstance(error, ConfirmationRequired):
        body["confirmation"] = confirmation_for_client(error.confirmation)
    return Response(json.dumps(body, ensure_ascii=False), status, _headers(error, status), MEDIA_TYPE)


def _headers(error: TertuliaError, status: int) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if error.retryable or error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after or _RETRY_AFTER_SECONDS)))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def _detail(scope: Scope, error: TertuliaError) -> str:
    """Tell a model's failure in the language of the request, unless the turn has already put it in words."""
    if isinstance(error, ProviderFailed) and error.message == error.default_message:
        return phrase(error.code, language_of(scope))
    return error.message


def language_of(scope: Scope) -> str:
    """Return the language a request asks for by its `Accept-Language`, English when it names none."""
    accepted = Request(scope).headers.get("accept-language", "")
    first = accepted.split(",")[0].split(";")[0].strip()
    return closest_language(first) if first and first != "*" else ENGLISH


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TertuliaError)  # noqa: S101  # the handler is registered for this kind alone
    response = problem(request.scope, error)
    if isinstance(error, SessionOver):
        # Shown again and again, it would keep its page out where others need no session at all.
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


async def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return problem(request.scope, _refusal(error.errors()[0]))


def _refusal(fault: Mapping[str, Any]) -> TertuliaError:
    place, *names = fault["loc"]
    if fault["type"] == "json_invalid":
        return InvalidRequest("The body is not valid JSON.")
    field = ".".join(str(name) for name in names) or "The body"
    message = f"{field}: {fault['msg'].removeprefix('Value error, ')}."
    if place == "path":
        return NotFound()
    is_unreadable = fault["type"] in _UNREADABLE or fault["type"].endswith(("_type", "_parsing"))
    if is_unreadable and (place == "body" or fault["type"] == "missing"):
        return InvalidRequest(message)
    return InvalidValue(message)


async def _on_http(request: Request, error: Exception) -> Response:
    """Put the framework's own refusals in our words; a body that grew too long is its cause's failure."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if isinstance(error.__cause__, TertuliaError):
        return problem(request.scope, error.__cause__)
    kinds: dict[int, TertuliaError] = {
        404: NotFound(),
        405: InvalidRequest("This address does not take that method."),
    }
    told = kinds.get(error.status_code, InvalidRequest("The body could not be read as its Content-Type says."))
    response = problem(request.scope, told, error.status_code)
    response.headers.update(error.headers or {})
    return response


class Crashes:
    """The last edge: what nobody foresaw is logged with the request's id, and the client learns only that id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if scope["type"] != "http" or has_started:
                raise
            logger.exception("request %s failed", scope.get(REQUEST_ID), exc_info=error)
            await problem(scope, TertuliaError())(scope, receive, send)


def tell_failures(app: FastAPI) -> None:
    """Have an application tell every failure as a problem."""
    app.add_exception_handler(TertuliaError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)
