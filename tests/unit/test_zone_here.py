"""The time zone of the machine, for who types at its command line."""

from pathlib import Path

import pytest

from tertulia.entrypoints.zone_here import zone_here


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/UTC"])
def test_the_zone_that_the_clock_is_set_to_is_named(tmp_path: Path, name: str) -> None:
    file = tmp_path / "zoneinfo" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"TZif")
    clock = tmp_path / "localtime"
    clock.symlink_to(file)
    assert zone_here(clock) == name


def test_a_clock_that_names_no_zone_leaves_it_open(tmp_path: Path) -> None:
    assert zone_here(tmp_path / "nothing") is None
    copied = tmp_path / "localtime"
    copied.write_bytes(b"TZif")
    assert zone_here(copied) is None
    (tmp_path / "zoneinfo").mkdir()
    (tmp_path / "zoneinfo" / "Nowhere").write_bytes(b"TZif")
    copied.unlink()
    copied.symlink_to(tmp_path / "zoneinfo" / "Nowhere")
    assert zone_here(copied) is None
