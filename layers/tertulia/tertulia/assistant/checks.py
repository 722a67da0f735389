"""What `tertulia doctor` looks at. A new check is one object more in one of these lists."""

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertulia.adapters.vendor_checks import VendorKey
from tertulia.assistant.plain_checks import Bill, NeededKey, ScenarioFiles, Servers
from tertulia.ports.checks import Check
from tertulia.settings import Settings

if TYPE_CHECKING:
    from tertulia.assistant import Assistant

ADDRESSES = {
    "groq": ("https://api.groq.com", "/openai/v1/models", "Authorization"),
    "openai": ("https://api.openai.com/v1", "/models", "Authorization"),
    "anthropic": ("https://api.anthropic.com", "/v1/models", "x-api-key"),
    "google": ("https://generativelanguage.googleapis.com", "/v1beta/models", "x-goog-api-key"),
    "deepseek": ("https://api.deepseek.com", "/models", "Authorization"),
    "tavily": ("https://api.tavily.com", "/usage", "Authorization"),
    "brave": ("https://api.search.brave.com", "/res/v1/web/search?q=tertulia&count=1", "X-Subscription-Token"),
    "notion": ("https://api.notion.com", "/v1/users/me", "Authorization"),
    "mem0": ("https://api.mem0.ai", "/v1/ping/", "Authorization"),
    "composio": ("https://backend.composio.dev", "/api/v3/toolkits?limit=1", "x-api-key"),
    "pinecone": ("https://api.pinecone.io", "/indexes/{index}", "Api-Key"),
}
"""Where each vendor answers something cheap, and the header that carries the key."""

VERSIONS = {"anthropic-version": "2023-06-01", "Notion-Version": "2022-06-28"}


def checks(parts: "Assistant", own_server: str | None, checkout: Path) -> list[Check]:
    """Return the checks that these settings call for."""
    there = cloud_checks(parts.settings) if parts.is_in_the_cloud else machine_checks(parts, own_server)
    vendors = [*vendor_checks(parts.settings), *notion_checks(parts.settings)]
    return [*there, ScenarioFiles(), *vendors, Servers(parts.settings), Bill(checkout, prices())]


def machine_checks(parts: "Assistant", own_server: str | None) -> list[Check]:
    """Return the checks of this machine."""
    from tertulia.adapters.embedded.machine_checks import Folder, FreePort, ModelFiles, Vectors

    settings = parts.settings
    # With a vendor's key, only the vectors are still made here.
    used = ("minilm",) if settings.groq_api_key else parts.local.names
    return [
        ModelFiles(parts.models, used),
        Vectors(lambda: parts.embedder, settings.embedding_dim),
        Folder("data folder", settings.data_dir),
        Folder("models folder", settings.models_dir),
        FreePort(settings.host, settings.port, own_server),
    ]


def cloud_checks(settings: Settings) -> list[Check]:
    """Return the checks of a deployment."""
    from tertulia.adapters.aws.cloud_checks import (
        CloudClock,
        Concurrency,
        DeployedBucket,
        DeployedStateMachine,
        DeployedTable,
    )

    machines = {"follow-up": settings.after_turn_arn, "recordings": settings.recording_arn}
    return [
        DeployedTable(settings.table_name),
        DeployedBucket(settings.bucket_name),
        *(DeployedStateMachine(matter, arn) for matter, arn in machines.items() if arn),
        Concurrency(),
        CloudClock(),
        NeededKey(settings),
    ]


def vendor_checks(settings: Settings) -> list[Check]:
    """Return one question for each key that is set: what is not configured is not called."""
    return [_vendor(settings, vendor) for vendor in ADDRESSES if getattr(settings, f"{vendor}_api_key")]


def notion_checks(settings: Settings) -> list[Check]:
    """Return the check of the database for to-dos, where it is set up."""
    from tertulia.assistant.tools import notion_todos

    found = notion_todos(settings)
    if found is None:
        return []
    from tertulia.adapters.notion.check import NotionDatabase

    return [NotionDatabase(found)]


def prices() -> Mapping[str, Any]:
    """Return what AWS charges, from the price file."""
    found: Mapping[str, Any] = json.loads(files("tertulia").joinpath("cloud_prices.json").read_text("utf-8"))
    return found


def _vendor(settings: Settings, vendor: str) -> VendorKey:
    address, path, header = ADDRESSES[vendor]
    key = getattr(settings, f"{vendor}_api_key").get_secret_value()
    word = {"mem0": "Token "}.get(vendor, "Bearer ") if header == "Authorization" else ""
    base = getattr(settings, f"{vendor}_base_url", None) or address
    groq = {settings.groq_llm_model, settings.groq_agent_model, settings.groq_stt_model, settings.groq_tts_model}
    return VendorKey(
        name=f"{vendor.upper()}_API_KEY",
        url=base.removesuffix("/openai/v1") + path.format(index=settings.pinecone_index_name),
        headers={header: word + key, **VERSIONS},
        models=frozenset(groq) if vendor == "groq" else frozenset(),
        index_dimension=settings.embedding_dim if vendor == "pinecone" else None,
    )
