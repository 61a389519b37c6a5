"""What secrets look like: `RULES`, in the order in which they name a secret that several of them find."""

from __future__ import annotations

from checkrunner.findings.redact_assignments import ASSIGNMENTS
from checkrunner.findings.redact_commands import COMMANDS, HEADERS
from checkrunner.findings.redact_files import FILES
from checkrunner.findings.redact_rule import Rule
from checkrunner.findings.redact_tokens import TOKENS

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = (*TOKENS, *FILES, *HEADERS, *COMMANDS, *ASSIGNMENTS)
