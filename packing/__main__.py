"""Commands of the build: `python -m packing --help`."""

from pathlib import Path
from typing import Annotated

import typer

from packing import sizes, tree
from packing.building import build, build_layer
from packing.plan import Arch, layers

app = typer.Typer(help="Build what is deployed, and weigh it.", no_args_is_help=True, add_completion=False)


@app.command("all")
def build_all(arch: Annotated[list[Arch] | None, typer.Argument(help="Without, both.")] = None) -> None:
    """Build layers and functions under build/ARCH."""
    if tree.strip_tool() is None:
        typer.secho("llvm-strip is missing: the layers are larger. Install llvm to make them small.", err=True)
    for each in arch or list(Arch):
        build(each)


@app.command()
def layer(name: str, into: Path, arch: Arch = Arch.ARM64) -> None:
    """Build one layer into a folder, for `sam build`."""
    build_layer(layers()[name], into, arch)


@app.command()
def check(arch: Annotated[list[Arch] | None, typer.Argument(help="Without, this machine's own.")] = None) -> None:
    """Build, and weigh every layer and function against Lambda's limits."""
    fits = [sizes.check(each, build(each)) for each in arch or [Arch.here()]]
    if not all(fits):
        raise typer.Exit(1)


@app.command()
def grams() -> None:
    """Write the language detector's numbers anew, from py3langid's."""
    # Only this command needs numpy.
    from packing.grams import write_grams

    write_grams()


if __name__ == "__main__":
    app()
