"""The ways in: HTTP, Lambda, the local server and the command line."""
