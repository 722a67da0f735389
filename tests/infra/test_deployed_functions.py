"""The functions: one for each folder, with the layers, variables and versions they need."""

import copy
import json
import re
from typing import Any

import pytest

from tertulia.settings import Settings
from tertulia.variables import names_of
from tests.architecture.source_tree import CHECKOUT
from tests.functions.handlers import FUNCTIONS
from tests.infra.transformed import (
    Template,
    environment_of,
    folder_of,
    function_of,
    resources,
    routes,
    source,
    transform,
    transform_of,
    transformed,
)

OURS = "TERTULIA_"
ONLY_IN_THE_CLOUD = ("profile", "table_name", "bucket_name", "secrets_path", "models_dir", "cors_origins", "streaming")
"""Settings that mean something else in the cloud."""
NAMES = sorted(resources("AWS::Lambda::Function"))
FOR_USERS = sorted({function_of(operation) for _, _, operation in routes()} - {"HealthFunction"})
MOST_RESOURCES = 500
"""CloudFormation takes no more in one stack."""


def versions(template: Template) -> dict[str, str]:
    """Return the name of the published version of each function."""
    found = resources("AWS::Lambda::Version", template)
    return {version["Properties"]["FunctionName"]["Ref"]: name for name, version in found.items()}


def test_every_function_folder_is_deployed_and_holds_its_handler() -> None:
    module, name = source()["Globals"]["Function"]["Handler"].split(".")
    assert name == "handler"
    assert sorted(map(folder_of, NAMES)) == sorted(path.parent.name for path in FUNCTIONS.glob(f"*/{module}.py"))


def test_every_layer_is_built_and_every_build_is_a_layer() -> None:
    layers = {name: resource for name, resource in source()["Resources"].items() if name.endswith("Layer")}
    assert {layer["Properties"]["ContentUri"] for layer in layers.values()} == {
        f"layers/{path.parent.name}" for path in CHECKOUT.glob("layers/*/Makefile")
    }
    for name, layer in layers.items():
        recipe = (CHECKOUT / layer["Properties"]["ContentUri"] / "Makefile").read_text()
        assert f"build-{name}:" in recipe
        assert layer["Metadata"]["BuildMethod"] == "makefile"
        assert layer["Properties"]["CompatibleArchitectures"] == [{"Ref": "Architecture"}]


