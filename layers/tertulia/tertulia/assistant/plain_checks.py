"""Checks that need nothing from outside: files that come with the program, servers that are named, the monthly bill."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertulia.domain.checkups import Finding, fine, note, problem
from tertulia.domain.idle_costs import idle_costs, snapshot_cost
from tertulia.domain.languages import ENGLISH
from tertulia.domain.scenarios import scenarios
from tertulia.settings import Settings

SNAPSHOT_GB = 1.0


@dataclass(frozen=True)
class ScenarioFiles:
    """Whether every scenario can be read."""

    matter = "scenarios"

    async def __call__(self) -> Sequence[Finding]:
        """Read them all."""
        try:
            names = await asyncio.to_thread(scenarios, ENGLISH)
        except ValueError as error:
            return [problem(self.matter, str(error), "Mend the file, or take it out of the scenarios folder.")]
        return [fine(self.matter, ", ".join(names))]


@dataclass(frozen=True)
class NeededKey:
    """Whether the key is there without which nothing answers in the cloud."""

    settings: Settings
    matter = "keys"

    async def __call__(self) -> Sequence[Finding]:
        """Look for it; whether the vendor takes it is asked elsewhere."""
        if self.settings.groq_api_key:
            return [fine(self.matter, "GROQ_API_KEY is stored.")]
        what = "GROQ_API_KEY is not stored, and no local models run in the cloud."
        return [problem(self.matter, what, "Run `tertulia deploy`, which asks for it.")]


@dataclass(frozen=True)
class Servers:
    """Whether the MCP server that the settings name is there."""

    settings: Settings
    matter = "MCP server"

    async def __call__(self) -> Sequence[Finding]:
        """Look for it, when its path was chosen."""
        path = self.settings.mcp_server_path
        if not self.settings.mcp_tools_enabled or "mcp_server_path" not in self.settings.model_fields_set:
            return []
        if path.exists() or shutil.which(str(path)):
            return [fine(self.matter, f"{path} is there.")]
        return [problem(self.matter, f"{path} is not there.", "Set MCP_SERVER_PATH, or MCP_TOOLS_ENABLED=false.")]


@dataclass(frozen=True)
class Bill:
    """What the deployment of a checkout costs while nobody uses it."""

    checkout: Path
    prices: Mapping[str, Any]
    matter = "idle cost"

    async def __call__(self) -> Sequence[Finding]:
        """Count the resources of its templates."""
        places = [self.checkout / "template.yaml", *sorted((self.checkout / "infra").glob("*.yaml"))]
        texts = [await asyncio.to_thread(place.read_text, "utf-8") for place in places if place.is_file()]
        if not texts:
            return []
        costs = idle_costs(texts, self.prices)
        total = sum(cost.dollars for cost in costs)
        parts = ", ".join(f"{cost.count} {cost.what} ${cost.dollars:.2f}" for cost in costs)
        snapshots = snapshot_cost(1, SNAPSHOT_GB, self.prices)
        source = f"{self.prices['source']}, {self.prices['date']}"
        return [
            note(self.matter, f"In the cloud ${total:.2f} a month while nobody uses it: {parts}. ({source})"),
            note(
                self.matter,
                f"Besides, for each GB: logs ${self.prices['log_gb_month']}, table ${self.prices['table_gb_month']} and "
                f"its backup ${self.prices['table_backup_gb_month']}, files ${self.prices['bucket_gb_month']}; "
                f"SnapStart, if on, ${snapshots.dollars:.2f} for each function of 1 GB and kept version.",
            ),
        ]
