"""Builds what is deployed: layers from the lock file and functions, the same bytes each time."""
