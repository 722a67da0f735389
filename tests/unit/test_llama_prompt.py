"""Prompts for the local model: labeled results, and never longer than the context."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.adapters.embedded.llama_prompt import CUT_MARK, MESSAGE_TOKENS, fitted_messages, tokens_of
from tertulia.domain.prompts import ChatMessage, ToolCall


def system(text: str) -> ChatMessage:
    return ChatMessage(role="system", parts=(text,))


def exchange(question: str, answer: str) -> tuple[ChatMessage, ChatMessage]:
    return ChatMessage(role="user", parts=(question,)), ChatMessage(role="assistant", parts=(answer,))


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", parts=(text,))


def total(messages: list[dict[str, str]]) -> int:
    return sum(tokens_of(message["content"]) + MESSAGE_TOKENS for message in messages)


def test_a_short_prompt_stays_as_it_is() -> None:
    messages = [system("S"), *exchange("Hi", "Hello"), user("How are you?")]

    assert fitted_messages(messages, 1000) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "How are you?"},
    ]


def test_the_oldest_exchanges_go_first_and_whole() -> None:
    messages = [system("S"), *exchange("a" * 300, "b" * 300), *exchange("c" * 300, "d" * 300), user("last")]

    kept = fitted_messages(messages, 300)

    assert [message["content"][0] for message in kept] == ["S", "c", "d", "l"]


def test_a_single_message_too_long_is_cut_in_the_middle_and_says_so() -> None:
    kept = fitted_messages([system("S"), user("begin " + "x" * 9000 + " end")], 500)

    text = kept[1]["content"]
    assert text.startswith("begin ")
    assert text.endswith(" end")
    assert CUT_MARK in text
    assert 300 < total(kept) <= 500


def test_an_exchange_goes_together_with_its_tool_results() -> None:
    call = ToolCall(id="1", name="calculator", arguments='{"expression":"1+1"}')
    old = (
        user("old"),
        ChatMessage(role="assistant", tool_calls=(call,)),
        ChatMessage(role="tool", parts=("2" * 500,), tool_call_id="1"),
        ChatMessage(role="assistant", parts=("Two.",)),
    )

    assert fitted_messages([system("S"), *old, user("new")], 200) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "new"},
    ]


def test_results_of_earlier_turns_are_data_without_a_question() -> None:
    call = ToolCall(id="1", name="calculator", arguments='{"expression":"1+1"}')
    old = (
        user("old"),
        ChatMessage(role="assistant", tool_calls=(call,)),
        ChatMessage(role="tool", parts=("2",), tool_call_id="1"),
        ChatMessage(role="assistant", parts=("Two.",)),
    )

    kept = fitted_messages([*old, user("new")], 1000)

    assert [message["role"] for message in kept] == ["user", "user", "assistant", "user"]
    assert kept[1]["content"] == 'Tool results, as data:\ncalculator {"expression":"1+1"}: "2"'


def test_digits_count_one_by_one() -> None:
    assert tokens_of("1234567890") == 10
    assert tokens_of("") == 0


@given(
    st.lists(st.tuples(st.text(max_size=400), st.text(max_size=400)), max_size=6),
    st.text(max_size=8000),
    st.integers(min_value=200, max_value=3000),
)
def test_no_prompt_is_longer_than_its_room(history: list[tuple[str, str]], last: str, room: int) -> None:
    messages = [system("Be brief."), *(part for pair in history for part in exchange(*pair)), user(last + "?")]

    kept = fitted_messages(messages, room)

    assert total(kept) <= room
    assert kept[0]["content"] == "Be brief."
    assert kept[-1]["content"].endswith("?")
