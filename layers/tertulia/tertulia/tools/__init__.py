"""The tools built in, one a file, and their catalog."""
