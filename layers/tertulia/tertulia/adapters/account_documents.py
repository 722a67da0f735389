"""Settings and scopes of users as text that any store takes."""

import json
from collections.abc import Iterable
from dataclasses import asdict, fields

from tertulia.domain.accounts import Scope, UserSettings
from tertulia.domain.language_models import LlmChoice
from tertulia.domain.surfaces import Style


def settings_document(settings: UserSettings) -> str:
    """Write a user's settings; what is not set is left out."""
    return json.dumps({name: value for name, value in asdict(settings).items() if value is not None})


def settings_of(document: str) -> UserSettings:
    """Read a user's settings, passing over what another version of the program wrote."""
    values = {name: value for name, value in json.loads(document).items() if name in UserSettings.names()}
    if "style" in values:
        values["style"] = Style(values["style"])
    return UserSettings(**values)


def llm_choice_document(choice: LlmChoice) -> str:
    """Write a user's choice of a language model, its key included: a document for stores alone."""
    return json.dumps(asdict(choice))


def llm_choice_of(document: str) -> LlmChoice:
    """Read a user's choice, passing over what another version of the program wrote."""
    names = {field.name for field in fields(LlmChoice)}
    return LlmChoice(**{name: value for name, value in json.loads(document).items() if name in names})


def scopes_text(scopes: Iterable[Scope]) -> str:
    """Write scopes as words."""
    return " ".join(sorted(scopes))


def scopes_of(text: str) -> frozenset[Scope]:
    """Read scopes, passing over what another version of the program wrote."""
    return frozenset(Scope(word) for word in text.split() if word in Scope)
