"""The tools: what there is, and one run without a model."""

import asyncio
import logging
import time

from fastapi import APIRouter

from tertulia.domain.errors import NotConfigured, NotFound, TertuliaError
from tertulia.domain.languages import closest_language
from tertulia.domain.prompts import ToolResult
from tertulia.entrypoints.http.context import Parts, Wished
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.models import ToolList, ToolRequest, ToolResponse, ToolView
from tertulia.entrypoints.http.who import User
from tertulia.ports import Tool, ToolContext
from tertulia.ports.tools import NamesService

router = APIRouter(prefix="/api/tools", tags=["tools"])
logger = logging.getLogger(__name__)


@router.get("", responses=READING)
async def tools(assistant: Parts, _: User) -> ToolList:
    """List the tools, those too that still need a key."""
    views = [
        ToolView(
            name=tool.spec.name,
            description=tool.spec.description,
            parameters=dict(tool.spec.parameters),
            configured=tool.is_configured,
            service=(tool.service or None) if isinstance(tool, NamesService) else None,
        )
        for tool in assistant.tools
    ]
    return ToolList(tools=views)


@router.post("/{name}", responses=problems(401, 409, 503))
async def run_tool(name: str, fields: ToolRequest, assistant: Parts, user: User, wished: Wished) -> ToolResponse:
    """Run one tool; a failure it can explain is an answer with `ok: false`."""
    tool = next((tool for tool in assistant.tools if tool.spec.name == name), None)
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
    started = time.monotonic()
    result = await _result(tool, fields, context, assistant.settings.tool_seconds)
    return ToolResponse(ok=result.ok, result=result.text, ms=round((time.monotonic() - started) * 1000))


async def _result(tool: Tool, fields: ToolRequest, context: ToolContext, seconds: float) -> ToolResult:
    name = tool.spec.name
    try:
        async with asyncio.timeout(seconds):
            return await tool(fields.arguments or {}, context)
    except TertuliaError:
        raise
    except TimeoutError:
        return ToolResult(text=f"{name} gave no answer within {seconds:g} seconds.", ok=False)
    except Exception as error:
        # An edge, as for the agent: a tool that breaks is an answer, and its own words stay in the log.
        logger.exception("the tool %s failed", name, exc_info=error)
        return ToolResult(text=f"{name} failed.", ok=False)
