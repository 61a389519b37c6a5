"""Asking a person for a password."""

from __future__ import annotations

import getpass
import sys

from checkrunner.cli.signals import let_signals_through
from checkrunner.model.errors import SettingsError
from checkrunner.model.sources import Secret

__all__ = ["ask_password"]


def ask_password(what: str = "SSH", flag: str = "ask_pass") -> Secret:
    """A password, asked once on the terminal with echo off before the prompt is shown.

    Raises SettingsError without a terminal: from cron nobody would answer, and an echoed password is worse than none.
    """
    if not sys.stdin.isatty():
        raise SettingsError(flag, True, "flag", "there is no terminal to ask on")
    with let_signals_through():
        return Secret(getpass.getpass(f"{what} password: ", stream=sys.stderr))
