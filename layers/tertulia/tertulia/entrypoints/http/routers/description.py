"""What this API is: its OpenAPI document, of all routes, wherever each of them is served."""

import json
from functools import cache

from fastapi import APIRouter, Response

router = APIRouter(prefix="/api", tags=["description"])


@router.get("/openapi.json", include_in_schema=False)
async def openapi() -> Response:
    """Return the document; needs no token."""
    return Response(_document(), media_type="application/json")


@cache
def _document() -> bytes:
    # A function that has just begun would have its first client wait for the routes of all others.
    from tertulia.entrypoints.http.documents import document
    from tertulia.entrypoints.http.every_route import ROUTERS

    return json.dumps(document(ROUTERS), ensure_ascii=False).encode()
