"""/api/reminders and /api/events: what a user wants to be told, and the stream that tells it."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import events, reminders

handler = http_handler(reminders.router, events.router)
