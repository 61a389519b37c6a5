"""Names that speak of a secret without holding it, and values that are none: ``password_file=``, ``max_tokens=4096``,
``secret: (none)``, ``token=$TOKEN``."""

from __future__ import annotations

import re

__all__ = ["is_about", "is_harmless"]

# The last word of names of settings that are about a secret without holding it.
_ABOUT = re.compile(
    r"of|files?|path|dir|url|uri|endpoint|types?|count|len|length|ttl|timeout|age|policy|history|lifetime|expir\w*|min\w*"
    r"|max\w*|chang\w*|used|limit|names?|authentication|required|enabled|reuse|bucket|rotation|issuer|ref|id|prompt|wrong"
)
_WORDS = re.compile(r"[_-]|(?<=[a-z0-9])(?=[A-Z])")
_HARMLESS = re.compile(
    r"(?i:true|false|yes|no|none|null|nil|on|off|not|n/a)|\*+|\$|\|[+-]?|>[+-]?|\$\{?[A-Z_][A-Z0-9_]*\}?|\$\(.*|\{\{.*"
    r"|\{[\w.]*\}|%\(\w+\)s|<[\w -]+>"
)


def is_harmless(value: str) -> bool:
    """Whether the value is no secret, whatever its name: a placeholder, a truth value."""
    return _HARMLESS.fullmatch(value) is not None


def is_about(key: str, suffix: str, value: str) -> bool:
    """Whether the assignment is about a secret and holds none: a path, a number of tokens. `suffix` is what follows the
    word for a secret in the name."""
    if _ABOUT.fullmatch(_WORDS.split(suffix)[-1].lower()):
        return True
    low = key.lower()
    if low.endswith(("pwd", "passwd")) and value.startswith(("/", "~")):
        return True  # a working directory, or a path to the file of that name
    return low.endswith(("tokens", "pass")) and value.isdigit()
