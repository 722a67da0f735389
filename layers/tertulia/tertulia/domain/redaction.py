"""Takes the values of secrets out of a text, and leaves the words about them."""

import re
from collections.abc import Callable

from tertulia.domain.languages import closest_language

REDACTED = "[REDACTED]"
_REDACTED_IN = {"pt-BR": "[EDITADO]"}
_MARKS = (REDACTED, *_REDACTED_IN.values())

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.DOTALL
)

_KNOWN_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
        (?:sk|rk|pk)[-_](?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}    # OpenAI, Anthropic, Stripe
      | gsk_[A-Za-z0-9]{16,}                                           # Groq
      | gh[oprsu]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}
      | xox[abeprs]-[A-Za-z0-9-]{10,}
      | AIza[A-Za-z0-9_-]{30,}
      | (?:ntn|secret)_(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{20,}         # Notion
      | tvly-[A-Za-z0-9_-]{16,} | pcsk_[A-Za-z0-9_]{16,} | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{20,}
      | eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*        # a JSON web token
    )""",
    re.VERBOSE,
)

_VALUE = r"""(?P<value>"[^"\n]{1,500}"|'[^'\n]{1,500}'|[^\s"',;<>]{1,500})"""

_BEARER = re.compile(rf"(?P<label>\bBearer[ \t]+){_VALUE}", re.IGNORECASE)

_LOCK_WORDS = (
    "password|passwd|passphrase|pwd|senha|contraseña|mot de passe|passwort|kennwort|пароль"
    "|密码|密碼|口令|パスワード|비밀번호|암호"
)
_KEY_WORDS = (
    "api[ _-]?key|secret[ _-]?(?:access[ _-]?)?key|access[ _-]?key(?:[ _-]?id)?|private[ _-]?key|client[ _-]?secret"
    "|(?:access|auth|api|refresh|bearer)[ _-]?token|chave (?:de )?api|clave (?:de )?api|api-schlüssel|clé api"
)
_SOFT_WORDS = "token|secret"
"""Words that people also use of other things: what follows is a secret only if it looks like one."""

_SIGN = r"""["']?[ \t]{0,5}(?::|=|：|＝|=>)[ \t]{0,5}"""
_SAID = r"[ \t]{1,5}(?:is|é|es|est|ist|это)[ \t]{1,5}|是[ \t]{0,5}"

_SURELY = re.compile(rf"(?P<label>(?:{_LOCK_WORDS}|{_KEY_WORDS}){_SIGN}){_VALUE}", re.IGNORECASE)
_PERHAPS = re.compile(
    rf"(?P<label>(?<![A-Za-z])(?:{_SOFT_WORDS}){_SIGN}|(?:{_LOCK_WORDS}|{_KEY_WORDS}|{_SOFT_WORDS})(?:{_SAID})){_VALUE}",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(
    r"(?P<label>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}:)(?P<value>[^\s/@]{1,200})(?=@)", re.IGNORECASE
)

_LONG = 20


def redacted(text: str, language: str) -> str:
    """Return the text with a mark in place of each secret value."""
    mark = _REDACTED_IN.get(closest_language(language), REDACTED)
    text = _PRIVATE_KEY.sub(mark, text)
    text = _KNOWN_SHAPES.sub(mark, text)
    text = _IN_ADDRESS.sub(_replacing(mark, lambda _: True), text)
    text = _SURELY.sub(_replacing(mark, lambda value: not value.lower().startswith("bearer")), text)
    text = _BEARER.sub(_replacing(mark, _looks_secret), text)
    return _PERHAPS.sub(_replacing(mark, _looks_secret), text)


def _replacing(mark: str, is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        value = found["value"]
        quote = value[0] if value[0] in "\"'" else ""
        inner = value.strip(quote) if quote else value.rstrip(".,!?)]}。！？")
        if not inner or inner.startswith(tuple(mark.rstrip("]") for mark in _MARKS)) or not is_secret(inner):
            return found.group()
        return found["label"] + value.replace(inner, mark)

    return replace


def _looks_secret(value: str) -> bool:
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return len(value) >= 6 and ((has_digit and has_letter) or len(value) >= _LONG or value.isdigit())  # noqa: PLR2004
