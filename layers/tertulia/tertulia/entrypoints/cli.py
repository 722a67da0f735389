"""The command line: `tertulia serve | ask | talk | say | transcribe | models | user | token | followup`."""

import asyncio
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.domain.errors import InvalidRequest, TertuliaError
from tertulia.domain.surfaces import Style
from tertulia.entrypoints import account_commands, deploy_commands, doctor, follow_up_commands, model_commands, terminal
from tertulia.entrypoints.session import Session
from tertulia.settings import Settings, SettingsError

if TYPE_CHECKING:
    from tertulia.assistant import Assistant
    from tertulia.entrypoints.reach import Ask, Reach

FAILED = 1
WRONG_USE = 2
DASH = Path("-")

app = typer.Typer(
    name="tertulia",
    help="A voice assistant that you own: it hears, answers and speaks on this machine.",
    epilog="Settings are environment variables; docs/constants.md lists them all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(model_commands.app, name="models")
app.add_typer(account_commands.users, name="user")
app.add_typer(account_commands.tokens, name="token")
app.command()(deploy_commands.deploy)
app.command()(doctor.doctor)
app.add_typer(follow_up_commands.app, name="followup")

File = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, allow_dash=True, help="An audio file; `-` reads stdin.")
]
Conversation = Annotated[str | None, typer.Option("--conversation", "-c", help="Go on with this conversation.")]
Language = Annotated[str | None, typer.Option("--language", "-l", help="Such as `en` or `pt-BR`; else detected.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def serve(context: typer.Context) -> None:
    """Start the server with its page.

    It fetches what models are missing, then prints its address once it can answer.

    Examples: `tertulia serve` · `TERTULIA_PORT=9000 tertulia serve`
    """
    from tertulia.entrypoints import server

    session: Session = context.obj
    for notice in session.settings.notices:
        terminal.aside(notice)
    server.configure_logs(session.settings)
    with server.reserve(session.settings) as taken:
        assistant = session.make(session.settings)
        model_commands.fetch_missing(assistant)
        asyncio.run(server.serve(assistant, taken, lambda line: terminal.print_out(line + "\n")))


@app.command()
def ask(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="The question; `-` reads stdin.")],
    conversation: Conversation = None,
    language: Language = None,
    style: Annotated[Style | None, typer.Option(help="How to write the answer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask something; the answer appears as it is written.

    Examples: `tertulia ask "What is 15 percent of 240?"` · `cat letter.txt | tertulia ask -`
    """
    from tertulia.entrypoints.reach import Ask

    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    question = Ask(text=words, conversation_id=conversation, language=language, style=style)
    _turn(context.obj, question, as_json)


@app.command()
def talk(
    context: typer.Context,
    file: File,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the spoken answer as WAV.")] = None,
    conversation: Conversation = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Ask with a recording; prints what was heard and the answer.

    Examples: `tertulia talk question.wav` · `tertulia talk question.webm -o answer.wav`
    """
    from tertulia.entrypoints.reach import Ask

    question = Ask(audio=_read(file), conversation_id=conversation, language=language, speak=output is not None)
    _turn(context.obj, question, as_json, output)


@app.command()
def say(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What to say; `-` reads stdin.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The WAV file; `-` is stdout.")] = Path("speech.wav"),
    voice: Annotated[str | None, typer.Option(help="A voice of the speech model.")] = None,
    language: Language = None,
) -> None:
    """Speak a text into a WAV file.

    Examples: `tertulia say "Good morning"` · `tertulia say -o - "Good morning" | aplay`
    """
    from tertulia.entrypoints.reach import Reach, Say

    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    if not words.strip():
        raise InvalidRequest("There is nothing to say: the text is blank.")

    async def work(assistant: Reach) -> bytes:
        return await assistant.say(Say(text=words, voice=voice, language=language))

    _write(output, context.obj.run(work))


@app.command()
def transcribe(context: typer.Context, file: File, language: Language = None, as_json: AsJson = False) -> None:
    """Write down what is said in a recording.

    Examples: `tertulia transcribe memo.m4a` · `tertulia transcribe --language de - < memo.ogg`
    """
    from dataclasses import asdict

    from tertulia.entrypoints.reach import Reach

    audio = _read(file)

    async def work(assistant: Reach) -> Any:
        return await assistant.transcribe(audio, language)

    heard = context.obj.run(work)
    if as_json:
        terminal.show_json(asdict(heard))
    elif heard.is_silence:
        terminal.aside("Nobody spoke.")
    else:
        terminal.print_out(heard.text + "\n")


def main(arguments: Sequence[str] | None = None, make: "Callable[[Settings], Assistant] | None" = None) -> int:
    """Run a command and return its exit code: 0, 1 for a failure, 2 for wrong use or settings."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    session = Session(make or _assistant)
    try:
        app(args=arguments, obj=session)
    except SystemExit as end:
        return int(end.code or 0)
    except Exception as error:
        return _ended_by(error, session)
    return 0


def _ended_by(error: Exception, session: Session) -> int:
    match error:
        case TertuliaError(message=message):
            terminal.complain(message)
        case BrokenPipeError():
            # Whoever read the output has gone; the interpreter would complain of it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        case OSError():
            terminal.complain(_about_file(error))
        case _:
            terminal.complain(_kept_for_a_report(session.settings.data_dir))
    return WRONG_USE if isinstance(error, SettingsError) else FAILED


def _assistant(settings: Settings) -> "Assistant":
    from tertulia.assistant import Assistant

    return Assistant(settings)


def _turn(session: Session, question: "Ask", as_json: bool, output: Path | None = None) -> None:
    shown = terminal.TurnShown(as_json=as_json)

    async def work(assistant: "Reach") -> None:
        async with aclosing(assistant.turn(question)) as events:
            async for event in events:
                shown.show(event)

    session.run(work)
    if output and shown.spoken:
        _write(output, terminal.joined_wav(shown.spoken))
    elif output and not shown.is_silence:
        raise TertuliaError("The answer could not be spoken.")


def _read(file: Path) -> bytes:
    return sys.stdin.buffer.read() if file == DASH else file.read_bytes()


def _write(file: Path, sound: bytes) -> None:
    if file == DASH:
        sys.stdout.buffer.write(sound)
        sys.stdout.flush()
        return
    file.write_bytes(sound)
    terminal.aside(f"Written to {file}")


def _about_file(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{os.strerror(error.errno or 0)}."


def _kept_for_a_report(folder: Path) -> str:
    """Keep the details of a defect out of the terminal, in a file that can be sent in."""
    report = folder / "last-failure.txt"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        report.write_text(traceback.format_exc(), "utf-8")
    return f"{TertuliaError.default_message} The details are in {report}"
