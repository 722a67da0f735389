"""POST /api/tts: a text said aloud."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import speech

handler = http_handler(speech.router)
