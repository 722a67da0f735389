"""The OpenAPI document: every route with its failures, all of one shape."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi

from tertulia import __version__
from tertulia.entrypoints.http.errors import MEDIA_TYPE
from tertulia.entrypoints.http.models import Problem
from tertulia.entrypoints.http.scopes import scopes_for

TITLE = "Tertulia"
DESCRIPTION = "A voice assistant that people own."
_PROBLEM = {"schema": {"$ref": "#/components/schemas/Problem"}}
_MEANINGS = {
    400: "`invalid_request`: unreadable, or a required field is missing or blank.",
    401: "`unauthorized`: no valid token.",
    403: "`forbidden`, `origin`: this token or web page may not do it.",
    404: "`not_found`: unknown, or another user's; also a malformed id in a path.",
    405: "`invalid_request`: the address does not take this method.",
    409: "`conflict`, `in_progress`, `key_reused`, `confirmation_required`.",
    413: "`too_large`: over a limit; `detail` says which, and the way round it.",
    415: "`unsupported_media`: a kind of file that is not taken.",
    422: "`invalid_value`, `no_audio`, `silence`.",
    429: "`rate_limited`: too many questions a minute, or a daily limit is reached; `Retry-After` says when to come back.",
    500: "`internal`: our fault; `request_id` finds it in the log.",
    502: "`model_*`: a model or its vendor failed.",
    503: "`starting`, `unavailable`, `not_configured`, `model_busy`; `Retry-After` says when to come back.",
    504: "`model_timeout`: a model gave no answer in time.",
}
_OF_EVERY_ROUTE = (400, 403, 404, 405, 413, 422, 500)

type Responses = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Responses:
    """Describe the failures of a route beside those of every route."""
    return {
        status: {"description": _MEANINGS[status], "content": {MEDIA_TYPE: _PROBLEM}}
        for status in sorted({*_OF_EVERY_ROUTE, *statuses})
    }


ASKING = problems(401, 409, 415, 429, 502, 503, 504)
"""The failures of routes that ask a model."""
READING = problems(401)
"""The failures of routes that only look something up."""


def _tell_scopes(paths: dict[str, Any]) -> None:
    for path, methods in paths.items():
        for method, operation in methods.items():
            needed = sorted(scopes_for(method, path))
            if "security" in operation:
                operation["security"] = [dict.fromkeys(way, needed) for way in operation["security"]]


def document(routers: Sequence[APIRouter]) -> dict[str, Any]:
    """Return the document of some routers."""
    routes = [route for router in routers for route in router.routes]
    schema = get_openapi(title=TITLE, version=__version__, description=DESCRIPTION, routes=routes)
    schemas = schema.setdefault("components", {}).setdefault("schemas", {})
    told = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= told.pop("$defs", {}) | {"Problem": told}
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    _tell_scopes(schema["paths"])
    return schema
