"""`tertulia models`: what model files there are, and fetching them."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from tertulia.entrypoints import terminal
from tertulia.entrypoints.session import Session

if TYPE_CHECKING:
    from tertulia.assistant import Assistant

MEGABYTE = 1_000_000

app = typer.Typer(help="The model files of this machine.", rich_markup_mode="markdown", invoke_without_command=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def models(context: typer.Context) -> None:
    """List the model files of this machine, fetch them, or say where one is."""
    if context.invoked_subcommand is None:
        list_models(context)


@app.command("list")
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List all models: what is here, and what this machine uses.

    Examples: `tertulia models` · `tertulia models list --json`
    """
    assistant = _assistant(context)
    library = assistant.models
    known = library.manifest.models
    missing = set(library.missing(model.name for model in known))
    used = set(assistant.local.names)
    rows = [
        {
            "name": model.name,
            "title": model.title,
            "license": model.license,
            "megabytes": round(model.size / MEGABYTE),
            "here": model.name not in missing,
            "used": model.name in used,
        }
        for model in known
    ]
    if as_json:
        terminal.show_json(rows)
        return
    table = Table("name", "what it is", "license", "MB", "here", "used", box=None)
    for row in rows:
        table.add_row(*("yes" if cell is True else "-" if cell is False else str(cell) for cell in row.values()))
    Console().print(table)


@app.command()
def fetch(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(help="Which models or sets; without any, what this machine uses.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All there are.")] = False,
    small: Annotated[bool, typer.Option("--small", help="The small set, as the tests use it.")] = False,
) -> None:
    """Fetch what is missing; an interrupted download goes on where it ended.

    Examples: `tertulia models fetch` · `tertulia models fetch qwen-0.5b kokoro`
    """
    assistant = _assistant(context)
    manifest = assistant.models.manifest
    chosen = tuple(model for name in names or () for model in manifest.sets.get(name, (name,)))
    if every:
        chosen = tuple(model.name for model in manifest.models)
    elif small:
        chosen = manifest.sets["small"]
    fetch_missing(assistant, chosen or assistant.local.names)


@app.command()
def path(
    context: typer.Context, name: Annotated[str | None, typer.Argument(help="A model; without, the folder.")] = None
) -> None:
    """Say where a model is, after checking that it is whole.

    Examples: `tertulia models path` · `tertulia models path kokoro`
    """
    library = _assistant(context).models
    terminal.print_out(f"{library.path(name) if name else library.root}\n")


def fetch_missing(assistant: "Assistant", names: tuple[str, ...] | None = None) -> None:
    """Fetch those of the models that are missing, with a bar for each file."""
    missing = assistant.models.missing(assistant.local.names if names is None else names)
    if not missing:
        return
    with terminal.download_bars() as progress:
        asyncio.run(assistant.models.fetch(missing, progress))


def _assistant(context: typer.Context) -> "Assistant":
    session: Session = context.obj
    return session.make(session.settings)
