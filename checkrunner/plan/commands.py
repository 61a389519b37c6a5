"""A check with everything filled in: the command that is sent."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from checkrunner.model.inventory import Host, empty
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import Command, Prompt
from checkrunner.model.sources import Secret
from checkrunner.plan.answers import render_answer
from checkrunner.plan.magic import Magic
from checkrunner.plan.shape import Shape
from checkrunner.plan.texts import Templates

__all__ = ["Setup", "make_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the hosts of a plan share. `host_called` knows the hosts that checks are delegated to, ready to be
    reached; it raises UsageError members. `magic` makes the names that nobody sets."""

    templates: Templates
    extra_vars: Mapping[str, Any]
    options: RunOptions
    host_called: Callable[[str], Host] | None = None
    magic: Magic | None = None


def make_command(shape: Shape, names: Mapping[str, Any], setup: Setup) -> Command:
    """The command of a check with everything filled in. Raises TemplateError."""
    check, templates = shape.check, setup.templates
    if check.task is not None:
        from checkrunner.plan.task_commands import task_command

        shell = task_command(check, names, templates).text
    elif check.run is not None:
        shell = templates.render(check.run, names, for_shell=True)
    else:
        words = (templates.render_or_omit(word, names) for word in check.argv)
        shell = shlex.join(word for word in words if word is not None)
    env: Mapping[str, str | Secret] = empty()
    if check.env:
        values = {
            name: value if isinstance(value, Secret) else templates.render_env_or_omit(value, names)
            for name, value in check.env.items()
        }
        env = {name: value for name, value in values.items() if value is not None}
    if check.task is not None and check.task.environment:
        from checkrunner.plan.task_commands import task_environment

        env = {**task_environment(check.task, names, templates), **env}
    cwd = templates.render_or_omit(check.cwd, names) if check.cwd is not None else None
    return Command(
        shell=shell,
        session=check.session,
        env=env,
        cwd=cwd or None,
        timeout_s=shape.timeout_s,
        capture_bytes=setup.options.capture_bytes,
        requires=check.requires,
        prompts=tuple(
            Prompt(match=templates.render(prompt.match, names), answer=render_answer(prompt, names, templates))
            for prompt in check.prompts
        ),
        on_input=check.on_input,
        stdin_tty=check.stdin_tty,
        duration_s=check.duration_s,
        sample=check.sample,
        keep_children=check.keep_children,
    )
