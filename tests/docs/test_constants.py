"""The page of constants says what the code does, in both directions."""

import os
import re
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import pytest

from tertulia.domain.surfaces import SCREEN, SIDEBAR, SPOKEN
from tertulia.settings import Settings
from tertulia.variables import names_of

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs/constants.md"
DESIGN = CHECKOUT.parent / "shared/design/constants.md"
PAGES = [page for page in (PAGE, DESIGN) if page.exists()]

VENDORS = ("OPENAI", "ANTHROPIC", "GOOGLE", "DEEPSEEK", "GROQ")
READ = {name: setting for setting in Settings.model_fields for name in names_of(setting)}


@pytest.fixture
def defaults(monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/home-of-somebody")
    return Settings()


def rows(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def variables(cell: str) -> list[str]:
    found = re.findall(r"`([A-Z0-9_]{4,})`", cell)
    return [f"TERTULIA{name}" if name.startswith("_") else name for name in found]


def shown(value: object) -> str:
    if value in (None, "", ()):
        return "-"
    match value:
        case bool():
            return str(value).lower()
        case float() | int():
            return f"{value:g}"
        case tuple():
            return " ".join(f"`{each}`" for each in value)
    text = str(value).replace("/home-of-somebody/.local/share/tertulia/", "<data dir>/")
    return f"`{text.replace('/home-of-somebody/', '~/')}`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_variable_a_page_names_is_read(page: Path) -> None:
    named = [name for row in rows(page) for name in variables(row[0])]
    assert len(named) > 50
    assert [name for name in named if name not in READ] == []


def test_each_setting_has_one_row_with_its_names_default_and_what_it_accepts(defaults: Settings) -> None:
    listed = {row[0]: row for row in rows(PAGE) if variables(row[0])}
    assert len(listed) == len(Settings.model_fields)
    for setting, field in Settings.model_fields.items():
        first, *others = names_of(setting)
        _, other_names, default, accepts, purpose = listed[f"`{first}`"]
        assert other_names == (" ".join(f"`{name}`" for name in others) or "-"), setting
        assert default == shown(getattr(defaults, setting)), setting
        assert accepts == (field.description or "text"), setting
        assert purpose, setting


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_defaults_stand_in_the_rows_that_name_them(page: Path, defaults: Settings) -> None:
    wrong = []
    for row in rows(page):
        for name in variables(row[0]):
            default = shown(getattr(defaults, READ[name])).replace("http://localhost:", "").replace("`", "")
            if default != "-" and any(word not in " ".join(row) for word in default.split()):
                wrong.append((name, default))
    assert wrong == []


def test_every_vendor_can_be_reached_at_another_address() -> None:
    keyed = {name.removesuffix("_API_KEY") for name in READ if re.fullmatch(r"[A-Z0-9]+_API_KEY", name)} - {"EVATAR"}
    assert keyed >= set(VENDORS)
    assert [vendor for vendor in keyed if f"{vendor}_BASE_URL" not in READ] == []


def test_the_surfaces_have_the_numbers_of_the_page() -> None:
    fields = asdict(SPOKEN).keys() - {"name"}
    listed = {row[0].strip("`"): row[1:] for row in rows(PAGE) if row[0].strip("`") in fields}
    assert listed.keys() == fields
    for field, values in listed.items():
        for surface, value in zip((SPOKEN, SCREEN, SIDEBAR), values, strict=True):
            actual = getattr(surface, field)
            assert value == ("-" if actual is None else str(actual)), (surface.name, field)


def test_the_fixed_numbers_are_those_of_the_code() -> None:
    fixed = [(row[1], row[2].strip("`")) for row in rows(PAGE) if len(row) == 3 and row[2].startswith("`tertulia.")]
    assert len(fixed) >= 5
    for value, place in fixed:
        module, _, constant = place.rpartition(".")
        assert value == f"{getattr(import_module(module), constant):g}", place
