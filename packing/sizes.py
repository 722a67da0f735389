"""What is deployed, weighed against the limits of Lambda."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]  # ships no types

from packing.plan import CHECKOUT, Arch

MEGABYTE = 1024 * 1024
LAMBDA_TAKES = 250 * MEGABYTE
WE_ALLOW = 230 * MEGABYTE
"""Room for what a dependency grows by between two releases."""
DIRECT_UPLOAD = 50 * MEGABYTE
"""Larger zips go through a bucket, as SAM sends them all."""
MOST_LAYERS = 5


@dataclass(frozen=True)
class Weight:
    """The bytes of a folder, as they lie there and zipped."""

    folder: Path

    @cached_property
    def plain(self) -> int:
        """The bytes as they lie there."""
        return sum(file.stat().st_size for file in self._files)

    @cached_property
    def zipped(self) -> int:
        """The bytes of its zip file."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in self._files:
                archive.write(file, file.relative_to(self.folder))
        return packed.tell()

    @property
    def _files(self) -> list[Path]:
        return [path for path in sorted(self.folder.rglob("*")) if path.is_file()]


@dataclass(frozen=True)
class Package:
    """A function with the layers it is deployed with."""

    name: str
    layers: tuple[str, ...]
    code: Weight
    plain: int
    """The bytes of its code and all its layers."""

    @property
    def is_too_large(self) -> bool:
        """Whether it goes beyond what we allow ourselves."""
        return self.plain > WE_ALLOW or len(self.layers) > MOST_LAYERS


def layers_of_functions() -> dict[str, tuple[str, ...]]:
    """Return the layers of each function, as the template lists them."""
    template = yaml_parse((CHECKOUT / "template.yaml").read_text("utf-8"))
    return dict(_listed(template["Resources"], template["Globals"]["Function"].get("Layers", [])))


def packages(root: Path, layers: Mapping[str, Weight]) -> list[Package]:
    """Weigh the functions that were built, the heaviest first."""
    found = []
    for name, names in layers_of_functions().items():
        code = Weight(root / "functions" / name)
        found.append(Package(name, names, code, code.plain + sum(layers[layer].plain for layer in names)))
    return sorted(found, key=lambda package: -package.plain)


def layer_weights(root: Path) -> dict[str, Weight]:
    """Weigh the layers that were built."""
    return {path.name: Weight(path) for path in sorted((root / "layers").iterdir()) if path.is_dir()}


def check(arch: Arch, root: Path) -> bool:
    """Print what everything weighs; returns whether it can be deployed."""
    weights = layer_weights(root)
    found = packages(root, weights)
    console = Console()
    console.print(_layer_table(arch, weights), _function_table(arch, found))
    for package in found:
        if package.is_too_large:
            console.print(
                f"[red]{package.name}: {_megabytes(package.plain)} MB in {len(package.layers)} layers; "
                f"at most {_megabytes(WE_ALLOW)} MB in {MOST_LAYERS} are allowed.[/]"
            )
    return not any(package.is_too_large for package in found)


def _listed(resources: Mapping[str, dict[str, object]], usual: list[object]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for resource in resources.values():
        properties = resource.get("Properties")
        if resource["Type"] == "AWS::Serverless::Function" and isinstance(properties, dict):
            references = [*usual, *properties.get("Layers", [])]
            names = tuple(reference["Ref"].removesuffix("Layer").lower() for reference in references)
            yield properties["CodeUri"].removeprefix("functions/"), names


def _layer_table(arch: Arch, weights: Mapping[str, Weight]) -> Table:
    table = Table("layer", _right("MB"), _right("zipped"), title=f"Layers for {arch}", title_justify="left")
    for name, weight in weights.items():
        mark = " [dim]by bucket[/]" if weight.zipped > DIRECT_UPLOAD else ""
        table.add_row(name, _megabytes(weight.plain), _megabytes(weight.zipped) + mark)
    return table


def _function_table(arch: Arch, found: list[Package]) -> Table:
    columns = ("function", _right("MB"), _right("of 250"), _right("code, KB zipped"), "layers")
    table = Table(*columns, title=f"Functions for {arch}", title_justify="left")
    for package in found:
        color = "red" if package.is_too_large else "green"
        share = f"[{color}]{package.plain / LAMBDA_TAKES:.0%}[/]"
        code = f"{package.code.zipped / 1024:.1f}"
        table.add_row(package.name, _megabytes(package.plain), share, code, " ".join(package.layers))
    return table


def _right(name: str) -> Column:
    return Column(name, justify="right")


def _megabytes(count: int) -> str:
    return f"{count / MEGABYTE:.1f}"
