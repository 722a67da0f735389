"""Secrets are taken out of a text, and ordinary words about them stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.redaction import redacted

PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc+/=\n-----END RSA PRIVATE KEY-----"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "a1B2c3D4" * 4,
        "sk-proj-" + "a1B2_c3-D4" * 4,
        "sk-ant-api03-" + "a1B2c3D4" * 5,
        "gsk_" + "a1B2c3D4" * 6,
        "ghp_" + "a1B2c3D4" * 5,
        "github_pat_" + "11ABCDE_" * 5,
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefABCDEF",
        "AIza" + "SyA1b2C3d" * 4,
        "tvly-dev-" + "a1B2c3D4" * 3,
        "ntn_" + "123456789abc" * 3,
        TOKEN,
        PRIVATE_KEY,
        "-----BEGIN PRIVATE KEY-----\nMIIEow cut short",
    ],
)
def test_a_secret_of_a_known_shape_is_taken_out(secret: str) -> None:
    assert redacted(f"Here: {secret}", "en-US") == "Here: [REDACTED]"
    assert redacted(f"Aqui: {secret}", "pt-BR") == "Aqui: [EDITADO]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2", "password: [REDACTED]"),
        ("Password = swordfish.", "Password = [REDACTED]."),
        ("my password: 'correct horse', ok?", "my password: '[REDACTED]', ok?"),
        ('{"password": "p w", "user": "me"}', '{"password": "[REDACTED]", "user": "me"}'),
        ("api_key=X", "api_key=[REDACTED]"),
        ("API-KEY: abcdef and more", "API-KEY: [REDACTED] and more"),
        ("GROQ_API_KEY=abc123", "GROQ_API_KEY=[REDACTED]"),
        ("apiKey: 'abc'", "apiKey: '[REDACTED]'"),
        ("client_secret=abc&scope=all", "client_secret=[REDACTED]"),
        ("token: 4f3a2b1c9d", "token: [REDACTED]"),
        ("my password is hunter22", "my password is [REDACTED]"),
        ("the api key is abc123def456", "the api key is [REDACTED]"),
        ("Authorization: Bearer abc123.def-456", "Authorization: Bearer [REDACTED]"),
        ("senha: segredo", "senha: [REDACTED]"),
        ("a minha senha é abc12345", "a minha senha é [REDACTED]"),
        ("密码：hunter2", "密码：[REDACTED]"),
        ("我的密码是hunter2", "我的密码是[REDACTED]"),
        ("Passwort: geheim", "Passwort: [REDACTED]"),
        ("postgres://me:s3cret@host/db", "postgres://me:[REDACTED]@host/db"),
        ("password: [REDACTED]", "password: [REDACTED]"),
        ("password: a\npassword: b", "password: [REDACTED]\npassword: [REDACTED]"),
    ],
)
def test_a_value_that_is_called_a_secret_is_taken_out(text: str, expected: str) -> None:
    assert redacted(text, "en-US") == expected


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password and my token.",
        "What is an API key?",
        "The password is required.",
        "The secret is patience.",
        "The secret: cook it slowly.",
        "A token: one word or a part of it.",
        "He is the bearer of bad news.",
        "Bearer bonds are rare.",
        "scikit-learn and sk-learn are not the same",
        "sk-a-very-long-name-without-any-number",
        "Passwords: a short history",
        "Meet me at 10:30, table 12.",
        "https://example.org:8080/a@b",
        "A senha é obrigatória.",
        "Das Passwort ist wichtig.",
        "密码是什么？",
        "AKIA is a prefix, eyJ too.",
        "The ISBN is 9783161484100.",
        "commit 3f2a9c1e4b5d6f708192a3b4c5d6e7f801234567",
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert redacted(text, "en-US") == text


@given(st.text())
def test_a_redacted_text_stays_as_it_is(text: str) -> None:
    once = redacted(f"password: {text}", "en-US")
    assert redacted(once, "en-US") == once
    assert redacted(once, "pt-BR") == once
