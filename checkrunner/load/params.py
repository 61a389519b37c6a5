"""Parameters of a playbook: what it says of them, and the values that they are set to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checkrunner.load.entries import Findings
from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import YamlMap
from checkrunner.model.errors import PlaybookError
from checkrunner.model.params import ParamError, param_value, type_of
from checkrunner.model.playbook import Param, ParamType, Play
from checkrunner.model.sources import SourceRef

if TYPE_CHECKING:  # they are loaded only to read a playbook
    from checkrunner.load.schema_plays import ParamModel, PlayModel

__all__ = ["differing", "read_params"]


def read_params(model: PlayModel, node: YamlMap, found: Findings) -> tuple[Param, ...]:
    """The parameters of a play. What is wrong with defaults and choices is noted; such a parameter is left out."""
    written = node.get("params")
    params = []
    for name, param in (model.params or {}).items():
        at = written.get(name) if isinstance(written, YamlMap) else None
        source = written.keys_at[name].ref if isinstance(written, YamlMap) else node.ref
        if name in model.vars:
            hint = "Drop it from `vars`; its value there goes into `default`."
            found.fail(source, f"{name!r} is a parameter and a variable of the play", hint)
            continue
        one = _param(name, param, at, source, found)
        params += [one] if one else []
        if one is None or one.required:
            found.lost.add(name)
    return tuple(params)


def _param(name: str, model: ParamModel, at: Any, source: SourceRef, found: Findings) -> Param | None:
    kind = ParamType(model.type) if model.type else type_of(model.default)
    shape = Param(name=name, type=kind)
    try:
        written = model.choices or ()
        # Those of a list are of its items.
        choices = tuple(written if kind is ParamType.LIST else (param_value(shape, choice) for choice in written))
    except ParamError as exc:
        found.fail(_at(at, "choices", source), f"a choice of parameter {name!r} {exc}", exc.hint)
        return None
    default = None
    if not model.required:
        try:
            default = param_value(Param(name=name, type=kind, choices=choices), model.default)
        except ParamError as exc:
            found.fail(_at(at, "default", source), f"the default of parameter {name!r} {exc}", exc.hint)
            return None
    return Param(
        name=name,
        type=kind,
        default=default,
        required=model.required,
        choices=choices,
        help=model.help or "",
        source=source,
    )


def _at(node: Any, key: str, fallback: SourceRef) -> SourceRef:
    return node.keys_at[key].ref if isinstance(node, YamlMap) and key in node.keys_at else fallback


def differing(plays: Iterable[Play], files: FileSet) -> Iterator[PlaybookError]:
    """Parameters that two plays declare, and not alike: they are the playbook's as a whole."""
    first: dict[str, Param] = {}
    for play in plays:
        for param in play.params:
            before = first.setdefault(param.name, param)
            if replace(before, source=param.source, help=param.help) != param:
                message = f"parameter {param.name!r} is declared otherwise in line {before.source.line}"
                hint = "A parameter holds for all plays: declare it in one of them."
                yield files.fail(param.source, message, hint)
