"""The language models that users chose, in DynamoDB: their keys are encrypted with the table."""

from tertulia.adapters.account_documents import llm_choice_document, llm_choice_of
from tertulia.adapters.aws.dynamodb import DynamoTable, Key
from tertulia.domain.language_models import LlmChoice


class DynamoLlmChoices:
    """Keeps one choice of each user."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    async def find(self, user: str) -> LlmChoice | None:
        """Return what a user chose."""
        item = await self._table.get(_key(user))
        return llm_choice_of(item["document"]) if item else None

    async def put(self, user: str, choice: LlmChoice) -> None:
        """Replace a user's choice."""
        await self._table.put({**_key(user)._asdict(), "document": llm_choice_document(choice)})

    async def remove(self, user: str) -> None:
        """Forget a user's choice."""
        await self._table.delete(_key(user))


def _key(user: str) -> Key:
    return Key(f"USER#{user}", "LANGUAGE_MODEL")
