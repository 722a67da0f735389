"""The HTTP surface, over a scripted assistant and a real database."""
