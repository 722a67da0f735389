"""The tools: what there is, and one run without a model."""

import time

from fastapi import APIRouter

from tertulia.answering.acting import Deed
from tertulia.domain.confirmations import ConfirmationRequired
from tertulia.domain.errors import NotConfigured, NotFound
from tertulia.domain.languages import closest_language
from tertulia.entrypoints.http.context import Parts, Wished
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.models import ToolList, ToolRequest, ToolResponse, ToolView
from tertulia.entrypoints.http.who import User
from tertulia.ports import ToolContext
from tertulia.ports.tools import NamesService

router = APIRouter(prefix="/api/tools", tags=["tools"])


@router.get("", responses=READING)
async def tools(assistant: Parts, user: User) -> ToolList:
    """List the tools, those too that still need a key."""
    views = [
        ToolView(
            name=tool.spec.name,
            description=tool.spec.description,
            parameters=dict(tool.spec.parameters),
            configured=tool.is_configured,
            service=(tool.service or None) if isinstance(tool, NamesService) else None,
        )
        for tool in (await assistant.toolboxes.of(user)).tools
    ]
    return ToolList(tools=views)


@router.post("/{name}", responses=problems(401, 409, 503))
async def run_tool(name: str, fields: ToolRequest, assistant: Parts, user: User, wished: Wished) -> ToolResponse:
    """Run one tool; a failure it can explain is an answer with `ok: false`."""
    tool = (await assistant.toolboxes.of(user)).find(name)
    if tool is None:
        raise NotFound
    if not tool.is_configured:
        raise NotConfigured(f"The tool {tool.spec.name} is not configured.")
    if fields.conversation_id is not None:
        await assistant.conversations.get(user, fields.conversation_id)
    context = ToolContext(
        user=user,
        conversation_id=fields.conversation_id,
        language=closest_language(wished.language),
        timezone=fields.timezone or wished.timezone or "UTC",
    )
    deed = Deed(tool, fields.arguments or {}, is_direct=True)
    if deed.effect.needs_a_yes:
        raise ConfirmationRequired(await assistant.acting.ask(deed, context))
    started = time.monotonic()
    result = await assistant.acting(deed, context)
    return ToolResponse(ok=result.ok, result=result.text, ms=round((time.monotonic() - started) * 1000))
