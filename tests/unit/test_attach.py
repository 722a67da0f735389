"""Files that come with a question: named safely, judged by their bytes."""

import pytest

from tertulia.usecases.attach import CUT_MARK, MOST_CHARACTERS, attachment_of, safe_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\x.txt", "x.txt"),
        ("/abs.txt", "abs.txt"),
        ("C:\\Users\\ana\\note.txt", "note.txt"),
        ("a\u0000.txt", "a.txt"),
        (".env", "env"),
        ("...", "file"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("报告 终稿.txt", "报告 终稿.txt"),
        ("", "file"),
        (None, "file"),
        ("/", "file"),
        ('"><svg onload=alert(1)>.txt', "svg onload=alert(1).txt"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("cafe\u0301.md", "café.md"),
        ("a\r\nSet-Cookie: x.txt", "aSet-Cookie x.txt"),
    ],
)
def test_a_name_is_kept_where_it_is_safe(name: str | None, shown: str) -> None:
    """Case H1."""
    assert safe_name(name) == shown


def test_a_long_name_keeps_its_ending() -> None:
    assert safe_name("ñ" * 300) == "ñ" * 120
    assert safe_name("ñ" * 300 + ".txt") == "ñ" * 116 + ".txt"


@pytest.mark.parametrize(
    ("name", "data", "kind", "text"),
    [
        ("a.txt", b"plain words", "text/plain", "plain words"),
        ("a.md", b"# Title", "text/markdown", "# Title"),
        ("a.json", b'{"a": 1}', "application/json", '{"a": 1}'),
        ("a", b"no ending", "text/plain", "no ending"),
        ("a.png", b"not a picture", "text/plain", "not a picture"),
        ("a.txt", b"\x89PNG\r\n\x1a\n....", "image/png", ""),
        ("a.txt", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", ""),
        ("a", b"%PDF-1.7 ...", "application/pdf", ""),
        ("a.txt", b"", "text/plain", ""),
        ("a.txt", bytes(range(256)), "application/octet-stream", ""),
        ("a.txt", b"nul\x00byte", "application/octet-stream", ""),
        ("a.txt", "\ufeffmarked".encode(), "text/plain", "marked"),
        ("a.txt", "sechzehn bit: é".encode("utf-16"), "text/plain", "sechzehn bit: é"),
        ("a.txt", b"BMW is a car maker", "text/plain", "BMW is a car maker"),
    ],
)
def test_a_file_is_judged_by_its_bytes(name: str, data: bytes, kind: str, text: str) -> None:
    """Case H4."""
    attachment = attachment_of(name, data, "key")

    assert (attachment.media_type, attachment.text, attachment.size) == (kind, text, len(data))


def test_a_long_text_is_cut_and_marked() -> None:
    text = attachment_of("a.txt", b"a" * (MOST_CHARACTERS + 1), "key").text

    assert text == "a" * MOST_CHARACTERS + CUT_MARK
