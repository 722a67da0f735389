"""The stack is created, as far as the imitation of AWS goes: what refers to something of the stack finds it."""

import ast
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.infra.transformed import REGION, Template, environment_of, resources, transformed

CREATED = (
    "AWS::DynamoDB::Table",
    "AWS::Events::Rule",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::StepFunctions::StateMachine",
)
"""What the imitation can make; it has no user pools, and fails on an API with a body."""
ACCOUNT = "123456789012"
NOBODY = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing", "region_name": REGION}


def client(service: str) -> Any:
    make: Any = boto3.client
    return make(service, **NOBODY)


def kept() -> Template:
    """Return the transformed template without what cannot be created here."""
    template: Template = json.loads(json.dumps(transformed()))
    template["Resources"] = {name: each for name, each in template["Resources"].items() if each["Type"] in CREATED}
    template["Outputs"] = {name: {"Value": {"Ref": name}} for name in template["Resources"]}
    for function in resources("AWS::Lambda::Function", template).values():
        variables = function["Properties"]["Environment"]["Variables"]
        for name in [name for name in variables if "USER_POOL" in name]:
            del variables[name]
    return template


@pytest.fixture(scope="module")
def created() -> Iterator[dict[str, str]]:
    """Create the stack; yields what its resources are called."""
    with mock_aws():
        template = kept()
        s3, cloud = client("s3"), client("cloudformation")
        s3.create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": REGION})
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("handler.py", "")
        for each in resources("AWS::Lambda::Function", template).values():
            s3.put_object(Bucket="code", Key=each["Properties"]["Code"]["S3Key"], Body=code.getvalue())
        for each in resources("AWS::Lambda::LayerVersion", template).values():
            s3.put_object(Bucket="code", Key=each["Properties"]["Content"]["S3Key"], Body=code.getvalue())
        for each in resources("AWS::StepFunctions::StateMachine", template).values():
            each["Properties"]["DefinitionString"] = '{"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}'
            del each["Properties"]["DefinitionS3Location"]
        cloud.create_stack(StackName="tertulia", TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_IAM"])
        (stack,) = cloud.describe_stacks(StackName="tertulia")["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        yield {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def variables_in_place(created: dict[str, str], function: str) -> dict[str, str]:
    configuration = client("lambda").get_function_configuration(FunctionName=created[function])
    return dict(configuration["Environment"]["Variables"])


def test_everything_that_can_be_is_created(created: dict[str, str]) -> None:
    assert set(created) == set(kept()["Resources"])


@pytest.mark.parametrize("function", sorted(resources("AWS::Lambda::Function")))
def test_a_function_carries_the_names_of_this_stack(created: dict[str, str], function: str) -> None:
    variables = variables_in_place(created, function)
    assert set(variables) == {name for name in environment_of(function) if "USER_POOL" not in name}
    assert variables["TERTULIA_TABLE_NAME"] == created["Table"]
    assert variables["TERTULIA_BUCKET_NAME"] == created["Files"]
    assert variables.get("TERTULIA_SECRETS_PATH", "/tertulia/dev") == "/tertulia/dev"
    assert variables.get("TERTULIA_AFTER_TURN_ARN", created["AfterTurn"]) == created["AfterTurn"]
    assert not any("{" in str(value) for value in variables.values())


@pytest.mark.parametrize("function", sorted(resources("AWS::Lambda::Function")))
def test_what_a_function_may_touch_is_in_this_account(created: dict[str, str], function: str) -> None:
    role, iam = created[f"{function}Role"], client("iam")
    for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        told = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
        # The imitation keeps what a stack declares as Python writes it.
        document: dict[str, Any] = ast.literal_eval(told) if isinstance(told, str) else told
        for statement in document["Statement"]:
            places = statement["Resource"]
            for place in places if isinstance(places, list) else [places]:
                assert place.startswith("arn:aws:")
                assert ACCOUNT in place or place.split("/")[0] == f"arn:aws:s3:::{created['Files']}"
                assert "${" not in place


def test_the_table_works_as_declared(created: dict[str, str]) -> None:
    (table,) = [client("dynamodb").describe_table(TableName=created["Table"])["Table"]]
    assert [index["IndexName"] for index in table["LocalSecondaryIndexes"]] == ["listing"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_the_rule_of_failures_points_at_its_function_and_its_queue(created: dict[str, str]) -> None:
    (target,) = client("events").list_targets_by_rule(Rule=created["RecordFailureFunctionFailed"])["Targets"]
    assert target["Arn"].endswith(created["RecordFailureFunction"])
    queue = client("sqs").get_queue_attributes(QueueUrl=created["Failures"], AttributeNames=["QueueArn"])
    assert target["DeadLetterConfig"]["Arn"] == queue["Attributes"]["QueueArn"]
