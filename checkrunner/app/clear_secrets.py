"""Secrets that stand in a playbook in clear: values with a secret's name, and texts that look like tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from checkrunner.findings.redact import MARK, PatternRedactor
from checkrunner.findings.secret_names import secret_values
from checkrunner.model.playbook import Check, Playbook
from checkrunner.model.problems import Level, Problem
from checkrunner.model.sources import SourceRef, Template
from checkrunner.plan.command_texts import command_texts, place_in

__all__ = ["secrets_in_clear"]

_HINT = "Take it from elsewhere: an encrypted value (ansible-vault), `!env NAME`, `!cmd PROGRAM`, or -e @FILE"

_FROM_ELSEWHERE = re.compile(r"\{\{.*?\}\}|\$\{[^}]*\}|\$\w+")
_EMPTY = re.compile(r"=\s+$")
"""A name that the shell gives no value: what comes next is another word."""


def secrets_in_clear(playbook: Playbook) -> Iterator[Problem]:
    """A problem for each, at its place. Its message never holds the secret; the line of the file may."""
    redactor = PatternRedactor()
    seen: set[tuple[str, int, str]] = set()
    for play in playbook.plays:
        for name in _named(play.vars):
            message = f"variable {name!r} of play {play.name!r} looks like a secret, in clear"
            yield _problem(message, _set_at(playbook, play.source, name))
        for check in _all(play.checks, play.pre_checks):
            for problem in (*_of_variables(check), *_of_texts(check, redactor)):
                key = (problem.source.path, problem.source.line, problem.message)
                if key not in seen:
                    seen.add(key)
                    yield problem


def _set_at(playbook: Playbook, source: SourceRef, name: str) -> SourceRef:
    """The first line from there on that sets the name; the place itself where none does (it is in another file)."""
    lines = playbook.lines if source.path == playbook.path else playbook.included.get(source.path, ())
    wanted = re.compile(rf"(?:^|[\s{{,])(?P<name>[\"']?{re.escape(name)}[\"']?)\s*:")
    for number, line in enumerate(lines[max(source.line - 1, 0) :], max(source.line, 1)):
        if found := wanted.search(line):
            return SourceRef(path=source.path, line=number, column=found.start("name") + 1)
    return source


def _all(*lists: Sequence[Check]) -> Iterator[Check]:
    for checks in lists:
        for check in checks:
            yield check
            yield from _all(check.on_fail)


def _problem(message: str, source: SourceRef, line_text: str = "") -> Problem:
    return Problem(
        level=Level.WARNING,
        rule="secret-in-clear",
        message=message,
        source=source,
        line_text=line_text,
        hint=_HINT,
    )


def _named(variables: Mapping[str, object]) -> Iterator[str]:
    """The names whose values, or values within, have a secret's name and are written out."""
    for name, value in variables.items():
        if any(secret_values({name: _plain(value)})):
            yield str(name)


def _plain(value: object) -> object:
    """A value without its Secrets: these are not in clear."""
    if isinstance(value, Template):
        return value.text if value.is_static else ""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None


def _of_variables(check: Check) -> Iterator[Problem]:
    for name in _named(check.vars):
        yield _problem(f"variable {name!r} of check {check.id!r} looks like a secret, in clear", check.source)
    for name in _named(check.env):
        value = check.env[name]
        source = value.source if isinstance(value, Template) else check.source
        yield _problem(f"`env` {name} looks like a secret, in clear", source)


def _of_texts(check: Check, redactor: PatternRedactor) -> Iterator[Problem]:
    """What of commands and of `env` the report would mask because it looks like a secret."""
    texts = list(command_texts(check))
    texts += [(value, True) for value in check.env.values() if isinstance(value, Template)]
    for text, as_written in texts:
        at = 0
        for line in text.text.split("\n"):
            # What comes from elsewhere is no secret that stands here.
            plain = _FROM_ELSEWHERE.sub(lambda match: "*" * len(match.group()), line)
            shown = redactor.redact(plain)
            first = _first_difference(plain, shown)
            last = len(plain) - _first_difference(plain[::-1], shown[::-1])
            if plain[first:last].strip("* ") and not _EMPTY.search(plain[:first]):
                offset = at + first
                source, line_text = place_in(text, as_written, offset)
                yield _problem(
                    f"check {check.id!r}: this looks like a secret, in clear: {_around(shown)}", source, line_text
                )
            at += len(line) + 1


def _first_difference(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _around(shown: str) -> str:
    """The masked part with what stands before it."""
    at = shown.find(MARK)
    start = max(0, at - 30)
    return ("..." if start else "") + shown[start : at + len(MARK)].strip()
