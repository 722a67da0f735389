"""Calls of the AWS SDK, off the event loop, with its failures in our words."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from tertulia.domain.errors import NotConfigured, NotFound, TooLarge, Unavailable


class ConditionFailed(Exception):
    """An item is not in the state that a write asks for."""


class AlreadyExists(Exception):
    """What was to be started or made under this name has been already."""


_ERRORS: Mapping[str, type[Exception]] = {
    "ConditionalCheckFailedException": ConditionFailed,
    "ExecutionAlreadyExists": AlreadyExists,
    "ConflictException": AlreadyExists,
    "NoSuchKey": NotFound,
    "NoSuchBucket": NotConfigured,
    "ResourceNotFoundException": NotConfigured,
    "StateMachineDoesNotExist": NotConfigured,
    "AccessDenied": NotConfigured,
    "AccessDeniedException": NotConfigured,
    "UnrecognizedClientException": NotConfigured,
    "ItemCollectionSizeLimitExceededException": TooLarge,
    "EntityTooLarge": TooLarge,
    "ValidationException": ValueError,
}
"""A refused expression is our own mistake and no outage; what is not listed here is."""


def import_sdk() -> None:
    """Import what every call needs, where waiting for it costs least."""
    import boto3.dynamodb.types  # noqa: F401


async def call(operation: Callable[..., Any], **arguments: Any) -> Any:
    """Call an operation of a client in a thread; the SDK knows no other way."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return await asyncio.to_thread(operation, **arguments)
    except ClientError as error:
        kind = _ERRORS.get(error.response["Error"]["Code"], Unavailable)
        raise kind() from error
    except BotoCoreError as error:
        raise Unavailable from error
