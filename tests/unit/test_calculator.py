"""The calculator: what people type, exact where it can be, and bounded whatever comes."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.ports import Tool, ToolContext
from tertulia.tools.calculator import (
    BY_ZERO,
    MOST_CHARACTERS,
    NOT_ARITHMETIC,
    NOT_REAL,
    TOO_LARGE,
    UNCLEAR_PERCENT,
    Calculator,
    NotCalculable,
    calculated,
)

CONTEXT = ToolContext(user="user-1")


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2**100", "1267650600228229401496703205376"),
        ("1.05**360", "42476396.40868067"),
        ("15% of 80", "12"),
        ("50 - 10%", "45"),
        ("200*10%", "20"),
        ("5%", "0.05"),
        ("10 % 3", "1"),
        ("10%3", "1"),
        ("10 % -3", "-2"),
        ("10% - 3", "-2.9"),
        ("5% + 5%", "0.1"),
        ("100 + 5% + 3", "108"),
        ("50 + -10%", "45"),
        ("(40 + 10) - (10%)", "45"),
        ("20 percent of 50", "10"),
        ("15 % of 80", "12"),
        ("(5+5)%", "0.1"),
        ("200/10%", "2000"),
        ("2^3", "8"),
        ("1,000+5", "1005"),
        ("1,299.99 * 2", "2599.98"),
        ("3×4÷2−1", "5"),
        ("3 x 4", "12"),
        ("10x10", "100"),
        ("（１＋２）＊３", "9"),
        ("007+1", "8"),
        ("2+2=", "4"),
        ("2 + 2 = ?", "4"),
        ("-2**2", "-4"),
        ("+3", "3"),
        ("7//2", "3"),
        ("6/3", "2"),
        ("1/3", "0.3333333333333333"),
        ("0.1+0.2", "0.3"),
        ("7% of 100", "7"),
        ("1e5", "100000"),
        ("2**-1", "0.5"),
        ("1**999999999", "1"),
        ("10**20/10", "1e+19"),
        ("(" * 149 + "1" + ")" * 149, "1"),
        ("-" * 298 + "1", "1"),
    ],
)
def test_what_people_type_is_worked_out(expression: str, result: str) -> None:
    assert calculated(expression) == result


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("9**9**9**9", TOO_LARGE),
        ("10**10**10", TOO_LARGE),
        ("*".join(["9**2000"] * 20), TOO_LARGE),
        ("1e400", TOO_LARGE),
        ("1e308*10", TOO_LARGE),
        ("10.5**1000", TOO_LARGE),
        ("10**400/1.5", TOO_LARGE),
        ("1/0", BY_ZERO),
        ("5//0", BY_ZERO),
        ("5 % 0", BY_ZERO),
        ("0**-1", BY_ZERO),
        ("(-8)**(1/3)", NOT_REAL),
        ("10 % - 3", UNCLEAR_PERCENT),
        ("(" * 250 + "1", NOT_ARITHMETIC),
        ("1+" * MOST_CHARACTERS + "1", NOT_ARITHMETIC),
        *(
            (expression, NOT_ARITHMETIC)
            for expression in (
                "' '*10**10", "True+True", '__import__("os")', "lambda: 1", "(1).real", "[1]*9", "abs", "f'{1}'", "abs(1)", "10[0]",
                "1_000", "1j", "0x10", "0b1", "1,5", "0,001", "1,00,000", "½", "2³", "٣+٤", "2(3)", "", "  ", "1 +", ")(", "()", "1 2", "2;3", "a=1",
                "1<2", "1 if 1 else 2", "{}", "1e", "x", "x*2", "of", "1e5e5",
            )
        ),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_one_short_sentence(expression: str, reason: str) -> None:
    with pytest.raises(NotCalculable) as refused:
        calculated(expression)
    assert str(refused.value) == reason
    assert len(reason) < 120


numbers = st.integers(0, 999).map(str) | st.decimals(0, 99, places=2).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//"]), inner).map(" ".join)
        | inner.map("({})".format)
        | inner.map("-{}".format)
        | st.tuples(inner, st.integers(0, 5)).map(lambda pair: f"({pair[0]})**{pair[1]}")
        | st.tuples(inner, numbers).map(lambda pair: f"({pair[0]}) % {pair[1]}")
    ),
    max_leaves=12,
).filter(lambda expression: len(expression) <= MOST_CHARACTERS)


def _pythons(expression: str) -> float | str:
    try:
        value = eval(expression.replace(" 00", " 0"), {"__builtins__": {}})  # noqa: S307  # generated here from digits and signs
    except ZeroDivisionError:
        return BY_ZERO
    except OverflowError:
        return TOO_LARGE
    assert isinstance(value, int | float)
    return value if isinstance(value, int) or math.isfinite(value) else TOO_LARGE


def _outcome(expression: str) -> str:
    try:
        return calculated(expression)
    except NotCalculable as refused:
        return str(refused)


@given(expressions)
def test_results_are_those_of_python(expression: str) -> None:
    expected, outcome = _pythons(expression), _outcome(expression)
    if isinstance(expected, float):
        assert math.isclose(float(outcome), expected, rel_tol=1e-14)
    else:
        assert outcome == str(expected)


@given(st.text(max_size=40) | st.text("0123456789+-*/%()., eEx^of", max_size=40))
def test_any_text_gives_a_number_or_one_of_the_sentences(expression: str) -> None:
    outcome = _outcome(expression)
    is_number = re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?", outcome)
    assert is_number or outcome in {NOT_ARITHMETIC, TOO_LARGE, BY_ZERO, NOT_REAL, UNCLEAR_PERCENT}


async def test_the_tool_gives_its_result_as_text() -> None:
    tool: Tool = Calculator()
    result = await tool({"expression": "15% of 80"}, CONTEXT)
    assert (result.ok, result.text, result.summary) == (True, "12", "15% of 80 = 12")
    assert tool.is_configured
    assert tool.spec.parameters["required"] == ["expression"]


@pytest.mark.parametrize(
    "arguments", [{}, {"expression": None}, {"expression": 5}, {"expression": ["1"]}, {"other": "1"}]
)
async def test_missing_words_are_refused_like_any_nonsense(arguments: dict[str, object]) -> None:
    result = await Calculator()(arguments, CONTEXT)
    assert (result.ok, result.text) == (False, NOT_ARITHMETIC)
