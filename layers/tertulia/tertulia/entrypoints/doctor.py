"""`tertulia doctor`: what is wrong, and what to do about it."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import SecretStr

from tertulia.domain.checkups import Finding, State
from tertulia.domain.errors import NotFound
from tertulia.entrypoints import terminal
from tertulia.entrypoints.deploy_commands import key_names
from tertulia.entrypoints.running_server import running_server
from tertulia.entrypoints.session import Session

if TYPE_CHECKING:
    from tertulia.settings import Settings

MARKS = {State.FINE: "ok  ", State.NOTE: "note", State.PROBLEM: "!!  "}
SOMETHING_TO_DO = 1
TOLD = {
    "TableName": "table_name",
    "BucketName": "bucket_name",
    "AfterTurnArn": "after_turn_arn",
    "RecordingArn": "recording_arn",
}
"""What a stack puts out of its settings."""


def doctor(
    context: typer.Context,
    stage: Annotated[
        str | None, typer.Option(help="Look at this stage in the cloud instead of at this machine.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Its AWS region; else that of AWS's own settings.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """Check keys, models, folders, clock and ports, or a deployment, and say what to do.

    It ends with 1 when something must be done. Only vendors whose key is set are asked.

    Examples: `tertulia doctor` · `tertulia doctor --json` · `tertulia doctor --stage prod --region eu-central-1`
    """
    found = asyncio.run(_examined(context.obj, stage, region))
    if as_json:
        terminal.show_json([{**vars(finding), "state": finding.state.value} for finding in found])
    else:
        for finding in found:
            _show(finding)
    if any(finding.state is State.PROBLEM for finding in found):
        raise typer.Exit(SOMETHING_TO_DO)


async def _examined(session: Session, stage: str | None, region: str | None) -> list[Finding]:
    from tertulia.assistant.checks import checks
    from tertulia.usecases.examine import examine

    settings = session.settings if stage is None else await _deployed(session, stage, region)
    assistant = session.make(settings)
    server = running_server(settings.data_dir)
    try:
        return await examine(checks(assistant, server.address if server else None, Path.cwd()))
    finally:
        await assistant.close()


async def _deployed(session: Session, stage: str, region: str | None) -> "Settings":
    """Return the settings of a deployment with the keys that are stored for it, and none of this machine's."""
    from tertulia.assistant.deployment import account

    there = account(region)
    stack = await there.stack(f"tertulia-{stage}")
    if stack is None:
        raise NotFound(f"There is no stack tertulia-{stage} in this account and region.")
    told: dict[str, Any] = {name: stack.outputs[output] for output, name in TOLD.items() if output in stack.outputs}
    keys = await there.keys(f"/tertulia/{stage}")
    stored = {setting: keys.get(name) for setting, name in key_names().items()}
    told |= {setting: key if key is None else SecretStr(key) for setting, key in stored.items()}
    return session.settings.model_copy(update={"profile": "aws", **told})


def _show(finding: Finding) -> None:
    terminal.print_out(f"{MARKS[finding.state]}  {finding.matter}: {finding.what}\n")
    if finding.do:
        terminal.print_out(f"      → {finding.do}\n")
