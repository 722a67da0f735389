"""Takes a model's thinking and channel marks out of its answer while it is being written."""

import re
from enum import Enum, auto

_THINKING = ("think", "thinking", "reasoning", "thought")
_THINKING_TAGS = tuple(f"<{slash}{name}>" for name in _THINKING for slash in ("", "/"))
_MARK = r"<\|[a-z0-9_]{1,40}\|>"
_TAG = re.compile(rf"</?(?:{'|'.join(_THINKING)})>|{_MARK}", re.IGNORECASE | re.ASCII)
_BEGUN_MARK = re.compile(r"<\|[a-z0-9_]{0,40}\|?", re.IGNORECASE | re.ASCII)

_LONGEST_HEADER = 120
_DROPPED_WHEN_CUT_SHORT = 3
"""A text that ends in `<` or `a<b` keeps it; one that ends in `<th` was cut inside a tag."""


class _Place(Enum):
    ANSWER = auto()
    HEADER = auto()
    HIDDEN_CHANNEL = auto()


class MarkupFilter:
    """Passes on what a person should see of a stream of pieces, however the stream is cut.

    What it removes: thinking tags with all between them, up to the end of the text where the closing tag is missing;
    channels other than `final`; and stray `<|marks|>`. A text about a thinking tag loses it, since thoughts must never leak.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = ""
        self._place = _Place.ANSWER
        self._header: str | None = None
        self._header_left = 0
        self._has_begun = False

    def feed(self, piece: str) -> str:
        """Return what of the text so far may be shown now; only what may become a tag is held back."""
        text = self._held + piece
        last = text.rfind("<")
        cut = last if last >= 0 and _may_become_tag(text[last:]) else len(text)
        self._held = text[cut:]
        return self._shown(text[:cut])

    def finish(self) -> str:
        """Return the rest at the end of the stream, without a tag that was cut short."""
        rest, self._held = self._held, ""
        return "" if len(rest) >= _DROPPED_WHEN_CUT_SHORT else self._shown(rest)

    def _shown(self, text: str) -> str:
        shown: list[str] = []
        end = 0
        for tag in _TAG.finditer(text):
            shown.append(self._visible(text[end : tag.start()]))
            self._pass_tag(tag.group().lower())
            end = tag.end()
        shown.append(self._visible(text[end:]))
        return "".join(shown)

    def _visible(self, run: str) -> str:
        if self._thinking:
            return ""
        if self._place is _Place.HEADER:
            run = self._after_header(run)
        if self._place is not _Place.ANSWER:
            return ""
        if not self._has_begun:
            run = run.lstrip()
            self._has_begun = bool(run)
        return run

    def _pass_tag(self, tag: str) -> None:
        name = tag.strip("<>/|")
        if tag.startswith("<|"):
            self._pass_mark(name)
        elif tag.startswith("</"):
            self._thinking = "" if name == self._thinking else self._thinking
        elif self._place is _Place.ANSWER and not self._thinking:
            self._thinking = name

    def _pass_mark(self, name: str) -> None:
        if self._thinking:
            return
        if name in ("start", "channel"):
            # A role stands after `start`, a channel's name after `channel`: only the second decides.
            self._header = "" if name == "channel" else None
            self._place, self._header_left = _Place.HEADER, _LONGEST_HEADER
        elif name == "message" and self._place is _Place.HEADER:
            self._leave_header()
        elif name in ("end", "call", "return"):
            self._place = _Place.ANSWER

    def _after_header(self, run: str) -> str:
        """Read on in a header; a line end, or too many words, end one that lost its mark."""
        line = run.find("\n")
        end = min(line if line >= 0 else len(run), self._header_left)
        if self._header is not None:
            self._header += run[:end]
        self._header_left -= end
        if end < len(run):
            self._leave_header()
        return run[end:]

    def _leave_header(self) -> None:
        channel = (self._header or "").split()[:1]
        is_hidden = bool(channel) and not channel[0].lower().startswith("final")
        self._place = _Place.HIDDEN_CHANNEL if is_hidden else _Place.ANSWER


def without_markup(text: str) -> str:
    """Filter a whole text at once."""
    markup = MarkupFilter()
    return markup.feed(text) + markup.finish()


def _may_become_tag(tail: str) -> bool:
    if _BEGUN_MARK.fullmatch(tail):
        return True
    lowered = tail.lower()
    return any(tag.startswith(lowered) for tag in _THINKING_TAGS)
