"""What a month costs, from prices and measured turns: `python -m benchmarks.costs` prints the table of docs/operations.md."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertulia.assistant.checks import prices
from tertulia.domain.idle_costs import idle_costs
from tertulia.domain.prices import Usage
from tertulia.settings import Settings

CHECKOUT = Path(__file__).parents[1]
RECEIPTS = Path(__file__).with_name("receipts.json")
MICRODOLLARS = 1_000_000
USERS = (10, 1_000, 100_000)
TURNS_A_MONTH = 10 * 30
TYPED, SPOKEN = 0.8, 0.2

type Costs = Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """The measured turns, and what a turn of the cloud takes beside the models."""

    turns: list[Mapping[str, Any]]
    spoken: Mapping[str, Any]
    cloud: Mapping[str, float]


def measured() -> Measured:
    """Read the measured figures."""
    found = json.loads(RECEIPTS.read_text("utf-8"))
    return Measured(found["typed"], found["spoken"], found["cloud"])


def models_a_turn(found: Measured) -> float:
    """Return what vendors take for the average turn, in dollars, at the models that are set by default."""
    typed = sum(_written(turn) for turn in found.turns) / len(found.turns)
    spoken = _written(found.spoken) + _voice(found.spoken)
    return (TYPED * typed + SPOKEN * spoken) / MICRODOLLARS


def cloud_a_turn(found: Measured, price: Mapping[str, Any]) -> Costs:
    """Return what AWS takes for a turn, by service, in dollars."""
    used = found.cloud
    return {
        "functions": used["gb_seconds"] * price["lambda_gb_second"]["arm64"] + used["calls"] * price["lambda_request"],
        "API": price["api_request"],
        "table": used["read_units"] * price["table_read_unit"] + used["write_units"] * price["table_write_unit"],
        "workflow": used["state_transitions"] * price["state_transition"],
        "logs and traces": used["log_kb"] / 1e6 * price["log_gb"] + used["traces"] * price["trace"],
    }


def month(users: int, found: Measured, price: Mapping[str, Any]) -> Costs:
    """Return a month's costs for so many users who each take ten turns a day."""
    turns = users * TURNS_A_MONTH
    stored_gb = turns * found.cloud["stored_kb"] / 1e6
    idle = sum(cost.dollars for cost in idle_costs(_templates(), price))
    storage = stored_gb * (price["table_gb_month"] + price["table_backup_gb_month"])
    by_use = {name: turns * dollars for name, dollars in cloud_a_turn(found, price).items()}
    return {"models": turns * models_a_turn(found), **by_use, "storage of a month's turns": storage, "idle": idle}


def table() -> str:
    """Return the table as Markdown."""
    found, price = measured(), prices()
    months = [month(users, found, price) for users in USERS]
    rows = [f"| {name} | " + " | ".join(_dollars(each[name]) for each in months) + " |" for name in months[0]]
    total = "| **together** | " + " | ".join(_dollars(sum(each.values())) for each in months) + " |"
    a_user = (
        "| a user | " + " | ".join(_dollars(sum(m.values()) / n) for m, n in zip(months, USERS, strict=True)) + " |"
    )
    head = "| USD a month | " + " | ".join(f"{users:,} users" for users in USERS) + " |\n" + "| --- " * 4 + "|"
    return "\n".join([head, *rows, total, a_user])


def _written(turn: Mapping[str, Any]) -> int:
    settings = Settings()
    model = settings.groq_agent_model if turn["route"] == "context" else settings.groq_llm_model
    return settings.prices.cost(model, Usage(tokens_in=turn["tokens_in"], tokens_out=turn["tokens_out"]))


def _voice(turn: Mapping[str, Any]) -> int:
    settings = Settings()
    heard = settings.prices.cost(settings.groq_stt_model, Usage(audio_seconds=turn["audio_seconds"]))
    return heard + settings.prices.cost(settings.groq_tts_model, Usage(characters=turn["characters"]))


def _templates() -> list[str]:
    places = [CHECKOUT / "template.yaml", *sorted((CHECKOUT / "infra").glob("*.yaml"))]
    return [place.read_text("utf-8") for place in places]


def _dollars(amount: float) -> str:
    return f"{amount:,.2f}"


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
