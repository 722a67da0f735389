"""The command line: what it prints, where it prints it, and how it ends."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tertulia.adapters.embedded.model_manifest import shipped_manifest
from tertulia.assistant import Assistant
from tertulia.domain.audio import HearingOutcome
from tertulia.domain.errors import ModelDown, NotConfigured, TertuliaError, Unavailable
from tertulia.domain.replies import Token
from tertulia.entrypoints.cli import main
from tertulia.entrypoints.reach import Ask, OverHttp, Say
from tertulia.entrypoints.running_server import running_server
from tertulia.entrypoints.server import address_of, is_loopback, reserve, serve
from tertulia.settings import Settings, SettingsError
from tests.fakes.scripted import (
    ScriptedModel,
    ScriptedTranscriber,
    ToneVoice,
    scripted_parts,
)

type Run = Callable[..., int]


class ScriptedParts:
    """The parts of every assistant that a test's commands make; a test changes them by name."""

    def __init__(self) -> None:
        self.parts = scripted_parts()
        self.made = 0

    def __call__(self, settings: Settings) -> Assistant:
        self.made += 1
        return Assistant(settings, **self.parts)


@pytest.fixture(autouse=True)
def _data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TERTULIA_") or name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TERTULIA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TERTULIA_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def scripted() -> ScriptedParts:
    return ScriptedParts()


@pytest.fixture
def run(scripted: ScriptedParts) -> Run:
    return lambda *arguments: main(arguments, scripted)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    file = tmp_path / "question.wav"
    file.write_bytes(b"RIFF and so on")
    return file


