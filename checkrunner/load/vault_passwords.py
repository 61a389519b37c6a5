"""The passwords of vaults: from files, from programs that print them, or asked for. Read when first needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checkrunner.load.programs import ProgramError, run_program
from checkrunner.model.errors import UsageError
from checkrunner.model.sources import Secret

__all__ = ["Ask", "VaultPassword", "password_of_file", "password_of_id"]

Ask = Callable[[str], Secret]
"""Asks a person: takes the prompt, gives the answer."""

_DEFAULT = "default"
_PROMPTS = ("prompt", "prompt_ask_vault_pass")
_MOST_BYTES = 1 << 20


@dataclass(slots=True, eq=False)
class VaultPassword:
    """One password. `label` is its vault id; `origin` says where it comes from, for messages."""

    label: str
    origin: str
    _get: Callable[[], bytes] = field(repr=False)
    _found: bytes | None = field(default=None, repr=False)

    def reveal(self) -> bytes:
        """The password. The first call reads the file, runs the program or asks. Raises UsageError."""
        if self._found is None:
            self._found = self._get()
        return self._found


def password_of_id(spec: str, ask: Ask, *, timeout_s: float) -> VaultPassword:
    """The password of ``[LABEL@]SOURCE``: a file, a program, or ``prompt``. Raises UsageError for a file that is not
    there."""
    label, at, source = spec.partition("@")
    label, source = (label or _DEFAULT, source) if at else (_DEFAULT, spec)
    if source in _PROMPTS:
        prompt = "Vault password: " if label == _DEFAULT else f"Vault password ({label}): "
        return VaultPassword(label, "the prompt", lambda: _asked(ask, prompt))
    return password_of_file(source, label if at and spec.partition("@")[0] else None, timeout_s=timeout_s)


def password_of_file(name: str, label: str | None = None, *, timeout_s: float) -> VaultPassword:
    """The password in a file, or that a program prints. Raises UsageError for a file that is not there."""
    path = os.path.expanduser(name)
    if os.path.isdir(path):
        raise UsageError(f"the vault password file {name!r} is a directory", hint="Name a file or a program.")
    if not os.path.exists(path):
        hint = "To be asked for it, write prompt, as in --vault-id prompt." if not name else ""
        raise UsageError(f"there is no vault password file {name!r}", hint=hint)
    if os.access(path, os.X_OK):
        argv = [os.path.abspath(path)]
        if label and os.path.splitext(os.path.basename(path))[0].endswith("-client"):
            argv += ["--vault-id", label]  # a program for many vaults wants to know which
        return VaultPassword(label or _DEFAULT, f"the program {name}", lambda: _printed(name, argv, timeout_s))
    return VaultPassword(label or _DEFAULT, f"the file {name}", lambda: _read(name, path))


def _asked(ask: Ask, prompt: str) -> bytes:
    return _checked(ask(prompt).reveal().encode("utf-8", "surrogateescape"), "the vault password that was typed")


def _read(name: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as exc:
        raise UsageError(f"the vault password file {name!r} cannot be read: {exc.strerror or exc}") from exc
    if data.startswith(b"$ANSIBLE_VAULT;"):
        raise UsageError(f"the vault password file {name!r} is encrypted itself")
    return _checked(data.strip(), f"the vault password file {name!r}")


def _printed(name: str, argv: Sequence[str], timeout_s: float) -> bytes:
    try:
        output = run_program(argv, timeout_s=timeout_s)
    except ProgramError as exc:
        hint = exc.hint
        if exc.cannot_start:
            hint = "A file that holds the password itself must not be executable: chmod -x."
        raise UsageError(f"the vault password program {name!r} {exc.message}", hint=hint) from exc
    return _checked(output.stdout.strip(b"\r\n"), f"what the vault password program {name!r} prints")


def _checked(password: bytes, what: str) -> bytes:
    if not password:
        raise UsageError(f"{what} is empty")
    return password
