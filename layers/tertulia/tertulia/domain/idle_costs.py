"""What a deployment costs while nobody uses it, from the resources of its templates."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SECONDS_A_MONTH = 30 * 24 * 3600
_TYPE = re.compile(r"^ +Type: (AWS::\S+)", re.MULTILINE)
_NAMES = {
    "AWS::CloudWatch::Alarm": "alarms",
    "AWS::CloudWatch::Dashboard": "dashboards (three an account are free)",
    "AWS::SecretsManager::Secret": "secrets",
    "AWS::KMS::Key": "encryption keys",
}


@dataclass(frozen=True)
class IdleCost:
    """One line of the monthly bill."""

    what: str
    count: int
    dollars: float


def idle_costs(templates: Iterable[str], prices: Mapping[str, Any]) -> list[IdleCost]:
    """Return what costs money by being there; the rest is paid by use."""
    found = Counter(kind for text in templates for kind in _TYPE.findall(text))
    by_resource: Mapping[str, float] = prices["by_resource_a_month"]
    return [
        IdleCost(_NAMES.get(kind, kind), found[kind], found[kind] * price)
        for kind, price in by_resource.items()
        if found[kind]
    ]


def snapshot_cost(functions: int, memory_gb: float, prices: Mapping[str, Any]) -> IdleCost:
    """Return what SnapStart costs for each kept version of so many functions."""
    dollars = functions * memory_gb * prices["snapshot_gb_second"] * SECONDS_A_MONTH
    return IdleCost("snapshots, for each kept version", functions, dollars)
