"""`checkrunner sweep`: playbooks over hosts, again and again, and a word only when something got worse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from checkrunner.cli.delivery import check_places, deliver
from checkrunner.cli.failure import fail
from checkrunner.cli.flags import spread
from checkrunner.cli.options import Format
from checkrunner.cli.run import run_request
from checkrunner.cli.run_flags import RunFlags
from checkrunner.cli.signals import was_interrupted
from checkrunner.cli.sweep_flags import SKIPPED, Playbooks, SweepFlags
from checkrunner.model.errors import CheckrunnerError, UsageError

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.app.exports import Exports
    from checkrunner.app.output import ReportOutput
    from checkrunner.app.prepare import Request
    from checkrunner.app.sweeping import Turn
    from checkrunner.settings import Settings

__all__ = ["SWEEP_EXAMPLES", "sweep"]

_INTERRUPTED = 130
_BUG = 70
_COULD_NOT_LOOK = 3
_LEAST_S = 0.001
_TROUBLE = "audit log "

SWEEP_EXAMPLES = """\
Examples:

checkrunner sweep linux-health -i inventory.yml

checkrunner sweep web.yml db.yml -i inventory.yml --jitter 30s --deadline 4m -o '/srv/www/{playbook}.html'
"""


@spread
def sweep(playbooks: Playbooks, flags: RunFlags, own: SweepFlags, format_name: Format = "terminal") -> int:
    """Run playbooks as `run` does, and say nothing unless something got worse since the last time.

    Made for cron and timers (`checkrunner schedule`): one at a time, no progress, no questions. The first time it
    speaks when anything is not ok. Files of -o are written each time. Exit codes are those of `run`, of several
    playbooks the worst; 75 when it was skipped because the same sweep was running already.
    """
    import random

    from checkrunner.app.lock import Lock
    from checkrunner.app.sweep_name import sweep_name
    from checkrunner.app.sweeping import Turn, pause, worst

    jitter = own.check()
    settings = flags.settings()
    if settings.history is None and not own.always:
        why = "without a history of runs nothing can be said to have got worse"
        raise UsageError(why, hint="--always reports each time; or let it have a history")
    requests = [flags.request(playbook, settings) for playbook in playbooks]
    places = _places(playbooks, flags, settings, format_name)
    pause(random.uniform(0, jitter), was_interrupted)  # noqa: S311 - no secret
    folder, name = settings.state_folder / "locks", sweep_name(requests)
    turn = Turn(Lock(folder, name), Lock(folder, f"{name}.next"))
    code = _refused(turn, own.if_running, settings.run_options().deadline_s)
    if code is not None:
        return _INTERRUPTED if was_interrupted() else code
    try:
        return worst(_each(requests, places, always=own.always, format_name=format_name))
    finally:
        turn.release()


def _places(
    playbooks: Sequence[str], flags: RunFlags, settings: Settings, format_name: str
) -> list[tuple[ReportOutput, Exports]]:
    """Where the report of each playbook goes."""
    from checkrunner.app.sweeping import places_of

    if "-" in (flags.perfdata, flags.metrics):
        raise UsageError("a sweep writes values to files alone: stdout is for what got worse")
    outputs = [places_of(playbooks, name) for name in flags.output or ()]
    values = [places_of(playbooks, name) for name in (flags.perfdata, flags.metrics)]
    return [
        check_places(settings, format_name, [str(one[at]) for one in outputs], values[0][at], values[1][at], dry=False)
        for at in range(len(playbooks))
    ]


def _refused(turn: Turn, if_running: str, deadline_s: float | None) -> int | None:
    """The exit code of a sweep that is not its turn, which is said; None where it is."""
    from checkrunner.render.problems import print_problem

    if was_interrupted():
        return _INTERRUPTED
    if turn.take() or (if_running == "wait" and turn.wait(deadline_s, was_interrupted)):
        return None
    running = f"the same sweep is running: {turn.holder()}"
    if if_running == "fail":
        print_problem("error", running, sys.stderr)
        return _COULD_NOT_LOOK
    why = ", and another one waits for it, or it took too long" if if_running == "wait" else ""
    print_problem("skipped", running + why, sys.stderr)
    return SKIPPED


def _each(
    requests: Sequence[Request], places: Sequence[tuple[ReportOutput, Exports]], *, always: bool, format_name: str
) -> list[int]:
    """Run one playbook after the other, whatever becomes of those before it; their exit codes."""
    began = monotonic()
    codes = []
    for request, place in zip(requests, places, strict=True):
        if was_interrupted():
            codes.append(_INTERRUPTED)
            break
        words = ["run", "--format", format_name]
        try:
            code = _one(_hurried(request, monotonic() - began), *place, always=always)
        except CheckrunnerError as error:
            code = fail(error, error.exit_code, words)
        except Exception as error:  # noqa: BLE001 - the next playbook has nothing to do with it; it is a bug all the same
            code = fail(error, _BUG, words)
        codes.append(code)
        if code == _INTERRUPTED:
            break
    return codes


def _hurried(request: Request, passed_s: float) -> Request:
    """The request, with what is left of the time for all of them."""
    deadline = request.settings.run_options().deadline_s
    if deadline is None:
        return request
    return replace(request, settings=request.settings.with_deadline(max(_LEAST_S, deadline - passed_s)))


def _one(request: Request, destination: ReportOutput, exports: Exports, *, always: bool) -> int:
    from checkrunner.app.sweeping import is_news
    from checkrunner.render.problems import print_problem

    report = run_request(request, exports, quiet=True, kind="sweep")
    told = always or is_news(report)
    if not told:
        for warning in report.warnings:
            if warning.startswith(_TROUBLE):
                print_problem("warning", warning, sys.stderr)
    return deliver(destination, exports, report, color=request.settings.color, screen=told)
