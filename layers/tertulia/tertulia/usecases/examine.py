"""Examining an installation: every check at once, and none keeps the others waiting."""

import asyncio
from collections.abc import Sequence

from tertulia.domain.checkups import Finding, problem
from tertulia.domain.errors import TertuliaError
from tertulia.ports.checks import Check

SECONDS = 20.0


async def examine(checks: Sequence[Check], seconds: float = SECONDS) -> list[Finding]:
    """Return what the checks find, in their order."""
    found = await asyncio.gather(*(_looked(check, seconds) for check in checks))
    return [finding for findings in found for finding in findings]


async def _looked(check: Check, seconds: float) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(seconds):
            return await check()
    except TimeoutError:
        return [problem(check.matter, f"No answer within {seconds:g} s.", "Look at the network, then try again.")]
    except TertuliaError as error:
        return [problem(check.matter, "It could not be checked.", error.message)]
    except (OSError, ValueError) as error:
        return [problem(check.matter, "It could not be checked.", f"Mend this: {error}")]
