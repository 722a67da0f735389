"""Devices: each may say and hear what is its own, and every message arrives somewhere."""

from typing import Any

from tests.infra.transformed import resources, source

DEVICES = source("infra/devices.yaml")
RULES = {
    name: each["Properties"]["TopicRulePayload"] for name, each in resources("AWS::IoT::TopicRule", DEVICES).items()
}
OWN = "${!iot:Connection.Thing.Attributes[device]}"
HERE = "arn:${AWS::Partition}:iot:${AWS::Region}:${AWS::AccountId}:"


def allowed() -> dict[str, list[str]]:
    (policy,) = resources("AWS::IoT::Policy", DEVICES).values()
    found: dict[str, list[str]] = {}
    for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
        assert statement["Effect"] == "Allow"
        places = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        assert statement["Action"] not in found
        found[statement["Action"]] = [place["Fn::Sub"].removeprefix(HERE) for place in places]
    return found


def test_a_device_may_say_and_hear_what_is_its_own_and_nothing_else() -> None:
    own = f"topic/tertulia/v1/{OWN}"
    assert allowed() == {
        "iot:Connect": [f"client/tertulia-{OWN}"],
        "iot:Publish": [f"{own}/up", f"{own}/audio/*", f"{own}/state"],
        "iot:RetainPublish": [f"{own}/state"],
        "iot:Subscribe": [f"topicfilter/tertulia/v1/{OWN}/down", f"topicfilter/tertulia/v1/{OWN}/speech/*"],
        "iot:Receive": [f"{own}/down", f"{own}/speech/*"],
    }


def test_a_certificate_without_a_thing_connects_to_nothing() -> None:
    (policy,) = resources("AWS::IoT::Policy", DEVICES).values()
    (connect,) = (s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s["Action"] == "iot:Connect")
    assert connect["Condition"] == {"Bool": {"iot:Connection.Thing.IsAttached": "true"}}


def test_messages_reach_the_function_whatever_they_hold() -> None:
    rule = RULES["UpRule"]
    assert rule["Sql"] == (
        "SELECT encode(*, 'base64') AS payload, topic(3) AS device, principal() AS principal FROM 'tertulia/v1/+/up'"
    )
    assert rule["Actions"] == [{"Lambda": {"FunctionArn": {"Ref": "UplinkArn"}}}]


def test_slices_of_utterances_go_straight_into_the_bucket() -> None:
    rule = RULES["AudioRule"]
    assert rule["Sql"] == "SELECT * FROM 'tertulia/v1/+/audio/+/+'"
    (action,) = rule["Actions"]
    assert action["S3"]["Key"] == "utterances/${topic(3)}/${topic(5)}/${topic(6)}"
    assert action["S3"]["BucketName"] == {"Ref": "BucketName"}


def test_every_rule_is_on_and_keeps_what_it_cannot_deliver() -> None:
    for rule in RULES.values():
        assert rule["AwsIotSqlVersion"] == "2016-03-23"
        assert rule["RuleDisabled"] is False
        assert rule["ErrorAction"]["Sqs"]["QueueUrl"] == {"Ref": "Failures"}


def test_only_the_rule_of_messages_may_call_the_function() -> None:
    (permission,) = resources("AWS::Lambda::Permission", DEVICES).values()
    assert permission["Properties"]["Principal"] == "iot.amazonaws.com"
    assert permission["Properties"]["SourceArn"] == {"Fn::GetAtt": ["UpRule", "Arn"]}


def test_rules_put_slices_and_failures_and_nothing_else() -> None:
    (role,) = resources("AWS::IAM::Role", DEVICES).values()
    (policy,) = role["Properties"]["Policies"]
    statements: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    assert [(each["Action"], each["Resource"]) for each in statements] == [
        ("s3:PutObject", {"Fn::Sub": "arn:${AWS::Partition}:s3:::${BucketName}/utterances/*"}),
        ("sqs:SendMessage", {"Fn::GetAtt": ["Failures", "Arn"]}),
    ]


def test_one_stage_of_a_region_serves_the_devices() -> None:
    stack = resources("AWS::CloudFormation::Stack")["DeviceRules"]
    assert stack["Condition"] == "ServesDevices"
    assert set(stack["Properties"]["Parameters"]) == set(DEVICES["Parameters"])
