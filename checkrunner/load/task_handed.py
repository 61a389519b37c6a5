"""What plays, blocks and inclusions hand down to the tasks in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from checkrunner.load.nodes import Node, YamlMap, YamlScalar
from checkrunner.load.task_values import Values, lone_expression
from checkrunner.model.inventory import empty
from checkrunner.model.playbook import Become
from checkrunner.model.sources import Secret, Template
from checkrunner.model.tasks import BlockPlace

__all__ = ["Handed", "read_handed"]

_METHODS = ("sudo", "su", "doas")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What a play, a block or an inclusion hands down to the tasks in it."""

    when: tuple[Template, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=empty)
    tags: tuple[str, ...] = ()
    become: Become = field(default_factory=Become)
    env: Mapping[str, Template | Secret] = field(default_factory=empty)
    environment: tuple[Template, ...] = ()
    ignore_errors: bool | Template = False
    no_log: bool = False
    run_once: bool = False
    delegate_to: Template | None = None
    timeout_s: float | None = None
    notify: tuple[str, ...] = ()
    blocks: tuple[BlockPlace, ...] = ()
    includes: tuple[str, ...] = ()
    literal: Mapping[str, Any] = field(default_factory=empty)


def read_handed(values: Values, node: YamlMap, outer: Handed) -> Handed:
    """The keys that blocks, inclusions and tasks share, over those of what is around."""
    found = replace(outer, become=_become(values, node, outer.become))
    if "when" in node:
        found = replace(found, when=(*outer.when, *values.conditions(node["when"], "when")))
    if "vars" in node:
        own = values.variables(node["vars"])
        found = replace(
            found,
            vars=MappingProxyType({**outer.vars, **own}),
            literal=MappingProxyType({**outer.literal, **own}),
        )
    if "tags" in node:
        found = replace(found, tags=tuple(dict.fromkeys((*outer.tags, *values.words(node["tags"], "tags")))))
    if "environment" in node:
        found = _environment(values, node["environment"], found)
    if "ignore_errors" in node:
        found = replace(found, ignore_errors=_flag_or_template(values, node["ignore_errors"], "ignore_errors"))
    if "delegate_to" in node:
        found = replace(found, delegate_to=values.text(node["delegate_to"], "delegate_to"))
    if "timeout" in node:
        found = replace(found, timeout_s=values.number(node["timeout"], "timeout") or None)
    if "notify" in node:
        found = replace(found, notify=(*outer.notify, *values.names(node["notify"], "notify")))
    if "no_log" in node:
        found = replace(found, no_log=values.flag(node["no_log"], "no_log"))
    if "run_once" in node:
        found = replace(found, run_once=values.flag(node["run_once"], "run_once"))
    return found


def _flag_or_template(values: Values, node: Node, what: str) -> bool | Template:
    if isinstance(node, YamlScalar) and (inner := lone_expression(node.raw)) is not None:
        return Template(text=inner.strip(), source=node.ref)
    return values.flag(node, what)


def _become(values: Values, node: YamlMap, outer: Become) -> Become:
    found = outer
    if "become" in node:
        found = replace(found, become=values.flag(node["become"], "become"))
    if "become_user" in node:
        found = replace(found, user=values.plain(node["become_user"], "become_user"))
    if "become_method" in node:
        method = values.plain(node["become_method"], "become_method").removeprefix("ansible.builtin.")
        if method not in _METHODS:
            raise values.fail(node["become_method"], f"become_method is sudo, su or doas, this is {method!r}")
        found = replace(found, method=method)
    return found


def _environment(values: Values, node: Node, outer: Handed) -> Handed:
    if isinstance(node, YamlScalar):
        if node.value is None:
            return outer
        inner = lone_expression(node.raw)
        if inner is None:
            raise values.fail(node, "environment is a mapping, or a template of one")
        expression = Template(text=inner.strip(), source=node.ref)
        return replace(outer, environment=(*outer.environment, expression))
    if isinstance(node, YamlMap):
        env = {}
        for key, value in node.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
                raise values.fail(node.keys_at[key], f"{key!r} is not the name of an environment variable")
            secret = isinstance(value, YamlScalar) and isinstance(value.value, Secret)
            env[key] = value.value if secret else values.text(value, key)
        return replace(outer, env=MappingProxyType({**outer.env, **env}))
    for item in node:
        outer = _environment(values, item, outer)
    return outer
