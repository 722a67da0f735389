"""Where turns are handed in: one turn for one client_message_id, run to its end whoever listens, replayed, stopped."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from weakref import WeakValueDictionary

from tertulia.domain.errors import InProgress, KeyReused, NotFound, TertuliaError
from tertulia.domain.replies import Done, Failed, Numbered, ReplyEvent
from tertulia.domain.scenarios import checked_scenario
from tertulia.domain.turns import Conversation, TurnRequest, checked_words, events_of
from tertulia.domain.usage import UsageRecord
from tertulia.ports import Claim, Clock, ConversationStore, TurnClaims, TurnEvents
from tertulia.usecases.limits import Limits
from tertulia.usecases.recorder import FLUSH_SECONDS, Recorder
from tertulia.usecases.running_turn import RunningTurn
from tertulia.usecases.take_turn import TakeTurn
from tertulia.usecases.taken_turn import RepeatedTurn, TakenTurn

logger = logging.getLogger(__name__)

SECONDS_TO_BEGIN = 3.0
"""How soon the run of a turn is known after its key was claimed, in another process too."""
SECONDS_TO_END = 30.0
"""How long after its deadline a turn that told no end is taken to have died with its process."""
SECONDS_FOR_A_REPETITION = 25.0
"""How long a repeated request waits for the first one's answer."""


@dataclass(frozen=True, kw_only=True)
class TurnStores:
    """Where turns, their keys and their events are kept."""

    conversations: ConversationStore
    claims: TurnClaims
    events: TurnEvents


