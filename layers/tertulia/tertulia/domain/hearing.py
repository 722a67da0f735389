"""What of a model's transcript counts as words: Whisper writes polite phrases and credits where nobody speaks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_SPEECH_SECONDS = 0.2
"""Less speech than this holds no word; the shortest commands take about 0.3 s."""

MOST_NO_SPEECH = 0.6
"""From this probability of no speech on, what the model wrote for a segment is not what was said."""

LETTERS_A_SECOND = 22
"""Nobody speaks faster; a phrase too long for its speech was made up."""

NEVER_SAID = re.compile(
    r"amara\.?org|dimatorzok|zdf für funk|subtitles by|captions by|transcription by|sous-titr(es|age) (réalis|st'? ?501)"
    r"|legendas pela comunidade|subtítulos (realizados|por la comunidad)|субтитры (сделал|создавал|подогнал)"
    r"|untertitel (im auftrag|der amara)|字幕(由|志愿者|by)|請不吝點贊|请不吝点赞|ご視聴ありがとうございました"
    r"|시청해 ?주셔서 감사합니다|thanks? (you )?for watching|thank you so much for watching"
    r"|(please )?(like and )?subscribe to (my|our|the) channel|vielen dank fürs zuschauen|merci d'avoir regardé",
    re.IGNORECASE,
)
"""Credits and sign-offs of videos, which nobody says to an assistant."""

WRITTEN_ON_SILENCE = frozenset(
    {
        *("you", "bye", "bye bye", "okay", "ok", "so", "oh", "hmm", "uh", "um"),
        *("thanks", "thank you", "thank you very much", "thank you so much", "thank you bye"),
        *("danke", "vielen dank", "merci", "gracias", "muchas gracias", "obrigado", "obrigada", "e aí", "tchau"),
        *("спасибо", "продолжение следует", "谢谢", "謝謝", "谢谢大家", "謝謝大家", "謝謝觀看", "谢谢观看"),
        *("ありがとうございました", "감사합니다", "네"),
    }
)
"""Phrases a model writes on near silence, and which people say too: they count when there was time to say them."""

_REPEATED = re.compile(r"(?P<phrase>[^\W\d].{2,200}?)(?:\s+(?P=phrase)){3,}(?P<rest>.*)", re.DOTALL)
"""One phrase four times and more, and nothing else: a small model in a loop."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A stretch of a transcript with the model's own doubt that anybody spoke."""

    text: str
    no_speech_probability: float = 0.0


def heard_words(segments: Iterable[Segment]) -> str:
    """Join the segments in which the model itself believes; an empty text is silence."""
    words = " ".join(
        segment.text.strip()
        for segment in segments
        if segment.no_speech_probability < MOST_NO_SPEECH and segment.text.strip()
    )
    repeated = _REPEATED.fullmatch(words)
    return repeated["phrase"] if repeated and repeated["phrase"].startswith(repeated["rest"].strip()) else words


def is_made_up(text: str, speech_seconds: float) -> bool:
    """Whether the text is one that models write on silence, given for how long somebody spoke."""
    words = re.sub(r"[^\w\s']", "", text).strip().casefold()
    if not words or NEVER_SAID.search(text):
        return True
    letters = sum(character.isalpha() for character in words)
    least = max(letters / LETTERS_A_SECOND, LEAST_SPEECH_SECONDS + 0.1)
    return words in WRITTEN_ON_SILENCE and speech_seconds < least
