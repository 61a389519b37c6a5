"""The main use case: a prepared run becomes a report, whatever happens on the way."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from checkrunner import __version__
from checkrunner.app.answers import Learning, answer_values
from checkrunner.app.audit import open_audit
from checkrunner.app.counting import budget_of
from checkrunner.app.delegates import Delegates
from checkrunner.app.identity import new_run_id
from checkrunner.app.interrupts import interrupts
from checkrunner.app.keeping import Keeping, stay_of
from checkrunner.app.links import Links
from checkrunner.app.masking import redactor_of
from checkrunner.app.prepare import Prepared
from checkrunner.app.script import HostScript
from checkrunner.findings.build import build_report
from checkrunner.findings.novelty import Witnesses
from checkrunner.findings.past import NoPast
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.secret_names import is_secret_name, secret_values
from checkrunner.judge.judge import Judge
from checkrunner.model.errors import UsageError
from checkrunner.model.history import RunView
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import HostOutcome
from checkrunner.model.playbook import Check, Play
from checkrunner.model.report import Report, RunInfo, Wait
from checkrunner.model.seams import Driver, Observer, Past
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.build import Plan
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.secret_needs import leading_to_closed, secrets_in
from checkrunner.plan.values import Hidden
from checkrunner.render.json import json_text
from checkrunner.run.engine import Engine
from checkrunner.run.limits import fit_forks
from checkrunner.run.stages import stages
from checkrunner.run.stop import Stop

if TYPE_CHECKING:  # loaded where runs are compared
    from checkrunner.findings.view import Series

__all__ = ["make_redactor", "run_prepared"]

_SHORT_NUMBER = 4
_LOOK_S = 1.0
_MOST_KEPT = 1000
"""Hosts that stay connected while they wait for their next play. Each takes memory and files here."""


def make_redactor(prepared: Prepared, password: Secret | None = None) -> PatternRedactor:
    """What masks all text of this run before anybody sees it: report, warnings, progress."""
    return redactor_of(prepared.request.settings, _secrets(prepared, password))


def run_prepared(
    prepared: Prepared,
    observer: Observer,
    *,
    password: Secret | None = None,
    redactor: PatternRedactor | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    driver: Driver | None = None,
    keep: Callable[[Sequence[HostOutcome]], None] = lambda _: None,
    past: Past | None = None,
    keeping: Keeping | None = None,
    keep_view: Callable[[RunView], None] | None = None,
    series: Series | None = None,
    witnesses: Witnesses | None = None,
) -> Report:
    """Run it and build the report. An interrupt (SIGINT, SIGTERM, SIGHUP) ends the run early; the report is built all
    the same and says so. `interrupted` tells of one that came before. `driver` answers what commands ask and the
    playbook does not; without one such a question ends its command. `keep` gets what the hosts came to. `past`
    is what earlier runs showed; `keeping` takes outputs that are to be kept, `keep_view` gets what later runs are
    compared with, and `series` says which these are. `witnesses` is given where somebody wants to know them afterwards,
    `redactor` where it masks more than the report, so that a secret has the same tag everywhere.

    Raises UsageError members for connection settings that cannot be used, before anything connects, and nothing that a
    host did; what else escapes is a bug.
    """
    started_at = datetime.now(UTC)
    began = monotonic()
    plan = prepared.plan
    redactor = redactor or make_redactor(prepared, password)
    witnesses = witnesses or Witnesses()
    past = past or NoPast()
    run_id = new_run_id(started_at)
    scripts = _scripts(plan, redactor, witnesses, past, keeping)
    audit = open_audit(prepared, run_id, redactor)
    links = Links(prepared.request.settings, password, run=run_id, audit=audit)
    options, narrowed = _fitting(prepared)
    warnings = [*prepared.warnings, *narrowed, *_elsewhere(prepared.delegates, links)]
    not_done = [links.warnings(script.host) for script in scripts]
    engine = _engine(prepared, links, options, observer, Learning(driver, redactor) if driver else None, redactor)
    outcomes, reason, waits = asyncio.run(_run(engine, scripts, plan.playbook.plays, links, interrupted, observer))
    by_host = {script.host.name: script for script in scripts}
    outcomes = _among_peers(outcomes, plan, by_host)
    info = _info(prepared, run_id, started_at, round(monotonic() - began, 3), reason, waits)
    if any(outcome.agent for outcome in outcomes):
        info = replace(info, stay=stay_of(prepared.request.settings, run_id, datetime.now(UTC)))
    keep(outcomes)
    report = build_report(
        _noted(outcomes, not_done),
        run=info,
        warnings=[*warnings, *redactor.troubles, *audit.troubles],
        redactor=redactor,
        texts=lambda outcome: by_host[outcome.host].texts(outcome),
        titles=lambda outcome: by_host[outcome.host].title(outcome),
        to_text=json_text,
        witnesses=witnesses,
        past=past,
        series=series,
        keep_view=keep_view,
        **budget_of(prepared.request.settings),
    )
    audit.end(report.run)
    return report


def _info(
    prepared: Prepared, run_id: str, started_at: datetime, elapsed_s: float, reason: str, waits: tuple[Wait, ...]
) -> RunInfo:
    return RunInfo(
        id=run_id,
        version=__version__,
        playbook=prepared.playbook.path,
        playbook_digest=prepared.playbook.digest,
        inventory=prepared.request.settings.inventory or ("localhost",),
        limit=prepared.request.limit,
        started_at=started_at,
        elapsed_s=elapsed_s,
        ended=reason or "normal",
        complete=True,
        exit_code=0,
        waits=waits,
    )


def _scripts(
    plan: Plan, redactor: PatternRedactor, witnesses: Witnesses, past: Past, keeping: Keeping | None
) -> list[HostScript]:
    judge = Judge(plan.templates)
    return [
        HostScript(
            host,
            judge=judge,
            templates=plan.templates,
            redactor=redactor,
            witnesses=witnesses,
            past=past,
            keeping=keeping,
        )
        for host in plan.hosts
    ]


def _among_peers(outcomes: list[HostOutcome], plan: Plan, scripts: Mapping[str, HostScript]) -> list[HostOutcome]:
    """The outcomes, those of checks that compare hosts judged over all of them."""
    checks = (shape.check for shape in plan.shapes.values())
    if not any(check.consensus or check.quorum for check in checks):
        return outcomes
    from checkrunner.judge.fleet import judge_fleet

    return judge_fleet(outcomes, lambda outcome, by: scripts[outcome.host].peers(outcome, by))


def _noted(outcomes: Sequence[HostOutcome], notes: Sequence[Sequence[str]]) -> list[HostOutcome]:
    """Each outcome with what is to be said of its host before the run."""
    return [
        replace(outcome, notes=(*more, *outcome.notes)) if more else outcome
        for outcome, more in zip(outcomes, notes, strict=True)
    ]


def _fitting(prepared: Prepared) -> tuple[RunOptions, list[str]]:
    """The run's options with no more hosts at a time than this machine lets us have, and a sentence where that is
    fewer."""
    options = prepared.request.settings.run_options()
    forks, narrowed = fit_forks(options.forks, len(prepared.plan.hosts))
    return replace(options, forks=forks), [narrowed] if narrowed else []


def _engine(
    prepared: Prepared,
    links: Links,
    options: RunOptions,
    observer: Observer,
    driver: Driver | None,
    redactor: PatternRedactor,
) -> Engine:
    delegates, plays, hosts = prepared.delegates, prepared.plan.playbook.plays, len(prepared.plan.hosts)
    if delegates is not None:
        delegates.redactor = redactor
    # Hosts stay connected between plays that wait for each other.
    kept = fit_forks(_MOST_KEPT, hosts)[0] if len(stages(plays)) > 1 else _MOST_KEPT
    return Engine(
        links.open,
        options=options,
        observer=observer,
        driver=driver,
        find=functools.partial(delegates.find, links.warnings) if delegates else None,
        rooms=prepared.request.settings.session_options().max_sessions,
        most_kept=kept,
    )


def _elsewhere(delegates: Delegates | None, links: Links) -> list[str]:
    """What the settings of hosts that only delegated checks run on ask for, and is not done."""
    known = delegates.unselected() if delegates else {}
    return [f"{name}: {sentence}" for name, host in known.items() for sentence in links.warnings(host)]


async def _run(
    engine: Engine,
    scripts: Sequence[HostScript],
    plays: Sequence[Play],
    links: Links,
    interrupted: Callable[[], bool],
    observer: Observer,
) -> tuple[list[HostOutcome], str, tuple[Wait, ...]]:
    stop = Stop()
    watching = asyncio.ensure_future(_tell_waits(links, observer))
    with interrupts(stop):
        if interrupted():
            stop.set("interrupted")
        try:
            outcomes = await engine.run(scripts, stop, plays)
            waits = links.waits()
        finally:
            watching.cancel()
            await links.aclose()
    return outcomes, stop.reason, waits


async def _tell_waits(links: Links, observer: Observer) -> None:
    """Tell the observer where hosts wait, as long as some do."""
    told = False
    while True:
        await asyncio.sleep(_LOOK_S)
        waits = [wait for wait in links.waits() if wait.waiting]
        if waits or told:
            observer.hosts_waiting(waits)
        told = bool(waits)


def _secrets(prepared: Prepared, password: Secret | None) -> list[Secret | str]:
    """Every secret that the inventory, the playbook and the user gave: none of them may stand in a report."""
    plan = prepared.plan
    hosts = [host_plan.host for host_plan in plan.hosts]
    if prepared.delegates is not None:
        hosts += prepared.delegates.known.values()
    given: list[object] = [plan.setup.extra_vars, *(play.vars for play in prepared.playbook.plays)]
    given += [values for shape in plan.shapes.values() for values in _of_check(shape.check)]
    given += [values for host in hosts for values in (host.vars, host.options)]
    found = [secret for values in given for secret in secrets_in(values) if secret.is_open and not _is_small(secret)]
    become = prepared.request.settings.become_password
    passwords = (password, become, *(host.password for host in hosts), *_masks(prepared))
    found += [secret for secret in passwords if secret is not None and secret.is_open]
    named: list[Mapping[str, object]] = [plan.setup.extra_vars]
    named += [play.vars for play in prepared.playbook.plays]
    named += [host.vars for host in hosts]
    # What no check reads stays closed: no program runs for the sake of masking.
    closed = leading_to_closed(plan, {name for layer in named for name in layer if is_secret_name(name)})
    named += [values for shape in plan.shapes.values() for values in _of_check(shape.check)]
    named += [_resolved(host_plan, closed) for host_plan in plan.hosts]
    found += answer_values(plan)
    return list(dict.fromkeys([*found, *(value for variables in named for value in secret_values(variables))]))


def _of_check(check: Check) -> Iterator[Mapping[str, object]]:
    """What a check has by name: its environment, its variables, and what items of a loop have that is written out."""
    yield from (check.env, check.vars)
    if check.loop is not None and not isinstance(check.loop.items, Template):
        yield {"items": check.loop.items}


def _masks(prepared: Prepared) -> tuple[Secret, ...]:
    return (*prepared.masks, *(prepared.delegates.masks() if prepared.delegates else ()))


def _is_small(secret: Secret) -> bool:
    """A number that stands in all kinds of text: whole files are encrypted for the sake of a few values."""
    text = secret.reveal()
    return len(text) < _SHORT_NUMBER and text.isdigit()


def _resolved(plan: HostPlan, without: Container[str]) -> dict[str, object]:
    """The values that a host's variables with secret names have where they are made of others, but for some names."""
    found: dict[str, object] = {}
    shared = {entry.shape.play_index: entry for entry in plan.track.entries if not entry.shape.check.vars}
    own = [entry for entry in plan.track.entries if entry.shape.check.vars]
    for index, entry in enumerate([*shared.values(), *own]):
        variables = plan.variables(entry)
        for name in filter(is_secret_name, variables):
            if name in without:
                continue
            with contextlib.suppress(UsageError):  # whoever reads it gets to know
                value = variables[name]
                found[f"{index}_{name}"] = value.secret() if isinstance(value, Hidden) else value
    return found
