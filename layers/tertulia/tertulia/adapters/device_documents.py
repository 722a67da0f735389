"""What devices said, as text that any store takes."""

import json
from dataclasses import asdict
from datetime import timedelta

from tertulia.domain.devices import UtteranceStart

KEPT = timedelta(days=1)
"""How long messages of devices and slices of recordings are kept."""


def start_document(start: UtteranceStart) -> str:
    """Write how an utterance began."""
    return json.dumps(asdict(start))


def start_of(document: str) -> UtteranceStart:
    """Read how an utterance began."""
    return UtteranceStart(**json.loads(document))
