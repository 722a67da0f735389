"""Notion: a list of to-dos in one of its databases."""
