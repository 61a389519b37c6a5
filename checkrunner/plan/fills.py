"""Texts filled in as far as that is possible before a run: what reads a result stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import truth
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.shape import Shape
from checkrunner.plan.texts import Templates

__all__ = ["Filler"]

_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)


class Filler:
    """Fills the texts of one check on one host. `late` are the names that only a run knows; `complete` says whether all
    texts so far could be filled in whole."""

    def __init__(self, shape: Shape, names: Mapping[str, Any], late: frozenset[str], templates: Templates) -> None:
        self.complete = True
        self._shape, self._names, self._late, self._templates = shape, names, late, templates

    def is_late(self, text: Template, *, expression: bool = False) -> bool:
        """Whether a text comes to read what only a run knows. One that cannot be parsed does not."""
        try:
            read = self._templates.names_in_expression(text) if expression else self._templates.names_in(text)
        except TemplateError:
            return False
        return not self._late.isdisjoint(self._shape.read_by(read))

    def text(self, text: Template, *, for_shell: bool = False) -> str | None:
        """The text; None where it is omitted."""
        if text.is_static:
            return text.text
        if not self.is_late(text):
            try:
                return self._templates.render_or_omit(text, self._names, for_shell=for_shell)
            except TemplateError:
                self.complete = False
                return text.text
        self.complete = False
        if "{%" in text.text or "{#" in text.text:
            return text.text
        return _VALUE.sub(lambda match: self._part(match.group(), text, for_shell), text.text)

    def _part(self, written: str, whole: Template, for_shell: bool) -> str:
        part = Template(text=written, source=whole.source)
        if self.is_late(part):
            return written
        try:
            return self._templates.render(part, self._names, for_shell=for_shell)
        except TemplateError:
            return written

    def env(self, value: Template | Secret) -> str | None:
        """A variable of the environment; a secret is masked, None where it is omitted."""
        if isinstance(value, Secret):
            return str(value)
        if value.is_static or self.is_late(value):
            return self.text(value)
        try:
            found = self._templates.render_env_or_omit(value, self._names)
        except TemplateError:
            self.complete = False
            return value.text
        return None if found is None else str(found)

    def holds(self, condition: Template) -> bool | None:
        """Whether a condition holds; None where only a run can tell, or nobody."""
        if self.is_late(condition, expression=True):
            return None
        try:
            return truth(self._templates.evaluate(condition, self._names))
        except TemplateError:
            return None
