"""Playbooks, hosts and outcomes for tests of plans, made with few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, Items, PlannedCheck, Skip, Step
from checkrunner.model.playbook import Check, Expectation, Loop, Play, Playbook
from checkrunner.model.results import Execution, Output, Result, Verdict, VerdictState
from checkrunner.model.sources import SourceRef, Template
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.loops import whole_of

PATH = "checks.yml"


def text(content: str, line: int = 1, column: int = 12, *, raw: bool = False, literal: bool = False) -> Template:
    source = SourceRef(path=PATH, line=line, column=column)
    return Template(text=content, source=source, raw=raw, literal=literal)


def make_check(id: str = "c", run: str = "true", line: int = 1, **fields: Any) -> Check:  # noqa: A002 - the check's word
    if "argv" in fields:
        fields["argv"] = tuple(text(word, line) for word in fields["argv"])
    else:
        fields["run"] = text(run, line, raw=fields.pop("raw", False))
    for key in ("when", "warn_if", "crit_if"):
        if key in fields:
            fields[key] = tuple(text(condition, line) for condition in fields[key])
    if "env" in fields:
        fields["env"] = {k: text(v, line) if isinstance(v, str) else v for k, v in fields["env"].items()}
    for key in ("cwd", "why", "fix"):
        if key in fields:
            fields[key] = text(fields[key], line)
    return Check(id=id, name=fields.pop("name", id), source=SourceRef(path=PATH, line=line, column=7), **fields)


def expected(subject: str, op: str, value: Any, line: int = 1) -> Expectation:
    return Expectation(subject=subject, op=op, value=text(value, line) if isinstance(value, str) else value)


def make_host(name: str = "h1", groups: Sequence[str] = (), **variables: Any) -> Host:
    return Host(name=name, address=name, groups=tuple(groups), vars=variables)


def make_play(*checks: Check, name: str = "p", **fields: Any) -> Play:
    return Play(name=name, hosts="all", checks=checks, **fields)


def plan_of(
    *checks: Check, hosts: Sequence[Host] = (make_host(),), play_vars: Mapping[str, Any] | None = None, **fields: Any
) -> Plan:
    play = make_play(*checks, vars=play_vars or {})
    return build_plan(Playbook(path=PATH, plays=(play,)), [hosts], **fields)


def plan_plays(plays: Sequence[tuple[Play, Sequence[Host]]], **fields: Any) -> Plan:
    book = Playbook(path=PATH, plays=tuple(play for play, _ in plays))
    return build_plan(book, [hosts for _, hosts in plays], **fields)


def outcome(
    planned: PlannedCheck, state: VerdictState = VerdictState.OK, *, ran: bool = True, **result: Any
) -> CheckOutcome:
    found = None
    if ran:
        lines = {name: Output(lines=result.pop(f"{name}_lines", 0)) for name in ("stdout", "stderr")}
        fields: dict[str, Any] = {"rc": 0, "execution": Execution.DONE, **lines, **result}
        found = Result(seq=1, session="main", **fields)
    return CheckOutcome(host="h1", planned=planned, verdict=Verdict(state=state), result=found)


def loop_of(items: Any, line: int = 1, **fields: Any) -> Loop:
    if "label" in fields:
        fields["label"] = text(fields["label"], line)
    written = text(items, line) if isinstance(items, str) else items
    return Loop(items=written, source=SourceRef(path=PATH, line=line, column=7), **fields)


def resolve_all(
    plan: Plan, ends: Callable[[Step], CheckOutcome] | None = None, host: int = 0
) -> tuple[dict[str, str], dict[str, CheckOutcome]]:
    """Goes through a host's checks as a run does, one after another: what was run, or why not, by key and in order;
    and the outcomes. `ends` says how commands end; well, without it."""
    one = plan.hosts[host]
    told: dict[str, str] = {}
    outcomes: dict[str, CheckOutcome] = {}

    def go(planned: PlannedCheck) -> CheckOutcome:
        assert planned.needs <= outcomes.keys(), f"{planned.key} waits for {planned.needs - outcomes.keys()}"
        resolved = one.resolve(planned, outcomes)
        if isinstance(resolved, Items):
            found = whole_of(planned, [go(item) for item in resolved.items])
            outcomes[planned.key] = found
            return found
        if isinstance(resolved, Skip):
            told[planned.key] = f"({resolved.reason})"
            found = outcome(planned, VerdictState.SKIPPED, ran=False)
        else:
            assert isinstance(resolved, Step)
            told[planned.key] = f"{resolved.on}: {resolved.command.shell}" if resolved.on else resolved.command.shell
            found = ends(resolved) if ends else outcome(planned)
        outcomes[planned.key] = found
        for follower in one.follow(found):
            go(follower)
        return found

    for planned in one.checks:
        go(planned)
    return told, outcomes
