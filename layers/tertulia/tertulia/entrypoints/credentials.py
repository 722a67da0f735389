"""What the authorizer and the application agree on: how a request shows who asks."""

COOKIE = "tertulia_session"
"""Where a page keeps its session."""
BY_TOKEN = "token"  # noqa: S105
BY_SESSION = "session"
"""What the authorizer calls a caller who showed a cookie."""
