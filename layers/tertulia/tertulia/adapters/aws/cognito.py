"""Users of a Cognito user pool, told from the tokens that it signs."""

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from tertulia.domain.errors import Unauthorized, Unavailable

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

KEYS_KEPT_SECONDS = 3600.0
SECONDS_BETWEEN_LOOKS = 60.0
"""How often an unknown key may cause a look, so that made-up tokens do not make us ask without end."""

_SECONDS_TO_ANSWER = 3.0
_SECONDS_CLOCKS_DIFFER = 5
_ALGORITHMS = ["RS256"]


class CognitoPool:
    """One pool and one of its app clients; the pool's keys are fetched once an hour, and when it signs with a new one."""

    def __init__(self, pool: str, client: str, keys_at: str | None = None) -> None:
        region = pool.partition("_")[0]
        self._issuer = f"https://cognito-idp.{region}.amazonaws.com/{pool}"
        self._client = client
        self._keys_at = keys_at or f"{self._issuer}/.well-known/jwks.json"
        self._keys: KeySet | None = None
        self._looked_at = float("-inf")
        self._looking = asyncio.Lock()

    async def user_of(self, token: str) -> str:
        """Return the name of the user whom the pool gave the token, or raise Unauthorized."""
        from joserfc import jws, jwt
        from joserfc.errors import JoseError

        try:
            keys = await self._keys_with(jws.extract_compact(token.encode()).headers().get("kid"))
            claims = jwt.decode(token, keys, algorithms=_ALGORITHMS).claims
            self._check(claims)
        except (JoseError, ValueError, TypeError) as error:
            raise Unauthorized from error
        name = claims.get("cognito:username") or claims.get("username") or claims.get("sub")
        if not isinstance(name, str) or not name:
            raise Unauthorized
        return name

    def _check(self, claims: dict[str, Any]) -> None:
        """Check that the token is of this pool, for this client, of a known kind and not expired."""
        from joserfc.jwt import JWTClaimsRegistry

        # An ID token names its client as audience, an access token in a claim of its own.
        is_id = claims.get("token_use") == "id"
        JWTClaimsRegistry(
            leeway=_SECONDS_CLOCKS_DIFFER,
            iss={"essential": True, "value": self._issuer},
            exp={"essential": True},
            token_use={"essential": True, "values": ["id", "access"]},
            aud={"essential": is_id, "value": self._client},
            client_id={"essential": not is_id, "value": self._client},
        ).validate(claims)

    async def _keys_with(self, key_id: object) -> "KeySet":
        async with self._looking:
            age = time.monotonic() - self._looked_at
            knows = self._keys is not None and any(key.kid == key_id for key in self._keys.keys)
            if self._keys is None or age > KEYS_KEPT_SECONDS or (not knows and age > SECONDS_BETWEEN_LOOKS):
                self._keys = await asyncio.to_thread(self._fetched)
                self._looked_at = time.monotonic()
            return self._keys

    def _fetched(self) -> "KeySet":
        from joserfc.jwk import KeySet

        try:
            with urlopen(self._keys_at, timeout=_SECONDS_TO_ANSWER) as answer:  # noqa: S310  # our own https address
                return KeySet.import_key_set(json.load(answer))
        except (OSError, ValueError) as error:
            raise Unavailable from error
