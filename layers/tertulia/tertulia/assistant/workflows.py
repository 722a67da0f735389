"""What Step Functions runs for the cloud."""

from typing import TYPE_CHECKING

from tertulia.adapters.aws.dynamodb_failed_executions import DynamoFailedExecutions
from tertulia.adapters.aws.step_functions import StateMachine
from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp
from tertulia.adapters.aws.stores import AwsStores
from tertulia.domain.errors import NotConfigured
from tertulia.usecases.follow_up import SETTLED_SECONDS

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def failed_executions(parts: "Assistant") -> DynamoFailedExecutions:
    """Build the list of failed executions, over the state machines that have them run again."""
    if not isinstance(parts.stores, AwsStores):
        raise NotConfigured("Executions are a matter of the cloud.")
    machines = {
        "after_turn": StateMachine(parts.settings.after_turn_arn),
        "recording": StateMachine(parts.settings.recording_arn),
    }
    return DynamoFailedExecutions(parts.stores.table, machines, parts.clock)


def follow_up_by_executions(parts: "Assistant") -> StepFunctionsFollowUp:
    """Build the follow-up that starts an execution for each turn."""
    machine = StateMachine(parts.settings.after_turn_arn)
    return StepFunctionsFollowUp(machine, parts.failed_executions, SETTLED_SECONDS)
