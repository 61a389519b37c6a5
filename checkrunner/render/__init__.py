"""Report to terminal, JSON and the formats of other programs, and the live view of a run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from checkrunner.model.errors import UnknownNameError
from checkrunner.model.seams import Renderer

__all__ = ["DETAILED", "EXTENSIONS", "RENDERERS", "renderer"]

RENDERERS: Mapping[str, str] = MappingProxyType(
    {
        "html": "checkrunner.render.html:HtmlRenderer",
        "json": "checkrunner.render.json:JsonRenderer",
        "junit": "checkrunner.render.junit:JunitRenderer",
        "markdown": "checkrunner.render.markdown:MarkdownRenderer",
        "nagios": "checkrunner.render.nagios:NagiosRenderer",
        "prometheus": "checkrunner.render.prometheus:PrometheusRenderer",
        "terminal": "checkrunner.render.terminal:TerminalRenderer",
    }
)
"""The report formats: name to ``module:class``, imported on first need. A class takes `color` and `width`."""

DETAILED = frozenset({"html", "junit", "prometheus"})
"""The formats that tell more where they are given a `Detail`."""

EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        ".htm": "html",
        ".html": "html",
        ".json": "json",
        ".md": "markdown",
        ".prom": "prometheus",
        ".txt": "terminal",
        ".xml": "junit",
    }
)
"""The formats of files by the end of their names; others get JSON."""


def renderer(name: str, *, color: bool | None = None, width: int | None = None) -> Renderer:
    """The renderer of that name. `color` None means: when the stream written to is a terminal; `width` None means the
    terminal's, or 100 columns. Raises UnknownNameError."""
    try:
        module, _, kind = RENDERERS[name].partition(":")
    except KeyError:
        raise UnknownNameError("format", name, RENDERERS) from None
    made: Renderer = getattr(importlib.import_module(module), kind)(color=color, width=width)
    return made
