"""Small modules, small functions: the numbers this code holds itself to."""

from statistics import median

from tests.architecture.source_tree import everything, length_of, product

MODULE_MEDIAN = 100
LONGEST_MODULE = 250
LONGEST_TESTS = 400
FUNCTION_MEDIAN = 8
LONGEST_FUNCTION = 40


def test_no_module_is_longer_than_250_lines() -> None:
    assert [f"{module.name}: {module.length}" for module in product() if module.length > LONGEST_MODULE] == []


def test_no_file_of_tests_is_longer_than_400_lines() -> None:
    assert [f"{module.name}: {module.length}" for module in everything() if module.length > LONGEST_TESTS] == []


def test_half_of_the_modules_are_shorter_than_100_lines() -> None:
    assert median(module.length for module in product()) < MODULE_MEDIAN


def test_no_function_is_longer_than_40_lines() -> None:
    lengths = [(place, length_of(function)) for module in everything() for place, function in module.functions]
    assert [f"{place}: {length}" for place, length in lengths if length > LONGEST_FUNCTION] == []


def test_half_of_the_functions_have_at_most_8_lines() -> None:
    assert median(length_of(function) for module in product() for _, function in module.functions) <= FUNCTION_MEDIAN
