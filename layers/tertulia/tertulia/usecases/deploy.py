"""Bringing the assistant into somebody's own account, or up to date there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tertulia.domain.accounts import EVERYTHING, Caller, checked_user
from tertulia.domain.errors import Conflict, NotConfigured, Unavailable
from tertulia.ports.deployment import CloudAccount, DeploymentTool, Stack
from tertulia.usecases.accounts import Accounts

REQUIRED_KEY = "GROQ_API_KEY"
FIRST_TOKEN = "first token"  # noqa: S105  # its label


@dataclass(frozen=True, kw_only=True)
class DeployWish:
    """What to deploy where, and for whom."""

    stage: str
    region: str
    user: str
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys of vendors, by name, to store; those that are stored already stay."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Further parameters of the template."""

    @property
    def stack(self) -> str:
        """The stack's name."""
        return f"tertulia-{self.stage}"

    @property
    def secrets_path(self) -> str:
        """Where the functions look for keys."""
        return f"/tertulia/{self.stage}"

    @property
    def all_parameters(self) -> Mapping[str, str]:
        """What the template is told."""
        return {"Stage": self.stage, **self.parameters}


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """Where the assistant answers, and what its first user needs."""

    url: str
    user: str
    token: str | None = field(repr=False)
    """Seen this once; none when the user had one before."""


class Deploy:
    """Checks, stores keys, builds, uploads, and makes the first user; safe to do again."""

    def __init__(self, cloud: CloudAccount, tool: DeploymentTool, accounts: Callable[[Stack], Accounts]) -> None:
        self._cloud = cloud
        self._tool = tool
        self._accounts = accounts

    def steps(self, wish: DeployWish) -> list[str]:
        """Say what would be done."""
        keys = ", ".join(wish.keys) or "none given: those stored before stay"
        return [
            "Check sam, make, uv and Python 3.13, and the AWS credentials.",
            f"Store keys as SecureString under {wish.secrets_path} in {wish.region}: {keys}.",
            *(f"Run: {command}" for command in self._tool.commands(wish.stack, wish.region, wish.all_parameters)),
            f"Make the user {wish.user} with a token, unless they have one; show it and the address.",
        ]

    async def check(self, wish: DeployWish) -> str:
        """Return the number of the account when everything needed is there, or raise with what to do."""
        checked_user(wish.user)
        if missing := self._tool.missing():
            raise NotConfigured(" ".join(missing))
        account = await self._cloud.identity()
        stack = await self._cloud.stack(wish.stack)
        if stack and stack.must_be_deleted_first:
            raise Conflict(
                f"The stack {wish.stack} could not be created earlier ({stack.status}). "
                f"Delete it, then deploy again: sam delete --stack-name {wish.stack} --region {wish.region}"
            )
        if stack and stack.is_busy:
            raise Conflict(
                f"The stack {wish.stack} is being changed now ({stack.status}). Try again when that has ended."
            )
        return account

    async def stored_keys(self, wish: DeployWish) -> set[str]:
        """Return the names of the keys that are stored already."""
        return await self._cloud.stored_keys(wish.secrets_path)

    async def __call__(self, wish: DeployWish) -> Deployed:
        """Do it all."""
        if REQUIRED_KEY not in {*wish.keys, *await self.stored_keys(wish)}:
            raise NotConfigured(f"{REQUIRED_KEY} is needed: no local models run in the cloud.")
        for name, key in wish.keys.items():
            await self._cloud.store_key(wish.secrets_path, name, key)
        await self._tool.build(wish.all_parameters)
        await self._tool.deploy(wish.stack, wish.region, wish.all_parameters)
        stack = await self._cloud.stack(wish.stack)
        if stack is None or "Url" not in stack.outputs:
            raise Unavailable(f"The stack {wish.stack} has no address after the deployment.")
        return Deployed(url=stack.outputs["Url"], user=wish.user, token=await self._first_token(stack, wish.user))

    async def _first_token(self, stack: Stack, user: str) -> str | None:
        accounts = self._accounts(stack)
        try:
            user = await accounts.add_user(user)
        except Conflict:
            if await accounts.tokens(user):
                return None
        made = await accounts.add_token(Caller(user=user), FIRST_TOKEN, EVERYTHING)
        return made.secret
