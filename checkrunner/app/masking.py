"""The redactor of one run of the program: with a key of its own, and the user's patterns."""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_bytes

from checkrunner.findings.redact import PatternRedactor
from checkrunner.model.sources import Secret
from checkrunner.settings import Settings

__all__ = ["redactor_of"]


def redactor_of(settings: Settings, secrets: Iterable[Secret | str] = ()) -> PatternRedactor:
    """One that masks what looks like a secret, what the settings' patterns fit, and `secrets`."""
    return PatternRedactor(secrets, key=token_bytes(16), own=settings.redact)
