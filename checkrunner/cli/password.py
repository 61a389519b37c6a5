"""Asking a person for a password."""

from __future__ import annotations

import getpass
import sys

from checkrunner.cli.signals import let_signals_through
from checkrunner.model.errors import SettingsError
from checkrunner.model.sources import Secret

__all__ = ["ask_password", "ask_vault_password"]


def ask_password(prompt: str = "SSH password: ", key: str = "ask_pass") -> Secret:
    """A password, asked once on the terminal with echo off before the prompt is shown. `key` is what asked for it.

    Raises SettingsError without a terminal: from cron nobody would answer, and an echoed password is worse than none.
    """
    if not sys.stdin.isatty():
        raise SettingsError(key, True, "flag", "there is no terminal to ask on")
    with let_signals_through():
        return Secret(getpass.getpass(prompt, stream=sys.stderr))


def ask_vault_password(prompt: str) -> Secret:
    """The password of a vault, asked in the same way."""
    return ask_password(prompt, "ask_vault_pass")
