"""One router for each resource of `docs` contract."""
