"""The Lambda functions, called in this process with recorded events of API Gateway."""
