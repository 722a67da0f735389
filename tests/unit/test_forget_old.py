"""The daily run that deletes what is older than its user wants it kept."""

import asyncio
import logging
from datetime import timedelta

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.accounts import UserSettings
from tertulia.domain.errors import NotFound, Unavailable
from tertulia.domain.summaries import SummaryEntry, Vector
from tertulia.domain.turns import Attachment, Conversation
from tertulia.entrypoints.daily import forget_daily
from tertulia.ports import Blob
from tertulia.settings import Settings
from tertulia.usecases.forget_old import Forgotten
from tertulia.usecases.uploads import Announced, Purpose, Uploads
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import a_turn
from tests.turns import USER

MONTH = UserSettings(retention_days=30)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def assistant(make_assistant: MakeAssistant, clock: FakeClock) -> Assistant:
    return make_assistant(clock=clock)


async def kept(assistant: Assistant, turn_id: str, user: str = USER) -> Conversation:
    """Keep a conversation with a file."""
    key = f"file-{turn_id}"
    now = assistant.clock.now()
    await assistant.blobs.put(user, Blob(key=key, data=b"x", name="x", media_type="text/plain", created_at=now))
    conversation = await assistant.conversations.open(user, None)
    file = Attachment(name="x", media_type="text/plain", size=1, key=key)
    await assistant.conversations.append(conversation, a_turn(turn_id, attachments=(file,)))
    return await assistant.conversations.get(user, conversation.id)


async def test_what_is_older_than_the_user_wants_goes_with_all_that_hangs_from_it(
    assistant: Assistant, clock: FakeClock
) -> None:
    old = await kept(assistant, "t1")
    vector = Vector(model="m", values=(1.0,))
    entry = SummaryEntry(
        user=USER, conversation_id=old.id, title="t", overview="o", created_at=clock.now(), vector=vector
    )
    await assistant.summaries.put(entry)
    clock.move(days=29)
    young = await kept(assistant, "t2")
    await assistant.users.save_settings(USER, MONTH)
    assert await assistant.forget_old() == Forgotten(users=1)
    clock.move(days=2)
    assert await assistant.forget_old() == Forgotten(users=1, conversations=1)
    assert (await assistant.conversations.page(USER)).items == (young,)
    with pytest.raises(NotFound):
        await assistant.blobs.get(USER, "file-t1")
    assert (await assistant.blobs.get(USER, "file-t2")).data == b"x"
    assert await assistant.summaries.nearest(USER, vector, 5) == []
    assert await assistant.forget_old() == Forgotten(users=1)


async def test_without_a_wish_everything_stays(assistant: Assistant, clock: FakeClock) -> None:
    await kept(assistant, "t1")
    clock.move(days=4000)
    assert await assistant.forget_old() == Forgotten(users=1)
    assert (await assistant.conversations.page(USER)).total == 1


async def test_the_deployments_days_hold_where_the_user_says_nothing(
    make_assistant: MakeAssistant, settings: Settings, clock: FakeClock
) -> None:
    assistant = make_assistant(settings.model_copy(update={"retention_days": 7}), clock=clock)
    for user in ("ana", "ben"):
        await assistant.users.add(user)
        await kept(assistant, f"t-{user}", user)
    await assistant.users.save_settings("ben", UserSettings(retention_days=365))
    clock.move(days=8)
    assert (await assistant.forget_old()).conversations == 1
    assert [(await assistant.conversations.page(user)).total for user in ("ana", "ben")] == [0, 1]


async def test_uploads_that_nobody_can_use_any_more_go_and_those_that_can_stay(
    assistant: Assistant, clock: FakeClock
) -> None:
    uploads = Uploads(assistant.blobs, clock)
    announced = Announced(purpose=Purpose.AUDIO, filename="a.wav", content_type="audio/wav", size=1, sha256="0" * 64)
    await uploads.announce(USER, announced)
    clock.move(minutes=50)
    await uploads.announce(USER, announced)
    clock.move(minutes=20)
    assert await assistant.forget_old() == Forgotten(users=1, files=1)
    assert await assistant.forget_old() == Forgotten(users=1)


@pytest.mark.parametrize(
    ("failure", "told"), [(Unavailable(), "unavailable"), (ValueError("a document that is damaged"), "internal")]
)
async def test_what_fails_for_one_user_is_reported_and_does_not_stop_the_others(
    assistant: Assistant,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    told: str,
) -> None:
    names = [f"user-{place:02d}" for place in range(10, 30)]
    for user in names:
        await assistant.users.add(user)
        await assistant.users.save_settings(user, MONTH)
        await kept(assistant, f"t-{user}", user)
    clock.move(days=31)
    real = assistant.conversations.delete

    async def failing(conversation: Conversation) -> None:
        if conversation.user == "user-15":
            raise failure
        await real(conversation)

    monkeypatch.setattr(assistant.conversations, "delete", failing)
    done = await assistant.forget_old()
    assert (done.failed, done.conversations) == (1, 19)
    assert f"could not be deleted: {told}" in caplog.text
    monkeypatch.setattr(assistant.conversations, "delete", real)
    assert (await assistant.forget_old()).conversations == 1


async def test_more_than_a_page_of_old_conversations_go_in_one_run(assistant: Assistant, clock: FakeClock) -> None:
    for place in range(105):
        conversation = await assistant.conversations.open(USER, None)
        await assistant.conversations.append(conversation, a_turn(f"t{place}", place))
    await assistant.users.save_settings(USER, MONTH)
    clock.move(days=31)
    assert (await assistant.forget_old()).conversations == 105


async def test_several_processes_do_the_days_run_once_and_a_failed_one_again(
    make_assistant: MakeAssistant, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    runs: list[Forgotten] = []
    outcomes = [Forgotten(users=1, failed=1), *[Forgotten(users=1)] * 5]

    async def forget_old() -> Forgotten:
        runs.append(outcomes[len(runs)])
        return runs[-1]

    processes = [make_assistant(clock=clock, forget_old=forget_old) for _ in range(2)]
    begun_at = clock.now()
    running = [asyncio.create_task(forget_daily(process)) for process in processes]
    async with asyncio.timeout(20):
        while clock.now() - begun_at < timedelta(hours=40):
            await asyncio.sleep(0.01)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert 3 <= len(runs) <= 4
