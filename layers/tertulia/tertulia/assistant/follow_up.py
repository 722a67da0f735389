"""How what follows a turn is put together from its parts."""

from typing import TYPE_CHECKING

from tertulia.answering.digests import ModelSummarizer
from tertulia.answering.facts import ModelFactFinder
from tertulia.domain.errors import NotConfigured
from tertulia.ports.follow_up import FailedFollowUps, FollowUp, SummaryIndex, SummaryWish
from tertulia.usecases.follow_up import AskForSummary, QueuedFollowUp, SummaryIsDue
from tertulia.usecases.follow_up_runner import FollowUpRunner, Steps
from tertulia.usecases.index_summary import IndexSummary
from tertulia.usecases.quiet import Quiet
from tertulia.usecases.remember import Remember
from tertulia.usecases.search import Search
from tertulia.usecases.summarize import Summarize

if TYPE_CHECKING:
    from tertulia.adapters.embedded.sqlite_jobs import SqliteJobs
    from tertulia.assistant import Assistant

BACK_SECONDS = 120.0
"""How long a model may take where nobody waits; a step in the cloud has half a minute more."""


def remember(parts: "Assistant") -> Remember:
    """Build what learns from a turn."""
    finder = ModelFactFinder(parts.chat_model, BACK_SECONDS)
    return Remember(conversations=parts.conversations, memories=parts.memories, finder=finder, counter=parts.rates)


def summary_is_due(parts: "Assistant") -> SummaryIsDue:
    """Build what says when a conversation is summarized."""
    return SummaryIsDue(conversations=parts.conversations, clock=parts.clock, min_turns=parts.settings.min_turns)


def summarize(parts: "Assistant") -> Summarize:
    """Build what summarizes a conversation."""
    summarizer = ModelSummarizer(parts.chat_model, seconds=BACK_SECONDS)
    return Summarize(conversations=parts.conversations, summarizer=summarizer, clock=parts.clock, users=parts.users)


def index_summary(parts: "Assistant") -> IndexSummary:
    """Build what makes a summary findable."""
    return IndexSummary(conversations=parts.conversations, embedder=parts.embedder, summaries=parts.summaries)


def summaries(parts: "Assistant") -> SummaryIndex:
    """Return where summaries are found: our own store, with a hosted index over it where its key is set."""
    settings = parts.settings
    if settings.pinecone_api_key is None:
        return parts.stores.summaries
    from tertulia.adapters.pinecone import PineconePlace, PineconeSummaries

    place = PineconePlace(
        index=settings.pinecone_index_name,
        cloud=settings.pinecone_cloud,
        region=settings.pinecone_region,
        dimension=settings.embedding_dim,
        base_url=settings.pinecone_base_url,
    )
    return PineconeSummaries(settings.pinecone_api_key, place, parts.stores.summaries)


def search(parts: "Assistant") -> Search:
    """Build what finds past conversations."""
    return Search(embedder=parts.embedder, summaries=parts.summaries)


def jobs(parts: "Assistant") -> "SqliteJobs":
    """Return the queue of this machine."""
    from tertulia.adapters.embedded.sqlite_jobs import SqliteJobs

    if parts.is_in_the_cloud:
        raise NotConfigured("The cloud has state machines instead of a queue.")
    return SqliteJobs(parts.database, parts.clock)


def quiet(_: "Assistant") -> Quiet:
    """Return what knows whether somebody is being served."""
    return Quiet()


def handed_over(parts: "Assistant") -> FollowUp:
    """Return where a stored turn is handed over: to a state machine in the cloud, to the queue elsewhere."""
    if parts.is_in_the_cloud:
        from tertulia.assistant.workflows import follow_up_by_executions

        return follow_up_by_executions(parts)
    return QueuedFollowUp(parts.jobs, parts.clock)


def ask_for_summary(parts: "Assistant") -> AskForSummary:
    """Build what has a conversation summarized now."""
    if parts.is_in_the_cloud:
        from tertulia.assistant.workflows import follow_up_by_executions

        wish: SummaryWish = follow_up_by_executions(parts)
    else:
        wish = QueuedFollowUp(parts.jobs, parts.clock)
    return AskForSummary(conversations=parts.conversations, wish=wish, min_turns=parts.settings.min_turns)


def failed(parts: "Assistant") -> FailedFollowUps:
    """Return the follow-ups that a person should look at."""
    return parts.failed_executions if parts.is_in_the_cloud else parts.jobs


def runner(parts: "Assistant") -> FollowUpRunner:
    """Build the runner of this process: it keeps out of the way of people where they share the model."""
    steps = Steps(
        remember=parts.remember,
        is_due=parts.summary_is_due,
        summarize=parts.summarize,
        index_summary=parts.index_summary,
    )
    calm = None if parts.chat_model.runs_side_by_side else parts.quiet
    return FollowUpRunner(queue=parts.jobs, steps=steps, clock=parts.clock, quiet=calm)
