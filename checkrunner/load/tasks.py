"""Plays as Ansible writes them: `tasks` and what belongs to them, as a play of checks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar
from checkrunner.load.play_words import TASK_SECTIONS
from checkrunner.load.task_handed import Handed, read_handed
from checkrunner.load.task_lists import TaskReader
from checkrunner.load.task_values import Values
from checkrunner.load.task_words import PLAY_KEYS
from checkrunner.load.terms import join_patterns
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, Play, Share
from checkrunner.model.tasks import Module, Task

__all__ = ["read_task_play"]

_STRATEGIES = ("linear", "free", "host_pinned")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def read_task_play(node: YamlMap, files: FileSet) -> tuple[Play | None, list[PlaybookError]]:
    """The play, as far as it could be read, and what is wrong with it."""
    values = Values(files)
    reader = TaskReader(files)
    try:
        play = _head(values, node)
        handed = _handed(values, node)
        variables = _variables(values, node, files)
    except PlaybookError as error:
        return None, [error]
    handed = replace(handed, literal=variables)
    checks: list[Check] = []
    gather = _gather(values, node, reader)
    if gather:
        checks.append(_gathering(node, reader, handed))
    if "handlers" in node:
        reader.handlers(node["handlers"])
    for section in TASK_SECTIONS:
        if section in node:
            checks += reader.section(node[section], handed, f"`{section}`")
    if len(checks) == gather and not reader.errors:
        reader.errors.append(values.fail(node, "this play has no tasks"))
    return replace(play, checks=tuple(checks), vars=variables, facts=gather), reader.errors


def _head(values: Values, node: YamlMap) -> Play:
    values.expect_keys(node, {**PLAY_KEYS, "roles": PLAY_KEYS["roles"]}, "play", also=_harmless(node))
    if "hosts" not in node:
        raise values.fail(node, "the key 'hosts' is missing")
    written = node["hosts"]
    items = written if isinstance(written, YamlList) else [written]
    patterns = [values.plain(item, "hosts") for item in items]
    if any("{{" in pattern for pattern in patterns):
        hint = "Name a group here and narrow it down with --limit."
        raise values.fail(written, "a host pattern cannot hold variables", hint)
    hosts = join_patterns(patterns)
    _connection(values, node, hosts)
    if "strategy" in node:
        strategy = values.plain(node["strategy"], "strategy").removeprefix("ansible.builtin.")
        if strategy not in _STRATEGIES:
            listed = ", ".join(_STRATEGIES)
            raise values.fail(node["strategy"], f"the strategy {strategy!r} is not supported", f"Supported: {listed}.")
    become = read_handed(values, node, Handed()).become
    return Play(
        name=values.plain(node["name"], "name") if "name" in node else hosts,
        hosts=hosts,
        checks=(),
        tags=values.words(node["tags"], "tags") if "tags" in node else (),
        become=become,
        serial=_serial(values, node["serial"]) if "serial" in node else (),
        max_fail=_max_fail(values, node),
        tasks=True,
        source=node.ref,
        hosts_source=written.ref,
    )


def _harmless(node: YamlMap) -> tuple[str, ...]:
    """Keys that are not supported, but that say nothing here."""
    roles = node.get("roles")
    return ("roles",) if isinstance(roles, YamlList) and not roles else ()


def _connection(values: Values, node: YamlMap, hosts: str) -> None:
    if "connection" not in node:
        return
    word = values.plain(node["connection"], "connection").removeprefix("ansible.builtin.")
    if word in {"ssh", "smart"} or (word == "local" and hosts in _LOCAL):
        return
    hint = "Set `ansible_connection` of these hosts in the inventory, or name `hosts: localhost`."
    raise values.fail(node["connection"], f"the connection {word!r} of a play is not supported", hint)


def _handed(values: Values, node: YamlMap) -> Handed:
    """What the play hands down to its tasks; its variables, tags and privileges are the play's own."""
    found = read_handed(values, node, Handed())
    return Handed(
        env=found.env,
        environment=found.environment,
        ignore_errors=found.ignore_errors,
        no_log=found.no_log,
        run_once=found.run_once,
        timeout_s=found.timeout_s,
    )


def _variables(values: Values, node: YamlMap, files: FileSet) -> Mapping[str, Any]:
    found = dict(values.variables(node["vars"])) if "vars" in node else {}
    if "vars_files" in node:
        written = node["vars_files"]
        for item in written if isinstance(written, YamlList) else [written]:
            found |= _vars_file(values, item, files)
    return MappingProxyType(found)


def _vars_file(values: Values, node: Node, files: FileSet) -> Mapping[str, Any]:
    """The variables of a file; of a list of files, those of the first that is there."""
    names = [values.scalar(item, "a file of variables") for item in (node if isinstance(node, YamlList) else [node])]
    for name in names:
        if "{{" in name.raw:
            raise values.fail(name, f"vars_files: {name.raw!r} holds a template", "Write the name out.")
    there = [name for name in names if os.path.isfile(files.resolve(name))]
    return files.variables((there or names)[0]) if names else {}


def _serial(values: Values, node: Node) -> tuple[Share, ...]:
    items = node if isinstance(node, YamlList) else [node]
    return tuple(_share(values, item) for item in items)


def _share(values: Values, node: Node) -> Share:
    text = values.plain(node, "serial")
    number = text.removesuffix("%").strip()
    if not (number.isdigit() and number.isascii() and len(number) < 10) or (text.endswith("%") and int(number) > 100):
        raise values.fail(node, f"serial is a number of hosts, or a share such as '30%', this is {text!r}")
    if text.endswith("%"):
        return Share(fraction=int(number) / 100)
    return Share(count=int(number)) if int(number) else Share(fraction=1.0)


def _max_fail(values: Values, node: YamlMap) -> Share | None:
    if "any_errors_fatal" in node and values.flag(node["any_errors_fatal"], "any_errors_fatal"):
        return Share(count=1)
    if "max_fail_percentage" not in node:
        return None
    share = values.number(node["max_fail_percentage"], "max_fail_percentage")
    return None if share >= 100 else Share(fraction=share / 100, beyond=True)


def _gather(values: Values, node: YamlMap, reader: TaskReader) -> bool:
    if "gather_facts" not in node:
        return True
    written = node["gather_facts"]
    if isinstance(written, YamlScalar) and written.raw.strip() in {"smart", "implicit", "explicit"}:
        return written.raw.strip() != "explicit"
    try:
        return values.flag(written, "gather_facts")
    except PlaybookError as error:
        reader.errors.append(error)
        return False


def _gathering(node: YamlMap, reader: TaskReader, handed: Handed) -> Check:
    """The task that no playbook writes: it is left out where no text reads a fact."""
    task = Task(module=Module.SETUP, args=MappingProxyType({"implicit": True}), source=node.ref)
    return Check(
        id=reader.name("gathering-facts"),
        name="Gathering Facts",
        tags=("always",),
        env=handed.env,
        task=replace(task, environment=handed.environment),
        source=node.ref,
    )
