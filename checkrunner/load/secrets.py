"""What stands for a secret in a file (``!vault``, ``!env NAME``, ``!cmd program argument``), and encrypted files.

Such a value is opened when it is first revealed: to list hosts takes no password, and no program runs for it.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checkrunner.load.files import read_file
from checkrunner.load.programs import ProgramError, run_program
from checkrunner.load.vault import VaultError, is_encrypted, open_envelope, read_envelope
from checkrunner.load.vault_passwords import VaultPassword
from checkrunner.model.errors import CheckrunnerError, LoadError, nearest
from checkrunner.model.inventory import empty
from checkrunner.model.sources import Secret, SourceRef, Template

__all__ = ["Covered", "Place", "Sealed", "SecretReader", "covered", "unreadable"]

_HOW = (
    "Give it with --vault-password-file FILE, --vault-id LABEL@FILE or --ask-vault-pass, or in "
    "ANSIBLE_VAULT_PASSWORD_FILE."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret was written, and the kind of error that is raised there."""

    error: type[LoadError]
    source: SourceRef
    line_text: str = ""

    def fail(self, message: str, hint: str = "") -> LoadError:
        """An error at the place."""
        return self.error(message, source=self.source, line_text=self.line_text, hint=hint)


class Sealed(Secret):
    """A Secret that is opened when it is first revealed, once. `kind` is ``vault``, ``env`` or ``cmd``.

    `reveal` raises CheckrunnerError members when it cannot be opened, at the place where it was written.
    """

    __slots__ = ("_error", "_opener", "kind")

    kind: str
    _opener: Callable[[], str]
    _error: CheckrunnerError | None

    def __init__(self, kind: str, opener: Callable[[], str]) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "_opener", opener)
        object.__setattr__(self, "_error", None)
        object.__setattr__(self, "_value", None)

    @property
    def is_open(self) -> bool:
        """Whether it was revealed."""
        return self._value is not None

    @property
    def is_written(self) -> bool:
        """Whether it was encrypted in a file."""
        return self.kind == "vault"

    def reveal(self) -> str:
        """The value itself."""
        if self._error is not None:
            raise self._error
        if self._value is None:
            try:
                object.__setattr__(self, "_value", self._opener())
            except CheckrunnerError as exc:
                object.__setattr__(self, "_error", exc)
                raise
        return self._value

    def hide_line(self) -> None:
        """Let errors show the place alone and not its line, which is one of an encrypted file."""
        opener = self._opener

        def opened() -> str:
            try:
                return opener()
            except LoadError as exc:
                exc.line_text = ""
                raise

        object.__setattr__(self, "_opener", opened)

    def give_up(self) -> None:
        """Let a placeholder stand for what cannot be opened: it was said once, and the rest is to be looked at too."""
        object.__setattr__(self, "_error", None)
        object.__setattr__(self, "_value", str(self))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Covered(Secret):
    """A value out of an encrypted file."""

    __slots__ = ()

    @property
    def is_written(self) -> bool:
        """It is one of the file's variables."""
        return True


