"""`tertulia user` and `tertulia token`: who may use the assistant, and with which tokens."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from tertulia.domain.accounts import EVERYTHING, USUAL, ApiToken, Caller, Scope, new_token_id
from tertulia.entrypoints import terminal
from tertulia.entrypoints.session import Session

if TYPE_CHECKING:
    from tertulia.usecases.accounts import Accounts, NewToken

users = typer.Typer(
    help="Who may use the assistant beside you: each user has conversations, memories and tokens of their own.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
)
tokens = typer.Typer(
    help="Tokens, with which programs and pages say who they are: `Authorization: Bearer tertulia_…`.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="The user's name: 1 to 64 letters, digits and . _ @ + -")]
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Whose; without, yours.")]
Scopes = Annotated[
    list[Scope] | None,
    typer.Option(
        "--scope",
        "-s",
        help="What it allows; repeat for more: `read` looks, `turns` asks and changes conversations, `flows.write`"
        " changes Node-RED, `admin` makes tokens and changes settings. Without, `read` and `turns`.",
    ),
]


@users.command("add")
def add_user(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Make a user and print their first token, which allows everything and is shown this once.

    Nobody else can read what they say, nor they what you say; the page asks for the token where one is needed.

    Examples: `tertulia user add ana` · `tertulia user add ana > ana.token`
    """

    async def work(accounts: "Accounts") -> "NewToken":
        user = await accounts.add_user(name)
        return await accounts.add_token(Caller(user=user), "First token", EVERYTHING)

    _show_new(_with_accounts(context, work), as_json)


@users.command("list")
def list_users(context: typer.Context, as_json: AsJson = False) -> None:
    """List the users, yourself first.

    Examples: `tertulia user list` · `tertulia user list --json`
    """

    async def work(accounts: "Accounts") -> list[str]:
        return [user async for user in accounts.everyone()]

    listed = _with_accounts(context, work)
    if as_json:
        terminal.show_json(listed)
        return
    terminal.print_out("".join(f"{user}\n" for user in listed))


@tokens.command("add")
def add_token(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Where it is used, such as `kitchen` or `phone`.")],
    user: OfUser = None,
    scopes: Scopes = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it; it is shown this once, and only a digest of it is kept.

    Examples: `tertulia token add phone` · `tertulia token add nodered --user ana -s read -s flows.write`
    """

    async def work(accounts: "Accounts") -> "NewToken":
        owner = await accounts.known(user or _owner(context))
        return await accounts.add_token(Caller(user=owner), name, frozenset(scopes or USUAL))

    _show_new(_with_accounts(context, work), as_json)


@tokens.command("list")
def list_tokens(context: typer.Context, user: OfUser = None, as_json: AsJson = False) -> None:
    """List the tokens of a user: their ids, what they allow, and when they were last used, to the hour.

    Examples: `tertulia token list` · `tertulia token list --user ana`
    """

    async def work(accounts: "Accounts") -> list[ApiToken]:
        return await accounts.tokens(await accounts.known(user or _owner(context)))

    rows = [_row(token) for token in _with_accounts(context, work)]
    if as_json:
        terminal.show_json(rows)
        return
    table = Table(box=None)
    # Whole however narrow the terminal is: it is what `revoke` takes.
    table.add_column("id", no_wrap=True, min_width=len(new_token_id()))
    for heading in ("name", "scopes", "made", "last used"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*(str(cell or "-") for cell in row.values()))
    Console().print(table)


@tokens.command()
def revoke(
    context: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id that `tertulia token list` shows.")],
    user: OfUser = None,
) -> None:
    """Accept a token no more; the sessions of pages made from it end with it. In the cloud it takes up to a minute.

    Examples: `tertulia token revoke 9f2c4e6a8b0d1f35` · `tertulia token revoke 9f2c4e6a8b0d1f35 --user ana`
    """

    async def work(accounts: "Accounts") -> None:
        await accounts.revoke(await accounts.known(user or _owner(context)), token_id)

    _with_accounts(context, work)
    terminal.aside(f"Revoked {token_id}.")


def _owner(context: typer.Context) -> str:
    session: Session = context.obj
    return session.settings.user_id


def _with_accounts[T](context: typer.Context, work: "Callable[[Accounts], Awaitable[T]]") -> T:
    """Work on the stores themselves: who may do that may do everything, whether a server runs or not."""
    session: Session = context.obj

    async def working() -> T:
        assistant = session.make(session.settings)
        try:
            return await work(assistant.accounts)
        finally:
            await assistant.close()

    return asyncio.run(working())


def _show_new(made: "NewToken", as_json: bool) -> None:
    if as_json:
        terminal.show_json({"user": made.token.user, **_row(made.token), "token": made.secret})
        return
    terminal.aside(f"The token of {made.token.user}, shown this once; send it as 'Authorization: Bearer …':")
    terminal.print_out(f"{made.secret}\n")


def _row(token: ApiToken) -> dict[str, str | None]:
    return {
        "id": token.id,
        "name": token.name,
        "scopes": " ".join(sorted(token.scopes)),
        "created_at": token.created_at.isoformat(timespec="minutes"),
        "last_used_at": token.last_used_at.isoformat(timespec="minutes") if token.last_used_at else None,
    }
