"""Tests of devices: what they say, and how they are answered."""
