"""Searching the web: Tavily by its SDK, then Brave, each over real HTTP; a failure is never told as nothing found."""

from collections.abc import AsyncIterator, Sequence

import pytest
from pydantic import SecretStr

from tertulia.adapters.brave import BraveSearch
from tertulia.adapters.tavily import TavilySearch
from tertulia.domain.prompts import ToolResult
from tertulia.ports import ToolContext
from tertulia.ports.tools import WebResult, WebSearch
from tertulia.tools.web_search import MOST_QUERY_CHARACTERS, NOT_SET_UP, SearchWeb
from tests.fakes.clock import FakeClock
from tests.fakes.web import PAGES, FakeBrave, FakeEngine, FakeTavily, Late, Raw, Refusal, Said

CONTEXT = ToolContext(user="ana")
DOWN = Refusal(status=500)


@pytest.fixture
async def tavily(
    fake_tavily: FakeTavily, web_servers: tuple[object, str, object, str], clock: FakeClock
) -> AsyncIterator[TavilySearch]:
    engine = TavilySearch(SecretStr("tvly-key"), clock, web_servers[1], seconds=2.0)
    yield engine
    await engine.close()


@pytest.fixture
async def brave(
    fake_brave: FakeBrave, web_servers: tuple[object, str, object, str], clock: FakeClock
) -> AsyncIterator[BraveSearch]:
    engine = BraveSearch(SecretStr("brave-key"), clock, web_servers[3], seconds=2.0)
    yield engine
    await engine.close()


@pytest.fixture(params=["tavily", "brave"])
def one(request: pytest.FixtureRequest) -> tuple[WebSearch, FakeEngine]:
    return request.getfixturevalue(request.param), request.getfixturevalue(f"fake_{request.param}")


@pytest.fixture
def both(tavily: TavilySearch, brave: BraveSearch) -> SearchWeb:
    return SearchWeb([tavily, brave])


async def searched(tool: SearchWeb, query: str = "how far is the moon") -> ToolResult:
    return await tool({"query": query}, CONTEXT)


async def test_an_engine_finds_pages(one: tuple[WebSearch, FakeEngine]) -> None:
    engine, server = one

    assert await engine.search("how far is the moon", 5) == [
        WebResult(title="Moon", url="https://moon.example/", snippet="It is far.")
    ]
    assert (server.queries, server.counts) == (["how far is the moon"], [5])
    assert server.keys == ["Bearer tvly-key" if isinstance(server, FakeTavily) else "brave-key"]


async def test_finding_nothing_is_no_failure(one: tuple[WebSearch, FakeEngine]) -> None:
    engine, server = one
    server.says = [[]]

    result = await searched(SearchWeb([engine]))

    assert result.ok
    assert "nothing was found" in result.text
    assert result.data["results"] == []


BRAVES_QUOTA = Refusal(status=429, body={"type": "ErrorResponse", "error": {"code": "QUOTA_LIMITED", "status": 429}})


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ([DOWN], "could not search just now"),
        ([Refusal(status=401)], "does not accept the key"),
        ([Refusal(status=403)], "does not accept the key"),
        ([Refusal(status=422)], "could not search just now"),
        ([Refusal(status=302, headers={"location": "https://elsewhere.example/"})], "could not search just now"),
        ([Raw("<html>Please log in</html>")], "something else than results"),
        ([Raw("[]")], "something else than results"),
        ([Raw('"text"')], "something else than results"),
        ([Refusal(status=429)] * 2, "asked too often"),
        ([Refusal(status=429, headers={"retry-after": "60"})], "asked too often"),
        ([Refusal(status=429, headers={"retry-after": "soon"})] * 2, "asked too often"),
        ([Late(1.5)], "took too long"),
    ],
)
async def test_a_failure_is_told_as_one(one: tuple[WebSearch, FakeEngine], says: Sequence[Said], told: str) -> None:
    engine, server = one
    server.says = list(says)

    result = await SearchWeb([engine], seconds=0.3 if isinstance(says[0], Late) else 15)({"query": "moon"}, CONTEXT)

    assert not result.ok
    assert told in result.text
    assert "own words" not in result.text
    assert "nothing was found" not in result.text.replace("Do not say that nothing was found", "")
    assert len(server.queries) == len(says)


@pytest.mark.parametrize("status", [432, 433])
async def test_a_spent_plan_at_tavily_is_not_tried_again_and_brave_is_asked(
    both: SearchWeb, fake_tavily: FakeTavily, fake_brave: FakeBrave, clock: FakeClock, status: int
) -> None:
    fake_tavily.says = [Refusal(status=status)]

    result = await searched(both)

    assert result.ok
    assert "https://moon.example/" in result.text
    assert (len(fake_tavily.queries), len(fake_brave.queries), clock.sleeps) == (1, 1, [])


