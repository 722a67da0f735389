"""The template as CloudFormation gets it: after the serverless transform, which runs here without an account."""

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]  # ships no types
from samtranslator.parser.parser import Parser  # type: ignore[import-untyped]
from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]

from tests.architecture.source_tree import CHECKOUT

type Template = dict[str, Any]
type Resource = dict[str, Any]

REGION = "eu-central-1"
PARTS_OF_CODE = ("CodeUri", "ContentUri", "DefinitionUri")


@cache
def source(path: str = "template.yaml") -> Template:
    """Read a template of the project as it is written."""
    return dict(yaml_parse((CHECKOUT / path).read_text("utf-8")))


@cache
def transformed(*values: tuple[str, str]) -> Template:
    """Transform the template, with values for its parameters: `transformed(("Architecture", "x86_64"))`."""
    return transform(copy.deepcopy(source()), dict(values))


def transform_of(line: str, other: str) -> Template:
    """Transform the template with other words in place of some that are in it once."""
    text = (CHECKOUT / "template.yaml").read_text("utf-8")
    assert text.count(line) == 1, line
    return transform(dict(yaml_parse(text.replace(line, other))), {})


def transform(template: Template, values: dict[str, str]) -> Template:
    """Transform a template that may be changed by it."""
    for resource in template["Resources"].values():
        for part in PARTS_OF_CODE:
            place = resource.get("Properties", {}).get(part)
            if isinstance(place, str):
                # What is deployed lies in a bucket; only there the transform lets it be.
                resource["Properties"][part] = f"s3://code/{place}"
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name=REGION))
    return dict(translator.translate(template, values))


def resources(kind: str, template: Template | None = None) -> dict[str, Resource]:
    """Return the resources of a kind by their names: `resources("AWS::Lambda::Function")`."""
    found = (template or transformed())["Resources"]
    return {name: resource for name, resource in found.items() if resource["Type"] == kind}


def routes(template: Template | None = None) -> Iterator[tuple[str, str, Resource]]:
    """Yield path, method and operation of every route; the method of all methods is `any`."""
    (api,) = resources("AWS::ApiGateway::RestApi", template).values()
    for path, methods in api["Properties"]["Body"]["paths"].items():
        for method, operation in methods.items():
            yield path, method.replace("x-amazon-apigateway-any-method", "any"), operation


def function_of(operation: Resource) -> str:
    """Return the name of the function behind a route."""
    address = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
    target = str(address.split("functions/${")[1].split("}")[0])
    return target.removesuffix(".Arn").removesuffix("Aliaslive")


def folder_of(function: str) -> str:
    """Return the folder of a function in `functions/`."""
    return str(source()["Resources"][function]["Properties"]["CodeUri"]).removeprefix("functions/")


def environment_of(function: str, template: Template | None = None) -> dict[str, Any]:
    """Return the variables of a function."""
    properties = resources("AWS::Lambda::Function", template)[function]["Properties"]
    return dict(properties["Environment"]["Variables"])
