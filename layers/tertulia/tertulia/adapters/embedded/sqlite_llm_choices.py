"""The language models that users chose, in SQLite: their keys are as safe as the file, which is its owner's alone."""

from tertulia.adapters.account_documents import llm_choice_document, llm_choice_of
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.language_models import LlmChoice


class SqliteLlmChoices:
    """Keeps one choice of each user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, user: str) -> LlmChoice | None:
        """Return what a user chose."""
        row = await self._database.row("SELECT document FROM llm_choices WHERE user = ?", (user,))
        return llm_choice_of(row["document"]) if row else None

    async def put(self, user: str, choice: LlmChoice) -> None:
        """Replace a user's choice."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT INTO llm_choices (user, document) VALUES (?, ?)"
                " ON CONFLICT (user) DO UPDATE SET document = excluded.document",
                (user, llm_choice_document(choice)),
            )

    async def remove(self, user: str) -> None:
        """Forget a user's choice."""
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM llm_choices WHERE user = ?", (user,))
