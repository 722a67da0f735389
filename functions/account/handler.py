"""/api/me and /api/session: the user's account, and the sessions of their pages."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import account, session

handler = http_handler(account.router, session.router)
