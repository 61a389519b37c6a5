"""What is wrong with the `needs` of a check, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from checkrunner.model.errors import TemplateError, nearest
from checkrunner.plan.build import Plan
from checkrunner.plan.faults import NeedError

__all__ = ["need_errors"]


def need_errors(plan: Plan, key: str) -> Iterator[TemplateError]:
    """What a check needs and no check is called, or only one that it cannot wait for. `key` is the check's."""
    shape = plan.shapes[key]
    for wanted in shape.check.needs:
        before, after, aside = _called(plan, key, wanted)
        hint = ""
        if before:
            if plan.selected.isdisjoint(before) and key in plan.selected:
                message = f"check {shape.check.id!r} needs {wanted!r}, which the tags leave out"
                yield NeedError(message, source=shape.check.source, hint="Select it as well")
            continue
        if wanted == shape.check.id:
            message = f"check {wanted!r} needs itself"
        elif after:
            message = f"check {shape.check.id!r} needs {wanted!r}, which comes only later"
            hint = "Move that check before this one"
        elif aside:
            message = f"check {shape.check.id!r} needs {wanted!r}, which runs only where another check is not ok"
            hint = "Need that other check, or move this one into the same `on_fail`"
        else:
            close = nearest(wanted, {one.check.id for one in plan.shapes.values()} - {shape.check.id})
            message = f"check {shape.check.id!r} needs {wanted!r}, and no check has that id"
            hint = f"Did you mean {close!r}?" if close else ""
        yield NeedError(message, source=shape.check.source, hint=hint)


def _called(plan: Plan, key: str, id_: str) -> tuple[list[str], bool, bool]:
    """The checks of that id that stand before a check; whether one comes later; whether one follows another check,
    beside this one."""
    family = {*_ancestors(plan, key)}
    shape = plan.shapes[key]
    before: list[str] = []
    after = aside = seen = False
    for other, one in plan.shapes.items():
        seen = seen or other == key
        if other == key or one.check.id != id_ or one.play_index > shape.play_index:
            continue
        if one.follows and other not in family and one.follows not in family:
            aside = True
        elif seen:
            after = True
        else:
            before.append(other)
    return before, after, aside


def _ancestors(plan: Plan, key: str) -> Iterator[str]:
    while key := plan.shapes[key].follows:
        yield key
