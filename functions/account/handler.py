"""/api/me and /api/session: the user's account and what it uses, and the sessions of their pages."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import account, session, usage

handler = http_handler(account.router, usage.router, session.router)
