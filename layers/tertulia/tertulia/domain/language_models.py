"""Whose language model answers: the vendors there are, and what a user chose of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType

COMPATIBLE = "compatible"
"""Any server that speaks the OpenAI protocol, at an address of its own."""

EMBEDDED = "embedded"
"""The model on this machine."""


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """A vendor's usual address and model; the embedded one needs neither, a compatible server has no usual ones."""

    provider: str
    name: str
    base_url: str = ""
    model: str = ""
    max_context_tokens: int = 32_768


@dataclass(frozen=True, kw_only=True)
class LlmChoice:
    """The model that a user chose for their turns; the key is shown to nobody."""

    provider: str
    base_url: str = ""
    model: str = ""
    max_context_tokens: int = 32_768
    temperature: float = 0.7
    api_key: str = field(default="", repr=False)


@cache
def vendors() -> Mapping[str, Vendor]:
    """Return the vendors by their word, in the order in which they are asked."""
    listed = json.loads(files("tertulia.domain").joinpath("vendors.json").read_text("utf-8"))
    return MappingProxyType({word: Vendor(provider=word, **vendor) for word, vendor in listed.items()})
