"""What a turn gathers while it runs, until it is stored."""

import time
from dataclasses import asdict, replace
from datetime import datetime

from tertulia.domain.errors import ModelBusy, TertuliaError
from tertulia.domain.languages import closest_language
from tertulia.domain.prices import PriceTable, Usage
from tertulia.domain.replies import (
    AnswerEvent,
    Degraded,
    Measured,
    MemoriesUsed,
    ModelUsed,
    Note,
    Receipt,
    RouteChosen,
    Spoke,
    Token,
    ToolCalled,
    ToolReturned,
    with_note,
)
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import ToolUse, Turn, TurnRequest, turn_number
from tertulia.domain.usage import ModelUsage, UsageRecord


class TurnRecord:
    """Folds the events of one turn into the turn that is kept, receipt included."""

    def __init__(self, request: TurnRequest, started_at: datetime) -> None:
        self._request = request
        self._started_at = started_at
        self._started = time.monotonic()
        self._text = ""
        self.was_asked = False
        """Whether there is a question: silence asks nothing, a file without words does."""
        self._language = closest_language(request.language)
        self._answer: list[str] = []
        self._route: Route | None = None
        self._memories: tuple[str, ...] = ()
        self._calls: dict[str, ToolCalled] = {}
        self._tools: list[ToolUse] = []
        self._receipt = Receipt()
        self._used: list[ModelUsed] = []
        self._spoken_characters = 0
        self.audio_seconds = 0.0
        self.error: TertuliaError | None = None

    @property
    def was_refused(self) -> bool:
        """Whether the turn was turned away before it said anything, so that nothing of it is kept."""
        return isinstance(self.error, ModelBusy) and not self._answer

    def asked(self, text: str, language: str) -> None:
        """Note the words of the question and their language."""
        self._text, self._language, self.was_asked = text, language, True

    def failed_with(self, error: TertuliaError) -> None:
        """Note what ended the turn."""
        self.error = error

    def add(self, event: AnswerEvent) -> bool:
        """Note an event; return whether clients see it."""
        match event:
            case Measured() | ModelUsed() | Degraded():
                self._note(event)
                return False
            case Token(text=text):
                self._timed_once("first_token")
                self._answer.append(text)
            case Spoke(text=text):
                self._timed_once("first_speech")
                self._spoken_characters += len(text)
            case RouteChosen(route=route):
                self._route = route
            case MemoriesUsed(ids=ids):
                self._memories = ids
            case ToolCalled():
                self._calls[event.call_id] = event
            case ToolReturned():
                self._note_tool(event)
        return True

    def _note(self, note: Note) -> None:
        if isinstance(note, ModelUsed):
            self._used.append(note)
        self._receipt = with_note(self._receipt, note)

    def _timed_once(self, stage: str) -> None:
        if stage not in self._receipt.stages:
            self._receipt = with_note(self._receipt, Measured(stage=stage, ms=self._elapsed()))

    def _elapsed(self) -> int:
        return round((time.monotonic() - self._started) * 1000)

    def _note_tool(self, event: ToolReturned) -> None:
        call = self._calls.get(event.call_id)
        self._tools.append(
            ToolUse(
                call_id=event.call_id,
                name=event.tool,
                arguments=call.arguments if call else {},
                result=event.result,
                ok=event.ok,
                ms=event.ms,
            )
        )

    def _usage(self, note: ModelUsed) -> Usage:
        return Usage(
            tokens_in=note.tokens_in,
            tokens_out=note.tokens_out,
            audio_seconds=self.audio_seconds if note.job == "transcribe" else 0.0,
            characters=self._spoken_characters if note.job == "speech" else 0,
        )

    def used(self, prices: PriceTable) -> UsageRecord:
        """Return what the turn used of each model, and itself where it is kept."""
        models: dict[str, ModelUsage] = {}
        for note in self._used:
            usage = self._usage(note)
            use = ModelUsage(**asdict(usage), cost_microdollars=prices.cost(note.model, usage))
            models[note.model] = models.get(note.model, ModelUsage()) + use
        return UsageRecord(turns=int(self.was_asked and not self.was_refused), models=models)

    def turn(self, now: datetime, prices: PriceTable, *, interrupted: bool) -> Turn:
        """Return the turn as it is kept."""
        receipt = with_note(self._receipt, Measured(stage="total", ms=self._elapsed()))
        receipt = replace(
            receipt,
            audio_seconds=round(self.audio_seconds, 2),
            memories_used=len(self._memories),
            cost_microdollars=self.used(prices).cost_microdollars,
            tools_used=tuple(dict.fromkeys(use.name for use in self._tools)),
        )
        return Turn(
            id=self._request.turn_id,
            number=turn_number(self._started_at, int(self._started * 1000)),
            text=self._text,
            answer="".join(self._answer),
            language=self._language,
            created_at=self._started_at,
            answered_at=now,
            route=self._route,
            tools=tuple(self._tools),
            receipt=receipt,
            memories_used=self._memories,
            attachments=self._request.attachments,
            surface=self._request.surface.name,
            device_id=self._request.device_id,
            interrupted=interrupted or "deadline" in receipt.degraded,
            error=self.error.code if self.error else None,
        )
