"""The parsers of jc, for the output of several hundred programs. The only door to jc, which is an optional extra."""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Any

from checkrunner.judge.parsed import UnreadError, clipped
from checkrunner.model.errors import nearest

__all__ = ["missing_parser", "parse_with_jc"]

_INSTALL = "the extra is not installed: pip install 'checkrunner[jc]'"


@functools.lru_cache(maxsize=64)
def missing_parser(name: str) -> str:
    """Why ``jc:NAME`` cannot be used here; nothing where it can."""
    try:
        import jc
    except ImportError:
        return f"parse: jc:{name} needs jc, and {_INSTALL}"
    known = {str(parser).replace("_", "-") for parser in jc.parser_mod_list()}
    wanted = name.replace("_", "-")
    if wanted in known and not wanted.endswith("-s"):
        return ""
    close = nearest(wanted, [parser for parser in known if not parser.endswith("-s")])
    return f"jc has no parser {name!r}" + (f"; did you mean {close!r}?" if close else "")


def parse_with_jc(name: str, text: str) -> Any:
    """The data that jc makes of `text`. Raises UnreadError, whatever jc raises."""
    why = missing_parser(name)
    if why:
        raise UnreadError(why)
    import jc

    try:
        with contextlib.redirect_stderr(io.StringIO()):  # it warns of what it does not know, quiet or not
            return jc.parse(name.replace("-", "_"), text, quiet=True)
    except (Exception, SystemExit) as error:  # several hundred parsers, each with errors of its own
        raise UnreadError(f"jc:{name} could not read it: {clipped(str(error) or type(error).__name__, 120)}") from error
