"""The format of Ansible Vault, 1.1 and 1.2: what it looks like, and how it is opened. The only door to cryptography.

A text is encrypted by AES in counter mode and signed by HMAC-SHA-256. Both keys are derived from the password, so a
wrong password is one whose signature does not fit: the cipher is not even loaded for it.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Envelope", "VaultError", "is_encrypted", "open_envelope", "read_envelope"]

_MARK = "$ANSIBLE_VAULT"
_ROUNDS = 10_000
_BLOCK = 16
_HEX = re.compile(rb"[0-9a-fA-F]*")
_FORM = "It begins with a line such as $ANSIBLE_VAULT;1.1;AES256, and hexadecimal digits follow."


class VaultError(Exception):
    """An encrypted text cannot be opened. Nothing of its content is in the message."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


@dataclass(frozen=True, slots=True)
class Envelope:
    """An encrypted text taken apart. `label` is the vault id that format 1.2 names."""

    label: str | None
    salt: bytes
    signature: bytes
    data: bytes


def is_encrypted(text: str) -> bool:
    """Whether a whole file is encrypted: by its first characters, as Ansible tells it."""
    return text.startswith(_MARK)


def read_envelope(text: str) -> Envelope:
    """Take an encrypted text apart. Indentation and empty lines around it do not matter. Raises VaultError."""
    lines = [line.strip() for line in text.strip().splitlines()]
    label = _header(lines[0] if lines else "")
    body = "".join(lines[1:]).encode("ascii", "replace")
    parts = _unhex(body).split(b"\n")
    if not body:
        raise VaultError("the encrypted text ends after its header: lines are missing", "Copy the whole text again.")
    if len(parts) != 3:
        raise VaultError("the encrypted text is damaged: salt, signature and data are expected", _FORM)
    salt, signature, data = (_unhex(part) for part in parts)
    if len(signature) != hashlib.sha256().digest_size or not data or len(data) % _BLOCK:
        hint = "Compare it with the original: lines are missing or were changed."
        raise VaultError("the encrypted text is damaged: it is shorter than it says", hint)
    return Envelope(label, salt, signature, data)


def open_envelope(envelope: Envelope, passwords: Sequence[bytes]) -> tuple[bytes, int] | None:
    """The content, and which of the passwords it was; None when none fits. Costs some 10 ms a password.

    Raises VaultError for content that no vault can hold.
    """
    for number, password in enumerate(passwords):
        keys = hashlib.pbkdf2_hmac("sha256", password, envelope.salt, _ROUNDS, 32 + 32 + _BLOCK)
        if hmac.compare_digest(hmac.digest(keys[32:64], envelope.data, "sha256"), envelope.signature):
            return _unpadded(_decrypt(envelope.data, keys[:32], keys[64:])), number
    return None


def _header(line: str) -> str | None:
    words = [word.strip() for word in line.split(";")]
    if words[0] != _MARK:
        raise VaultError("this is no text that Ansible Vault has encrypted", _FORM)
    if len(words) < 3:
        raise VaultError(f"the header of the encrypted text is damaged: {line[:60]!r}", _FORM)
    version, cipher = words[1], words[2]
    if version not in {"1.1", "1.2"}:
        hint = "Encrypt it anew with `ansible-vault rekey`."
        raise VaultError(f"the format {version!r} of Ansible Vault is not known here: 1.1 and 1.2 are", hint)
    if cipher != "AES256":
        hint = "Encrypt it anew with `ansible-vault rekey`."
        raise VaultError(f"the cipher {cipher!r} of Ansible Vault is not known here: AES256 is", hint)
    return words[3] if version == "1.2" and len(words) > 3 and words[3] else None


def _unhex(text: bytes) -> bytes:
    if not _HEX.fullmatch(text):
        raise VaultError("the encrypted text is damaged: it holds more than hexadecimal digits", _FORM)
    try:
        return binascii.unhexlify(text)
    except binascii.Error as exc:
        hint = "Compare it with the original: a character is missing or too many."
        raise VaultError("the encrypted text is damaged: its number of digits is odd", hint) from exc


def _decrypt(data: bytes, key: bytes, counter: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    decryptor = Cipher(AES(key), CTR(counter)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def _unpadded(data: bytes) -> bytes:
    count = data[-1]
    if not 1 <= count <= _BLOCK or data[-count:] != bytes([count]) * count:
        raise VaultError("the encrypted text is damaged: its end is not that of a vault")
    return data[:-count]
