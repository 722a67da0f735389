"""Whether the server can answer."""

from fastapi import APIRouter

from tertulia import __version__
from tertulia.domain.errors import Starting
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.models import Health

router = APIRouter(prefix="/api", tags=["health"])


@router.get("/health", responses=problems(503))
async def health(assistant: Parts) -> Health:
    """Say that turns can be answered; needs no token."""
    if not assistant.is_ready:
        raise Starting
    return Health(version=__version__)