def test_the_answer_goes_to_stdout_and_nothing_else_does(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ask", "How", "are", "you?") == 0
    assert capsys.readouterr() == ("Hello there.\n", "")


def test_a_question_can_come_from_stdin(
    run: Run, scripted: ScriptedParts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("What is in this letter?\nDear all"))
    assert run("ask", "-") == 0
    asked = scripted.parts["chat_model"].prompts[0].messages[-1].text
    assert "What is in this letter?\nDear all" in asked


def test_json_holds_the_answer_with_its_receipt_and_the_conversation_goes_on(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ask", "--json", "Hi") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["response"] == "Hello there."
    assert first["route"] == "simple"
    assert first["receipt"]["models"]
    assert run("ask", "--json", "-c", first["conversation_id"], "And now?") == 0
    second = json.loads(capsys.readouterr().out)
    assert second["conversation_id"] == first["conversation_id"]
    assert second["turn_id"] != first["turn_id"]


def test_a_failed_turn_is_one_line_on_stderr_and_code_1(
    run: Run, scripted: ScriptedParts, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.parts["chat_model"].scripts = ((ModelDown(),),)
    assert run("ask", "Hi") == 1
    out, err = capsys.readouterr()
    assert out.strip() == ""
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", " "), "blank"),
        (("ask", "-c", "NOT-HEX", "Hi"), "conversation_id"),
        (("ask", "-c", "abcdef", "Hi"), "no such thing"),
        (("say", " "), "blank"),
    ],
)
def test_what_cannot_be_done_is_said_plainly(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert run(*arguments) == 1
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("ask",), ("talk", "/nowhere/at/all.wav"), ("say", "--loud")])
def test_wrong_use_ends_with_2_and_shows_how(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert "Usage:" in out + err


def test_a_wrong_setting_ends_with_2_and_names_its_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTS_VOICE", "Fritz-PlayAI")
    assert run("ask", "Hi") == 2
    assert capsys.readouterr().err.startswith("TTS_VOICE must be one of autumn, diana")


def test_help_needs_no_settings_and_shows_examples(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERTULIA_PORT", "wrong")
    for command in ("serve", "ask", "talk", "say", "transcribe"):
        assert run(command, "--help") == 0
        assert "Examples: tertulia" in capsys.readouterr().out
    for command in ("list", "fetch", "path"):
        assert run("models", command, "--help") == 0
        assert "Examples: tertulia models" in capsys.readouterr().out


def test_a_recording_is_heard_answered_and_spoken_into_one_file(
    run: Run, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.wav"
    assert run("talk", str(recording), "-o", str(answer)) == 0
    out, err = capsys.readouterr()
    assert out == "Hello there.\n"
    assert "> What is the capital of France?" in err
    with wave.open(str(answer)) as sound:
        assert sound.getnframes() == pytest.approx(0.01 * len("Hello there.") * sound.getframerate(), rel=0.1)


def test_silence_is_said_and_is_no_failure(
    run: Run, scripted: ScriptedParts, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.parts["transcriber"] = ScriptedTranscriber(text="", outcome=HearingOutcome.SILENCE)
    assert run("talk", str(recording), "-o", str(tmp_path / "answer.wav")) == 0
    assert run("transcribe", str(recording)) == 0
    out, err = capsys.readouterr()
    assert out.strip() == ""
    assert err.count("Nobody spoke.") == 2
    assert not (tmp_path / "answer.wav").exists()


def test_a_voice_that_fails_loses_no_text_and_is_told(
    run: Run, scripted: ScriptedParts, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.parts["synthesizer"] = ToneVoice(error=ModelDown())
    assert run("talk", str(recording), "-o", str(tmp_path / "answer.wav")) == 1
    out, err = capsys.readouterr()
    assert out == "Hello there.\n"
    assert "could not be spoken" in err


def test_a_text_is_spoken_into_a_file_or_to_stdout(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("say", "Good morning.") == 0
    assert (tmp_path / "speech.wav").read_bytes().startswith(b"RIFF")
    capfdbinary.readouterr()
    assert run("say", "-o", "-", "Good morning.") == 0
    assert capfdbinary.readouterr().out == (tmp_path / "speech.wav").read_bytes()


def test_a_file_that_cannot_be_written_is_told(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("say", "-o", str(tmp_path / "missing" / "x.wav"), "Hi.") == 1
    assert "No such file or directory" in capsys.readouterr().err


def test_a_recording_is_written_down(run: Run, recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("transcribe", str(recording)) == 0
    assert capsys.readouterr().out == "What is the capital of France?\n"
    assert run("transcribe", "--json", "--language", "en", str(recording)) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "What is the capital of France?"


def test_models_are_listed_with_their_licenses(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("models") == 0
    assert "Apache-2.0" in capsys.readouterr().out
    assert run("models", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"qwen-0.5b", "whisper-tiny-en", "kokoro"} <= {model["name"] for model in listed}
    assert not any(model["here"] for model in listed)
    assert any(model["used"] for model in listed)


def test_the_path_of_a_missing_model_says_how_to_get_it(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("models", "path") == 0
    assert capsys.readouterr().out == f"{tmp_path / 'models'}\n"
    assert run("models", "path", "kokoro") == 1
    assert "tertulia models fetch" in capsys.readouterr().err
    assert run("models", "path", "unheard-of") == 1
    assert "Known are" in capsys.readouterr().err


class FetchedLibrary:
    """A library from which everything is missing, and whose fetching takes three steps."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self.manifest = shipped_manifest()

    def missing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self.fetched)

    async def fetch(self, names: tuple[str, ...], progress: Callable[[str, int, int], None]) -> None:
        for name in names:
            for done in (0, 50, 100):
                progress(f"{name}.onnx", done, 100)
        self.fetched.extend(names)


def test_missing_models_are_fetched_with_a_bar_and_only_once(
    run: Run, scripted: ScriptedParts, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.parts["models"] = library = FetchedLibrary()
    assert run("models", "fetch", "kokoro", "minilm") == 0
    assert library.fetched == ["kokoro", "minilm"]
    assert run("models", "fetch", "fast-voice") == 0
    assert library.fetched[2:] == ["piper-joe"]
    assert "kokoro.onnx" in capsys.readouterr().err
    assert run("models", "fetch", "kokoro") == 0
    assert capsys.readouterr() == ("", "")


def test_a_defect_is_one_line_and_its_details_are_kept_in_a_file(
    run: Run, scripted: ScriptedParts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.parts["nonsense"] = 1
    assert run("ask", "Hi") == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "TypeError" in (tmp_path / "data/last-failure.txt").read_text()


@asynccontextmanager
async def served(scripted: ScriptedParts) -> AsyncIterator[Settings]:
    """Serve scripted answers on a free port, until the test is done."""
    settings = Settings(port=0)
    lines: list[str] = []
    ready = asyncio.Event()

    def announce(line: str) -> None:
        lines.append(line)
        ready.set()

    with reserve(settings) as taken:
        serving = asyncio.create_task(serve(scripted(settings), taken, announce))
        await asyncio.wait_for(ready.wait(), 30)
        assert lines == [f"Tertulia answers at {address_of(taken)}"]
        yield settings
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving


async def test_commands_use_the_running_server_of_their_data_folder(
    scripted: ScriptedParts, run: Run, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.wav"
    async with served(scripted) as settings:
        found = running_server(settings.data_dir)
        assert found is not None
        assert found.pid == os.getpid()
        assert await asyncio.to_thread(run, "ask", "Hi") == 0
        assert capsys.readouterr().out == "Hello there.\n"
        assert await asyncio.to_thread(run, "talk", str(recording), "-o", str(answer)) == 0
        assert "> What is the capital of France?" in capsys.readouterr().err
        assert answer.read_bytes().startswith(b"RIFF")
        assert await asyncio.to_thread(run, "say", "-o", str(answer), "Good morning.") == 0
        assert await asyncio.to_thread(run, "transcribe", str(recording)) == 0
        assert capsys.readouterr().out == "What is the capital of France?\n"
        assert await asyncio.to_thread(run, "ask", "-c", "abcdef", "Hi") == 1
        assert "no such thing" in capsys.readouterr().err
    assert scripted.made == 1
    assert running_server(settings.data_dir) is None


async def test_the_running_server_gets_the_token_and_a_wrong_one_is_told(
    scripted: ScriptedParts, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERTULIA_API_TOKEN", "a-token-of-the-test")
    async with served(scripted):
        assert await asyncio.to_thread(run, "ask", "Hi") == 0
        capsys.readouterr()
        monkeypatch.setenv("TERTULIA_API_TOKEN", "another-token")
        assert await asyncio.to_thread(run, "ask", "Hi") == 1
        assert "token" in capsys.readouterr().err


EVENTS = (
    'event: route\ndata: {"route":"simple","reason":"fallback","turn_id":"T","conversation_id":"c"}\nid: 1\n\n'
    ": ping\n\n"
    'event: token\ndata: {"text":"Ol\u00e9\u2028!"}\nid: 2\n\n'
)
END = 'event: error\ndata: {"code":"model_busy","message":"Busy."}\nid: 3\n\n'


def server_that_answers(body: str, status: int = 200) -> OverHttp:
    headers = {"content-type": "text/event-stream" if status == 200 else "text/html"}
    answer = httpx.Response(status, headers=headers, content=body.encode())
    return OverHttp(httpx.AsyncClient(base_url="http://server", transport=httpx.MockTransport(lambda _: answer)))


async def test_pings_are_no_events_and_words_arrive_as_they_were_sent() -> None:
    events = [event async for event in server_that_answers(EVENTS + END).turn(Ask(text="Hi"))]
    assert [event.type for event in events] == ["route", "token", "error"]
    assert events[1] == Token(text="Olé\u2028!")


async def test_an_answer_cut_short_is_a_failure() -> None:
    with pytest.raises(Unavailable, match="before it was whole"):
        _ = [event async for event in server_that_answers(EVENTS).turn(Ask(text="Hi"))]


async def test_a_refusal_that_is_no_problem_document_still_makes_a_sentence() -> None:
    server = server_that_answers("<h1>Bad gateway</h1>", 502)
    with pytest.raises(TertuliaError, match="status 502"):
        await server.say(Say(text="Hi"))
    with pytest.raises(TertuliaError, match="status 502"):
        await server.transcribe(b"RIFF", None)
    with pytest.raises(TertuliaError, match="status 502"):
        _ = [event async for event in server.turn(Ask(audio=b"RIFF"))]


async def test_a_server_whose_models_are_missing_says_so_and_leaves_no_note(scripted: ScriptedParts) -> None:
    class Unprepared(ScriptedModel):
        async def prepare(self) -> None:
            raise NotConfigured("The model is not on this machine yet.")

    scripted.parts["chat_model"] = Unprepared()
    settings = Settings(port=0)
    with reserve(settings) as taken, pytest.raises(NotConfigured):
        await serve(scripted(settings), taken, pytest.fail)
    assert running_server(settings.data_dir) is None


SERVE_SCRIPTED = """
import sys
from types import SimpleNamespace
from tertulia.entrypoints.cli import main
from tests.unit.test_cli import NoLibrary, ScriptedParts
parts = ScriptedParts()
parts.parts |= {"models": NoLibrary(), "local": SimpleNamespace(names=())}
sys.exit(main(["serve"], parts))
"""


class NoLibrary:
    """A library from which nothing is missing."""

    def missing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_server_prints_one_line_and_a_stop_that_was_asked_for_is_a_success(
    stop: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-W", "error", "-c", SERVE_SCRIPTED]
    environment = {**os.environ, "TERTULIA_PORT": "0", "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Tertulia answers at http://127.0.0.1:")
        assert (tmp_path / "data/server.json").exists()
        process.send_signal(stop)
        rest, errors = process.communicate(timeout=30)
    assert (rest, errors, process.returncode) == ("", "", 0)
    assert not (tmp_path / "data/server.json").exists()


def test_a_note_of_a_server_that_died_counts_for_nothing(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    data = Settings().data_dir
    data.mkdir(parents=True)
    for note in ('{"address": "http://127.0.0.1:9", "pid": 4194305}', "{", "[]", '{"pid": 1}', ""):
        (data / "server.json").write_text(note)
        assert running_server(data) is None
    (data / "server.json").write_text(f'{{"address": "http://127.0.0.1:9", "pid": {os.getpid()}}}')
    assert run("ask", "Hi") == 0
    assert capsys.readouterr().out == "Hello there.\n"


def test_a_port_in_use_is_named_with_the_way_round_it(
    run: Run, scripted: ScriptedParts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with reserve(Settings(port=0)) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("TERTULIA_PORT", str(port))
        assert run("serve") == 1
    err = capsys.readouterr().err
    assert f"Port {port} on 127.0.0.1 is in use" in err
    assert "TERTULIA_PORT=" in err
    assert scripted.made == 0


def test_others_are_let_in_only_with_a_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="TERTULIA_API_TOKEN"):
        reserve(Settings(host="0.0.0.0", port=0))
    with reserve(Settings(host="0.0.0.0", port=0, api_token="t0ken")) as taken:
        assert address_of(taken).startswith("http://127.0.0.1:")
    monkeypatch.setenv("TERTULIA_HOST", "tertulia.example")
    assert run("serve") == 2


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("home", False)],
)
def test_loopback_is_known_in_all_its_forms(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
