"""The world behind the ports: each SDK is imported in its own adapter only."""
