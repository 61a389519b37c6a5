"""Units of systemd for what runs again and again, and their place in the user's own systemd."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checkrunner.app.output import replace_file
from checkrunner.app.periods import Period, calendars
from checkrunner.model.errors import UsageError

__all__ = ["Job", "Units", "install_units", "remove_units", "systemd_units"]

_TIME_S = 60.0
_SUCCESS = "1 2 3 75"
_GRACE_S = 120
_ALWAYS = """\
UMask=0077
KillSignal=SIGINT
KillMode=mixed
TimeoutStopSec=60
"""
_HARDENED = """\
NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
"""
_NOT_HARDENED = """\
# This machine is looked at as well: what hardens a service would change what its checks see and may do.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to run: `words` begin with the absolute path of a program. `name` is that of its units. `most_s` is how
    long it may take, None for as long as it likes. `local`: whether it looks at this machine, too."""

    name: str
    title: str
    words: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    period: Period
    most_s: float | None = None
    local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """A service and the timer that starts it."""

    name: str
    service: str
    timer: str

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each."""
        return (f"{self.name}.service", self.service), (f"{self.name}.timer", self.timer)


def systemd_units(job: Job) -> Units:
    """The units' texts. Raises UsageError for what no unit can hold."""
    return Units(name=job.name, service=_service(job), timer=_timer(job))


def _service(job: Job) -> str:
    environment = "".join(f"Environment={_word(f'{name}={value}')}\n" for name, value in job.environment.items())
    limit = "infinity" if job.most_s is None else f"{job.most_s + _GRACE_S:g}"
    return (
        "# Written by `checkrunner schedule`.\n"
        f"[Unit]\nDescription={_text(job.title)}\n\n"
        f"[Service]\nType=oneshot\nWorkingDirectory={_path(job.folder)}\n{environment}"
        f"ExecStart={_command(job.words)}\n"
        # What it found is no failure of the service, nor is that another one was running.
        f"SuccessExitStatus={_SUCCESS}\nTimeoutStartSec={limit}\n{_ALWAYS}"
        f"{_NOT_HARDENED if job.local else _HARDENED}"
    )


def _timer(job: Job) -> str:
    events = calendars(job.period)
    if events:
        when = "".join(f"OnCalendar={event}\n" for event in events) + "Persistent=yes\n"
    else:
        when = f"OnActiveSec=0\nOnUnitActiveSec={job.period.seconds:g}s\n"
    return (
        "# Written by `checkrunner schedule`.\n"
        f"[Unit]\nDescription={_text(job.title)}\n\n"
        f"[Timer]\n{when}AccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n"
    )


def _command(words: Sequence[str]) -> str:
    if set(words[0]) & set("\"'\\$"):  # systemd starts no program of such a name
        words = ["/usr/bin/env", *words]
    return " ".join(_word(word, dollars=True) for word in words)


def _word(text: str, *, dollars: bool = False) -> str:
    """One word of a line of words. `dollars`: where it may name a variable."""
    escaped = "".join(_ESCAPES.get(character, character) for character in _text(text))
    return '"' + (escaped.replace("$", "$$") if dollars else escaped) + '"'


_ESCAPES = {"\\": "\\\\", '"': '\\"'}


def _text(text: str) -> str:
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in text):
        raise UsageError(f"a unit cannot hold {text!r}: it has a control character")
    return text.replace("%", "%%")


def _path(folder: str) -> str:
    if folder != folder.strip() or folder.endswith("\\"):
        raise UsageError(f"no unit can work in the directory {folder!r}", hint="Call it from another one")
    return _text(folder)


def install_units(units: Units, folder: Path) -> list[str]:
    """Put them into the folder of the user's units and start the timer. Returns what was done, a sentence each; again
    with the same units nothing but that the timer runs is seen to.

    Raises UsageError where a file cannot be written, or the user's systemd does not answer.
    """
    changed = [name for name, text in units.files if _write(folder / name, text)]
    done = [f"wrote {folder / name}" for name in changed]
    if changed:
        _systemctl("daemon-reload")
    _systemctl("enable", "--now", f"{units.name}.timer")
    if f"{units.name}.timer" in changed:
        _systemctl("restart", f"{units.name}.timer")
    return [*done, f"{units.name}.timer is enabled"] if changed else [f"{units.name}.timer is there already"]


def remove_units(name: str, folder: Path) -> list[str]:
    """Stop the timer and remove the files; nothing where there are none. Raises UsageError as above."""
    files = [path for path in (folder / f"{name}.timer", folder / f"{name}.service") if path.exists()]
    if not files:
        return [f"there is no {folder / name}.timer"]
    _systemctl("disable", "--now", f"{name}.timer")
    for path in files:
        path.unlink(missing_ok=True)
    _systemctl("daemon-reload")
    return [f"removed {path}" for path in files]


def _write(path: Path, text: str) -> bool:
    """Whether it had to be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return False
        replace_file(path, lambda out: out.write(text))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be written: {error}") from None
    return True


def _systemctl(*words: str) -> None:
    _call(["systemctl", "--user", *words])


def _call(words: Sequence[str]) -> None:
    line = " ".join(words)
    hint = "The files are in place; in a session of the user this line does the rest"
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIME_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"`{line}` failed: {error}", hint=hint) from None
    if done.returncode:
        why = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UsageError(f"`{line}` failed: {why[-1]}", hint=hint)