@pytest.mark.parametrize("status", [432, 433])
async def test_a_spent_plan_alone_is_told_as_such(tavily: TavilySearch, fake_tavily: FakeTavily, status: int) -> None:
    fake_tavily.says = [Refusal(status=status)]

    result = await searched(SearchWeb([tavily]))

    assert not result.ok
    assert "quota of Tavily is used up" in result.text
    assert len(fake_tavily.queries) == 1


@pytest.mark.parametrize("spent", [Refusal(status=402), BRAVES_QUOTA])
async def test_a_spent_plan_at_brave_is_told_as_such(brave: BraveSearch, fake_brave: FakeBrave, spent: Refusal) -> None:
    fake_brave.says = [spent]

    result = await searched(SearchWeb([brave]))

    assert "quota of Brave is used up" in result.text
    assert len(fake_brave.queries) == 1


async def test_a_hurried_engine_is_asked_once_more_after_the_wait_it_names(
    one: tuple[WebSearch, FakeEngine], clock: FakeClock
) -> None:
    engine, server = one
    server.says = [Refusal(status=429, headers={"retry-after": "2"}), PAGES]

    assert (await searched(SearchWeb([engine]))).ok
    assert (len(server.queries), clock.sleeps) == (2, [2.0])


async def test_both_failures_are_told(both: SearchWeb, fake_tavily: FakeTavily, fake_brave: FakeBrave) -> None:
    fake_tavily.says, fake_brave.says = [Refusal(status=432)], [DOWN]

    result = await searched(both)

    assert not result.ok
    assert "Tavily is used up" in result.text
    assert "Brave could not search" in result.text


async def test_an_engine_that_hangs_leaves_time_for_the_next(
    tavily: TavilySearch, brave: BraveSearch, fake_tavily: FakeTavily
) -> None:
    fake_tavily.says = [Late(1.5)]

    assert (await SearchWeb([tavily, brave], seconds=1.0)({"query": "moon"}, CONTEXT)).ok


async def test_a_server_that_is_not_there_is_told_as_such(clock: FakeClock) -> None:
    address = "http://127.0.0.1:1"
    engines: list[TavilySearch | BraveSearch] = [
        TavilySearch(SecretStr("tvly-key"), clock, address),
        BraveSearch(SecretStr("key"), clock, address),
    ]

    result = await searched(SearchWeb(engines))

    assert result.text.count("cannot be reached") == 2
    for engine in engines:
        await engine.close()


@pytest.mark.parametrize("pasted", ["words about the moon " * 45, "月" * 900, "x" * 900, "a" * 399 + " " + "b" * 500])
async def test_a_pasted_text_is_cut_to_what_the_engines_take(
    both: SearchWeb, fake_tavily: FakeTavily, fake_brave: FakeBrave, pasted: str
) -> None:
    fake_tavily.says = [DOWN]

    result = await searched(both, pasted)

    assert result.ok
    for [query] in (fake_tavily.queries, fake_brave.queries):
        assert 0 < len(query) <= MOST_QUERY_CHARACTERS
        assert pasted.startswith(query)
    assert len(fake_brave.queries[0].split()) <= 50


async def test_results_are_cut_and_the_cut_is_marked(both: SearchWeb, fake_tavily: FakeTavily) -> None:
    long = "far away " * 100
    fake_tavily.says = [[{"title": long, "url": f"https://moon.example/{n}", "text": long} for n in range(9)]]

    result = await searched(both)

    assert len(result.data["results"]) == 5
    for page in result.data["results"]:
        assert len(page["snippet"]) <= 300
        assert page["snippet"].endswith("away…")
        assert len(page["title"]) <= 200
    assert len(result.text) < 10_000


async def test_only_plain_addresses_are_passed_on_and_each_page_once(both: SearchWeb, fake_tavily: FakeTavily) -> None:
    urls = [
        "javascript:alert(1)",
        "https://a.example/",
        "https://a.example/",
        "http://b.example/ x",
        "ftp://c.example/",
    ]
    fake_tavily.says = [[{"title": "T\x1b[31m\nX", "url": url, "text": "a\nb\x00c"} for url in urls]]

    result = await searched(both)

    assert [page["url"] for page in result.data["results"]] == ["https://a.example/"]
    assert result.data["results"][0]["title"] == "T [31m X"
    assert result.data["results"][0]["snippet"] == "a b c"


@pytest.mark.parametrize("query", ["", "   ", None, 5, ["moon"]])
async def test_without_words_nobody_is_asked(both: SearchWeb, fake_tavily: FakeTavily, query: object) -> None:
    result = await both({"query": query}, CONTEXT)

    assert (result.ok, fake_tavily.queries) == (False, [])


async def test_without_a_key_it_says_so_kindly() -> None:
    tool = SearchWeb([])

    assert not tool.is_configured
    assert await searched(tool) == ToolResult(text=NOT_SET_UP, ok=False, summary="Web search is not set up")


def test_what_it_finds_taints_and_what_it_does_changes_nothing(both: SearchWeb) -> None:
    assert both.spec.taints
    assert not both.spec.effect.is_change
    assert both.service == "Tavily, Brave"
