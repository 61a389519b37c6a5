"""A sweep as something that a timer or cron starts: its command line, its name, where it is put, when it runs next."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from checkrunner.app.audit import who_am_i
from checkrunner.app.crontab import crontab_block, install_block, remove_block
from checkrunner.app.periods import Period, next_times, period_text
from checkrunner.app.prepare import Request, prepare
from checkrunner.app.sweep_name import sweep_name
from checkrunner.app.systemd import Job, install_units, remove_units, systemd_units
from checkrunner.findings.secret_names import secret_values
from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.model.errors import UnknownNameError
from checkrunner.settings import Settings

__all__ = ["FORMATS", "install", "job_of", "laid_open", "left_behind", "printed", "remove", "unit_name", "when"]

FORMATS = ("systemd", "cron")
_CARRIED = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CHECKRUNNER_CONFIG")
"""What says where files are: it has to be the same there as it is here."""
_TIMES = 3


def unit_name(requests: Sequence[Request]) -> str:
    """What its units, or its lines in a crontab, are called."""
    return f"checkrunner-{sweep_name(requests)}"


def job_of(
    requests: Sequence[Request], words: Sequence[str], period: Period, *, name: str = "", most_s: float | None = None
) -> Job:
    """The sweep that `words` ask for, those behind the word `sweep`. Its playbooks and inventory are read: what is
    wrong is said now and not at night. Raises UsageError members, NoHostsError."""
    prepared = [prepare(request) for request in requests]
    environment = requests[0].settings.environment
    program = _program()
    carried = {name: environment[name] for name in _CARRIED if os.path.isabs(environment.get(name, ""))}
    if len(program) > 1 and environment.get("PYTHONPATH"):
        carried["PYTHONPATH"] = environment["PYTHONPATH"]
    return Job(
        name=name or unit_name(requests),
        title=f"checkrunner sweep: {', '.join(request.playbook for request in requests)}",
        words=(*program, "sweep", *words),
        folder=os.getcwd(),
        environment=carried,
        period=period,
        most_s=most_s,
        local=any(host.host.transport != "ssh" for each in prepared for host in each.plan.hosts),
    )


def _program() -> tuple[str, ...]:
    """How this program is started, wherever from."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "checkrunner" and os.access(script, os.X_OK):
        return (script,)
    return sys.executable, "-m", "checkrunner"


def printed(job: Job, kind: str) -> str:
    """The units with their file names, or the lines of a crontab."""
    if _kind(kind) == "cron":
        return crontab_block(job)
    return "\n".join(f"# {name}\n{text}" for name, text in systemd_units(job).files)


def install(job: Job, kind: str) -> list[str]:
    """Put it where the user's own timers or lines are. Returns what was done. Raises UsageError."""
    if _kind(kind) == "cron":
        return install_block(job.name, crontab_block(job))
    done = install_units(systemd_units(job), _units_folder(job.environment))
    user = str(who_am_i({})["user"])
    if not Path("/var/lib/systemd/linger", user).exists():
        done.append(f"it runs while {user} is logged in; always: loginctl enable-linger {user}")
    return done


def remove(name: str, kind: str, settings: Settings) -> list[str]:
    """Take away what `install` put there. Returns what was done. Raises UsageError."""
    return remove_block(name) if _kind(kind) == "cron" else remove_units(name, _units_folder(settings.environment))


def _units_folder(environment: Mapping[str, str]) -> Path:
    config = environment.get("XDG_CONFIG_HOME", "")
    return (Path(config) if os.path.isabs(config) else Path.home() / ".config") / "systemd" / "user"


def _kind(kind: str) -> str:
    if kind not in FORMATS:
        raise UnknownNameError("format", kind, FORMATS)
    return kind


def when(period: Period, now: datetime) -> str:
    """A line that tells the next times, by the clock of this machine."""
    if not period.cron:
        return f"runs at once, then every {period_text(period.seconds or 0)}"
    times = ", ".join(f"{at:%a %Y-%m-%d %H:%M}" for at in next_times(period, now, _TIMES))
    return f"runs next at {times} ({now:%Z})"


def laid_open(extra_vars: Sequence[str]) -> list[str]:
    """A sentence for each extra variable with a secret that stands in what is printed."""
    given = parse_extra_vars([item for item in extra_vars if not item.strip().startswith("@")])
    return [
        f"the secret of -e {name} is written out, for whoever may read it there: put it into a file and give -e @FILE"
        for name, value in given.items()
        if any(secret_values({name: value}))
    ]


def left_behind(settings: Settings) -> list[str]:
    """Settings of this environment that are not those of where it will run, a sentence each."""
    names = [name for name in settings.variables if name not in _CARRIED]
    where = "the timer or cron will not set it: checkrunner.toml is read there too"
    return [f"{name} is set here, and {where}" for name in names]
