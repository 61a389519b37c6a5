"""Options that several verbs take as one object: a dataclass whose fields are their parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import typer

__all__ = ["arguments_of", "spread"]


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the fields of its dataclass parameters as parameters of their own: a verb that says
    ``flags: RunFlags`` has all of their options. Fields are annotated as parameters of commands are."""
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        if isinstance(hint, type) and is_dataclass(hint):
            groups[parameter.name] = hint
            parameters += _parameters(hint)
        else:
            parameters.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))

    def called(**values: Any) -> int:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **made)

    # Not functools.wraps: whoever looks through it would see the parameters as they were.
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may have one
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


@functools.cache
def _parameters(group: type[Any]) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    return tuple(
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    )


def arguments_of(flags: object) -> list[str]:
    """The words that give these flags on a command line; what has its default is left out. Texts that a shell would
    read otherwise are not quoted: these are words, not a line."""
    words = []
    group: Any = type(flags)
    for parameter in _parameters(group):
        value = getattr(flags, parameter.name)
        if value != parameter.default:
            words += _words(_option(parameter.annotation), value)
    return words


def _option(annotation: Any) -> str:
    """The first long name of an option."""
    declared: Iterator[str] = (
        name
        for said in annotation.__metadata__
        if isinstance(said, typer.models.OptionInfo)
        for name in (said.default, *(said.param_decls or ()))
        if isinstance(name, str) and name.startswith("--")
    )
    return next(declared)


def _words(option: str, value: object) -> list[str]:
    if value is True:
        return [option]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in _pair(option, str(one))]


def _pair(option: str, value: str) -> tuple[str, ...]:
    # A value that looks like an option has to be tied to its own.
    return (f"{option}={value}",) if value.startswith("-") else (option, value)
