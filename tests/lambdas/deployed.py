"""The transformed template, created in moto: stores, queues, functions with their variables, and state machines."""

import json
from collections.abc import Mapping
from typing import Any

import boto3

from tests.architecture.source_tree import CHECKOUT
from tests.infra.transformed import Template, resources
from tests.lambdas.host import ACCOUNT, REGION

STACK = "tertulia"
MADE = ("DynamoDB::Table", "S3::Bucket", "Lambda::Function", "IAM::Role", "Lambda::LayerVersion", "SQS::Queue")
"""What moto makes of the template; what stands in front of the functions is ours."""
MACHINE = "AWS::StepFunctions::StateMachine"
NOBODY: Any = {"region_name": REGION, "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
_EMPTY_ZIP = b"PK\x05\x06" + bytes(18)


class Clients:
    """SDK clients of the services that answer at an address, each made once."""

    def __init__(self, aws: str) -> None:
        self.aws = aws
        self._made: dict[str, Any] = {}

    def __call__(self, service: str) -> Any:
        """Return the client of a service."""
        make: Any = boto3.client
        if service not in self._made:
            self._made[service] = make(service, endpoint_url=self.aws, **NOBODY)
        return self._made[service]

    def close(self) -> None:
        """Close their connections."""
        for made in self._made.values():
            made.close()


def deploy(template: Template, client: Clients) -> dict[str, str]:
    """Create the resources; return the names they got, by their names in the template."""
    kept = {kind: resources(f"AWS::{kind}", template) for kind in MADE}
    made = {name: _alone(resource) for found in kept.values() for name, resource in found.items()}
    body = {**template, "Resources": made, "Outputs": {name: {"Value": {"Ref": name}} for name in made}}
    machines = resources(MACHINE, template)
    s3, stacks, states = (client(service) for service in ("s3", "cloudformation", "stepfunctions"))
    s3.create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": REGION})
    for each in kept["Lambda::Function"].values():
        s3.put_object(Bucket="code", Key=each["Properties"]["Code"]["S3Key"], Body=_EMPTY_ZIP)
    named = _with_machines(body, machines)
    stacks.create_stack(StackName=STACK, TemplateBody=json.dumps(named), Capabilities=["CAPABILITY_IAM"])
    (told,) = stacks.describe_stacks(StackName=STACK)["Stacks"]
    assert told["StackStatus"] == "CREATE_COMPLETE", told
    names = {output["OutputKey"]: output["OutputValue"] for output in told["Outputs"]}
    for name, machine in machines.items():
        definition = _definition(machine, names)
        states.create_state_machine(name=name, definition=definition, roleArn=f"arn:aws:iam::{ACCOUNT}:role/states")
    return names | {name: _machine_arn(name) for name in machines}


def keep_keys(client: Clients, keys: Mapping[str, str], place: str) -> None:
    """Keep keys in the parameter store, under a path."""
    store = client("ssm")
    for name, value in keys.items():
        store.put_parameter(Name=f"{place}/{name}", Value=value, Type="SecureString", Overwrite=True)


def _alone(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource without what nothing here obeys: policies, and what it waits for."""
    properties = {
        key: value for key, value in resource["Properties"].items() if key not in {"Policies", "LoggingConfig"}
    }
    return {key: value for key, value in resource.items() if key != "DependsOn"} | {"Properties": properties}


def _with_machines(body: Template, machines: Mapping[str, Any]) -> Template:
    """Write the addresses of state machines out: moto does not run those that a stack makes, so they are made after it."""
    text = json.dumps(body)
    for name in machines:
        text = text.replace(json.dumps({"Ref": name}), json.dumps(_machine_arn(name)))
    return dict(json.loads(text))


def _definition(machine: Mapping[str, Any], names: Mapping[str, str]) -> str:
    properties = machine["Properties"]
    definition: str = (CHECKOUT / properties["DefinitionS3Location"]["Key"]).read_text("utf-8")
    for place, value in properties["DefinitionSubstitutions"].items():
        arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{names[value['Fn::GetAtt'][0]]}"
        definition = definition.replace(f"${{{place}}}", arn)
    return str(definition)


def _machine_arn(name: str) -> str:
    return f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:{name}"
