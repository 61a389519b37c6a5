"""Report to terminal and JSON, and the live view of a run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from checkrunner.model.errors import UnknownNameError
from checkrunner.model.seams import Renderer

__all__ = ["RENDERERS", "renderer"]

RENDERERS: Mapping[str, str] = MappingProxyType(
    {
        "json": "checkrunner.render.json:JsonRenderer",
        "terminal": "checkrunner.render.terminal:TerminalRenderer",
    }
)
"""The report formats: name to ``module:class``, imported on first need. A class takes `color` and `width`."""


def renderer(name: str, *, color: bool | None = None, width: int | None = None) -> Renderer:
    """The renderer of that name. `color` None means: when the stream written to is a terminal; `width` None means the
    terminal's, or 100 columns. Raises UnknownNameError."""
    try:
        module, _, kind = RENDERERS[name].partition(":")
    except KeyError:
        raise UnknownNameError("format", name, RENDERERS) from None
    made: Renderer = getattr(importlib.import_module(module), kind)(color=color, width=width)
    return made
