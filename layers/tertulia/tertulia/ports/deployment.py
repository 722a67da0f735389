"""What a deployment to the cloud needs from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack as the cloud knows it."""

    name: str
    status: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def must_be_deleted_first(self) -> bool:
        """Whether its creation failed, after which nothing can be done with it."""
        return self.status in {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"}

    @property
    def is_busy(self) -> bool:
        """Whether somebody changes it now."""
        return self.status.endswith("_IN_PROGRESS")


class CloudAccount(Protocol):
    """The account that a deployment goes to."""

    async def identity(self) -> str:
        """Return the number of the account, or raise NotConfigured with what to do."""
        ...

    async def stored_keys(self, path: str) -> set[str]:
        """Return the names of the keys in the secret store, never their values."""
        ...

    async def store_key(self, path: str, name: str, key: str) -> None:
        """Keep a key, encrypted; one of the same name is replaced."""
        ...

    async def stack(self, name: str) -> Stack | None:
        """Return a stack with its outputs, if there is one."""
        ...


class DeploymentTool(Protocol):
    """What builds the functions and uploads them."""

    def missing(self) -> Sequence[str]:
        """Return what has to be installed first, one sentence for each."""
        ...

    def commands(self, stack: str, region: str, parameters: Mapping[str, str]) -> Sequence[str]:
        """Return the commands that `build` and `deploy` run, as somebody would type them."""
        ...

    async def build(self, parameters: Mapping[str, str]) -> None:
        """Build everything; Unavailable when that fails."""
        ...

    async def deploy(self, stack: str, region: str, parameters: Mapping[str, str]) -> None:
        """Create or update a stack from what was built; no change is fine."""
        ...
