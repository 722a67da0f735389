"""The Lambda service over HTTP, as SDKs call it."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.lambdas.host import Host, PayloadTooLarge
from tests.lambdas.runtime_api import FunctionFailed


def lambda_service(host: Host, names: Mapping[str, str]) -> Starlette:
    """Return the service for functions by the names they got when they were deployed, with their own."""

    async def invoke(request: Request) -> Response:
        name = request.path_params["name"].split(":function:")[-1].split(":")[0]
        function = names.get(name, name)
        if function not in host.functions:
            return Response(b'{"Type":"User","Message":"Function not found"}', 404)
        event = await request.body() or b"{}"
        try:
            if request.headers.get("x-amz-invocation-type") == "DryRun":
                return Response(status_code=204)
            return Response(await host.invoke(function, event), media_type="application/json")
        except PayloadTooLarge:
            return Response(b'{"Type":"User","message":"Request must be smaller than 6291556 bytes"}', 413)
        except FunctionFailed as failed:
            return Response(failed.payload, headers={"X-Amz-Function-Error": "Unhandled"})

    return Starlette(routes=[Route("/2015-03-31/functions/{name:path}/invocations", invoke, methods=["POST"])])
