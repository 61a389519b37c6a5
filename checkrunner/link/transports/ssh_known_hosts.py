"""known_hosts files: who is known by which key, and where that is written.

Read line by line, keys only when their line matters: a file of many thousand lines costs a few milliseconds once, a
line that is wrong spoils nothing, and a refusal can name file and line.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

__all__ = ["Entry", "KnownHosts"]

_PLAIN_PORT = 22


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a file. `marker` is "", ``revoked`` or ``cert-authority``."""

    path: str
    line: int
    marker: str
    data: str

    def key(self) -> asyncssh.SSHKey | None:
        """The line's key, or None when it is of a kind that is not known here."""
        try:
            return asyncssh.import_public_key(self.data)
        except (asyncssh.KeyImportError, ValueError):
            return None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class KnownHosts:
    """The entries of some files, in the order of the files. Files that do not exist are empty."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._plain: dict[str, list[Entry]] = {}
        self._hashed: list[tuple[bytes, bytes, Entry]] = []
        self._patterns: list[tuple[list[tuple[bool, re.Pattern[str]]], Entry]] = []
        for path in paths:
            try:
                text = Path(path).read_text("utf-8", "replace")
            except (FileNotFoundError, NotADirectoryError):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                self._read(path, number, line)

    def _read(self, path: str, number: int, line: str) -> None:
        words = line.split(None, 1)
        if len(words) < 2 or words[0].startswith("#"):
            return
        marker = ""
        if words[0].startswith("@"):
            marker = words[0][1:]
            words = words[1].split(None, 1)
        if len(words) < 2 or marker not in ("", "revoked", "cert-authority"):
            return
        names, data = words
        self._add(names, Entry(path, number, marker, data))

    def _add(self, names: str, entry: Entry) -> None:
        if names.startswith("|1|"):
            try:
                salt, digest = (base64.b64decode(part, validate=True) for part in names[3:].split("|"))
            except (ValueError, binascii.Error):
                return
            self._hashed.append((salt, digest, entry))
        elif any(char in names for char in "*?!"):
            self._patterns.append(([_pattern(name) for name in names.lower().split(",") if name], entry))
        else:
            for name in names.lower().split(","):
                self._plain.setdefault(name, []).append(entry)

    def find(self, name: str, port: int) -> list[Entry]:
        """The entries for a host. As with ssh, those without a port hold too, where none names the port."""
        exact = self.find_exact(name, port)
        if port != _PLAIN_PORT and not any(entry.marker != "revoked" for entry in exact):
            return exact + self.find_exact(name, _PLAIN_PORT)
        return exact

    def find_exact(self, name: str, port: int) -> list[Entry]:
        """The entries for a host on this very port."""
        name = name.lower()
        wanted = name if port == _PLAIN_PORT else f"[{name}]:{port}"
        raw = wanted.encode()
        out = list(self._plain.get(wanted, ()))
        out += [entry for salt, digest, entry in self._hashed if hmac.digest(salt, raw, "sha1") == digest]
        out += [entry for patterns, entry in self._patterns if _matches(patterns, wanted)]
        return out

    def remember(self, path: str, name: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Take a new key for a host, here and at the end of the file. False when the file cannot be written."""
        data = key.export_public_key("openssh").decode("ascii").strip()
        data = " ".join(data.split()[:2])
        wanted = name.lower() if port == _PLAIN_PORT else f"[{name.lower()}]:{port}"
        self._plain.setdefault(wanted, []).append(Entry(path, 0, "", data))
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(fd).st_size
                # A last line without its newline would swallow ours.
                join = b"" if not size or os.pread(fd, 1, size - 1) == b"\n" else b"\n"
                # One write: lines of programs that add at the same time do not mix.
                os.write(fd, join + f"{wanted} {data}\n".encode())
            finally:
                os.close(fd)
        except OSError:
            return False
        return True


def _pattern(name: str) -> tuple[bool, re.Pattern[str]]:
    wanted = not name.startswith("!")
    text = re.escape(name.lstrip("!")).replace(r"\*", ".*").replace(r"\?", ".")
    return wanted, re.compile(text)


def _matches(patterns: list[tuple[bool, re.Pattern[str]]], name: str) -> bool:
    found = False
    for wanted, pattern in patterns:
        if pattern.fullmatch(name):
            if not wanted:
                return False
            found = True
    return found
