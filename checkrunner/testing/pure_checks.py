"""Checks of the contracts of the seams that touch nothing outside: scripts, observers, renderers and their like."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence

from checkrunner.model.errors import TemplateError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import CheckOutcome, HostOutcome, Items, PlannedCheck, Settled, Skip, Step
from checkrunner.model.playbook import Check
from checkrunner.model.report import Report, Wait
from checkrunner.model.results import (
    Execution,
    HostState,
    RawLine,
    RawSlice,
    Result,
    SliceMode,
    SliceQuery,
    Verdict,
    VerdictState,
)
from checkrunner.model.seams import Observer, Redactor, Renderer, Script, Templates, TokenCounter
from checkrunner.model.sources import Template

__all__ = [
    "check_observer",
    "check_redactor",
    "check_renderer",
    "check_script",
    "check_templates",
    "check_token_counter",
]

_NOT_LOOKED = frozenset({VerdictState.UNKNOWN, VerdictState.SKIPPED})


def check_templates(templates: Templates) -> None:
    """The contract of `Templates`, on a few texts that every implementation must know."""
    names = {"disk": {"rc": 2}, "word": "{{ disk }}"}
    assert templates.render(Template(text="plain"), names) == "plain"
    assert templates.render(Template(text="<{{ word }}>"), names) == "<{{ disk }}>", "values are not templates again"
    expression = Template(text="disk.rc > 1 and word")
    assert templates.evaluate(expression, names) == templates.evaluate(expression, names) == "{{ disk }}"
    assert templates.evaluate(Template(text="disk.rc"), names) == 2, "values keep their types"
    assert templates.names_in_expression(expression) == {"disk", "word"}
    assert templates.names_in_expression(Template(text="[1] | map('string') | list")) == frozenset()
    assert templates.attributes_of(expression, "disk") == {"rc"}
    assert templates.attributes_of(expression, "other") == frozenset()
    wrong = Template(text="disk.rc >")
    refused: Sequence[Callable[[], object]] = (
        lambda: templates.render(Template(text="{{ missing }}"), names),
        lambda: templates.evaluate(Template(text="missing + 1"), names),
        lambda: templates.evaluate(wrong, names),
        lambda: templates.names_in_expression(wrong),
        lambda: templates.attributes_of(wrong, "disk"),
    )
    for call in refused:
        try:
            call()
        except TemplateError:
            continue
        raise AssertionError("what cannot be evaluated raises TemplateError")


def check_script(script: Script) -> None:
    """The contract of `Script`: every check resolves with what it needs, and every ending of its command is judged.

    The commands "end" with return code 0 and no output; what later checks read of earlier ones is that.
    """
    keys = [planned.key for planned in script.checks]
    assert len(set(keys)) == len(keys), "keys are unique in a run"
    outcomes: dict[str, CheckOutcome] = {}
    for planned in script.checks:
        assert planned.needs <= outcomes.keys(), f"{planned.key} needs what comes after it"
        needed = {key: outcomes[key] for key in planned.needs}
        outcomes[planned.key] = _outcome(script, planned, needed)


def _outcome(script: Script, planned: PlannedCheck, needed: Mapping[str, CheckOutcome]) -> CheckOutcome:
    host = script.host.name
    try:
        resolved = script.resolve(planned, needed)
    except TemplateError:
        return CheckOutcome(host=host, planned=planned, verdict=Verdict(state=VerdictState.UNKNOWN))
    assert resolved.planned is planned
    if isinstance(resolved, Skip):
        assert resolved.reason, "a skipped check says why"
        return CheckOutcome(host=host, planned=planned, verdict=Verdict(state=VerdictState.SKIPPED))
    if isinstance(resolved, Settled):
        return CheckOutcome(host=host, planned=planned, verdict=resolved.verdict, facts=resolved.facts)
    if isinstance(resolved, Items):
        return _loop(script, resolved, needed)
    return _judged(script, resolved, needed)


def _loop(script: Script, loop: Items, needed: Mapping[str, CheckOutcome]) -> CheckOutcome:
    assert loop.items, "a loop over nothing is skipped"
    assert len({item.key for item in loop.items}) == len(loop.items), "items have keys of their own"
    assert all(item.loop == loop.planned.key for item in loop.items), "items know their loop"
    assert [item.index for item in loop.items] == list(range(len(loop.items)))
    whole = script.whole(loop.planned, [_outcome(script, item, needed) for item in loop.items])
    assert whole.planned is loop.planned
    assert len(whole.items) == len(loop.items)
    return whole


def _judged(script: Script, step: Step, needed: Mapping[str, CheckOutcome]) -> CheckOutcome:
    planned, host = step.planned, script.host.name
    assert 0 <= step.reads <= len(step.early)
    reads = [None] * step.reads
    for execution in Execution:
        result = _result(step, execution)
        judgement = script.judge(step, result, needed, reads)
        if execution is not Execution.DONE and planned.check.task is None:
            assert judgement.verdict.state in _NOT_LOOKED, f"{execution} is {judgement.verdict.state}: nobody looked"
        asked = script.ask(step, result, judgement.verdict)
        assert not set(asked) & set(step.early), "what was sent along is asked for again"
        _ends(script, step, result, needed)
    _shows(script, step)
    result = _result(step, Execution.DONE)
    judgement = script.judge(step, result, needed, reads)
    outcome = CheckOutcome(
        host=host, planned=planned, verdict=judgement.verdict, values=judgement.values, result=result
    )
    for follower in script.follow(outcome):
        assert follower.follows == planned.key, "what follows knows why"
    return outcome


def _ends(script: Script, step: Step, result: Result, needed: Mapping[str, CheckOutcome]) -> None:
    """A command is not run again for ever, whatever comes of it."""
    reads = [None] * step.reads
    most = step.planned.check.until.retries if step.planned.check.until else 0
    for attempt in range(1, most + 2):
        delay = script.again(step, result, script.judge(step, result, needed, reads, attempt), attempt)
        if delay is None:
            return
        assert delay >= 0
    raise AssertionError(f"{step.planned.key} is run once more after {most + 1} times")


def _result(step: Step, execution: Execution) -> Result:
    rc = 0 if execution is Execution.DONE else None
    return Result(seq=1, session=step.command.session, execution=execution, rc=rc)


def _shows(script: Script, step: Step) -> None:
    query = SliceQuery(mode=SliceMode.HEAD)
    lines = (RawLine(number=1, data=b"\x1b[31mred\x1b[0m \xff"), RawLine(number=3, data=b"three", cut_bytes=7))
    for verdict in VerdictState:
        result = _result(step, Execution.DONE)
        wanted = script.keep(step, result, Verdict(state=verdict))
        assert not wanted, "nothing can be kept of what wrote nothing"
        script.kept(step, result, ())
    shown = script.show(step, RawSlice(query=query, lines=lines, total_lines=3, more_lines=1))
    assert (shown.query, shown.total_lines, shown.more_lines) == (query, 3, 1)
    assert [(line.number, line.cut_bytes) for line in shown.lines] == [(1, 0), (3, 7)]
    assert shown.lines[1].text == "three"
    assert all(line.text.isprintable() for line in shown.lines), "control sequences are no text"


def check_observer(make: Callable[[], Observer]) -> None:
    """The contract of `Observer`: it neither raises nor needs anything but the order of events that the seam names.

    Made twice: for a run of two hosts, one of which is not reached, and for one that ends before anything began.
    """
    interrupted = make()
    interrupted.run_started(2, 2)
    interrupted.run_finished()
    planned = PlannedCheck(key="check", play="play", check=Check(id="check", name="check"))
    unknown = Verdict(state=VerdictState.UNKNOWN)
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=0)
    looked = CheckOutcome(host="up", planned=planned, verdict=Verdict(state=VerdictState.OK), result=result)
    missed = CheckOutcome(host="down", planned=planned, verdict=unknown, error=UnreachableError("\x1b[2J refused"))
    observer = make()
    observer.run_started(2, 2)
    observer.tick()
    observer.checks_added("up", 3)
    observer.host_connecting("up")
    observer.host_connecting("down")
    observer.hosts_waiting(
        [Wait(place="jump \x1b[2J host", hosts=1, longest_s=2.0, waited_s=2.0, waiting=1, waiting_s=2.0)]
    )
    observer.tick()
    observer.hosts_waiting(())
    observer.host_connected("up")
    observer.check_started("up", planned)
    observer.tick()
    observer.check_state("up", planned, Observation(kind=Activity.IO_WAIT, name="\x1b[2J df", on="/mnt", since_s=3.0))
    observer.check_state("up", planned, Observation(kind=Activity.UNKNOWN))
    observer.tick()
    observer.check_finished(looked)
    observer.check_finished(missed)
    observer.host_finished(_host_outcome("down", HostState.UNREACHABLE, missed))
    observer.host_finished(_host_outcome("up", HostState.REACHED, looked))
    observer.run_finished()


def _host_outcome(name: str, state: HostState, check: CheckOutcome) -> HostOutcome:
    return HostOutcome(host=Host(name=name, address=name), state=state, checks=(check,), error=check.error)


def check_renderer(renderer: Renderer, report: Report) -> None:
    """The contract of `Renderer`: a pure function of the report, that leaves the stream open."""
    first, second = io.StringIO(), io.StringIO()
    renderer.render(report, first)
    renderer.render(report, second)
    assert first.getvalue(), "something is written"
    assert first.getvalue() == second.getvalue(), "the same report gives the same text"
    assert not first.closed


def check_redactor(redactor: Redactor, texts: Sequence[str]) -> None:
    """The contract of `Redactor`, on `texts`: idempotent, lines kept, no line without bound."""
    for text in texts:
        once = redactor.redact(text)
        assert redactor.redact(once) == once, f"not idempotent on {text!r}"
        assert once.count("\n") == text.count("\n"), f"the number of lines changed in {text!r}"
        for before, after in zip(text.split("\n"), once.split("\n"), strict=True):
            # A short secret becomes a longer mark, so a line may grow with the number of its secrets, and no more.
            assert len(after) <= 12 * len(before) + 100, f"a line grew from {len(before)} to {len(after)} characters"


def check_token_counter(counter: TokenCounter, texts: Sequence[str]) -> None:
    """The contract of `TokenCounter`, on `texts`."""
    assert counter.name
    for text in texts:
        assert counter.count(text) >= (1 if text else 0)
        for other in texts:
            joint = counter.count(text + other)
            assert joint + 1 >= max(counter.count(text), counter.count(other)), "more text counts for less"
