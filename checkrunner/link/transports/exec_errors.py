"""Why a program led nowhere: what it says on its standard error, as an error of ours with what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.link.transports.exec_argv import Recipe
from checkrunner.link.transports.process import signal_name
from checkrunner.model.characters import one_line
from checkrunner.model.errors import AuthenticationError, ConnectError, NoShellError, ThrottledError, UnreachableError

__all__ = ["by_hand", "ended_early", "not_started"]

_SHOWN = 300


def by_hand(name: str) -> str:
    """What to do about a program that nothing better is known of."""
    return f"Run it by hand: {name} ... /bin/sh -c 'echo here'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """Words that mean one thing. `{what}` stands for container, pod, ..., `{name}` for the program, `{named}` for
    the variable that says which one is meant."""

    words: str
    error: type[ConnectError]
    says: str
    hint: str


# The first that fits counts: a shell that is missing is "no such file" as well, and a closed door is often said to be
# one that cannot be reached.
_KINDS: Sequence[_Kind] = (
    _Kind(
        words=r"(exec|run|stat|executable file|command)\b.*/bin/sh\b.*(no such file|not found)",
        error=NoShellError,
        says="the {what} has no /bin/sh",
        hint="Images without a shell cannot be looked into; enter it with tools of this machine (nsenter, for one)",
    ),
    _Kind(
        words="unable to find user|no users found|no matching entries in passwd",
        error=AuthenticationError,
        says="the {what} has no such user",
        hint="See ansible_user",
    ),
    _Kind(
        words="too ?many ?requests",
        error=ThrottledError,
        says="too many at once",
        hint="Lower --forks",
    ),
    _Kind(
        words="permission denied|operation not permitted|forbidden|unauthorized|must be logged in|access denied"
        "|a password is required|not allowed to",
        error=AuthenticationError,
        says="{name} may not do that",
        hint="See which user runs checkrunner, and what {name} needs: its group, sudo, a role, a login",
    ),
    _Kind(
        words="is not running|is paused|is restarting|container state improper|completed pod|not running",
        error=UnreachableError,
        says="the {what} does not run",
        hint="Start it, or leave it out with --limit",
    ),
    _Kind(
        words="cannot connect to the|connection to the server|unable to connect|connection refused|no route to host"
        "|i/o timeout|no such host|is the .*daemon running",
        error=UnreachableError,
        says="{name} does not reach its server",
        hint="See whether that runs, and which one {name} means (its context, its environment)",
    ),
    _Kind(
        words="context.* not (exist|found)|context was not found|error: stat |error in configuration",
        error=UnreachableError,
        says="{name} does not know whom to ask",
        hint="See the context and configuration file that the host's variables name",
    ),
    _Kind(
        words="no such container|no container with|no such object|notfound|not found|no such pod|no such file"
        "|no such process|does not exist",
        error=UnreachableError,
        says="the {what} is not there",
        hint="See {named}",
    ),
)


def not_started(host: str, name: str, error: Exception) -> ConnectError:
    """The error for a program that this machine cannot start."""
    if isinstance(error, FileNotFoundError):
        return UnreachableError(
            f"{host}: {name} is not installed on this machine",
            hint="Install it, see PATH, or name its path",
        )
    if isinstance(error, PermissionError):
        return AuthenticationError(f"{host}: {name} may not be run by this user: {error.strerror}")
    return UnreachableError(f"{host}: {name} cannot be started: {error}")


def ended_early(host: str, name: str, recipe: Recipe, code: int | None, words: bytes) -> ConnectError:
    """The error for a program that ended before anything ran where it leads to. `words` are its last ones."""
    lines = [line.strip() for line in words.decode("utf-8", "replace").splitlines() if line.strip()]
    for kind in _KINDS:
        for line in reversed(lines):
            if re.search(kind.words, line, re.IGNORECASE):
                says, hint = (
                    text.format(what=recipe.what, name=name, named=recipe.named) for text in (kind.says, kind.hint)
                )
                return kind.error(f"{host}: {says}: {_sentence(line)}", hint=hint)
    ending = "" if code is None else f" by signal {signal_name(-code)}" if code < 0 else f" with code {code}"
    said = f": {_sentence(lines[-1])}" if lines else ""
    return UnreachableError(f"{host}: {name} ended at once{ending}{said}", hint=by_hand(name))


def _sentence(text: str) -> str:
    return one_line(text, _SHOWN).rstrip(".")
