"""`tertulia deploy`: the assistant in somebody's own AWS account, step by step."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import SecretStr

from tertulia.domain.errors import InvalidValue, NotConfigured
from tertulia.entrypoints import terminal
from tertulia.entrypoints.session import Session
from tertulia.settings import Settings
from tertulia.usecases.deploy import REQUIRED_KEY, DeployWish
from tertulia.variables import names_of

if TYPE_CHECKING:
    from tertulia.usecases.deploy import Deploy, Deployed


def deploy(
    context: typer.Context,
    stage: Annotated[str, typer.Option(help="Such as `dev` or `prod`; each is a deployment of its own.")] = "dev",
    region: Annotated[str | None, typer.Option(help="An AWS region; else asked for.")] = None,
    user: Annotated[str | None, typer.Option(help="The first user's name; else asked for.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the template, as Name=value.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; keys are read from the environment.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Only say what would be done.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Bring the assistant into your AWS account, or up to date there.

    It asks for what it needs and stores the keys in the account's parameter store. Doing it again is an upgrade.

    Examples: `tertulia deploy` · `tertulia deploy --stage prod --region eu-central-1 --set LogDays=90` · `tertulia deploy --dry-run`
    """
    session: Session = context.obj
    guide = Guide(session, asks=not (yes or dry_run))
    wish = DeployWish(
        stage=stage,
        region=guide.region(region),
        user=guide.user(user),
        keys=guide.keys_of_the_environment,
        parameters=_pairs(parameters or []),
    )
    deploying = guide.deploying(wish)
    if dry_run:
        for number, step in enumerate(deploying.steps(wish), 1):
            terminal.print_out(f"{number}. {step}\n")
        return
    _show(asyncio.run(_deployed(deploying, guide, wish)), as_json)


async def _deployed(deploying: "Deploy", guide: "Guide", wish: DeployWish) -> "Deployed":
    account = await deploying.check(wish)
    terminal.aside(f"Deploying {wish.stack} to account {account} in {wish.region}.")
    stored = await deploying.stored_keys(wish)
    return await deploying(replace(wish, keys={**wish.keys, **guide.further_keys(stored)}))


def _show(deployed: "Deployed", as_json: bool) -> None:
    if as_json:
        terminal.show_json({"url": deployed.url, "user": deployed.user, "token": deployed.token})
        return
    terminal.print_out(f"{deployed.url}\n")
    if deployed.token is None:
        terminal.aside(f"The user {deployed.user} has a token already.")
        return
    terminal.aside(f"The token of {deployed.user}, shown this once; send it as 'Authorization: Bearer …':")
    terminal.print_out(f"{deployed.token}\n")


@dataclass(frozen=True, eq=False)
class Guide:
    """Asks for what nobody gave; where it may not ask, it says what is missing."""

    session: Session
    asks: bool

    def deploying(self, wish: DeployWish) -> "Deploy":
        """Return what deploys the checkout we are in."""
        from tertulia.assistant.deployment import deploying

        return deploying(self.session.settings, self.session.make, wish.region, Path.cwd())

    def region(self, given: str | None) -> str:
        """Return the region."""
        from tertulia.assistant.deployment import default_region

        return given or self._asked("AWS region", default_region(), "--region")

    def user(self, given: str | None) -> str:
        """Return the first user's name."""
        return given or self._asked("Name of the first user", self.session.settings.user_id, "--user")

    @cached_property
    def keys_of_the_environment(self) -> Mapping[str, str]:
        """The vendor keys that are set here, by the names they are stored under."""
        settings = self.session.settings
        found = {name: getattr(settings, setting) for setting, name in key_names().items()}
        return {name: key.get_secret_value() for name, key in found.items() if key is not None}

    def further_keys(self, stored: set[str]) -> Mapping[str, str]:
        """Ask for the keys that are neither set here nor stored, Groq's first."""
        for name in self.keys_of_the_environment:
            terminal.aside(f"{name} is taken from the environment.")
        if not self.asks:
            return {}
        keys = {}
        known = stored | {*self.keys_of_the_environment}
        if REQUIRED_KEY not in known:
            keys[REQUIRED_KEY] = _secret(REQUIRED_KEY)
        terminal.aside(f"Stored are: {', '.join(sorted(stored)) or 'none'}. Others: {', '.join(key_names().values())}")
        while name := typer.prompt("A further key to store, by name (empty: none)", "", show_default=False, err=True):
            if name not in key_names().values():
                terminal.complain(f"{name} is no key that Tertulia knows.")
                continue
            keys[name] = _secret(name)
        return keys

    def _asked(self, question: str, default: str | None, option: str) -> str:
        if self.asks:
            return str(typer.prompt(question, default, err=True))
        if default is None:
            raise NotConfigured(f"Name it: {option}")
        return default


def _secret(name: str) -> str:
    key = str(typer.prompt(f"{name} (not shown)", hide_input=True, err=True)).strip()
    # The settings know what a key may look like; a function would not start with another.
    return _checked(name, key).get_secret_value()


def _checked(name: str, key: str) -> SecretStr:
    [setting] = [setting for setting, known in key_names().items() if known == name]
    fields: dict[str, Any] = {setting: SecretStr(key)}
    checked: SecretStr | None = getattr(Settings(**fields), setting)
    if checked is None:
        raise InvalidValue(f"{name} is empty.")
    return checked


def key_names() -> dict[str, str]:
    """Return the settings that hold vendors' keys, with the names they are stored under."""
    return {setting: names_of(setting)[1] for setting in Settings.model_fields if setting.endswith("_api_key")}


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = dict(text.split("=", 1) for text in texts if "=" in text)
    if len(pairs) != len(texts):
        raise InvalidValue("--set takes Name=value, each name once.")
    return pairs
