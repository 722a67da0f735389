"""The client of Lambda's Runtime API: Amazon's own, and what it lacks to stream."""

from typing import Any

from awslambdaric.lambda_runtime_client import LambdaRuntimeClient
from awslambdaric.lambda_runtime_marshaller import LambdaMarshaller

from tertulia.entrypoints.streaming.post import CONTENT_TYPE, Post
from tertulia.entrypoints.streaming.response import StreamResponse


class StreamMarshaller(LambdaMarshaller):  # type: ignore[misc]  # the library has no types
    """Leaves streamed responses as they are."""

    def marshal_response(self, response: Any) -> tuple[Any, str]:
        """Return what is posted, and its type."""
        if isinstance(response, StreamResponse):
            return response, CONTENT_TYPE
        marshalled: tuple[Any, str] = super().marshal_response(response)
        return marshalled


class StreamingClient(LambdaRuntimeClient):  # type: ignore[misc]
    """Posts streamed responses as they are made, and everything else as ever."""

    marshaller = StreamMarshaller()

    def post_invocation_result(
        self, invoke_id: str, result_data: Any, content_type: str = "application/json", invocation_id: str | None = None
    ) -> None:
        """Answer an invocation."""
        if isinstance(result_data, StreamResponse):
            result_data.send(Post(self.lambda_runtime_address, invoke_id, invocation_id))
        else:
            super().post_invocation_result(invoke_id, result_data, content_type, invocation_id)
