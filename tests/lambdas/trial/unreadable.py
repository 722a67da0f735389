"""A handler that cannot be loaded."""

raise RuntimeError("nothing to load")
