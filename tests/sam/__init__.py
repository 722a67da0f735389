"""The functions under the user's own commands, `sam local invoke` and `sam local start-api`; run by `make test-sam`."""
