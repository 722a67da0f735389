"""The page: one HTML file and what it loads, all of it from here."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "web"
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'self'; media-src 'self' blob: data:; img-src 'self' blob: data:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


def mount_page(app: FastAPI) -> None:
    """Serve the page at `/` and its parts under `/static`."""

    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers=_HEADERS)

    app.add_api_route("/", page, include_in_schema=False, response_class=FileResponse)
    app.mount("/static", StaticFiles(directory=PAGE), name="static")
