"""Tertulia: a voice assistant that people own."""

__version__ = "0.1.0"
"""Said here too, since on Lambda the package is copied without what its installation knows."""
