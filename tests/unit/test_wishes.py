"""What a user has set counts in a turn where the request names nothing."""

import pytest

from tertulia.adapters.embedded.sqlite_accounts import SqliteUsers
from tertulia.assistant import Assistant
from tertulia.domain.accounts import UserSettings
from tertulia.domain.audio import Sound, Transcript, Utterance
from tertulia.domain.prompts import ToolCall
from tertulia.domain.surfaces import Route, Style
from tertulia.usecases import wishes
from tertulia.usecases.wishes import Wishes
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel, ScriptedTranscriber, ToneVoice
from tests.turns import USER, done_of, request

BERLIN = UserSettings(language="de", timezone="Europe/Berlin", voice="troy", style=Style.SCREEN)


class NotedVoice(ToneVoice):
    """Notes with which voice it speaks."""

    def __init__(self) -> None:
        super().__init__()
        self.voices: list[str | None] = []

    async def speak(self, text: str, voice: str | None = None) -> Sound:
        self.voices.append(voice)
        return await super().speak(text, voice)


class NotedEar(ScriptedTranscriber):
    """Notes which language it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str | None] = []

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        self.told.append(language)
        return await super().transcribe(utterance, language)


class CountedUsers(SqliteUsers):
    """Counts how often settings are read."""

    reads = 0

    async def settings(self, user: str) -> UserSettings:
        self.reads += 1
        return await super().settings(user)


@pytest.fixture
def voice() -> NotedVoice:
    return NotedVoice()


async def language_of(assistant: Assistant, **fields: object) -> str:
    done = await done_of(assistant, request("Hello", **fields))
    found = await assistant.conversations.find_turn(USER, done.turn_id or "")
    assert found
    return found[1].language


async def test_the_users_language_counts_before_the_detected_and_after_the_requested_one(
    make_assistant: MakeAssistant,
) -> None:
    assistant = make_assistant()
    assert await language_of(assistant) == "en-US"
    await assistant.wishes.save(USER, BERLIN)
    assert await language_of(assistant) == "de"
    assert await language_of(assistant, language="fr") == "fr"


async def test_a_recording_is_heard_in_the_users_language(make_assistant: MakeAssistant) -> None:
    ear = NotedEar()
    assistant = make_assistant(transcriber=ear)
    await assistant.wishes.save(USER, BERLIN)
    await done_of(assistant, request("", audio=b"RIFF and so on"))
    await done_of(assistant, request("", audio=b"RIFF and so on", language="pt-BR"))
    assert ear.told == ["de", "pt-BR"]


async def test_voice_and_style_are_the_users_unless_the_request_names_its_own(
    make_assistant: MakeAssistant, voice: NotedVoice
) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model, synthesizer=voice)
    await assistant.wishes.save(USER, UserSettings(voice="troy", style=Style.SCREEN))
    await done_of(assistant, request("Hello", speak=True))
    await done_of(assistant, request("Hello", speak=True, voice="diana", style=Style.SPOKEN))
    assert set(voice.voices) == {"troy", "diana"}
    first, second = (prompt.messages[0].text for prompt in (model.prompts[0], model.prompts[-1]))
    assert first != second
    await assistant.wishes.save(USER, UserSettings())
    await done_of(assistant, request("Hello", style=Style.SCREEN))
    assert model.prompts[-1].messages[0].text == first


@pytest.mark.parametrize(("named", "told"), [(None, "Europe/Berlin"), ("Asia/Tokyo", "Asia/Tokyo")])
async def test_tools_learn_the_users_time_zone(make_assistant: MakeAssistant, named: str | None, told: str) -> None:
    model = ScriptedModel([[ToolCall(id="c1", name="current_time", arguments="{}")], ["It is late."]])
    assistant = make_assistant(agent_model=model, classifier=ScriptedClassifier(Route.CONTEXT))
    await assistant.wishes.save(USER, BERLIN)
    done = await done_of(assistant, request("Is it late?", timezone=named))
    found = await assistant.conversations.find_turn(USER, done.turn_id or "")
    assert found
    [use] = found[1].tools
    assert told in use.result


async def test_another_users_settings_do_not_count(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    await assistant.wishes.save("ben", BERLIN)
    assert await language_of(assistant) == "en-US"


async def test_a_turn_reads_the_settings_once(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    users = CountedUsers(assistant.database, assistant.clock)
    counted = make_assistant(wishes=Wishes(users), database=assistant.database)
    await done_of(counted, request("Hello"))
    assert users.reads == 1


async def test_what_is_saved_counts_at_once_and_what_another_process_saves_soon(
    make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant = make_assistant()
    own = Wishes(assistant.users)
    assert await own.settings(USER) == UserSettings()
    await own.save(USER, BERLIN)
    assert await own.settings(USER) == BERLIN
    await assistant.users.save_settings(USER, UserSettings())
    monkeypatch.setattr(wishes, "SECONDS_REMEMBERED", 0.0)
    assert await own.settings(USER) == UserSettings()
