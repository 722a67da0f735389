"""A changed fact ends the old one, in the user's language; facts that live side by side do not."""

import pytest

from tertulia.domain.changed_facts import is_about, is_ending, key_of


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("home", "I live in Porto"),
        ("home", "We just moved to Berlin"),
        ("home", "I’m now living in Rome"),
        ("home", "Ich wohne jetzt in Köln"),
        ("home", "ich bin nach Hamburg gezogen"),
        ("home", "Vivo en Sevilla"),
        ("home", "me he mudado a Cádiz"),
        ("home", "J'habite à Lyon"),
        ("home", "Moro em Recife"),
        ("home", "我现在住在上海"),
        ("work", "I work at a bakery"),
        ("work", "Ich arbeite jetzt bei Siemens"),
        ("work", "Trabajo en un hospital"),
        ("work", "Je travaille chez Renault"),
        ("work", "我在银行工作"),
        ("name", "My name is Ana"),
        ("name", "ich heiße Jonas"),
        ("name", "Me llamo Lucía"),
        ("name", "Je m'appelle Zoé"),
        ("name", "我叫小明"),
        ("birthday", "My birthday is May 3rd"),
        ("favorite color", "my favorite color is green"),
        ("phone number", "My new phone number is 555 0142"),
        ("dentist appointment", "My dentist appointment is on Friday"),
        ("lieblingsfarbe", "Meine Lieblingsfarbe ist Blau"),
        ("zahnarzttermin", "Mein Zahnarzttermin ist am Montag"),
        ("comida favorita", "mi comida favorita es la paella"),
        ("film préféré", "Mon film préféré est Amélie"),
        ("颜色", "我最喜欢的颜色是绿色"),
        ("", "I like tea"),
        ("", "My brother lives in Porto"),
        ("", "My brother is a doctor"),
        ("", "Meine Schwester wohnt in Bonn"),
        ("", "I no longer live in Porto"),
        ("", "ya no vivo en Sevilla"),
        ("", "I'm allergic to peanuts"),
    ],
)
def test_a_fact_of_which_there_is_one_has_a_key(key: str, words: str) -> None:
    assert key_of(words) == key


@pytest.mark.parametrize(
    ("ending", "memory"),
    [
        ("I don't drink coffee anymore", "I love coffee"),
        ("I no longer eat meat", "I eat meat on Sundays"),
        ("I quit smoking", "I love smoking"),
        ("Ich trinke keinen Kaffee mehr", "Ich trinke gern Kaffee"),
        ("Ya no como carne", "Como mucha carne"),
        ("Je ne mange plus de viande", "Je mange de la viande"),
        ("Parei de fumar", "gosto de fumar"),
        ("我不再喝咖啡了", "我喜欢喝咖啡"),
    ],
)
def test_a_sentence_that_something_is_over_ends_what_was_so(ending: str, memory: str) -> None:
    assert is_ending(ending)
    assert not is_ending(memory)
    assert is_about(ending, memory)


@pytest.mark.parametrize(
    ("ending", "memory"),
    [
        ("I don't drink coffee anymore", "My sister makes coffee for everybody at her office"),
        ("I no longer eat meat", "I live in Porto"),
        ("我不再喝咖啡了", "我住在上海"),
    ],
)
def test_other_facts_stay(ending: str, memory: str) -> None:
    assert not is_about(ending, memory)


@pytest.mark.parametrize("words", ["I have one more question about trains", "Ich möchte mehr lesen", "Je mange plus"])
def test_more_is_no_end(words: str) -> None:
    assert not is_ending(words)
