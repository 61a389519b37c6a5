"""The words that tell what a play is written in: ours, or Ansible's."""

from __future__ import annotations

from collections.abc import Container

__all__ = ["PREFIXES", "TASK_SECTIONS", "is_task_play"]

TASK_SECTIONS = ("pre_tasks", "tasks", "post_tasks")
"""The lists of tasks of a play, in the order in which they run."""

PREFIXES = ("ansible.builtin.", "ansible.legacy.")
"""What may stand before the name of a module."""

_ONLY_TASKS = (*TASK_SECTIONS, "roles", "handlers", "gather_facts")


def is_task_play(play: Container[str]) -> bool:
    """Whether a play, by its keys, is written in Ansible's words."""
    return "checks" not in play and any(key in play for key in _ONLY_TASKS)
