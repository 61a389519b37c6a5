"""The playbook format: a pydantic model for each kind of mapping, a description for each key; the manual is made of it.

Models take nodes (`documents`) and hold finished values. They never leave `load`: `checks` makes the words of `model`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import models_json_schema

from checkrunner.load.schema_base import ENTRY, StrictModel
from checkrunner.load.schema_baseline import BaselineModel
from checkrunner.load.schema_checks import BlockModel, CheckModel, IncludeModel, SharedModel
from checkrunner.load.schema_flow import LoopControlModel, PromptModel, SampleModel
from checkrunner.load.schema_plays import ParamModel, PlayModel
from checkrunner.load.schema_tasks import IMPORTED, TASK_PLAY, task_schemas
from checkrunner.load.schema_values import (
    ConsensusModel,
    ExpectModel,
    ExtractModel,
    LevelsModel,
    ParseModel,
    QuorumModel,
    SliceModel,
    TextModel,
)

__all__ = [
    "BaselineModel",
    "BlockModel",
    "CheckModel",
    "ConsensusModel",
    "ExpectModel",
    "ExtractModel",
    "IncludeModel",
    "LevelsModel",
    "LoopControlModel",
    "ParamModel",
    "ParseModel",
    "PlayModel",
    "PromptModel",
    "QuorumModel",
    "SampleModel",
    "SharedModel",
    "SliceModel",
    "TextModel",
    "playbook_schema",
]

_SCHEMA_ID = "checkrunner/playbook/1"

_PLAYS: tuple[type[StrictModel], ...] = (PlayModel,)
"""What a playbook is a list of."""

_ENTRIES: tuple[type[StrictModel], ...] = (CheckModel, BlockModel, IncludeModel)
"""What a list of checks holds."""


_MODELS: tuple[type[StrictModel], ...] = (
    *_PLAYS,
    *_ENTRIES,
    *(ParamModel, ExpectModel, TextModel, SliceModel, ParseModel, ExtractModel, LevelsModel),
    *(ConsensusModel, QuorumModel, BaselineModel, LoopControlModel, PromptModel, SampleModel),
)


def playbook_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook (draft 2020-12), every key with its description."""
    _, found = models_json_schema([(model, "validation") for model in (*_PLAYS, *_ENTRIES)], by_alias=True)
    defs = {model.__name__: _tidy(found["$defs"][model.__name__]) for model in _MODELS}
    defs["IncludeModel"]["oneOf"] = [{"required": ["include_checks"]}, {"required": ["import_checks"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _SCHEMA_ID,
        "title": "checkrunner playbook",
        "type": "array",
        "items": _any_of([*(model.__name__ for model in _PLAYS), TASK_PLAY, IMPORTED]),
        "minItems": 1,
        "$defs": {**defs, **task_schemas()},
    }


def _any_of(names: Iterable[str]) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


def _tidy(value: Any) -> Any:
    """Without titles that repeat the key, and without null: a key that has no value is left out, never null."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value == ENTRY:
        return _any_of(model.__name__ for model in _ENTRIES)
    found = {key: _tidy(item) for key, item in value.items() if not (key == "default" and item is None)}
    if isinstance(found.get("title"), str) and ("type" in found or "anyOf" in found or "enum" in found):
        del found["title"]
    options = found.get("anyOf")
    if isinstance(options, list):
        options = [inner for option in options for inner in (option["anyOf"] if [*option] == ["anyOf"] else [option])]
        options = [option for option in options if option != {"type": "null"}]
        found.pop("anyOf")
        found = {**(options[0] if len(options) == 1 else {"anyOf": options}), **found}
    return found
