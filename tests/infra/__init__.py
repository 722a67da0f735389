"""The deployment: its template, as written and as CloudFormation gets it."""
