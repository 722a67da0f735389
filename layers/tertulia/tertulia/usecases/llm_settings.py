"""The language model that a user chose: kept, shown without its key, and used in their turns alone."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from tertulia.domain.errors import InvalidValue
from tertulia.domain.language_models import COMPATIBLE, EMBEDDED, LlmChoice
from tertulia.domain.replies import AnswerEvent
from tertulia.ports import Answer, Question
from tertulia.ports.accounts import LlmChoiceStore
from tertulia.usecases.wishes import Wishes

_MOST_KEPT = 100
_ADDRESS = re.compile(r"(https?)://[^\s/?#@\\]+(/[^\s?#\\]*)?")


@dataclass(frozen=True, kw_only=True)
class LlmSettings:
    """Keeps the choices of users; `presets` are what this deployment has to choose from, its own default first."""

    choices: LlmChoiceStore
    wishes: Wishes
    presets: Mapping[str, LlmChoice]
    takes_private: bool = False
    """Whether a server inside the network may be chosen, and an address without encryption."""

    async def shown(self, user: str) -> LlmChoice:
        """Return what the user chose, or what answers without a choice."""
        return await self.choices.find(user) or next(iter(self.presets.values()))

    async def choose(self, user: str, wish: LlmChoice) -> LlmChoice:
        """Keep a choice; a key is kept for its address only, and stays where none is given."""
        checked = self._checked(wish)
        before = await self.choices.find(user)
        if not checked.api_key and before and before.base_url == checked.base_url:
            checked = replace(checked, api_key=before.api_key)
        await self.choices.put(user, checked)
        await self._mark(user, has_own_model=True)
        return checked

    async def forget(self, user: str) -> None:
        """Return to what answers without a choice; the key is forgotten."""
        await self._mark(user, has_own_model=False)
        await self.choices.remove(user)

    def _checked(self, wish: LlmChoice) -> LlmChoice:
        preset = self.presets.get(wish.provider)
        if preset is None and wish.provider != COMPATIBLE:
            raise InvalidValue(f"The provider must be one of {', '.join([*self.presets, COMPATIBLE])}.")
        base_url = wish.base_url.strip().rstrip("/") or (preset.base_url if preset else "")
        model = wish.model.strip() or (preset.model if preset else "")
        if wish.provider == EMBEDDED:
            return replace(wish, base_url="", model=model, api_key="")
        if not base_url or not model:
            raise InvalidValue("A server of your own needs its base_url and the name of a model.")
        address = _ADDRESS.fullmatch(base_url)
        if address is None:
            raise InvalidValue("The base_url must be an address such as https://example.org/v1.")
        is_ours = preset is not None and base_url == preset.base_url
        if address[1] == "http" and not (self.takes_private or is_ours):
            raise InvalidValue("The base_url must begin with https://.")
        return replace(wish, base_url=base_url, model=model)

    async def _mark(self, user: str, *, has_own_model: bool) -> None:
        # Turns read the settings anyway: who chose nothing is not slowed by a look for a choice.
        settings = await self.wishes.settings(user)
        await self.wishes.save(user, replace(settings, has_own_model=has_own_model))


@dataclass(frozen=True, kw_only=True)
class OwnAnswer:
    """An answer over a model of a user's own, and the way to let go of it."""

    answer: Answer
    close: Callable[[], Awaitable[None]]


@dataclass(kw_only=True)
class _Kept:
    choice: LlmChoice
    own: OwnAnswer
    turns: int = 0
    is_over: bool = False


class ChosenAnswer:
    """Answers by the model that the user chose, and by the usual ones where nobody chose."""

    def __init__(
        self, usual: Answer, wishes: Wishes, choices: LlmChoiceStore, build: Callable[[LlmChoice], OwnAnswer]
    ) -> None:
        self._usual, self._wishes, self._choices, self._build = usual, wishes, choices, build
        self._kept: dict[str, _Kept] = {}

    async def __call__(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield the events of the answer."""
        kept = await self._of(question.request.user)
        if kept:
            kept.turns += 1
        try:
            async with aclosing(kept.own.answer(question) if kept else self._usual(question)) as events:
                async for event in events:
                    yield event
        finally:
            if kept:
                kept.turns -= 1
                await _close(kept)

    async def close(self) -> None:
        """Let go of all models of users."""
        for user in tuple(self._kept):
            await self._drop(user)

    async def _of(self, user: str) -> _Kept | None:
        wishes = await self._wishes.settings(user)
        choice = await self._choices.find(user) if wishes.has_own_model else None
        kept = self._kept.get(user)
        if kept and kept.choice != choice:
            await self._drop(user)
        if choice is None:
            return None
        if user not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                await self._drop(next(iter(self._kept)))
            self._kept[user] = _Kept(choice=choice, own=self._build(choice))
        return self._kept[user]

    async def _drop(self, user: str) -> None:
        kept = self._kept.pop(user)
        kept.is_over = True
        await _close(kept)


async def _close(kept: _Kept) -> None:
    if kept.is_over and not kept.turns:
        await kept.own.close()
