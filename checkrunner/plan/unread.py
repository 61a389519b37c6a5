"""Variables of the command line that no text reads: most often a typing error, which would pass in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checkrunner.model.errors import TemplateError, nearest
from checkrunner.model.sources import Template
from checkrunner.plan.build import Plan
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import holds_template

__all__ = ["unread_extra_vars"]


def unread_extra_vars(plan: Plan) -> list[tuple[str, str | None]]:
    """Each with the name that it was probably meant to be: one that a text or another variable reads."""
    extra = plan.setup.extra_vars
    read = {name for shape in plan.shapes.values() for name in shape.free}
    if extra.keys() <= read:
        return []
    layers = [extra, *(play.vars for play in plan.playbook.plays), *(host.host.vars for host in plan.hosts)]
    for layer in layers:
        for value in layer.values():
            read.update(name for text in _texts(value) for name in _names(plan.templates, text))
    known = sorted(read - extra.keys())
    return [(name, nearest(name, known)) for name in extra if name not in read]


def _texts(value: Any) -> Iterator[Template]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, (str, Template)) and holds_template(value):
        yield Template(text=value) if isinstance(value, str) else value


def _names(templates: Templates, text: Template) -> frozenset[str]:
    try:
        return templates.names_in(text)
    except TemplateError:
        return frozenset()
