"""Adapters for Groq."""
