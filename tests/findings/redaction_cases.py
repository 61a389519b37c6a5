"""Planted secrets and harmless look-alikes, and what a redactor makes of them. See `redaction/*.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkrunner.findings.redact import PatternRedactor

__all__ = ["KEY", "LookAlike", "Planted", "Score", "kept", "look_alikes", "planted", "score"]

FOLDER = Path(__file__).parent / "redaction"
KEY = b"the key of these tests"
_TAG = r"<secret:[0-9a-z]{4,12}>"


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A text with secrets in it: what is around them, and their kinds. `missed`: known not to be found."""

    where: str
    kinds: tuple[str, ...]
    parts: tuple[str, ...]
    missed: bool

    @property
    def text(self) -> str:
        """As a program printed it."""
        return "".join(self.parts)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What has to go."""
        return self.parts[1::2]

    def masked(self) -> re.Pattern[str]:
        """What has to come out, whatever the tags."""
        return re.compile("".join(_TAG if at % 2 else re.escape(part) for at, part in enumerate(self.parts)))


@dataclass(frozen=True, kw_only=True)
class LookAlike:
    """A line, or several, in which nothing is secret. `masked`: known to be taken for one."""

    kind: str
    text: str
    masked: bool


def planted() -> Iterator[Planted]:
    """The planted ones, in the order of their file."""
    for head, body in _blocks("planted.txt"):
        kinds, _, where = head.removeprefix("missed ").partition(": ")
        parts = tuple(re.split("[\u27e6\u27e7]", body.replace("\u00a6", "")))
        every = tuple(kinds.split(",")) if "," in kinds else (kinds,) * (len(parts) // 2)
        yield Planted(where=where, kinds=every, parts=parts, missed=head.startswith("missed "))


def look_alikes() -> Iterator[LookAlike]:
    """The harmless ones: each line of a section by itself, or all of a section that is named ``whole``."""
    for head, body in _blocks("harmless.txt"):
        kind = head.removeprefix("masked ").removeprefix("whole ")
        for text in [body] if "whole " in head else body.split("\n"):
            yield LookAlike(kind=kind, text=text.replace("\u00a6", ""), masked=head.startswith("masked "))


def _blocks(name: str) -> Iterator[tuple[str, str]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    for block in re.split(r"^@ ", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        yield head, body.strip("\n")


@dataclass(kw_only=True)
class Score:
    """Of one kind: planted secrets, those that went, and texts around them or look-alikes that did not stay."""

    planted: int = 0
    gone: int = 0
    harmed: int = 0


def kept(text: str) -> bool:
    """Whether nothing in the text is taken for a secret."""
    return PatternRedactor(key=KEY).redact(text) == text


def score() -> dict[str, Score]:
    """By kind; harmless look-alikes count under the kind that they are taken for."""
    found: dict[str, Score] = {}
    for case in planted():
        if case.missed:
            continue
        masked = PatternRedactor(key=KEY).redact(case.text)
        whole = case.masked().fullmatch(masked) is not None
        for kind, secret in zip(case.kinds, case.secrets, strict=True):
            entry = found.setdefault(kind, Score())
            entry.planted += 1
            entry.gone += secret not in masked
        if not whole:
            found[case.kinds[0]].harmed += 1
    for alike in look_alikes():
        redactor = PatternRedactor(key=KEY)
        if redactor.redact(alike.text) != alike.text:
            for kind in redactor.counts():
                found.setdefault(kind, Score()).harmed += 1
    return found
