"""Shell syntax errors, found by bash itself where there is one; it reads the text and runs nothing of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

from checkrunner.model.errors import TemplateError
from checkrunner.model.problems import Level, Problem
from checkrunner.model.sources import Template
from checkrunner.plan.build import Plan
from checkrunner.plan.commands import make_command
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.faults import place
from checkrunner.plan.hostplan import Entry, HostPlan

__all__ = ["shell_problems"]

_COMPLAINT = re.compile(r"bash: line (?P<line>\d+): (?P<text>.+)")
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_TIMEOUT_S = 5.0


def shell_problems(plan: Plan) -> Iterator[Problem]:
    """What bash says of the plan's commands. Those with templates are looked at as the first host gets them; where that
    cannot be known yet, with a word in the place of each value."""
    bash = shutil.which("bash")
    if bash is None:
        return
    for text, shell in _commands(plan):
        complaint = _complaint(bash, shell)
        if complaint:
            line, message = complaint
            source, line_text = place(text, _offset(text.text, shell, line))
            source, line_text = excerpt(plan.playbook, source, line_text)
            yield Problem(
                level=Level.WARNING,
                rule="shell-syntax",
                message=f"bash: {message}",
                source=source,
                line_text=line_text,
            )


def _commands(plan: Plan) -> Iterator[tuple[Template, str]]:
    done: set[int] = set()
    for host in plan.hosts:
        for entry in host.track.entries:
            text = entry.shape.check.run
            if text is None or id(entry.shape) in done or entry.shape.errors:
                continue
            shell = text.text if text.is_static else _rendered(plan, host, entry)
            if shell is not None:
                done.add(id(entry.shape))
                yield text, shell


def _rendered(plan: Plan, host: HostPlan, entry: Entry) -> str | None:
    try:
        if not entry.reads:
            return make_command(entry.shape, host.variables(entry), plan.setup).shell
    except TemplateError:
        pass
    text = entry.shape.check.run.text if entry.shape.check.run else ""
    return None if "{%" in text or "{#" in text else _VALUE.sub("x", text)


def _complaint(bash: str, shell: str) -> tuple[int, str] | None:
    # The name that bash calls itself by is given, and no file of the user's is read.
    argv = ["bash", "--noprofile", "--norc", "-n"]
    try:
        done = subprocess.run(
            argv,
            executable=bash,
            input=shell.encode("utf-8", "surrogateescape"),
            capture_output=True,
            env={"LC_ALL": "C"},
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _COMPLAINT.search(done.stderr.decode("utf-8", "replace"))
    return (int(found["line"]), found["text"].removeprefix("warning: ")) if found else None


def _offset(text: str, shell: str, line: int) -> int:
    """Where the line begins in the text, after its indentation; the start where templates have changed the lines."""
    lines = text.split("\n")
    if text.count("\n") != shell.count("\n"):
        return 0
    row = min(line, len(lines)) - 1
    while row and not lines[row].strip():  # an end of file is complained of after the last line
        row -= 1
    return sum(len(item) + 1 for item in lines[:row]) + len(lines[row]) - len(lines[row].lstrip())
