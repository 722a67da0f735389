"""`tertulia followup`: what follows a turn, where it failed, and having it tried again."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tertulia.domain.errors import NotFound
from tertulia.entrypoints import terminal
from tertulia.entrypoints.session import Session

if TYPE_CHECKING:
    from tertulia.assistant import Assistant

app = typer.Typer(
    help="What follows a turn: its memories and its summary.", rich_markup_mode="markdown", no_args_is_help=True
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_failed(context: typer.Context, as_json: AsJson = False) -> None:
    """List the follow-ups that were given up, the latest first.

    Examples: `tertulia followup list` · `tertulia followup list --json`
    """
    failures = _with_assistant(context, lambda assistant: assistant.failed_follow_ups.failed())
    rows = [{**asdict(failure), "failed_at": failure.failed_at.isoformat()} for failure in failures]
    if as_json:
        terminal.show_json(rows)
        return
    if not rows:
        terminal.aside("No follow-up has failed.")
        return
    table = Table(*rows[0], box=None)
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)


@app.command()
def retry(context: typer.Context, turn: Annotated[str, typer.Argument(help="The id of the turn.")]) -> None:
    """Have the follow-up of a turn tried again, by the running server or the next one.

    Examples: `tertulia followup retry 01JD8X0V3N5Q2Z7R9K4M6T8W1Y`
    """
    if not _with_assistant(context, lambda assistant: assistant.failed_follow_ups.retry(turn)):
        raise NotFound("No follow-up of this turn has failed.")
    terminal.aside("It is tried again.")


def _with_assistant[Result](
    context: typer.Context, work: "Callable[[Assistant], Coroutine[Any, Any, Result]]"
) -> Result:
    session: Session = context.obj

    async def working() -> Result:
        assistant = session.make(session.settings)
        try:
            return await work(assistant)
        finally:
            await assistant.close()

    return asyncio.run(working())
