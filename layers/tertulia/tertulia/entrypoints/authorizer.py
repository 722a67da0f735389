"""The authorizer of the API: it tells who asks, before any function sees a request."""

import asyncio
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from tertulia.adapters.aws.calls import import_sdk
from tertulia.adapters.aws.cognito import CognitoPool
from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.dynamodb_accounts import DynamoSessions, DynamoTokens, DynamoUsers
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.domain.accounts import Caller
from tertulia.domain.errors import Unauthorized
from tertulia.entrypoints.credentials import BY_SESSION, BY_TOKEN, COOKIE
from tertulia.settings import Settings
from tertulia.usecases.callers import Callers

type Event = Mapping[str, Any]

# While a module is imported, Lambda gives a whole processor; a call gets the part that its memory pays for.
import_sdk()


class Authorizer:
    """Answers the events of a Lambda authorizer of the kind REQUEST. Nothing of them is logged: they hold tokens.

    Every first request waits for it too, so it builds its few parts itself: importing the composition root takes a third
    as long again. It reads no key of any vendor.
    """

    @cached_property
    def runner(self) -> asyncio.Runner:
        """One event loop, warm from call to call."""
        return asyncio.Runner()

    @cached_property
    def callers(self) -> Callers:
        """What knows tokens, sessions and the users of the pool."""
        settings, clock = Settings(), SystemClock()
        table = DynamoTable(settings.table_name)
        pool, client = settings.user_pool, settings.user_pool_client
        return Callers(
            tokens=DynamoTokens(table),
            sessions=DynamoSessions(table, clock),
            users=DynamoUsers(table, clock),
            clock=clock,
            provider=CognitoPool(pool, client) if pool and client else None,
        )

    def __call__(self, event: Event, _context: object) -> dict[str, Any]:
        """Return a policy for the whole stage: whoever is known may ask, and each route looks at the scopes."""
        stage = "/".join(str(event["methodArn"]).split("/")[:2])
        try:
            caller, by = self.runner.run(self._told(event))
        except Unauthorized:
            return _policy("nobody", "Deny", stage)
        context = {"user": caller.user, "scopes": " ".join(sorted(caller.scopes)), "by": by}
        return _policy(caller.user, "Allow", stage) | {"context": context}

    async def _told(self, event: Event) -> tuple[Caller, str]:
        scheme, _, token = next(_headers(event, "authorization"), "").partition(" ")
        if scheme.lower() == "bearer" and (token := token.strip()):
            return await self.callers.of_token(token), BY_TOKEN
        for cookies in _headers(event, "cookie"):
            for cookie in cookies.split(";"):
                name, _, value = cookie.strip().partition("=")
                if name == COOKIE and value:
                    return await self.callers.of_session(value), BY_SESSION
        raise Unauthorized


def _headers(event: Event, name: str) -> Iterator[str]:
    for known, values in (event.get("multiValueHeaders") or {}).items():
        if known.lower() == name:
            yield from values


def _policy(user: str, effect: str, stage: str) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": f"{stage}/*"}
    return {"principalId": user, "policyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
