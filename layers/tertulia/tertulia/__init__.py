"""Tertulia: a voice assistant that people own."""
