"""Money, units and fractions as they are said in English."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee", "₩": "won", "R$": "real"}
_READ_WELL = "$€£"
"""Sums in these are left as digits, with their sign before them."""

_PLURALS = {"yen": "yen", "won": "won", "real": "reais", "foot": "feet", "square foot": "square feet"}
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "t": "trillion"}
_FRACTIONS = {
    **{"1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters"},
    **{"24/7": "24 7", "9/11": "9 11"},
}
VULGAR_FRACTIONS: Mapping[str, str] = MappingProxyType({"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"})

_UNIT_NAMES = """
    km/h kilometer per hour|kph kilometer per hour|m/s meter per second|mph mile per hour|km² square kilometer
    |m² square meter|m³ cubic meter|cm³ cubic centimeter|km kilometer|cm centimeter|mm millimeter|m meter|mi mile
    |ft foot|sqft square foot|yd yard|kg kilogram|mg milligram|µg microgram|g gram|lb pound|lbs pound|oz ounce
    |ml milliliter|mL milliliter|L liter|l liter|°C degree Celsius|°F degree Fahrenheit|° degree|K kelvin
    |GB/s gigabyte per second|MB/s megabyte per second|Mbps megabit per second|Gbps gigabit per second
    |Mbit/s megabit per second|TB terabyte|GB gigabyte|MB megabyte|KB kilobyte|kB kilobyte|GiB gibibyte
    |GHz gigahertz|MHz megahertz|kHz kilohertz|Hz hertz|kWh kilowatt hour|kW kilowatt|MW megawatt|GW gigawatt
    |W watt|V volt|mAh milliamp hour|kcal kilocalorie|cal calorie|kJ kilojoule|hrs hour|hr hour|h hour
    |min minute|mins minute|sec second|secs second|ms millisecond|s second|fps frame per second
    |dpi dot per inch|px pixel
"""
_UNITS: Mapping[str, str] = MappingProxyType(
    dict(entry.strip().split(" ", 1) for entry in _UNIT_NAMES.replace("\n", " ").split("|"))
)
_NEEDS_SPACE = frozenset({"s", "K"})
"""Units that, written next to a number, are something else: the 1980s, a 4K film."""

AMOUNT = r"\d+(?:,\d{3})*(?:\.\d+)?"
UNIT = re.compile(
    rf"(?<![\w.,])({AMOUNT})(\s?)({'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})(?![\w/²³°])"
)
MONEY = re.compile(rf"(?:US)?(R\$|[$€£¥₹₩])\s?({AMOUNT})(?:\s?(thousand|million|billion|trillion|[kKmMbBtT]|[mb]n)\b)?")
MONEY_SIGN_LAST = re.compile(rf"(?<![\w.,])({AMOUNT})\s?([€£])")
FRACTION = re.compile(r"(?<![\w.,/$€£])(\d{1,3})/(\d{1,3})(?![\w/])")


def money(match: re.Match[str]) -> str:
    """Say a sum; small ones in well-known currencies are read well as they stand."""
    sign, amount, scale = match[1], match[2], match[3] or ""
    if sign in _READ_WELL and not scale:
        return f"{sign}{amount}"
    scale = _SCALES.get(scale.lower(), scale.lower())
    return " ".join(filter(None, (amount, scale, _many(_CURRENCIES[sign], amount if not scale else ""))))


def unit(match: re.Match[str]) -> str:
    """Say a number with its unit."""
    amount, space, sign = match.groups()
    if sign in _NEEDS_SPACE and not space:
        return match[0]
    head, *rest = re.split(r"(?= per | Celsius| Fahrenheit)", _UNITS[sign], maxsplit=1)
    return f"{amount} {_many(head, amount)}{''.join(rest)}"


def fraction(match: re.Match[str]) -> str:
    """Say two numbers with a slash between them."""
    return _FRACTIONS.get(match[0], f"{match[1]} over {match[2]}")


def _many(name: str, amount: str) -> str:
    if amount == "1" or name.endswith(("hertz", "kelvin")):
        return name
    return _PLURALS.get(name, f"{name}s")
