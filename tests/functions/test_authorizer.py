"""Who is let in by the authorizer, and what it tells the functions."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from runpy import run_path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from joserfc import jwk, jwt
from moto import mock_aws
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from tertulia.adapters.aws.cognito import CognitoPool
from tertulia.adapters.aws.dynamodb import table_definition
from tertulia.assistant import Assistant
from tertulia.assistant.accounts import callers
from tertulia.domain.accounts import EVERYTHING, Caller, Scope
from tertulia.domain.errors import Unauthorized, Unavailable
from tertulia.entrypoints.authorizer import Authorizer
from tertulia.ports.accounts import IdentityProvider
from tertulia.settings import Settings
from tests.functions.conftest import NOBODY, REGION
from tests.functions.handlers import FUNCTIONS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ARN = "arn:aws:execute-api:eu-central-1:123456789012:abc123/prod/GET/api/me/tokens/x%2Fy"
CLIENT = {"USERNAME": "ana", "PASSWORD": "Sesame-1-open!"}


class Pool:
    """An identity provider that knows one token."""

    async def user_of(self, token: str) -> str:
        if token != "ana.signed.this":
            raise Unauthorized
        return "ana@pool"


class Knocking:
    """Asks the authorizer from code that has no event loop, as Lambda does."""

    def __init__(self, authorizer: Authorizer, assistant: Assistant) -> None:
        self.authorizer = authorizer
        self.assistant = assistant

    def __call__(self, *headers: tuple[str, str]) -> dict[str, Any]:
        many: dict[str, list[str]] = {}
        for name, value in headers:
            many.setdefault(name, []).append(value)
        event = {"type": "REQUEST", "methodArn": ARN, "multiValueHeaders": many, "headers": dict(headers)}
        answer = self.authorizer(event, None)
        assert json.loads(json.dumps(answer)) == answer
        [statement] = answer["policyDocument"]["Statement"]
        assert statement["Resource"] == "arn:aws:execute-api:eu-central-1:123456789012:abc123/prod/*"
        assert statement["Action"] == "execute-api:Invoke"
        assert ("context" in answer) == (statement["Effect"] == "Allow")
        return answer

    def told(self, *headers: tuple[str, str]) -> dict[str, str] | None:
        """Return what the functions are told, None when the request is denied."""
        context: dict[str, str] | None = self(*headers).get("context")
        return context

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.authorizer.runner.run(work)

    def token_of(self, user: str, scopes: frozenset[Scope] = EVERYTHING) -> tuple[str, str]:
        made = self.run(self.assistant.accounts.add_token(Caller(user=user), "a token", scopes))
        return made.secret, made.token.id


@pytest.fixture
def knock(dynamodb: "DynamoDBClient", settings: Settings) -> Iterator[Knocking]:
    with mock_aws():
        dynamodb.create_table(**table_definition("tertulia"))
        assistant = Assistant(settings.model_copy(update={"profile": "aws"}))
        assistant.stores.table._given = dynamodb  # type: ignore[union-attr]
        authorizer = Authorizer()
        authorizer.callers = callers(assistant, {})
        knocking = Knocking(authorizer, assistant)
        yield knocking
        authorizer.runner.close()


def test_a_token_names_its_user_and_scopes(knock: Knocking) -> None:
    secret, _ = knock.token_of("ana", frozenset({Scope.TURNS, Scope.READ}))
    for name in ("Authorization", "authorization"):
        for scheme in ("Bearer", "bearer"):
            answer = knock((name, f"{scheme} {secret}"))
            assert answer["principalId"] == "ana"
            assert answer["context"] == {"user": "ana", "scopes": "read turns", "by": "token"}


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Authorization", ""),),
        (("Authorization", "Bearer"),),
        (("Authorization", "Bearer tertulia_unknown"),),
        (("Authorization", "Bearer a.b.c"),),
        (("Authorization", "Basic dXNlcjpwYXNz"),),
        (("X-User", "ana"), ("X-Scopes", "admin")),
        (("Cookie", "tertulia_session=unknown"),),
        (("Cookie", "tertulia_session"),),
        (("Cookie", ";;=; é"),),
        (("Authorization", "Bearer \ud800"),),
    ],
)
def test_nobody_else_is_let_in(knock: Knocking, headers: tuple[tuple[str, str], ...]) -> None:
    secret, _ = knock.token_of("ana")
    assert knock.told(*headers) is None
    assert knock.told(("Authorization", f"Bearer {secret}")) is not None


def test_a_revoked_token_is_denied_at_once(knock: Knocking) -> None:
    secret, token_id = knock.token_of("ana")
    assert knock.told(("Authorization", f"Bearer {secret}")) is not None
    knock.run(knock.assistant.accounts.revoke("ana", token_id))
    assert knock.told(("Authorization", f"Bearer {secret}")) is None


def test_a_session_is_let_in_until_its_token_is_revoked(knock: Knocking) -> None:
    secret, token_id = knock.token_of("ana", frozenset({Scope.READ}))
    _, session, _ = knock.run(callers(knock.assistant, {}).begin_session(secret))
    cookies = ("Cookie", f"theme=dark; tertulia_session={session}; other=1")
    assert knock.told(cookies) == {"user": "ana", "scopes": "read", "by": "session"}
    assert knock.told(("Cookie", "theme=dark"), ("Cookie", f"tertulia_session={session}")) is not None
    knock.run(knock.assistant.accounts.revoke("ana", token_id))
    assert knock.told(cookies) is None


def test_a_token_that_is_shown_counts_before_a_session(knock: Knocking) -> None:
    (of_ana, _), (of_ben, _) = knock.token_of("ana"), knock.token_of("ben")
    _, session, _ = knock.run(callers(knock.assistant, {}).begin_session(of_ana))
    told = knock.told(("Cookie", f"tertulia_session={session}"), ("Authorization", f"Bearer {of_ben}"))
    assert told is not None
    assert told["user"] == "ben"


def test_a_user_of_the_pool_may_do_everything_and_is_noted(knock: Knocking) -> None:
    provider: IdentityProvider = Pool()
    knock.authorizer.callers = replace(knock.authorizer.callers, provider=provider)
    told = knock.told(("Authorization", "Bearer ana.signed.this"))
    assert told == {"user": "ana@pool", "scopes": "admin flows.write read turns", "by": "token"}
    assert knock.told(("Authorization", "Bearer ana.signed.that")) is None
    assert knock.run(knock.assistant.users.knows("ana@pool"))


def test_the_shipped_function_finds_its_table_and_pool(
    knock: Knocking, pool: "RealPool", monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, _ = knock.token_of("ana")
    for name, value in {
        "TERTULIA_PROFILE": "aws",
        "TERTULIA_TABLE_NAME": "tertulia",
        "TERTULIA_USER_POOL": pool.id,
        "TERTULIA_USER_POOL_CLIENT": pool.client,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
    }.items():
        monkeypatch.setenv(name, value)
    shipped: Authorizer = run_path(str(FUNCTIONS / "authorizer/handler.py"))["handler"]
    shipped_knock = Knocking(shipped, knock.assistant)
    assert shipped_knock.told(("Authorization", f"Bearer {secret}")) is not None
    assert isinstance(shipped.callers.provider, CognitoPool)
    shipped.callers.provider._keys_at = f"{pool.address}/{pool.id}/.well-known/jwks.json"
    told = shipped_knock.told(("Authorization", f"Bearer {pool.tokens['AccessToken']}"))
    assert told is not None
    assert told["user"] == "ana"
    shipped.runner.close()


def test_it_loads_nothing_that_only_other_functions_need() -> None:
    code = "import sys, tertulia.entrypoints.authorizer; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "botocore" in loaded
    assert not loaded & {"fastapi", "mangum", "langgraph", "numpy", "joserfc", "httpx", "tertulia.assistant"}


def test_nothing_that_was_shown_is_logged_or_told(knock: Knocking, capsys: pytest.CaptureFixture[str]) -> None:
    secret, _ = knock.token_of("ana")
    answers = [knock(("Authorization", f"Bearer {value}")) for value in (secret, f"{secret}x")]
    said = capsys.readouterr()
    assert secret not in json.dumps(answers) + said.out + said.err


@dataclass(frozen=True)
class RealPool:
    """A user pool of moto, served over HTTP; its key is the same everywhere, so it is trusted here alone."""

    id: str
    client: str
    tokens: dict[str, str]
    address: str

    def provider(self, **changes: str) -> CognitoPool:
        pool = changes.get("pool", self.id)
        return CognitoPool(pool, changes.get("client", self.client), f"{self.address}/{self.id}/.well-known/jwks.json")


@pytest.fixture(scope="module")
def pool() -> Iterator[RealPool]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    cognito = boto3.client("cognito-idp", endpoint_url=address, **NOBODY)
    pool = cognito.create_user_pool(PoolName="people")["UserPool"]["Id"]
    flows = ["ALLOW_USER_PASSWORD_AUTH"]
    client = cognito.create_user_pool_client(UserPoolId=pool, ClientName="page", ExplicitAuthFlows=flows)
    client_id = client["UserPoolClient"]["ClientId"]
    cognito.admin_create_user(UserPoolId=pool, Username=CLIENT["USERNAME"])
    cognito.admin_set_user_password(
        UserPoolId=pool, Username=CLIENT["USERNAME"], Password=CLIENT["PASSWORD"], Permanent=True
    )
    result = cognito.initiate_auth(ClientId=client_id, AuthFlow="USER_PASSWORD_AUTH", AuthParameters=CLIENT)
    yield RealPool(pool, client_id, result["AuthenticationResult"], address)
    cognito.close()
    server.stop()


@pytest.mark.parametrize("kind", ["IdToken", "AccessToken"])
async def test_a_signed_token_of_the_pool_names_its_user(pool: RealPool, kind: str) -> None:
    assert await pool.provider().user_of(pool.tokens[kind]) == "ana"


@pytest.mark.parametrize("changes", [{"client": "another-client"}, {"pool": f"{REGION}_Another1"}])
@pytest.mark.parametrize("kind", ["IdToken", "AccessToken"])
async def test_a_token_for_another_pool_or_client_is_refused(
    pool: RealPool, kind: str, changes: dict[str, str]
) -> None:
    with pytest.raises(Unauthorized):
        await pool.provider(**changes).user_of(pool.tokens[kind])


def _unsigned(token: str) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"none","kid":"dummy"}').rstrip(b"=").decode()
    return f"{head}.{token.split('.')[1]}."


def _with_other_claims(token: str) -> str:
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    for name in ("cognito:username", "username", "sub"):
        claims[name] = "ben"
    changed = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"{head}.{changed}.{signature}"


@pytest.mark.parametrize(
    "change",
    [
        _unsigned,
        _with_other_claims,
        lambda token: token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB"),
        lambda _: "..",
        lambda _: "a.b.c",
        lambda token: f"{token}.{token}",
        lambda _: "é.é.é",
        lambda token: "." + token,
    ],
)
async def test_a_forged_token_is_refused(pool: RealPool, change: Callable[[str], str]) -> None:
    with pytest.raises(Unauthorized):
        await pool.provider().user_of(change(pool.tokens["IdToken"]))


class OwnKey:
    """A pool whose key the test holds, to sign whatever it likes."""

    def __init__(self) -> None:
        self.key = jwk.RSAKey.generate_key(2048, {"kid": "k1", "alg": "RS256", "use": "sig"})
        self.pool = CognitoPool(f"{REGION}_Own", "client-1", "http://127.0.0.1:1/nowhere")
        self.pool._keys = jwk.KeySet([self.key])
        self.pool._looked_at = float("inf")

    def token(self, **claims: Any) -> str:
        soon = datetime.now(UTC) + timedelta(hours=1)
        told = {
            "iss": f"https://cognito-idp.{REGION}.amazonaws.com/{REGION}_Own",
            "exp": int(soon.timestamp()),
            "token_use": "access",
            "client_id": "client-1",
            "username": "ana",
        } | claims
        kept = {name: value for name, value in told.items() if value is not None}
        return jwt.encode({"alg": "RS256", "kid": "k1"}, kept, self.key)


async def test_a_token_signed_as_the_pool_signs_is_taken() -> None:
    own = OwnKey()
    assert await own.pool.user_of(own.token()) == "ana"
    as_id = own.token(token_use="id", client_id=None, aud="client-1", **{"cognito:username": "ben", "username": None})
    assert await own.pool.user_of(as_id) == "ben"
    assert await own.pool.user_of(own.token(username=None, sub="0f1e")) == "0f1e"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1_700_000_000},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iss": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Other"},
        {"iss": None},
        {"token_use": "refresh"},
        {"token_use": None},
        {"client_id": "client-2"},
        {"client_id": None, "aud": "client-1"},
        {"token_use": "id"},
        {"token_use": "id", "aud": "client-2"},
        {"username": None},
        {"username": ""},
        {"username": 5},
        {"username": ["ana"]},
    ],
)
async def test_every_claim_is_checked(claims: dict[str, Any]) -> None:
    own = OwnKey()
    with pytest.raises(Unauthorized):
        await own.pool.user_of(own.token(**claims))


async def test_where_the_keys_cannot_be_had_nobody_is_called_unknown() -> None:
    pool = CognitoPool(f"{REGION}_Own", "client-1", "http://127.0.0.1:1/nowhere")
    with pytest.raises(Unavailable):
        await pool.user_of(OwnKey().token())


async def test_made_up_keys_do_not_make_it_ask_without_end(pool: RealPool, monkeypatch: pytest.MonkeyPatch) -> None:
    provider, looks = pool.provider(), 0
    fetched = provider._fetched

    def counted() -> Any:
        nonlocal looks
        looks += 1
        return fetched()

    monkeypatch.setattr(provider, "_fetched", counted)
    for _ in range(5):
        with pytest.raises(Unauthorized):
            await provider.user_of(OwnKey().token())
        assert await provider.user_of(pool.tokens["IdToken"]) == "ana"
    assert looks == 1
