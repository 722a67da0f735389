"""POST /api/voice and /api/stt: spoken turns, and the uploads of long recordings."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import uploads, voice

handler = http_handler(voice.router, uploads.router)
