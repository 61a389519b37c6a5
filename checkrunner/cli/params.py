"""`checkrunner run PLAYBOOK --help-params`: what a playbook can be told with `-e`."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.model.playbook import Param
    from checkrunner.settings import Settings

__all__ = ["param_lines", "show_params"]

_WIDTH = 100


def show_params(playbook: str, settings: Settings, format_name: str) -> int:
    """Print the parameters: a list for people, or as JSON. Connects nothing and asks for no password."""
    from checkrunner.app.params import read_params
    from checkrunner.app.secrets import make_secrets
    from checkrunner.render.safe import safe

    path, params = read_params(playbook, make_secrets(settings, dry=True))
    if format_name == "json":
        json.dump([_as_json(param) for param in params], sys.stdout, indent=2, ensure_ascii=False)
        typer.echo()
        return 0
    if not params:
        typer.echo(f"{safe(path)} has no parameters.")
        return 0
    typer.echo(f"Parameters of {safe(path)}, to be set with -e NAME=VALUE or -e @FILE:\n")
    for line in param_lines(params):
        typer.echo(safe(line))
    return 0


def param_lines(params: Sequence[Param]) -> list[str]:
    """A line for each parameter, and its help below."""
    name = max(len(param.name) for param in params)
    kind = max(len(param.type) for param in params)
    lines = []
    for param in params:
        lines.append(f"  {param.name:<{name}}  {param.type:<{kind}}  {_value(param)}".rstrip())
        lines += textwrap.wrap(param.help, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return lines


def _value(param: Param) -> str:
    from checkrunner.model.params import show_param

    said = "required" if param.required else f"default {show_param(param.type, param.default) or repr('')}"
    choices = ", ".join(show_param(param.type, choice) for choice in param.choices)
    return f"{said}; one of {choices}" if choices else said


def _as_json(param: Param) -> dict[str, object]:
    return {
        "name": param.name,
        "type": str(param.type),
        "default": param.default,
        "required": param.required,
        "choices": list(param.choices),
        "help": param.help,
    }
