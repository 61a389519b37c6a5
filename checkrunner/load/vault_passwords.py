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
    check: Callable[[], object]
    """Raises UsageError where it is known without opening anything that there is no such password."""
    _get: Callable[[], bytes] = field(repr=False)
    _found: bytes | None = field(default=None, repr=False)

    def reveal(self) -> bytes:
        """The password. The first call reads the file, runs the program or asks. Raises UsageError."""
        if self._found is None:
            self.check()
            self._found = self._get()
        return self._found


def password_of_id(spec: str, ask: Ask, *, timeout_s: float) -> VaultPassword:
    """The password of ``[LABEL@]SOURCE``: a file, a program, or ``prompt``."""
    label, at, source = spec.partition("@")
    if not at:
        label, source = "", spec
    if source in _PROMPTS:
        prompt = f"Vault password ({label}): " if label else "Vault password: "
        return VaultPassword(label or _DEFAULT, "the prompt", lambda: None, lambda: _asked(ask, prompt))
    return password_of_file(source, label, timeout_s=timeout_s)


def password_of_file(name: str, label: str = "", *, timeout_s: float) -> VaultPassword:
    """The password in a file, or that a program prints. A program whose name ends in ``-client`` is told the label."""
    path = os.path.expanduser(name)
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return VaultPassword(
            label or _DEFAULT, f"the file {name}", lambda: _check(name, path), lambda: _read(name, path)
        )
    argv = [os.path.abspath(path)]
    if label and os.path.splitext(os.path.basename(path))[0].endswith("-client"):
        argv += ["--vault-id", label]
    return VaultPassword(
        label or _DEFAULT, f"the program {name}", lambda: None, lambda: _printed(name, argv, timeout_s)
    )


def _check(name: str, path: str) -> None:
    if os.path.isdir(path):
        raise UsageError(f"the vault password file {name!r} is a directory", hint="Name a file or a program")
    if not os.path.exists(path):
        raise UsageError(f"there is no vault password file {name!r}", hint="To be asked, write --vault-id prompt")


def _asked(ask: Ask, prompt: str) -> bytes:
    typed = ask(prompt).reveal().encode("utf-8", "surrogateescape")
    return _checked(typed.strip(), "the vault password that was typed")  # as Ansible does


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
