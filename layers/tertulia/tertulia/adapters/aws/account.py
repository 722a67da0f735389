"""The account behind the AWS credentials of this machine."""

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import Any

from tertulia.domain.errors import NotConfigured, Unavailable
from tertulia.ports.deployment import Stack

_NO_CREDENTIALS = "There are no AWS credentials here: run `aws configure` or `aws sso login`, or set AWS_PROFILE."
_MEANINGS = {
    "NoCredentialsError": _NO_CREDENTIALS,
    "PartialCredentialsError": _NO_CREDENTIALS,
    "ProfileNotFound": "AWS_PROFILE names a profile that does not exist: see `aws configure list-profiles`.",
    "UnauthorizedSSOTokenError": "The AWS sign-in has ended: run `aws sso login`.",
    "SSOTokenLoadError": "The AWS sign-in has ended: run `aws sso login`.",
    "TokenRetrievalError": "The AWS sign-in has ended: run `aws sso login`.",
    "ExpiredToken": "The AWS credentials have expired: get new ones.",
    "ExpiredTokenException": "The AWS credentials have expired: get new ones.",
    "InvalidClientTokenId": "AWS does not know these credentials: check the access key.",
    "UnrecognizedClientException": "AWS does not know these credentials: check the access key.",
    "SignatureDoesNotMatch": "AWS refuses the signature: check the secret key, and the clock of this machine.",
    "AccessDenied": "These AWS credentials do not allow it: use a role that may deploy.",
    "AccessDeniedException": "These AWS credentials do not allow it: use a role that may deploy.",
    "EndpointConnectionError": "AWS cannot be reached: check the network and the region's name.",
}
_UNKNOWN_STACK = "ValidationError"


class AwsAccount:
    """One account in one region."""

    def __init__(self, region: str | None) -> None:
        self._region = region

    async def identity(self) -> str:
        """Return the number of the account, or raise NotConfigured with what to do."""
        found = await _asked(lambda: self._client("sts").get_caller_identity())
        return str(found["Account"])

    async def stored_keys(self, path: str) -> set[str]:
        """Return the names of the keys in the parameter store."""
        return set(await self._parameters(path, decrypt=False))

    async def keys(self, path: str) -> dict[str, str]:
        """Return the keys in the parameter store, by name."""
        return await self._parameters(path, decrypt=True)

    async def _parameters(self, path: str, *, decrypt: bool) -> dict[str, str]:
        def read() -> list[Any]:
            pages = self._client("ssm").get_paginator("get_parameters_by_path")
            return [each for page in pages.paginate(Path=path, WithDecryption=decrypt) for each in page["Parameters"]]

        return {each["Name"].rsplit("/", 1)[-1]: each["Value"] for each in await _asked(read)}

    async def store_key(self, path: str, name: str, key: str) -> None:
        """Keep a key, encrypted with the account's own key of the parameter store."""
        await _asked(
            lambda: self._client("ssm").put_parameter(
                Name=f"{path}/{name}", Value=key, Type="SecureString", Overwrite=True
            )
        )

    async def stack(self, name: str) -> Stack | None:
        """Return a stack with its outputs, if there is one."""
        from botocore.exceptions import ClientError

        try:
            found = await _asked(lambda: self._client("cloudformation").describe_stacks(StackName=name))
        except Unavailable as failure:
            if isinstance(failure.__cause__, ClientError) and _code(failure.__cause__) == _UNKNOWN_STACK:
                return None
            raise
        [stack] = found["Stacks"]
        return Stack(
            name=name,
            status=stack["StackStatus"],
            outputs={each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())},
            parameters={each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())},
        )

    def _client(self, service: Any) -> Any:
        return self._session.client(service)

    @cached_property
    def _session(self) -> Any:
        import boto3

        # The stores that are opened next, for the first user, are in the same region.
        boto3.setup_default_session(region_name=self._region)
        return boto3


def default_region() -> str | None:
    """Return the region that the settings of AWS's own tools name."""
    import boto3

    return boto3.Session().region_name


async def _asked[Answer](request: Callable[[], Answer]) -> Answer:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return await asyncio.to_thread(request)
    except (ClientError, BotoCoreError) as error:
        code = _code(error) if isinstance(error, ClientError) else type(error).__name__
        if code in _MEANINGS:
            raise NotConfigured(_MEANINGS[code]) from error
        raise Unavailable(f"AWS answered with an error: {code}.") from error


def _code(error: Any) -> str:
    return str(error.response["Error"]["Code"])
