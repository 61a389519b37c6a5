"""The shell texts that a check runs, as written: for those who look at commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from checkrunner.model.playbook import Check
from checkrunner.model.sources import SourceRef, Template
from checkrunner.model.tasks import COMMANDS, Module
from checkrunner.plan.faults import place

__all__ = ["command_texts", "place_in"]


def command_texts(check: Check) -> Iterator[tuple[Template, bool]]:
    """Each text, and whether it stands in the file as it is: words of an argv are put together, and what a script's
    file holds is somewhere else."""
    if check.run is not None:
        yield check.run, True
    if check.argv:
        yield _joined(check.argv), False
    task = check.task
    if task is None or task.module not in COMMANDS:
        return
    written = task.args.get("cmd")
    if isinstance(written, Template):
        yield written, True
    words = task.args.get("argv")
    if isinstance(words, Sequence) and words and isinstance(words[0], Template):
        yield _joined(words), False
    script = task.args.get("text")
    if task.module is Module.SCRIPT and isinstance(script, str):
        yield Template(text=script, source=task.source, raw=True), False


def place_in(text: Template, as_written: bool, offset: int) -> tuple[SourceRef, str]:
    """The place of a character, and its line as far as it is known."""
    return place(text, offset) if as_written else (text.source, "")


def _joined(words: Sequence[Template]) -> Template:
    text = " ".join(word.text if "{{" in word.text else shlex.quote(word.text) for word in words)
    return Template(text=text, source=words[0].source)
