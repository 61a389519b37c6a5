"""Variables of the command line that no text reads: most often a typing error, which would pass in silence."""

from __future__ import annotations

from checkrunner.model.errors import nearest
from checkrunner.plan.build import Plan
from checkrunner.plan.variables import names_read

__all__ = ["unread_extra_vars"]


def unread_extra_vars(plan: Plan) -> list[tuple[str, str | None]]:
    """Each with the name that it was probably meant to be: one that a text or another variable reads."""
    extra = plan.setup.extra_vars
    read = {name for shape in plan.shapes.values() for name in shape.reach}
    if extra.keys() <= read:
        return []
    layers = [extra, *(play.vars for play in plan.playbook.plays), *(host.host.vars for host in plan.hosts)]
    for layer in layers:
        for value in layer.values():
            read |= names_read(plan.templates, value)
    known = sorted(read - extra.keys())
    return [(name, nearest(name, known)) for name in extra if name not in read]