class TurnDesk:
    """Hands turns in, keeps their events for replays, and stops them."""

    def __init__(self, take_turn: TakeTurn, stores: TurnStores, limits: Limits, clock: Clock) -> None:
        self._take_turn = take_turn
        self._conversations = stores.conversations
        self._claims = stores.claims
        self._events = stores.events
        self._limits = limits
        self._clock = clock
        self._running: dict[str, RunningTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._on_stored: list[Callable[[str, Done], None]] = []

    def tell_when_stored(self, listener: Callable[[str, Done], None]) -> None:
        """Have a listener called with the user and the `done` of every turn stored in this process."""
        self._on_stored.append(listener)

    async def take(self, request: TurnRequest) -> TakenTurn:
        """Start the turn, or join the one that its client_message_id already started."""
        checked_scenario(request.scenario)
        needs_words = request.audio is None and not request.attachments
        if needs_words or request.text:
            checked_words(request.text, request.surface.max_characters)
        conversation = await self._conversation(request)
        if request.client_message_id is None:
            await self._limits.admit(request)
            return self._start(request, conversation, None)
        return await self._take_once(request, conversation, request.client_message_id)

    async def _conversation(self, request: TurnRequest) -> Conversation:
        # A new conversation is stored with its first turn; until then the next question finds it here.
        for running in self._running.values():
            if (running.user, running.conversation_id) == (request.user, request.conversation_id):
                return running.conversation
        return await self._conversations.open(request.user, request.conversation_id, request.device_id)

    async def _take_once(self, request: TurnRequest, conversation: Conversation, key: str) -> TakenTurn:
        own = Claim(
            user=request.user,
            key=key,
            digest=_digest(request),
            turn_id=request.turn_id,
            claimed_at=self._clock.now(),
            conversation_id=conversation.id,
        )
        held = await self._claims.find(request.user, key) or await self._claimed(request, own)
        if held.digest != own.digest:
            raise KeyReused
        if held.turn_id == own.turn_id:
            return self._start(request, conversation, own)
        if running := self._running.get(held.turn_id):
            if not running.has_failed:
                return running
            await running.put_away.wait()
        found = await self._conversations.find_turn(request.user, held.turn_id)
        if found and found[1].error:
            retry = replace(request, turn_id=held.turn_id)
            await self._limits.admit(retry, mark=own.turn_id)
            return self._start(retry, found[0], held)
        if not found and await self._left_nothing(held):
            # Given back and claimed anew, so that of several repetitions at once one goes on.
            await self._claims.release(held)
            return await self._take_once(request, conversation, key)
        return RepeatedTurn(claim=held, watch=partial(self._watch_first, held))

    async def _left_nothing(self, held: Claim) -> bool:
        """Whether a claimed turn has ended, or its process has died, without anything to show for it."""
        try:
            events = await self._events.read(held.user, held.turn_id)
        except NotFound:
            events = []
        if events and isinstance(events[-1].event, Done | Failed):
            return isinstance(events[-1].event, Failed)
        deadline = timedelta(seconds=self._limits.allowance.turn_seconds + SECONDS_TO_END)
        return held.claimed_at + deadline < self._clock.now()

    def _watch_first(self, held: Claim, after: int) -> AsyncIterator[Numbered]:
        return self.watch(held.user, held.turn_id, after, patience=SECONDS_FOR_A_REPETITION)

    async def _claimed(self, request: TurnRequest, own: Claim) -> Claim:
        """Let a turn in and claim its key; where another was faster, it counts for both."""
        await self._limits.admit(request, mark=hashlib.sha256(own.key.encode()).hexdigest()[:16])
        held = None
        try:
            held = await self._claims.claim(own)
        finally:
            if held is None or held.turn_id != own.turn_id:
                await self._limits.record(request, UsageRecord())
        return held

    def _start(self, request: TurnRequest, conversation: Conversation, claim: Claim | None) -> RunningTurn:
        running = RunningTurn(request.turn_id, conversation)
        self._running[running.turn_id] = running
        task = asyncio.create_task(self._run(request, conversation, running, claim))
        self._tasks.add(task)
        task.add_done_callback(self._put_away)
        return running

    def _put_away(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (defect := task.exception()):
            logger.error("a turn ended in a defect", exc_info=defect)

    async def _run(
        self, request: TurnRequest, conversation: Conversation, running: RunningTurn, claim: Claim | None
    ) -> None:
        recorder = Recorder(self._events, running)
        most = self._limits.allowance.running_turns
        here = self._places.setdefault(request.user, asyncio.Semaphore(most))
        try:
            async with here, recorder, aclosing(self._events_of(request, conversation, running)) as events:
                async for event in events:
                    await self._before(event, request, claim)
                    recorder.add(await running.publish(event))
        finally:
            del self._running[running.turn_id]
            await self._limits.record(request, UsageRecord())
            running.put_away.set()
            if not running.is_over:
                await running.publish(Failed(code=TertuliaError.code, message=TertuliaError.default_message))

    async def _events_of(
        self, request: TurnRequest, conversation: Conversation, running: RunningTurn
    ) -> AsyncGenerator[ReplyEvent]:
        """Take the turn once there is a place for it, or tell that none became free."""
        try:
            async with (
                self._limits.place(request),
                aclosing(self._take_turn(request, conversation, running.stopping)) as events,
            ):
                async for event in events:
                    yield event
        except TertuliaError as error:
            yield Failed(code=error.code, message=error.message, retry_after=error.retry_after)

    async def _before(self, event: ReplyEvent, request: TurnRequest, claim: Claim | None) -> None:
        if isinstance(event, Done):
            for listener in self._on_stored:
                listener(request.user, event)
        if claim and isinstance(event, Failed):
            try:
                await self._give_back(claim)
            except TertuliaError as error:
                # Its repetition finds that nothing is left of the turn, and takes the key over.
                logger.warning("the key of a failed turn could not be given back: %s", error.code)

    async def _give_back(self, claim: Claim) -> None:
        if not await self._conversations.find_turn(claim.user, claim.turn_id):
            await self._claims.release(claim)

    async def watch(
        self, user: str, turn_id: str, after: int = 0, patience: float | None = None
    ) -> AsyncIterator[Numbered]:
        """Yield a turn's events numbered above `after`, to the last; NotFound for another user's."""
        running = self._running.get(turn_id)
        if running and running.user == user:
            async for numbered in running.events(after):
                yield numbered
            return
        waited = 0.0
        begun_within = 0.0 if patience is None else SECONDS_TO_BEGIN
        while True:
            for numbered in await self._events_soon(user, turn_id, after, is_young=waited < begun_within):
                yield numbered
                after = numbered.number
                if isinstance(numbered.event, Done | Failed):
                    return
            if patience is not None and waited >= patience:
                raise InProgress(retry_after=FLUSH_SECONDS * 20)
            await self._clock.sleep(FLUSH_SECONDS)
            waited += FLUSH_SECONDS

    async def _events_soon(self, user: str, turn_id: str, after: int, *, is_young: bool) -> list[Numbered]:
        """Return a turn's events, none yet where its key was claimed a moment ago and its run has not begun."""
        try:
            return await self._stored_events(user, turn_id, after)
        except NotFound:
            if not is_young:
                raise
            return []

    async def _stored_events(self, user: str, turn_id: str, after: int) -> list[Numbered]:
        try:
            return await self._events.read(user, turn_id, after)
        except NotFound:
            # The events go after an hour, the turn stays: its answer in one piece serves a late repetition.
            found = await self._conversations.find_turn(user, turn_id)
            if found is None:
                raise
            conversation, turn = found
            return [numbered for numbered in events_of(turn, conversation.id) if numbered.number > after]

    async def stop(self, user: str, turn_id: str) -> None:
        """Stop a running turn, here or in another process; one that has ended stays as it is."""
        running = self._running.get(turn_id)
        if running and running.user == user:
            running.stopping.set()
            return
        if await self._conversations.find_turn(user, turn_id):
            return
        await self._events.ask_to_stop(user, turn_id)

    def stop_all(self) -> None:
        """Stop every turn that runs here; what was said is told and stored."""
        for running in self._running.values():
            running.stopping.set()

    async def close(self) -> None:
        """Stop every turn and wait until each is stored."""
        self.stop_all()
        while self._tasks:
            await asyncio.wait(self._tasks)


def _digest(request: TurnRequest) -> str:
    """Digest what makes two requests the same one."""
    parts = (
        request.text,
        request.conversation_id or "",
        request.surface.name,
        request.answer_style,
        request.scenario or "",
        *(f"{attachment.name}:{attachment.size}" for attachment in request.attachments),
    )
    return hashlib.sha256("\x1f".join(parts).encode() + (request.audio or b"")).hexdigest()
