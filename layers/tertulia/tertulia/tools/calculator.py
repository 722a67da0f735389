"""Arithmetic as people type it, on a whitelist of operators, bounded in size and time."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext

type Number = int | float

MOST_CHARACTERS = 300
MOST_BITS = 10_000
"""About 3,000 digits."""
EXACT_FLOAT = 10**15

NOT_ARITHMETIC = "I can only calculate with numbers, + - * / // ** %, 'percent of' and parentheses."
TOO_LARGE = "The result is too large."
BY_ZERO = "Dividing by zero has no result."
NOT_REAL = "The result is not a real number."
UNCLEAR_PERCENT = (
    "It is not clear whether % means percent or remainder here. Put parentheses round the part it belongs to."
)

_SIGNS = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("×✕✖⋅·∙∗", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−–—‐‑﹣", "-")
    | dict.fromkeys("\u00a0\u202f\u2009\u3000\t\n\r", " ")
)
_REWRITES = (
    (re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])"), lambda found: found[0].replace(",", "")),
    (re.compile(r" ?\bper ?cent\b", re.IGNORECASE), "%"),
    (re.compile(r"% *of +", re.IGNORECASE), "%*"),
    (re.compile(r"(?<=[0-9)%])(?: +|(?<!\b0))[xX] *(?=[0-9(.])"), "*"),
    (re.compile(r"\^"), "**"),
    (re.compile(r" *= *\??$"), ""),
    (re.compile(r"(?<![\w.])0+(?=[0-9])"), ""),
)
_ARITHMETIC = re.compile(
    r"(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|[-+*/%() ])+", re.IGNORECASE | re.ASCII
)
_UNCLEAR = re.compile(r" % *[-+] ")
_PERCENT_SIGN = re.compile(r"(?<! )%(?= *(?:$|[)*/%+-]))| %(?= *(?:$|[)*/%]))")


class NotCalculable(Exception):
    """Says in one sentence why there is no result."""


class Calculator:
    """Works out an arithmetic expression."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it."""
        return ToolSpec(
            name="calculator",
            description="Work out arithmetic exactly, such as '15% of 80' or '(3 + 4) * 2 ** 8'.",
            parameters={
                "type": "object",
                "properties": {
                    "expression": {
                        "type": "string",
                        "description": "Numbers with + - * / // ** %, parentheses and percentages; no words.",
                    }
                },
                "required": ["expression"],
                "additionalProperties": False,
            },
            effect=Effect.NONE,
            taints=False,
        )

    @property
    def is_configured(self) -> bool:
        """It needs nothing."""
        return True

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Return the result, or one sentence on why there is none."""
        expression = arguments.get("expression")
        try:
            result = calculated(expression if isinstance(expression, str) else "")
        except NotCalculable as reason:
            return ToolResult(text=str(reason), ok=False)
        return ToolResult(text=result, summary=f"{expression} = {result}"[:200])


def calculated(expression: str) -> str:
    """Return the result of an expression as text: whole numbers exact, others without the noise of binary fractions."""
    try:
        tree = ast.parse(_as_python(expression), mode="eval")
        return _written(_value(tree.body))
    except ZeroDivisionError as error:
        raise NotCalculable(BY_ZERO) from error
    except OverflowError as error:
        raise NotCalculable(TOO_LARGE) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotCalculable(NOT_ARITHMETIC) from error


def _as_python(expression: str) -> str:
    """Write what people type as Python; a percentage becomes a subscript, which binds as tightly and cannot be typed."""
    text = expression.strip().translate(_SIGNS)
    if len(text) > MOST_CHARACTERS:
        raise NotCalculable(NOT_ARITHMETIC)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text).strip()
    if not _ARITHMETIC.fullmatch(text):
        raise NotCalculable(NOT_ARITHMETIC)
    if _UNCLEAR.search(text):
        raise NotCalculable(UNCLEAR_PERCENT)
    return _PERCENT_SIGN.sub("[0]", text)


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.Subscript(value=part):
            return _value(part) / 100
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right) if _is_percent(right):
            return _bounded(_raised(_value(left), sign, right, is_share=not _is_percent(left)))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_value(left), _value(right)))
        case _:
            raise NotCalculable(NOT_ARITHMETIC)


def _raised(start: Number, sign: ast.Add | ast.Sub, percent: ast.expr, *, is_share: bool) -> Number:
    """Add or take off a percentage of what stands before it: `50 - 10%` is 45."""
    change = _value(percent) * (start if is_share else 1)
    return start + change if isinstance(sign, ast.Add) else start - change


def _is_percent(node: ast.expr) -> bool:
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Subscript)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        # The size is known before the work is done: 9**9**9 would keep a processor busy for hours.
        if abs(base) > 1 and base.bit_length() * exponent > MOST_BITS:
            raise OverflowError
        return int(base**exponent)
    result: Number | complex = base**exponent
    if isinstance(result, complex):
        raise NotCalculable(NOT_REAL)
    return result


_OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}


def _bounded(number: Number) -> Number:
    is_too_large = number.bit_length() > MOST_BITS if isinstance(number, int) else not math.isfinite(number)
    if is_too_large:
        raise OverflowError
    return number


def _written(number: Number) -> str:
    if isinstance(number, int):
        return str(number)
    if number.is_integer() and abs(number) < EXACT_FLOAT:
        return str(int(number))
    exact = repr(number)
    rounded = repr(float(f"{number:.15g}"))
    # 0.1 + 0.2 is 0.30000000000000004: where the 15th digit ends a row of zeros or nines, the rest is noise.
    return rounded.removesuffix(".0") if len(rounded) <= len(exact) - 3 else exact
