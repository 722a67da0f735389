"""Texts made short enough, where it shows that something is missing."""

MARK = "…"


def one_line(text: str, most: int) -> str:
    """Return a text on one line, without control characters, cut at a word and marked where it is longer than that."""
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return words if len(words) <= most else at_a_word(words, most - len(MARK)) + MARK


def at_a_word(words: str, most: int) -> str:
    """Return the beginning of a line, with whole words where the script has any."""
    if len(words) <= most:
        return words
    cut = words[: most + 1].rsplit(" ", 1)[0]
    # Without a space near the end, as in Chinese, any place is as good.
    return cut if len(cut) > most // 2 and len(cut) <= most else words[:most]