class SecretReader:
    """Opens secrets. `environment` is what ``!env`` reads; `timeout_s` the time that a program of ``!cmd`` has.

    With `dry`, programs of ``!cmd`` are only looked up and not run: their values are a placeholder.
    """

    def __init__(
        self,
        passwords: Sequence[VaultPassword] = (),
        environment: Mapping[str, str] | None = None,
        *,
        timeout_s: float = 60.0,
        dry: bool = False,
    ) -> None:
        self._passwords = tuple(passwords)
        self._environment: Mapping[str, str] = empty() if environment is None else environment
        self.timeout_s = timeout_s
        self._dry = dry
        self._found: dict[str, str | None] = {}  # by encrypted text, which may be there once for each of many hosts

    @property
    def has_passwords(self) -> bool:
        """Whether there is any password for vaults."""
        return bool(self._passwords)

    def read_text(self, path: str, error: type[LoadError]) -> tuple[str, bool]:
        """The text of a file, and whether it was encrypted. Raises `error`."""
        text = read_file(path, error)
        if not is_encrypted(text):
            return text, False
        header = text.partition("\n")[0].rstrip()
        return self._opened(text, Place(error, SourceRef(path=path, line=1, column=1), header)), True

    def vault(self, text: str, place: Place) -> Secret:
        """The Secret of an encrypted value."""
        return Sealed("vault", lambda: self._opened(text, place))

    def env(self, name: str, place: Place) -> Secret:
        """The Secret that a variable of the environment holds."""
        return Sealed("env", lambda: self._variable(name.strip(), place))

    def command(self, words: str | Sequence[str], place: Place) -> Secret:
        """The Secret that a program prints. A text is split into words as a shell does; no shell runs."""
        try:
            argv = shlex.split(words) if isinstance(words, str) else list(words)
        except ValueError as exc:
            raise place.fail(f"the quotes of this command do not match ({exc})") from exc
        if not argv or not argv[0]:
            raise place.fail("!cmd names no program", "Write it as !cmd pass show db, or !cmd [pass, show, db].")
        return Sealed("cmd", lambda: self._printed(argv, place))

    def _opened(self, text: str, place: Place) -> str:
        try:
            envelope = read_envelope(text)
            if not self._passwords:
                of = f" for vault id {envelope.label!r}" if envelope.label else ""
                raise place.fail(f"is encrypted, and no vault password is given{of}", _HOW)
            # As Ansible does: first the passwords of its own label, then the others.
            ordered = sorted(self._passwords, key=lambda password: password.label != (envelope.label or "default"))
            if text not in self._found:
                tried = (open_envelope(envelope, [password.reveal()]) for password in ordered)
                found = next((one for one in tried if one is not None), None)
                self._found[text] = None if found is None else found[0].decode("utf-8")
            value = self._found[text]
            if value is not None:
                return value
        except VaultError as exc:
            raise place.fail(exc.message, exc.hint) from exc
        except UnicodeDecodeError as exc:
            raise place.fail("what is encrypted here is not UTF-8 text", "Encrypt it as UTF-8 again.") from exc
        raise self._unfit(envelope.label, ordered, place)

    def _unfit(self, label: str | None, passwords: Sequence[VaultPassword], place: Place) -> LoadError:
        given = ", ".join(f"{password.label!r} ({password.origin})" for password in passwords)
        labels = {password.label for password in passwords}
        if label is not None and label not in labels:
            close = nearest(label, labels)
            hint = f"Did you mean the label {close!r}? " if close else ""
            message = f"no vault password for vault id {label!r} is given, and no other one fits: {given}"
            return place.fail(message, f"{hint}Give it with --vault-id {label}@FILE.")
        message = f"no vault password fits: {given}"
        return place.fail(message, "It is the wrong one, or the text was changed after it was encrypted.")

    def _variable(self, name: str, place: Place) -> str:
        value = self._environment.get(name)
        if value is None:
            close = nearest(name, self._environment)
            hint = f"Did you mean {close!r}?" if close else "Set it where checkrunner runs."
            raise place.fail(f"the environment variable {name!r} is not set", hint)
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise place.fail(f"the environment variable {name!r} is not UTF-8 text")
        return value

    def _printed(self, argv: Sequence[str], place: Place) -> str:
        if self._dry:
            if shutil.which(argv[0]) is None:
                raise place.fail(f"the program {argv[0]!r} is not found", "Look at its name and at PATH.")
            return "********"
        try:
            output = run_program(argv, timeout_s=self.timeout_s)
            text = output.stdout.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except ProgramError as exc:
            raise place.fail(f"the program {argv[0]!r} {exc.message}", exc.hint) from exc
        except UnicodeDecodeError as exc:
            raise place.fail(f"what the program {argv[0]!r} prints is not UTF-8 text") from exc
        if not text:
            raise place.fail(f"the program {argv[0]!r} prints nothing", "Run it by hand to see why.")
        return text


def covered(value: Any) -> Any:
    """A value out of an encrypted file: each text and number in it a Secret. Booleans and nothing stay: they are no
    more secret than the two values that they can have."""
    if isinstance(value, dict):
        return {key: covered(item) for key, item in value.items()}
    if isinstance(value, list):
        return [covered(item) for item in value]
    if isinstance(value, Template):
        return Secret(value.text)  # marked as one that is not rendered
    if isinstance(value, Sealed):
        value.hide_line()
    return value if value is None or isinstance(value, bool | Secret) else Covered(str(value))


def unreadable(exc: LoadError, error: type[LoadError]) -> LoadError:
    """The error to raise in place of one in a decrypted text: the same place, but no word of it."""
    message = "the text that is encrypted here cannot be read at this place; it is not shown"
    return error(message, source=exc.source, hint="Look at it with `ansible-vault view`.")
