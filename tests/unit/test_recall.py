"""Which memories a surface shows: those that fit, and on the screen the most important beside them."""

from datetime import UTC, datetime
from pathlib import Path

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.answering.recall import Recall
from tertulia.domain.memories import Memory
from tertulia.domain.surfaces import SCREEN, SPOKEN, Surface
from tertulia.domain.turns import Conversation, TurnRequest
from tertulia.ports import Question
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder

AT = datetime(2030, 6, 1, 11, tzinfo=UTC)


async def shown(folder: Path, surface: Surface) -> set[str]:
    database = Database(folder / "tertulia.db")
    store = EmbeddedStores(database, folder, FakeClock()).memories(WordEmbedder())
    contents = {"my dog is Rex": 0.2, "I am allergic to nuts": 0.9, **{f"fact {place}": 0.5 for place in range(8)}}
    for place, (content, importance) in enumerate(contents.items()):
        await store.remember(Memory(id=str(place), user="me", content=content, created_at=AT, importance=importance))
    request = TurnRequest(user="me", turn_id="t", text="my dog", surface=surface)
    conversation = Conversation(id="c", user="me", created_at=AT, updated_at=AT)
    asked = Question(request=request, conversation=conversation, text="my dog", language="en-US")
    recalled = await Recall(store, 5.0)(asked)
    await database.close()
    return {memory.content for memory in recalled.memories}


async def test_spoken_answers_know_what_fits_alone(tmp_path: Path) -> None:
    assert await shown(tmp_path, SPOKEN) == {"my dog is Rex"}


async def test_screens_fill_up_by_importance(tmp_path: Path) -> None:
    found = await shown(tmp_path, SCREEN)
    assert {"my dog is Rex", "I am allergic to nuts"} < found
    assert len(found) == SCREEN.memories
