"""What pydantic found wrong with a playbook, said in the playbook's own terms: place, line, nearest valid word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from checkrunner.load.fileset import FileSet
from checkrunner.load.hints import MISSING, SHAPES, hint_for
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.model.errors import PlaybookError, nearest
from checkrunner.model.sources import SourceRef

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

__all__ = ["PlaybookFileError", "raise_all", "translate"]

_SHOWN = 10


class PlaybookFileError(PlaybookError):
    """Several errors of one file. As an error it is the first one; its text shows up to ten."""

    def __init__(self, errors: Sequence[PlaybookError]) -> None:
        first = errors[0]
        super().__init__(first.message, source=first.source, line_text=first.line_text, hint=first.hint)
        self._errors = tuple(errors)

    @property
    def errors(self) -> tuple[PlaybookError, ...]:
        """All of them, in the order in which they were given."""
        return self._errors

    def __str__(self) -> str:
        shown = [str(error) for error in self._errors[:_SHOWN]]
        more = len(self._errors) - len(shown)
        return "\n".join([*shown, f"... and {more} more errors in this file"] if more else shown)


def raise_all(errors: Sequence[PlaybookError]) -> None:
    """Raise what there is: nothing, the one error, or all of them as one, in the order given."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise PlaybookFileError(errors)


def translate(exc: ValidationError, node: YamlMap, files: FileSet, model: type[BaseModel]) -> list[PlaybookError]:
    """The errors of one mapping: `node` is what `model` was made of."""
    found = exc.errors(include_url=False, include_input=False)
    return list(_translated(found, node, files, model))


def _translated(
    errors: Sequence[Any], node: YamlMap, files: FileSet, model: type[BaseModel]
) -> Iterator[PlaybookError]:
    seen = set()
    for error in errors:
        at, message, hint = _one(error, node, model)
        if (at, message) not in seen and message:
            seen.add((at, message))
            yield files.fail(at, message, hint)


def _one(error: Any, top: YamlMap, model: type[BaseModel]) -> tuple[SourceRef, str, str]:
    loc: tuple[int | str, ...] = error["loc"]
    context = error.get("ctx", {})
    if loc and loc[-1] == "[key]":  # of a mapping with free keys
        return _key_of(top, loc[:-2], str(loc[-2])), context.get("message", error["msg"]), context.get("hint", "")
    node = _walk(top, loc)
    if error["type"] == "extra_forbidden":
        return _unknown(top, loc, model)
    if error["type"] == "missing":
        if {"tasks", "roles", "import_playbook", "include"} & top.keys():
            return top.ref, "", ""  # said already, by the unknown key
        return node.ref, f"the key {loc[-1]!r} is missing", MISSING.get(str(loc[-1]), "")
    if error["type"] in {"list_type", "dict_type", "model_type", "model_attributes_type"}:
        kind = "list" if error["type"] == "list_type" else "mapping"
        return node.ref, f"a {kind} is expected here, this is {raw_text(node)}", _shape_hint(loc, node)
    key = context.get("key")
    if key and isinstance(node, YamlMap):
        path = (key,) if isinstance(key, str) else key
        return _key_of(node, path[:-1], path[-1]), context["message"], context["hint"]
    return context.get("at") or node.ref, context.get("message", error["msg"]), context.get("hint", "")


def _shape_hint(loc: Sequence[int | str], node: Node) -> str:
    if loc[-1] in {"stdout", "stderr"} and isinstance(node, YamlList):
        return f"Write `{loc[-1]}: {{contains: [...]}}`."
    if loc[-1] == "argv" and isinstance(node, YamlScalar):
        return "A list of program and arguments; a shell command is `run`."
    # A value of a mapping with free keys, or an item of a list, is written as the key above says.
    return next((SHAPES[step] for step in reversed(loc) if isinstance(step, str) and step in SHAPES), "")


def _walk(node: Node, loc: Sequence[int | str]) -> Node:
    """The node at a location. Steps that the file does not have (a list or mapping that a short form left out) stay."""
    for step in loc:
        if isinstance(node, YamlMap):
            node = node.get(str(step), node)
        elif isinstance(node, YamlList) and isinstance(step, int) and step < len(node):
            node = node[step]
    return node


def _key_of(node: Node, loc: Sequence[int | str], key: str) -> SourceRef:
    parent = _walk(node, loc)
    return parent.keys_at[key].ref if isinstance(parent, YamlMap) and key in parent.keys_at else parent.ref


def _unknown(top: YamlMap, loc: Sequence[int | str], model: type[BaseModel]) -> tuple[SourceRef, str, str]:
    key = str(loc[-1])
    at = _model_at(model, loc[:-1])
    known = [field.alias or name for name, field in at.model_fields.items()]
    hint = hint_for(key) or _elsewhere(key, at)
    close = "not_matches" if key == "not_contains" and "not_matches" in known else nearest(key.lower(), known)
    if close and (not hint or close == key.lower()):
        hint = f"Did you mean {close!r}?"
    return _key_of(top, loc[:-1], key), f"unknown key {key!r}", hint or f"Known here: {', '.join(known)}."


def _elsewhere(key: str, model: type[BaseModel]) -> str:
    """Where a key belongs that is known at another place."""
    from checkrunner.load.schema import CheckModel, PlayModel

    if model is CheckModel and key in PlayModel.model_fields:
        return "This is a key of the play; put it beside `hosts`."
    if model is PlayModel and key in {field.alias or name for name, field in CheckModel.model_fields.items()}:
        return "This is a key of a check; put it below `checks`."
    nested = _fields_below(CheckModel).get(key, []) if model is CheckModel else []
    return f"This is a key of `{nested[0]}`." if len(nested) == 1 else ""


def _fields_below(model: type[BaseModel]) -> dict[str, list[str]]:
    """The keys of the mappings that stand at a model's keys, each with those."""
    found: dict[str, list[str]] = {}
    for name, field in model.model_fields.items():
        inner = _model_in(field.annotation)
        for below, nested in inner.model_fields.items() if inner else ():
            found.setdefault(nested.alias or below, []).append(field.alias or name)
    return found


def _model_at(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel]:
    """The model of the mapping at a place; steps into lists and mappings with free keys change nothing."""
    for step in loc:
        field = next((f for name, f in model.model_fields.items() if (f.alias or name) == step), None)
        inner = field and _model_in(field.annotation)
        model = inner or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is about: of itself, a list of it, a mapping to it, or nothing."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
