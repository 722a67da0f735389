"""What Step Functions runs for the cloud."""

from typing import TYPE_CHECKING

from tertulia.answering.digests import ModelSummarizer
from tertulia.domain.errors import NotConfigured
from tertulia.ports.recordings import RecordingStore, RecordingWorkflow
from tertulia.ports.workflows import FailedExecutions
from tertulia.usecases.cut_recording import CutRecording
from tertulia.usecases.follow_up import SETTLED_SECONDS
from tertulia.usecases.summarize_recording import SummarizeRecording
from tertulia.usecases.transcribe_part import TranscribePart

if TYPE_CHECKING:
    from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp
    from tertulia.adapters.aws.stores import AwsStores
    from tertulia.assistant import Assistant


def failed_executions(parts: "Assistant") -> FailedExecutions:
    """Build the list of failed executions, over the state machines that have them run again."""
    from tertulia.adapters.aws.dynamodb_failed_executions import DynamoFailedExecutions
    from tertulia.adapters.aws.step_functions import StateMachine

    machines = {
        "after_turn": StateMachine(parts.settings.after_turn_arn),
        "recording": StateMachine(parts.settings.recording_arn),
    }
    return DynamoFailedExecutions(_stores(parts).table, machines, parts.clock)


def follow_up_by_executions(parts: "Assistant") -> "StepFunctionsFollowUp":
    """Build the follow-up that starts an execution for each turn."""
    from tertulia.adapters.aws.step_functions import StateMachine
    from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp

    machine = StateMachine(parts.settings.after_turn_arn)
    return StepFunctionsFollowUp(machine, parts.failed_executions, SETTLED_SECONDS)


def recordings(parts: "Assistant") -> RecordingStore:
    """Return where recordings are kept."""
    return _stores(parts).recordings


def recording_workflow(parts: "Assistant") -> RecordingWorkflow:
    """Build what starts an execution for each recording."""
    from tertulia.adapters.aws.step_functions import StateMachine
    from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsRecordings

    return StepFunctionsRecordings(StateMachine(parts.settings.recording_arn), parts.failed_executions)


def cut_recording(parts: "Assistant") -> CutRecording:
    """Build what cuts a recording."""
    return CutRecording(recordings=parts.recordings)


def transcribe_part(parts: "Assistant") -> TranscribePart:
    """Build what hears a part of a recording."""
    return TranscribePart(recordings=parts.recordings, hear=parts.hear)


def summarize_recording(parts: "Assistant") -> SummarizeRecording:
    """Build what summarizes a recording."""
    return SummarizeRecording(
        recordings=parts.recordings,
        summarizer=ModelSummarizer(parts.chat_model, seconds=parts.settings.model_seconds),
        embedder=parts.embedder,
        summaries=parts.summaries,
    )


def _stores(parts: "Assistant") -> "AwsStores":
    from tertulia.adapters.aws.stores import AwsStores

    if not isinstance(parts.stores, AwsStores):
        raise NotConfigured("Workflows are a matter of the cloud.")
    return parts.stores
