"""Streamed responses on Lambda, whose own runtime for Python has none."""
