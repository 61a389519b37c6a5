"""Which outputs and facts the texts of a playbook read: nothing else is fetched from a host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from checkrunner.model.inventory import Host
from checkrunner.model.results import Stream
from checkrunner.model.sources import Template
from checkrunner.model.tasks import Module
from checkrunner.plan.shape import Shape

__all__ = ["FAILED_RESULT", "needless_gathering", "outputs_read"]

FAILED_RESULT = "ansible_failed_result"
"""What a rescue calls the result of the task that failed, registered or not."""

_STREAMS = {
    "stdout": Stream.STDOUT,
    "stdout_lines": Stream.STDOUT,
    "stderr": Stream.STDERR,
    "stderr_lines": Stream.STDERR,
}
_ALL = frozenset(Stream)
_INDIRECT = frozenset({"hostvars", "vars"})
_NO_FACTS = re.compile(
    r"ansible_(?:loop|play_|check_mode|diff_mode|forks|inventory_|limit|run_tags|skip_tags|verbosity|version|config_file"
    r"|search_path|failed_|host$|port$|user$|password$|connection$|ssh_|become|python_interpreter$|shell_|role_|index_var"
    r"|parent_|collection_|dependent_|private_key|remote_|pipelining|docker_|podman_|kubectl_|local_temp)"
)


def outputs_read(shapes: Iterable[Shape], hosts: Iterable[Host]) -> Mapping[str, frozenset[Stream]]:
    """For each name that a task registers, and for `FAILED_RESULT`, the outputs that some text reads of it.

    A text that takes a result as a whole, or one of its `results`, may read all of it. Variables whose values are
    templates are texts too, wherever they come from.
    """
    known = list(shapes)
    names = {shape.check.register for shape in known if shape.check.task is not None and shape.check.register}
    if all(shape.check.task is None for shape in known):
        return {}
    found: dict[str, frozenset[Stream]] = {name: frozenset() for name in (*names, FAILED_RESULT) if name}
    for shape in known:
        for part in shape.parts:
            if not part.free.isdisjoint(_INDIRECT) or not part.reads.keys().isdisjoint(_INDIRECT):
                return dict.fromkeys(found, _ALL)
            for name in part.reads.keys() & found.keys():
                found[name] |= _streams(part.reads[name])
    text = "\n".join(_templates_in(known, hosts))
    if any(re.search(rf"\b{word}\b", text) for word in _INDIRECT):
        return dict.fromkeys(found, _ALL)
    return {name: _ALL if re.search(rf"\b{re.escape(name)}\b", text) else read for name, read in found.items()}


def _streams(attributes: frozenset[str]) -> frozenset[Stream]:
    if "" in attributes or "results" in attributes:
        return _ALL
    return frozenset(_STREAMS[name] for name in attributes if name in _STREAMS)


def _templates_in(shapes: Sequence[Shape], hosts: Iterable[Host]) -> Iterable[str]:
    layers: dict[int, Mapping[str, Any]] = {}
    for shape in shapes:
        layers |= {id(shape.play.vars): shape.play.vars, id(shape.check.vars): shape.check.vars}
    for host in hosts:
        layers[id(host.vars)] = host.vars
    for layer in layers.values():
        yield from _written(layer)


def _written(value: Any) -> Iterable[str]:
    if isinstance(value, Template):
        value = value.text
    if isinstance(value, str):
        if "{{" in value or "{%" in value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _written(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _written(item)


def needless_gathering(shapes: Mapping[str, Shape], hosts: Iterable[Host]) -> frozenset[str]:
    """The keys of the implicit gathering of facts of plays for which no text reads any: one of the play itself, or of a
    later one before facts are gathered anew."""
    gathering = {
        shape.play_index: key
        for key, shape in shapes.items()
        if shape.check.task is not None
        and shape.check.task.module is Module.SETUP
        and shape.check.task.args.get("implicit")
    }
    if not gathering:
        return frozenset()
    anyway = any(_facts_in(text) for host in hosts for text in _written(host.vars))
    reading = {shape.play_index for shape in shapes.values() if anyway or _reads_facts(shape)}
    needed: set[str] = set()
    for index in reading:
        before = [play for play in gathering if play <= index]
        if before:
            needed.add(gathering[max(before)])
    return frozenset(gathering.values()) - needed


def _reads_facts(shape: Shape) -> bool:
    names = shape.read_by(shape.free)
    if any(_is_fact(name) for name in names) or "hostvars" in names or "vars" in names:
        return True
    return any(_facts_in(text) for layer in (shape.play.vars, shape.check.vars) for text in _written(layer))


def _is_fact(name: str) -> bool:
    return name.startswith("ansible_") and not _NO_FACTS.match(name)


def _facts_in(text: str) -> bool:
    return any(_is_fact(name) for name in re.findall(r"\bansible_\w+", text))
