"""How a deployment is put together: from this machine's credentials, into the account behind them."""

from collections.abc import Callable
from pathlib import Path

from tertulia.adapters.aws.account import AwsAccount, default_region
from tertulia.adapters.sam import SamTool
from tertulia.assistant import Assistant
from tertulia.ports.deployment import Stack
from tertulia.settings import Settings
from tertulia.usecases.accounts import Accounts
from tertulia.usecases.deploy import Deploy

__all__ = ["account", "default_region", "deploying"]


def account(region: str | None) -> AwsAccount:
    """Return the account behind this machine's credentials."""
    return AwsAccount(region)


def deploying(settings: Settings, make: Callable[[Settings], Assistant], region: str, checkout: Path) -> Deploy:
    """Build what deploys a checkout into a region."""

    def accounts(stack: Stack) -> Accounts:
        deployed = {
            "profile": "aws",
            "table_name": stack.outputs["TableName"],
            "bucket_name": stack.outputs["BucketName"],
        }
        return make(settings.model_copy(update=deployed)).accounts

    return Deploy(AwsAccount(region), SamTool(checkout), accounts)
