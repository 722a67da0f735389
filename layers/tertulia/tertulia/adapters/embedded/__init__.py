"""Adapters for one machine: SQLite, files and local models."""