@pytest.mark.parametrize("name", NAMES)
def test_a_function_has_five_layers_at_most_and_the_package_last(name: str) -> None:
    layers = source()["Resources"][name]["Properties"]["Layers"]
    assert 2 <= len(layers) <= 5
    assert layers[0] == {"Ref": "CoreLayer"}
    assert layers[-1] == {"Ref": "TertuliaLayer"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_runs_on_the_named_processor_and_is_traced(name: str) -> None:
    properties = resources("AWS::Lambda::Function")[name]["Properties"]
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == [{"Ref": "Architecture"}]
    assert properties["TracingConfig"] == {"Mode": "Active"}
    assert properties["LoggingConfig"] == {"LogGroup": {"Ref": "Logs"}}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_answers_requests_is_not_cut_off_before_the_gateway_gives_up(name: str) -> None:
    properties = resources("AWS::Lambda::Function")[name]["Properties"]
    streams = environment_of(name).get("TERTULIA_STREAMING") == "true"
    if name in FOR_USERS:
        assert properties["Timeout"] == (150 if streams else 29)
        assert not streams or properties["Timeout"] > Settings.model_fields["turn_seconds"].default


def test_every_variable_of_a_function_is_read() -> None:
    read = {name for setting in Settings.model_fields for name in names_of(setting)}
    given = {variable for name in NAMES for variable in environment_of(name) if variable.startswith(OURS)}
    assert given <= read


def variables_of(*settings: str) -> set[str]:
    return {f"{OURS}{setting.upper()}" for setting in settings}


def test_every_setting_of_the_cloud_is_given() -> None:
    given = {variable for name in NAMES for variable in environment_of(name)}
    others = {setting for setting in Settings.model_fields if re.match("user_pool|.*spend_usd", setting)}
    assert variables_of(*ONLY_IN_THE_CLOUD, *others) <= given


def test_every_workflow_is_named_for_whoever_starts_it_by_hand() -> None:
    workflows = {setting for setting in Settings.model_fields if setting.endswith("_arn")}
    assert workflows == {f"{path.name.removesuffix('.asl.json')}_arn" for path in CHECKOUT.glob("infra/*.asl.json")}
    told = {output for output in source()["Outputs"] if output.endswith("Arn")}
    assert {workflow.title().replace("_", "") for workflow in workflows} == told


def test_what_is_no_setting_is_known_by_name() -> None:
    given = {variable for name in NAMES for variable in environment_of(name) if not variable.startswith(OURS)}
    assert given <= {"POWERTOOLS_LOG_LEVEL", "AWS_LAMBDA_EXEC_WRAPPER"}


def test_no_secret_is_a_variable() -> None:
    secrets = {setting for setting, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    given = {variable for name in NAMES for variable in environment_of(name)}
    assert len(secrets) > 5
    assert not given & {variable for setting in secrets for variable in names_of(setting)}


@pytest.mark.parametrize("name", FOR_USERS)
def test_users_reach_a_published_version_which_may_start_from_a_snapshot(name: str) -> None:
    function = resources("AWS::Lambda::Function")[name]["Properties"]
    alias = resources("AWS::Lambda::Alias")[f"{name}Aliaslive"]["Properties"]
    assert alias["Name"] == "live"
    assert alias["FunctionVersion"] == {"Fn::GetAtt": [versions(transformed())[name], "Version"]}
    assert function["SnapStart"] == {"ApplyOn": {"Ref": "SnapStart"}}
    for _, _, operation in routes():
        if function_of(operation) == name:
            assert f"${{{name}Aliaslive}}" in operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]


def test_snapshots_are_off_unless_asked_for_and_their_price_is_told() -> None:
    told = source()["Parameters"]["SnapStart"]
    assert told["Default"] == "None"
    seconds_a_month = 365 / 12 * 86_400
    assert f"{0.0000015046 * seconds_a_month:.2f} USD a month" in " ".join(told["Description"].split())


def changed_layer(name: str) -> Template:
    changed = copy.deepcopy(source())
    changed["Resources"][name]["Properties"]["ContentUri"] += "-changed"
    return transform(changed, {})


def test_new_code_in_a_layer_alone_publishes_new_versions() -> None:
    before, after = versions(transformed()), versions(changed_layer("TertuliaLayer"))
    assert set(before) == set(FOR_USERS)
    assert all(before[name] != after[name] for name in before)


def test_a_layer_that_a_function_has_not_leaves_its_version() -> None:
    before, after = versions(transformed()), versions(changed_layer("EmbeddingsLayer"))
    assert before["TtsFunction"] == after["TtsFunction"]
    assert before["ChatFunction"] != after["ChatFunction"]


def test_the_way_streams_are_sent_publishes_new_versions() -> None:
    other = versions(transform_of('&streaming "true"', '&streaming "false"'))
    assert versions(transformed())["ChatFunction"] != other["ChatFunction"]


def test_a_parameter_that_a_version_depends_on_is_in_its_description() -> None:
    for name in FOR_USERS:
        variables = json.dumps(resources("AWS::Lambda::Function")[name]["Properties"])
        used = {parameter for parameter in source()["Parameters"] if f'"Ref": "{parameter}"' in variables}
        version: dict[str, Any] = resources("AWS::Lambda::Version")[versions(transformed())[name]]
        told = set(re.findall(r"\$\{(\w+)\}", version["Properties"]["Description"]["Fn::Sub"]))
        # A new architecture has new layers, which make the version new.
        assert used - {"Architecture"} == told


def test_the_stack_has_room() -> None:
    assert len(transformed()["Resources"]) < MOST_RESOURCES * 0.8
    assert len(json.dumps(transformed())) < 1_000_000 * 0.8
