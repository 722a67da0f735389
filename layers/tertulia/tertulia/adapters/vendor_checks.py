"""Whether vendors take our keys: one cheap question each, and what their clocks say of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tertulia.domain.checkups import Finding, fine, note, problem

if TYPE_CHECKING:
    import httpx

SECONDS_TO_ANSWER = 10.0
MOST_SKEW_SECONDS = 60.0
"""AWS refuses what is signed five minutes off."""
METRIC = "cosine"


@dataclass(frozen=True, kw_only=True)
class VendorKey:
    """A key with the question that shows whether it is taken."""

    name: str
    """The key's variable."""
    url: str
    headers: Mapping[str, str] = field(repr=False)
    models: frozenset[str] = frozenset()
    """Models that must be on the list that comes back."""
    index_dimension: int | None = None
    """What the index that comes back must have."""

    @property
    def matter(self) -> str:
        """The key."""
        return self.name

    async def __call__(self) -> Sequence[Finding]:
        """Ask the vendor."""
        import httpx

        try:
            async with httpx.AsyncClient(timeout=SECONDS_TO_ANSWER) as client:
                answer = await client.get(self.url, headers=self.headers)
        except httpx.HTTPError:
            host = httpx.URL(self.url).host
            return [problem(self.name, f"{host} cannot be reached.", "Look at the network and its proxy.")]
        return [*self._judged(answer), *_skew(answer)]

    def _judged(self, answer: "httpx.Response") -> list[Finding]:
        match answer.status_code:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return [problem(self.name, "The vendor refuses the key.", f"Make a new one and set {self.name}.")]
            case HTTPStatus.NOT_FOUND if self.index_dimension:
                return [
                    note(self.name, "The key is taken; the index does not exist yet and is made at the next start.")
                ]
            case HTTPStatus.TOO_MANY_REQUESTS:
                return [note(self.name, "The key is taken, but the vendor says that it was used too much just now.")]
            case status if status >= HTTPStatus.BAD_REQUEST:
                return [problem(self.name, f"The vendor answers with status {status}.", "Try again later.")]
        body = _json(answer)
        return [fine(self.name, "The vendor takes the key."), *self._missing_models(body), *self._dimension(body)]

    def _missing_models(self, body: Any) -> list[Finding]:
        if not self.models:
            return []
        offered = {str(model.get("id")) for model in body.get("data", ())}
        return [
            problem("models", f"{model} is not offered any more.", "Choose another: see docs/constants.md.")
            if model not in offered
            else fine("models", f"{model} is offered.")
            for model in sorted(self.models)
        ]

    def _dimension(self, body: Any) -> list[Finding]:
        if self.index_dimension is None:
            return []
        found, metric = body.get("dimension"), body.get("metric", METRIC)
        if (found, metric) == (self.index_dimension, METRIC):
            return [fine("index", f"It holds vectors of {found} numbers, compared by {metric}.")]
        what = (
            f"It holds vectors of {found} numbers, compared by {metric}; ours have {self.index_dimension}, by {METRIC}."
        )
        return [problem("index", what, "Set PINECONE_INDEX_NAME to a new name: the index is made anew.")]


def _json(answer: "httpx.Response") -> Any:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _skew(answer: "httpx.Response") -> list[Finding]:
    try:
        there = parsedate_to_datetime(answer.headers["Date"])
    except (KeyError, ValueError):
        return []
    seconds = abs((datetime.now(UTC) - there).total_seconds())
    if seconds <= MOST_SKEW_SECONDS:
        return [fine("clock", "It agrees with the vendor's.")]
    return [problem("clock", f"It is {seconds:.0f} s off.", "Turn on time synchronization (timedatectl set-ntp true).")]
