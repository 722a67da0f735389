"""The deployment template: it lints, and says the same as the code."""

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]  # ships no types

from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.entrypoints.http.app import ROUTERS
from tertulia.entrypoints.http.routers import events, health, session
from tertulia.settings import Settings
from tertulia.variables import names_of
from tests.architecture.source_tree import CHECKOUT
from tests.functions.handlers import FUNCTIONS, handler_of

TEMPLATE = CHECKOUT / "template.yaml"
ON_THE_LOCAL_SERVER_ONLY = (health.router, session.router, events.router)


@cache
def template() -> dict[str, Any]:
    return dict(yaml_parse(TEMPLATE.read_text("utf-8")))


def functions() -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in template()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            yield resource["Properties"]["CodeUri"].removeprefix("functions/"), resource["Properties"]


def test_the_template_lints() -> None:
    linted = subprocess.run(
        [Path(sys.executable).parent / "cfn-lint", "--regions", "eu-central-1", "--", str(TEMPLATE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_every_function_folder_is_deployed_and_holds_its_handler() -> None:
    module, name = template()["Globals"]["Function"]["Handler"].split(".")
    assert name == "handler"
    assert {folder for folder, _ in functions()} == {path.parent.name for path in FUNCTIONS.glob(f"*/{module}.py")}


@pytest.mark.parametrize(("folder", "properties"), [pytest.param(*each, id=each[0]) for each in functions()])
def test_a_function_gets_the_requests_of_its_own_routes(folder: str, properties: dict[str, Any]) -> None:
    served = {
        route.path for router in handler_of(folder).routers for route in router.routes if isinstance(route, APIRoute)
    }
    assert {event["Properties"]["Path"] for event in properties["Events"].values()} == served
    assert {event["Properties"]["Method"] for event in properties["Events"].values()} == {"ANY"}


def test_every_route_of_a_turn_is_in_one_function() -> None:
    deployed = [id(router) for folder, _ in functions() for router in handler_of(folder).routers]
    assert sorted(deployed) == sorted(id(router) for router in ROUTERS if router not in ON_THE_LOCAL_SERVER_ONLY)


def test_the_table_is_the_one_the_stores_use() -> None:
    declared = template()["Resources"]["Table"]["Properties"]
    for part, value in table_definition("any").items():
        assert part == "TableName" or declared[part] == value
    assert declared["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert declared["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]


def test_every_variable_it_sets_is_read() -> None:
    read = {name for setting in Settings.model_fields for name in names_of(setting)}
    variables = template()["Globals"]["Function"]["Environment"]["Variables"]
    assert {name for name in variables if not name.startswith("POWERTOOLS_")} <= read


def test_no_function_may_touch_everything() -> None:
    for _, properties in functions():
        for policy in properties["Policies"]:
            for statement in policy["Statement"]:
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                assert not any("*" in action for action in actions)
                assert statement["Resource"] != "*"
