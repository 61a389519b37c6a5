"""Which secrets a plan's texts lead to. What nobody reads need not be opened: no password, no program for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from checkrunner.model.sources import Secret
from checkrunner.plan.build import Plan
from checkrunner.plan.variables import names_read

__all__ = ["leading_to_closed", "secrets_in", "unopened_secrets"]


def secrets_in(value: Any) -> Iterator[Secret]:
    """The secrets in a value: itself, or in mappings and lists within."""
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from secrets_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from secrets_in(item)


def unopened_secrets(plan: Plan) -> tuple[list[Secret], list[Secret]]:
    """The secrets of the plan that are not opened yet: those that a check or a connection needs, and the others."""
    layers = _layers(plan)
    named = [(name, secret) for layer in layers for name, secret in _closed(layer)]
    used = [host.host.password for host in plan.hosts if host.host.password is not None]
    checks = [plan.shapes[key].check for key in plan.selected]
    texts = [text for check in checks for text in (*check.env.values(), *(rule.answer for rule in check.prompts))]
    used += [text for text in texts if isinstance(text, Secret)]
    if named:
        read = _read(plan, layers, {name for key in plan.selected for name in plan.shapes[key].free})
        used += [secret for name, secret in named if name in read]
    needed = dict.fromkeys(secret for secret in used if not secret.is_open)
    others = dict.fromkeys(secret for _, secret in named if secret not in needed)
    return list(needed), list(others)


def leading_to_closed(plan: Plan, names: Iterable[str]) -> frozenset[str]:
    """Those of the variables whose value is made of secrets that are not opened: to read one would open them."""
    layers = _layers(plan)
    closed = {name for layer in layers for name, _ in _closed(layer)}
    if not closed:
        return frozenset()
    return frozenset(name for name in names if not closed.isdisjoint(_read(plan, layers, {name})))


def _layers(plan: Plan) -> list[Mapping[str, Any]]:
    hosts = (host.host.vars for host in plan.hosts)
    checks = (shape.check.vars for shape in plan.shapes.values() if shape.check.vars)
    return [plan.setup.extra_vars, *(play.vars for play in plan.playbook.plays), *checks, *hosts]


def _closed(layer: Mapping[str, Any]) -> Iterator[tuple[str, Secret]]:
    for name, value in layer.items():
        if not isinstance(value, (str, int)):
            yield from ((name, secret) for secret in secrets_in(value) if not secret.is_open)


def _read(plan: Plan, layers: list[Mapping[str, Any]], names: set[str]) -> set[str]:
    """These variables, and those that they are made of."""
    read: set[str] = set()
    todo = set(names)
    while todo:
        read |= todo
        values = [layer[name] for layer in layers for name in todo & layer.keys()]
        todo = {name for value in values for name in names_read(plan.templates, value)} - read
    return read
