"""The JSON Schema of what Ansible's words make of a playbook: plays of tasks, tasks, blocks, imported playbooks.

For editors alone, made of the tables in `task_words`; `tasks` reads them, and is stricter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrunner.load.play_words import PREFIXES, TASK_SECTIONS
from checkrunner.load.task_loops import WITH
from checkrunner.load.task_words import (
    BLOCK_KEYS,
    MODULES,
    PLAY_KEYS,
    TASK_KEYS,
    Word,
)

__all__ = ["IMPORTED", "TASK_PLAY", "task_schemas"]

TASK_PLAY = "TaskPlay"
IMPORTED = "ImportedPlaybook"
_LIST = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Task"}, {"$ref": "#/$defs/TaskBlock"}]}}
_LISTS = (*TASK_SECTIONS, "handlers", "block", "rescue", "always")


def task_schemas() -> dict[str, dict[str, Any]]:
    """The definitions by name."""
    modules = {
        f"{prefix}{name}": {"description": words.says} for name, words in MODULES.items() for prefix in ("", *PREFIXES)
    }
    loops = {f"with_{name}": {"description": "A loop as Ansible had them before `loop`."} for name in WITH}
    listen = {"listen": {"description": "Of a handler: names that it is notified by as well."}}
    imported = {f"{prefix}import_playbook": {"type": "string"} for prefix in ("", *PREFIXES)}
    return {
        TASK_PLAY: {
            **_object("Tasks as Ansible writes them, for a pattern of hosts.", _keys(PLAY_KEYS), required=["hosts"]),
            "anyOf": [{"required": [section]} for section in (*TASK_SECTIONS, "handlers", "gather_facts")],
            "not": {"required": ["checks"]},
        },
        "Task": _object("One task: a module with its arguments.", {**_keys(TASK_KEYS), **loops, **modules, **listen}),
        "TaskBlock": _object("Tasks that belong together.", _keys(BLOCK_KEYS), required=["block"]),
        IMPORTED: {
            **_object(
                "The plays of another playbook.",
                {**imported, **{key: {} for key in ("name", "vars", "when", "tags")}},
            ),
            "anyOf": [{"required": [key]} for key in imported],
        },
    }


def _object(says: str, properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    found = {"type": "object", "description": says, "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


def _keys(words: Mapping[str, Word]) -> dict[str, Any]:
    """What is refused is left out, so that an editor marks it."""
    return {
        key: {"description": word.says, **(_LIST if key in _LISTS else {})}
        for key, word in words.items()
        if word.how != "no"
    }
