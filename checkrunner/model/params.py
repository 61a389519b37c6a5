"""Values of parameters: what is written in a playbook, an inventory or ``-e``, as a finished value of the type."""

from __future__ import annotations

import math
from typing import Any

from checkrunner.model.durations import seconds_of
from checkrunner.model.errors import nearest
from checkrunner.model.playbook import Param, ParamType
from checkrunner.model.quantities import quantity

__all__ = ["ParamError", "param_value", "show_param", "type_of"]

_TRUE = frozenset({"true", "yes", "on", "1", "y", "t"})
_FALSE = frozenset({"false", "no", "off", "0", "n", "f"})
_MOST_DIGITS = 300
_EXAMPLES = {
    ParamType.STRING: "a text",
    ParamType.INTEGER: "a whole number such as 20",
    ParamType.NUMBER: "a number such as 2.5",
    ParamType.BOOLEAN: "true or false",
    ParamType.DURATION: "seconds, or a number with ms, s, m, h or d such as 5m",
    ParamType.SIZE: "bytes, or a number with a unit such as 5GiB",
    ParamType.PERCENT: "a percentage such as 90%",
    ParamType.LIST: "words with commas; in JSON whatever else: -e '{\"name\": [...]}'",
}


class ParamError(ValueError):
    """A value that a parameter cannot have. Its text goes on after the value's name: ``is 'x', which is no ...``."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def type_of(value: object) -> ParamType:
    """The type of a value, for a parameter that names none."""
    if isinstance(value, bool):
        return ParamType.BOOLEAN
    if isinstance(value, int):
        return ParamType.INTEGER
    if isinstance(value, float):
        return ParamType.NUMBER
    return ParamType.LIST if isinstance(value, list | tuple) else ParamType.STRING


def param_value(param: Param, value: object) -> Any:
    """The finished value: seconds of a duration, bytes of a size, a number of a percentage. Raises ParamError, also for
    what is none of the parameter's choices."""
    found = _typed(param.type, value)
    for item in found if isinstance(found, list) else [found]:
        if param.choices and item not in param.choices:
            known = [show_param(param.type, choice) for choice in param.choices]
            close = nearest(str(value), known)
            hint = f"Did you mean {close!r}?" if close else f"It may be {', '.join(known)}."
            raise ParamError(f"is {_short(item)}, which is none of its choices", hint)
    return found


def show_param(kind: ParamType, value: Any) -> str:
    """A finished value for people, as it can be written again."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(show_param(ParamType.STRING, item) for item in value)
    if kind is ParamType.PERCENT:
        return f"{value:g}%"
    if kind is ParamType.DURATION:
        return next(
            (f"{value / size:g}{unit}" for unit, size in _TIMES if value >= size and value % size == 0), f"{value:g}s"
        )
    if kind is ParamType.SIZE:
        return next(
            (f"{value / size:g}{unit}" for unit, size in _SIZES if value >= size and value % size == 0), f"{value:g}B"
        )
    return f"{value:g}" if isinstance(value, float) else str(value)


_TIMES = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_SIZES = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def _typed(kind: ParamType, value: object) -> Any:
    if kind is ParamType.LIST:
        return _listed(value)
    if isinstance(value, list | tuple | dict) or value is None:
        raise _wrong(kind, value)
    text = str(value).strip()
    if kind is ParamType.STRING:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind is ParamType.BOOLEAN:
        if text.lower() not in _TRUE | _FALSE:
            raise _wrong(kind, value)
        return text.lower() in _TRUE
    if isinstance(value, bool):
        raise _wrong(kind, value)
    try:
        return _number(kind, text)
    except (ValueError, OverflowError):
        raise _wrong(kind, value) from None


def _number(kind: ParamType, text: str) -> float | int:
    number = _read(kind, text)
    if number < 0 and kind in (ParamType.DURATION, ParamType.SIZE):
        raise ValueError
    # A command that gets a whole number wants `300` and not `300.0`.
    return int(number) if number == int(number) else number


def _read(kind: ParamType, text: str) -> float | int:
    # Digits of other scripts are digits to Python alone.
    if len(text) > _MOST_DIGITS or not text.isascii():
        raise ValueError
    if kind is ParamType.INTEGER:
        return int(text, 10)
    if kind is ParamType.DURATION:
        seconds = seconds_of(text)
        return quantity(text, "s").number if seconds is None else seconds
    if kind is ParamType.SIZE:
        return quantity(text, "B").number
    number = float(text.removesuffix("%")) if kind is ParamType.PERCENT else float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _listed(value: object) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str):
        inside = value.strip()
        if inside.startswith("[") and inside.endswith("]"):
            inside = inside[1:-1]
        if set(inside) & set("[]{}"):
            raise _wrong(ParamType.LIST, value)
        words = [word.strip() for word in inside.split(",")]
        return [word[1:-1] if word[:1] in {'"', "'"} and word[-1:] == word[:1] else word for word in words if word]
    if value is None or isinstance(value, dict):
        raise _wrong(ParamType.LIST, value)
    return [value]


def _wrong(kind: ParamType, value: object) -> ParamError:
    article = "an" if kind.value[0] == "i" else "a"
    return ParamError(f"is {_short(value)}, which is not {article} {kind.value}", f"Write {_EXAMPLES[kind]}.")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
