"""A tool called by its user is read as literals, whatever quotes, commas, pipes and brackets they hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.direct_calls import DirectCall, NotACall, begins_a_call, direct_call_in

TEXTS = st.lists(st.text(max_size=30), max_size=4)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        (r"@tools:note|['it\'s, ok','a|b']", "note", ["it's, ok", "a|b"]),
        ('@tools:note|["x]y","你好"]', "note", ["x]y", "你好"]),
        ("@tools:calc|['2+2']", "calc", ["2+2"]),
        ("＠tools：calc｜［＇2+2＇］", "calc", ["2+2"]),
        ('@Tools:calc|["2+2"] ', "calc", ["2+2"]),
        ("  @tools:calc|['2+2']", "calc", ["2+2"]),
        ("@tools:get-node-info", "get-node-info", []),
        ("@tools:get_recent|[5, true, null, 1.5]", "get_recent", [5, True, None, 1.5]),
        ("@tools:get_recent|[5, True, None]", "get_recent", [5, True, None]),
        ("@tools:add|{'title': 'milk, eggs', 'many': [1, 2]}", "add", {"title": "milk, eggs", "many": [1, 2]}),
        ("@tools:add|[“it’s, fine”, ‘two’]", "add", ["it’s, fine", "two"]),
        ('@tools:add|[“say "hi"”]', "add", ['say "hi"']),
        ("@tools:add|［＂全角，逗号＂，'b'］", "add", ["全角，逗号", "b"]),
        ("@tools:add|['line\\nbreak']", "add", ["line\nbreak"]),
        ("@tools:add|\n['a',\n 'b']", "add", ["a", "b"]),
        ("@tools:add|('a', 'b')", "add", ["a", "b"]),
    ],
)
def test_arguments_arrive_as_they_were_meant(text: str, name: str, arguments: Any) -> None:
    call = direct_call_in(text)
    assert call.name == name
    assert call.arguments == arguments or list(call.arguments) == arguments


@pytest.mark.parametrize(
    "text",
    [
        "@tools:",
        "@tools:|['a']",
        "@tools:calc|",
        "@tools:calc|2+2",
        "@tools:calc|['2+2'",
        "@tools:calc|'2+2'",
        "@tools:calc|[open('/etc/passwd').read()]",
        "@tools:calc|[__import__('os').system('true')]",
        "@tools:calc|[1+1j]",
        "@tools:calc|[b'a']",
        "@tools:calc|[{1, 2}]",
        "@tools:calc|[1e999]",
        "@tools:calc|[NaN]",
        "@tools:calc|['a'] and then tell me a joke",
        "@tools:two words|['a']",
        "@tools:calc|" + "[" * 3000,
        "@tools:calc|[" + "1," * 4000 + "1]",
        "@tools:calc|" + "[" * 30 + "]" * 30,
    ],
)
def test_what_only_begins_like_a_call_is_refused(text: str) -> None:
    assert begins_a_call(text)
    with pytest.raises(NotACall):
        direct_call_in(text)


@pytest.mark.parametrize(
    "text",
    ["How do I write @tools:calc|['2+2']?", "tools:calc", "", "> @tools:delete_todo", "'@tools:x'", "mail me@tools:x"],
)
def test_only_a_message_that_begins_with_it_is_a_call(text: str) -> None:
    assert not begins_a_call(text)


@given(TEXTS)
def test_any_texts_survive_in_json(texts: list[str]) -> None:
    arguments = direct_call_in(f"@tools:note|{json.dumps(texts)}").arguments
    assert list(arguments) == texts


@given(TEXTS)
def test_any_texts_survive_in_python_literals(texts: list[str]) -> None:
    assert list(direct_call_in(f"@tools:note|{texts!r}").arguments) == texts


@given(st.text(max_size=200))
def test_nothing_that_follows_breaks_the_reader(text: str) -> None:
    try:
        call = direct_call_in(f"@tools:{text}")
    except NotACall:
        return
    assert call.name
    json.dumps(call.arguments)


def test_places_become_the_names_of_the_schema() -> None:
    parameters: dict[str, Any] = {"properties": {"query": {}, "limit": {}}}
    assert DirectCall(name="search", arguments=["milk", 5]).named(parameters) == {"query": "milk", "limit": 5}
    assert DirectCall(name="search", arguments=["milk"]).named(parameters) == {"query": "milk"}
    assert DirectCall(name="search", arguments={"limit": 1}).named(parameters) == {"limit": 1}
    with pytest.raises(NotACall):
        DirectCall(name="search", arguments=["milk", 5, 6]).named(parameters)
