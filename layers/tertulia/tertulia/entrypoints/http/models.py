"""What requests and answers look like on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tertulia.domain.summaries import ActionItem
from tertulia.domain.surfaces import SCREEN, SPOKEN, Route, RouteReason, Style
from tertulia.entrypoints.http.fields import (
    Absent,
    ConversationIdField,
    KeyField,
    Label,
    LanguageField,
    ScenarioField,
    SkillField,
    TimezoneField,
    Words,
)
from tertulia.usecases.hear import MOST_BYTES as VOICE_BYTES


class ConfirmView(BaseModel):
    """A step that waits for the user's yes, as the event `confirm` tells it."""

    confirmation_id: str
    tool: str
    arguments: dict[str, Any]
    question: str
    expires_at: datetime


class Problem(BaseModel):
    """Why a request failed (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: Annotated[str, Field(examples=["invalid_request"])]
    """Stable, for programs; the same words as in event streams."""
    request_id: str
    error: str
    """The same as `detail`."""
    confirmation: Annotated[
        ConfirmView | None, Field(description="With `confirmation_required` alone; POST it to /api/confirmations.")
    ] = None


class Receipt(BaseModel):
    """What a turn took."""

    stages: dict[str, int]
    models: dict[str, str]
    tokens: dict[str, int]
    audio_seconds: float
    cost_microdollars: int
    memories_used: int
    tools_used: list[str]
    degraded: list[str]


class TurnFields(BaseModel):
    """What every turn may say beside its words."""

    conversation_id: ConversationIdField = None
    client_message_id: KeyField = None
    language: LanguageField = None
    style: Annotated[Style | None, Absent] = None
    scenario: ScenarioField = None
    skill_id: SkillField = None
    device_id: Label = None
    timezone: TimezoneField = None
    voice: Label = None


class ChatRequest(TurnFields):
    """A typed turn."""

    text: Annotated[
        str,
        Field(json_schema_extra={"maxLength": SPOKEN.max_characters}, examples=["What is the capital of France?"]),
    ]
    attachments: Annotated[
        Annotated[list[str], Field(max_length=20)] | None, Absent, Field(description="Upload ids.")
    ] = None


class StreamRequest(ChatRequest):
    """A typed turn whose answer is streamed."""

    speak: Annotated[bool | None, Absent, Field(description="Send speech too, sentence by sentence.")] = None


class ChatResponse(BaseModel):
    """A whole answer."""

    response: str
    conversation_id: str
    turn_id: str
    route: Route | None
    receipt: Receipt


class VoiceResponse(BaseModel):
    """A whole spoken answer; silence has no turn."""

    transcript: str
    response: str
    audio: Annotated[str | None, Field(description="A WAV as standard base64.")]
    audio_error: str | None = None
    outcome: Literal["speech", "silence"]
    conversation_id: str
    turn_id: str | None
    route: Route | None
    receipt: Receipt


class SayRequest(BaseModel):
    """A text to be spoken."""

    text: Annotated[Words, Field(json_schema_extra={"maxLength": SPOKEN.max_characters})]
    voice: Label = None
    language: LanguageField = None
    format: Annotated[Label, Field(description="Only wav.")] = None


class Heard(BaseModel):
    """What was heard in a recording."""

    text: str
    language: str
    duration_seconds: float
    outcome: Literal["speech", "silence"]


class RouteRequest(BaseModel):
    """A text whose route is asked for."""

    text: Annotated[Words, Field(json_schema_extra={"maxLength": SPOKEN.max_characters})]
    language: LanguageField = None


class RouteResponse(BaseModel):
    """How a text would be answered, and why so."""

    route: Route
    reason: RouteReason


class ScreenRequest(BaseModel):
    """A typed turn of the screen surface."""

    message: Annotated[str, Field(json_schema_extra={"maxLength": SCREEN.max_characters})]
    conversation_id: ConversationIdField = None
    client_message_id: KeyField = None
    device_id: Label = None
    skill_id: SkillField = None


class Function(BaseModel):
    """The function of a tool call."""

    name: str
    arguments: Annotated[str, Field(description="JSON text.")]


class ToolCall(BaseModel):
    """A tool call in the OpenAI shape."""

    id: str
    type: Literal["function"] = "function"
    function: Function


class ScreenMessage(BaseModel):
    """An answer as a message."""

    id: int
    role: Literal["assistant"] = "assistant"
    content: str
    tool_calls: list[ToolCall]
    created_at: datetime
    error_type: Literal["llm_not_configured", "llm_error"] | None = None


class ScreenResponse(BaseModel):
    """The answer of the screen surface."""

    conversation_id: str
    message: ScreenMessage


class ToolView(BaseModel):
    """A tool the assistant has."""

    name: str
    description: str
    parameters: dict[str, Any]
    configured: bool
    service: str | None = None
    """Who does its work: a vendor, or nobody but us."""


class ToolList(BaseModel):
    """All tools."""

    tools: list[ToolView]


class ToolRequest(BaseModel):
    """One run of a tool."""

    arguments: Annotated[dict[str, Any] | None, Absent] = None
    conversation_id: ConversationIdField = None
    timezone: TimezoneField = None


class ToolResponse(BaseModel):
    """What a tool returned."""

    ok: bool
    result: str
    ms: int


class UploadRequest(BaseModel):
    """A file to be sent apart."""

    purpose: Literal["audio", "attachment"]
    filename: Annotated[Annotated[str, Field(max_length=1024)] | None, Absent] = None
    content_type: Annotated[Annotated[str, Field(max_length=256)] | None, Absent] = None
    bytes: Annotated[int, Field(ge=0, json_schema_extra={"maximum": VOICE_BYTES})]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class UploadResponse(BaseModel):
    """Where and how to send the file."""

    upload_id: str
    method: Literal["PUT", "POST"]
    url: str
    fields: dict[str, str]
    expires_at: datetime


class ConversationView(BaseModel):
    """A conversation in a list."""

    id: str
    title: str
    overview: str
    device_id: str | None
    created_at: datetime
    updated_at: datetime
    message_count: int
    last_message: str


class ConversationList(BaseModel):
    """A page of conversations, newest change first."""

    conversations: list[ConversationView]
    cursor: str | None = None
    """What to send as `cursor` for the next page; null at the end."""


class AttachmentView(BaseModel):
    """A file that came with a message."""

    name: str
    media_type: str
    size: int


class MessageView(BaseModel):
    """A message of a conversation; a `tool` row's content is the JSON text of its result."""

    model_config = ConfigDict(json_schema_extra={"description": "Fields that say nothing are absent."})

    id: int
    role: Literal["user", "assistant", "tool"]
    content: str
    created_at: datetime
    turn_id: str
    tool_name: str | None = None
    tool_calls: Annotated[str | None, Field(description="JSON text of the OpenAI shape.")] = None
    route: Route | None = None
    interrupted: bool | None = None
    memories_used: list[str] | None = None
    attachments: list[AttachmentView] | None = None
    receipt: Receipt | None = None


class MessageList(BaseModel):
    """Messages, oldest first."""

    messages: list[MessageView]


class ConversationDetail(BaseModel):
    """A whole conversation."""

    id: str
    title: str
    overview: str
    device_id: str | None
    created_at: datetime
    updated_at: datetime
    action_items: list[ActionItem]
    messages: list[MessageView]


class SessionRequest(BaseModel):
    """A token to be exchanged for a cookie."""

    token: Annotated[str, Field(max_length=4096)]


class SessionResponse(BaseModel):
    """Whom the session belongs to."""

    user_id: str
    expires_at: datetime | None = None


class Health(BaseModel):
    """That the server answers."""

    status: Literal["ok"] = "ok"
    version: str
