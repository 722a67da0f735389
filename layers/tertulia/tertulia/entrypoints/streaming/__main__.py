"""Runs a function's handler in place of Lambda's own runtime: `python -m tertulia.entrypoints.streaming`."""

import sys

from awslambdaric import bootstrap
from awslambdaric.lambda_config import LambdaConfigProvider

from tertulia.entrypoints.streaming.client import StreamingClient


def main(arguments: list[str]) -> None:
    """Serve invocations until Lambda ends the process."""
    told = LambdaConfigProvider(arguments)
    bootstrap.run(told.handler, StreamingClient(told.api_address, told.use_thread_polling))


if __name__ == "__main__":
    main(sys.argv)
