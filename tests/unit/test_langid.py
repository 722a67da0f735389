"""The language of a text, over short and long sentences of all ten languages."""

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

from tertulia.adapters.embedded.langid import LangidDetector
from tertulia.adapters.embedded.latin_grams import LANGUAGES as LANGUAGES_IN_LATIN
from tertulia.adapters.embedded.latin_grams import LatinGrams
from tertulia.domain.languages import LANGUAGES

SENTENCES = {
    "en-US": [
        "What is 2+2?",
        "Tell me a joke",
        "Who wrote Hamlet?",
        "What's the weather like?",
        "My name is Carlos",
        "WHERE IS MY PHONE",
        "What does 你好 mean in English?",
    ],
    "de": [
        "Wie spät ist es?",
        "Was ist zwei plus zwei?",
        "Erzähl mir einen Witz",
        "Guten Morgen",
        "Kannst du mir helfen?",
    ],
    "es-ES": [
        "Hola, ¿qué tal?",
        "¿Qué hora es?",
        "Cuéntame un chiste",
        "¿Qué método usas?",
        "¿Cuál es la capital de Francia?",
    ],
    "fr": ["Bonjour", "Quelle heure est-il ?", "Comment ça va ?", "Qui es-tu ?", "Raconte-moi une blague"],
    "pt-BR": [
        "Olá, tudo bem?",
        "Que horas são?",
        "Conta uma piada",
        "Quero saber de todos os planetas",
        "Quanto é dois mais dois?",
    ],
    "ru": ["Привет", "Который час?", "Расскажи анекдот", "Кто написал «Войну и мир»?", "Сколько будет 2+2?"],
    "zh-CN": ["你好", "现在几点?", "给我讲个笑话", "iPhone 怎么用?", "法国的首都是哪里?"],
    "zh-TW": ["現在幾點?", "講個笑話給我聽", "法國的首都是哪裡?", "今天天氣怎麼樣", "這是什麼?"],
    "ja": ["こんにちは", "今何時ですか?", "東京の天気は?", "冗談を言って", "カラオケ"],
    "ko": ["안녕하세요", "지금 몇 시예요?", "농담 하나 해줘", "프랑스의 수도는 어디야?", "2+2는 뭐야?"],
}


@pytest.fixture(scope="module")
def detector() -> LangidDetector:
    return LangidDetector()


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in SENTENCES.items() for text in texts])
def test_a_sentence_is_known(detector: LangidDetector, language: str, text: str) -> None:
    assert detector.detect(text) == language


def test_every_language_of_the_product_is_tried() -> None:
    assert set(SENTENCES) == set(LANGUAGES)


@pytest.mark.parametrize(
    "text", ["", " ", "Hi", "ok", "Salut", "123", "2+2=?", "?!", "🙂", "Ciao come stai", "Як справи, мої друзі?"]
)
def test_in_doubt_no_language_is_named(detector: LangidDetector, text: str) -> None:
    assert detector.detect(text) is None


@pytest.mark.parametrize("text", ["\ud800 hello there, how are you?", "\x00" * 50, "a" * 100_000])
def test_odd_text_is_no_failure(detector: LangidDetector, text: str) -> None:
    assert detector.detect(text) in {None, *LANGUAGES}


def test_the_small_model_judges_as_the_one_it_is_cut_from() -> None:
    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    whole.set_languages(list(LANGUAGES_IN_LATIN))
    small = LatinGrams()
    for language in ("en-US", "de", "es-ES", "fr", "pt-BR"):
        for text in SENTENCES[language]:
            known, certainty = whole.classify(text)
            judged = small.classify(text)
            assert judged[0] == known
            assert judged[1] == pytest.approx(certainty, abs=0.05)
