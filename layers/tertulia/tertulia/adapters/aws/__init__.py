"""Adapters for AWS."""
