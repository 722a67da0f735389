"""What the local server does once a day in the back, whichever of several processes comes first."""

import logging
import secrets

from tertulia.assistant import Assistant
from tertulia.domain.errors import TertuliaError

logger = logging.getLogger(__name__)

_A_DAY = 24 * 3600.0
_AN_HOUR = 3600.0
_EVERYONE = ""
"""The day's run is of no user's, and no user has an empty name."""


async def forget_daily(assistant: Assistant) -> None:
    """Delete old things once a day, for as long as the server runs; what failed is tried again in an hour."""
    while True:
        try:
            await _forget_if_due(assistant)
        except TertuliaError as error:
            logger.error("old things could not be deleted: %s", error.code)
        await assistant.clock.sleep(_AN_HOUR)


async def _forget_if_due(assistant: Assistant) -> None:
    mark = secrets.token_hex(8)
    if await assistant.rates.hit(_EVERYONE, "retention", 1, _A_DAY, mark) is not None:
        return
    done = await assistant.forget_old()
    if done.failed:
        await assistant.rates.forget(_EVERYONE, "retention", mark)
