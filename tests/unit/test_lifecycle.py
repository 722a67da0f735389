"""How parts are made ready."""

from dataclasses import dataclass, field

import pytest

from tertulia.domain.errors import NotConfigured
from tertulia.usecases import lifecycle


@dataclass
class Part:
    """Notes what is asked of it."""

    name: str
    asked: list[str] = field(default_factory=list)
    error: NotConfigured | None = None

    async def begin(self) -> None:
        self.asked.append(f"begin {self.name}")

    async def prepare(self) -> None:
        if self.error:
            raise self.error
        self.asked.append(f"prepare {self.name}")

    async def warm(self) -> None:
        if self.error:
            raise self.error
        self.asked.append(f"warm {self.name}")


async def test_one_part_in_two_places_is_begun_and_prepared_once() -> None:
    asked: list[str] = []
    model = Part("model", asked)

    await lifecycle.begin([model, model, object()])
    await lifecycle.prepare([model, model, object()])

    assert asked == ["begin model", "prepare model"]


async def test_a_part_that_cannot_be_prepared_says_so() -> None:
    with pytest.raises(NotConfigured, match="no file"):
        await lifecycle.prepare([Part("model", error=NotConfigured("no file"))])


async def test_a_part_that_cannot_be_warmed_does_not_keep_the_others_cold(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []

    await lifecycle.warm([Part("voice", error=NotConfigured("no file")), Part("ear", asked)])

    assert asked == ["warm ear"]
    assert "not_configured" in caplog.text
