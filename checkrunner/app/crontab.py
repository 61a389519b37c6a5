"""Lines of a crontab for what runs again and again, and a block of them in the user's crontab."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

from checkrunner.app.periods import cron_line
from checkrunner.app.systemd import Job
from checkrunner.model.errors import UsageError

__all__ = ["crontab_block", "install_block", "remove_block", "with_block", "without_block"]

_TIME_S = 60.0
_MOST = 900
"""Characters of a command: crons cut longer lines, or refuse them, at 998 or so."""


def crontab_block(job: Job) -> str:
    """The job as lines between two marks, by which it is found again. Raises UsageError for what cron cannot do."""
    given = [f"{name}={value}" for name, value in job.environment.items()]
    words = shlex.join([*(["env", *given] if given else []), *job.words])
    command = f"cd {shlex.quote(job.folder)} && exec {words}"
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in command):
        raise UsageError("a crontab cannot hold a command with control characters")
    # Cron ends the command at a bare % and drops a backslash before it: one of the text's own has to stand apart.
    command = command.replace("\\%", "\\''%").replace("%", "\\%")
    if len(command) > _MOST:
        raise UsageError(
            f"the command has {len(command)} characters, and a line of a crontab takes {_MOST}",
            hint="Put options into checkrunner.toml, or use --format systemd",
        )
    begin, end = _marks(job.name)
    return f"{begin}\n# {job.title.translate(_NO_CONTROLS)}\n{cron_line(job.period)} {command}\n{end}\n"


_NO_CONTROLS = dict.fromkeys((*range(0x20), 0x7F), " ")


def _marks(name: str) -> tuple[str, str]:
    return f"# BEGIN {name} (written by `checkrunner schedule`)", f"# END {name}"


def with_block(table: str, name: str, block: str) -> str:
    """The crontab with this block in the place of the one of that name, or at its end."""
    before, found, after = _around(table, name)
    if not found and before and not before.endswith("\n"):
        before += "\n"
    return before + block + after


def without_block(table: str, name: str) -> str:
    """The crontab without the block of that name."""
    before, _, after = _around(table, name)
    return before + after


def _around(table: str, name: str) -> tuple[str, bool, str]:
    begin, end = _marks(name)
    lines = table.splitlines(keepends=True)
    bare = [line.rstrip() for line in lines]
    begins, ends = ([number for number, line in enumerate(bare) if line == mark] for mark in (begin, end))
    if not begins and not ends:
        return table, False, ""
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise UsageError(
            f"the marks around {name} in the crontab are damaged",
            hint=f"`crontab -e`: there must be one line {begin!r} and, after it, one line {end!r}, or neither",
        )
    return "".join(lines[: begins[0]]), True, "".join(lines[ends[0] + 1 :])


def install_block(name: str, block: str) -> list[str]:
    """Put it into the user's crontab. Returns what was done. Raises UsageError where crontab(1) refuses."""
    table = _read()
    changed = with_block(table, name, block)
    if changed == table:
        return [f"{name} is in the crontab already"]
    _crontab(["-"], changed)
    return [f"{name} is in the crontab of the user"]


def remove_block(name: str) -> list[str]:
    """Take it out of the user's crontab; nothing where it is not there."""
    table = _read()
    changed = without_block(table, name)
    if changed == table:
        return [f"there is no {name} in the crontab"]
    _crontab(["-"], changed)
    return [f"removed {name} from the crontab"]


def _read() -> str:
    done = _run(["-l"])
    if done.returncode == 0:
        return done.stdout
    # Anything else must not be taken for an empty one, which would then be written.
    if "no crontab for" in done.stderr:
        return ""
    raise _refused("-l", done)


def _crontab(words: Sequence[str], text: str) -> None:
    done = _run(words, text)
    if done.returncode:
        raise _refused(" ".join(words), done)


def _run(words: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["/usr/bin/env", "LC_ALL=C", "crontab", *words],
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_TIME_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"crontab cannot be run: {error}") from None


def _refused(words: str, done: subprocess.CompletedProcess[str]) -> UsageError:
    why = done.stderr.strip() or f"exit code {done.returncode}"
    return UsageError(f"`crontab {words}` failed: {why}", hint="Without --install the lines are printed")
