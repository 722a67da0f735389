"""API Gateway's events as requests of the application, and its answers as API Gateway takes them."""
