"""Templates and expressions as the rest of checkrunner uses them. The engine behind is loaded when first needed, so
that a run of plain texts never pays for it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.faults import as_template, fault_at
from checkrunner.plan.outside import Outside
from checkrunner.plan.values import OMIT, Hidden, OmittedError

if TYPE_CHECKING:  # only for its name: importing it is what this module puts off
    from checkrunner.plan.templates import Engine, Unit

__all__ = ["Templates"]

_Names = Mapping[str, object]
_NONE: frozenset[str] = frozenset()


class Templates:
    """Renders templates and evaluates expressions over names; each text is compiled once.

    Every method raises TemplateError, with the place in the file, and nothing else. Values are never read as
    templates again. `outside` is what they may ask of the world. Not for several threads at once.
    """

    def __init__(self, outside: Outside | None = None) -> None:
        self._outside = outside or Outside()

    @functools.cached_property
    def _engine(self) -> Engine:
        from checkrunner.plan.templates import Engine

        return Engine(self._outside)

    def render(self, template: Template, names: _Names, *, for_shell: bool = False) -> str:
        """The text with its templates filled in; a secret in it is an error. With `for_shell` it is a command,
        and text that came from a host is quoted where it enters."""
        return template.text if template.is_static else self._engine.render(template, names, for_shell=for_shell)

    def render_or_omit(self, template: Template, names: _Names, *, for_shell: bool = False) -> str | None:
        """As `render`; None where the whole text is one ``{{ ... }}`` that comes to ``omit``."""
        try:
            return self.render(template, names, for_shell=for_shell)
        except TemplateError as error:
            unit = self.unit(template, expression=False)
            if isinstance(error.__cause__, OmittedError) and unit is not None and unit.lone is not None:
                return None
            raise

    def render_env(self, template: Template, names: _Names) -> str | Secret:
        """The text for an environment variable: a Secret when a secret is in it."""
        text = self.render_env_or_omit(template, names)
        if text is None:
            raise fault_at(template, 0, str(OmittedError()))
        return text

    def render_env_or_omit(self, template: Template, names: _Names) -> str | Secret | None:
        """As `render_env`; None where the whole text is one ``{{ ... }}`` that comes to ``omit``."""
        if template.is_static:
            return template.text
        value = self._engine.value_of(template, names, "env")
        if isinstance(value, Hidden):
            return value.secret()
        if value is OMIT:
            return None
        return "" if value is None else str(value)

    def evaluate(self, expression: Template | str, names: _Names) -> Any:
        """The value of an expression (no braces). Whether it counts as true: `model.metadata.truth`."""
        return self._engine.evaluate(as_template(expression), names)

    def value_of(self, template: Template, names: _Names, name: str) -> Any:
        """The value of the variable `name` whose text is a template: typed when the text is one ``{{ ... }}``."""
        return template.text if template.is_static else self._engine.value_of(template, names, name)

    def unit(self, text: Template | str, *, expression: bool) -> Unit | None:
        """What is known of a text before it is evaluated; None for a text without templates."""
        template = as_template(text)
        return None if template.is_static and not expression else self._engine.unit(template, expression)

    def names_in(self, template: Template) -> frozenset[str]:
        """The names that a text takes from outside."""
        unit = self.unit(template, expression=False)
        return unit.free if unit else _NONE

    def names_in_expression(self, expression: Template | str) -> frozenset[str]:
        """The names that an expression reads."""
        unit = self.unit(expression, expression=True)
        return unit.free if unit else _NONE

    def attributes_of(self, expression: Template | str, name: str) -> frozenset[str]:
        """What an expression reads of one of its names: ``{"rc"}`` for ``disk.rc > 0``."""
        unit = self.unit(expression, expression=True)
        return unit.attributes.get(name, _NONE) if unit else _NONE

    def vocabulary(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of all filters, and of all tests."""
        return self._engine.filters()
