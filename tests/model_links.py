"""Real models in a folder of the test's own, where it may break them."""

from pathlib import Path

from tests.model_files import SHARED, model_library


def model_links(name: str, folder: Path, root: Path = SHARED) -> Path:
    """Return a folder named like the model, with links to its files."""
    there = model_library(name, root=root).path(name)
    links = folder / name
    links.mkdir()
    for file in there.iterdir() if there.is_dir() else [there]:
        (links / file.name).symlink_to(file)
    return links


def break_file(link: Path) -> None:
    """Put bytes that are no model in the place of the link."""
    link.unlink()
    link.write_bytes(b"no model at all" * 100)
