"""What is deployed, as it is built."""
