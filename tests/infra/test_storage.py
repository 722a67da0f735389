"""What is kept: encrypted, recoverable, closed to the world, and gone when its time is over."""

from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.adapters.aws.s3 import PASSING
from tests.infra.transformed import resources, source

TABLE = resources("AWS::DynamoDB::Table")["Table"]
BUCKET = resources("AWS::S3::Bucket")["Files"]


def test_the_table_is_the_one_the_stores_use() -> None:
    for part, value in table_definition("any").items():
        assert part == "TableName" or TABLE["Properties"][part] == value


def test_the_table_forgets_expires_and_can_be_restored() -> None:
    properties = TABLE["Properties"]
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["SSESpecification"] == {"SSEEnabled": True}


def test_what_users_have_outlives_the_stack() -> None:
    for resource in (TABLE, BUCKET, source()["Resources"]["UserPool"]):
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_is_closed_to_the_world() -> None:
    properties = BUCKET["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(properties["PublicAccessBlockConfiguration"]) == 4
    assert properties["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_the_bucket_is_reached_encrypted_only() -> None:
    (policy,) = resources("AWS::S3::BucketPolicy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statement["Resource"] == [{"Fn::GetAtt": ["Files", "Arn"]}, {"Fn::Sub": "${Files.Arn}/*"}]


def test_pages_of_the_named_origins_may_send_files_and_any_may_fetch_what_it_has_the_address_of() -> None:
    sending, fetching = BUCKET["Properties"]["CorsConfiguration"]["CorsRules"]
    assert sending["AllowedOrigins"] == {"Fn::Split": [",", {"Ref": "Origins"}]}
    assert sending["AllowedMethods"] == ["POST"]
    assert (fetching["AllowedOrigins"], fetching["AllowedMethods"]) == (["*"], ["GET"])


def test_passing_files_pass() -> None:
    rules = {rule["Id"]: rule for rule in BUCKET["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert all(rule["Status"] == "Enabled" for rule in rules.values())
    days = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules.values() if "ExpirationInDays" in rule}
    assert days == {"utterances/": 1, "uploads/": 1, "answers/": 1, "exports/": 7}
    assert {f"{folder}/" for folder in PASSING.values()} < set(days)
    assert rules["Unfinished"]["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}


def test_what_was_deleted_is_gone_when_the_table_has_forgotten_too() -> None:
    assert BUCKET["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    rules = {rule["Id"]: rule for rule in BUCKET["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert rules["Deleted"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 35}


def test_logs_are_kept_for_a_time_and_no_function_has_logs_elsewhere() -> None:
    groups = resources("AWS::Logs::LogGroup")
    assert {group["Properties"]["RetentionInDays"]["Ref"] for group in groups.values()} == {"LogDays"}
    for function in resources("AWS::Lambda::Function").values():
        assert function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_users_of_the_pool_are_made_by_its_owner_and_sign_in_without_sending_a_password() -> None:
    pool = source()["Resources"]["UserPool"]["Properties"]
    client = source()["Resources"]["UserPoolClient"]["Properties"]
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert "ALLOW_USER_PASSWORD_AUTH" not in client["ExplicitAuthFlows"]
    assert source()["Parameters"]["Users"]["Default"] == "tokens"
    assert source()["Resources"]["UserPool"]["Condition"] == "HasUserPool"
