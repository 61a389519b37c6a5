"""Answers to questions: rendered, and secret unless they are too short for that; what lint says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from checkrunner.model.characters import untypeable
from checkrunner.model.errors import TemplateError
from checkrunner.model.playbook import PromptRule
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.faults import fault_at
from checkrunner.plan.texts import Templates

__all__ = ["prompt_habits", "render_answer"]

_SHORTEST = 4
"""Characters of an answer that nobody else may see, if it is no Secret by itself: `yes` and `2` are none."""

_EITHER_CASE = re.compile(r"\[(\w)\w\]")
_ASKS_FOR_SECRET = re.compile(r"pass(word|phrase|code)|passwd|kennwort|passwort|\bpin\b|secret|token", re.IGNORECASE)


def render_answer(prompt: PromptRule, names: Mapping[str, Any], templates: Templates) -> str | Secret:
    """The line to type. Raises TemplateError, also for what cannot be typed as one."""
    written = prompt.answer
    value = written if isinstance(written, Secret) else templates.render_env(written, names)
    text = value.reveal() if isinstance(value, Secret) else value
    why = untypeable(text)
    if why:
        message = f"the answer cannot be typed: {why}"
        if isinstance(written, Template):
            raise fault_at(written, 0, message)
        raise TemplateError(message, source=prompt.source)
    return Secret(text) if not isinstance(value, Secret) and len(text) >= _SHORTEST else value


def prompt_habits(prompt: PromptRule) -> Iterator[tuple[str, str]]:
    """What is worth a warning in an answer: message and hint."""
    match, answer = prompt.match, prompt.answer
    if match.is_static and _fits_everything(match.text):
        hint = "Name the question: words that it has, and `$` behind its end"
        yield f"{match.text!r} fits every question, whatever is asked", hint
    written_out = isinstance(answer, Template) and answer.is_static and len(answer.text) >= _SHORTEST
    if written_out and _ASKS_FOR_SECRET.search(_EITHER_CASE.sub(r"\1", match.text)):
        hint = "Put it into a variable that is kept elsewhere (`-e @FILE`, an encrypted file): {{ name }}"
        yield "the answer to this looks like a password, and stands in the playbook for all to read", hint


def _fits_everything(pattern: str) -> bool:
    try:
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return all(found.search(text) for text in ("", "Are you sure [y/N]? ", "#"))
