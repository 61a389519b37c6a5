"""What tasks come to: assert, debug, fail, set_fact, and the results of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from checkrunner.model.plan import CheckOutcome, Command, Judgement, PlannedCheck, Settled, Skip, Step
from checkrunner.model.playbook import Check, Loop, Until
from checkrunner.model.results import (
    Execution,
    Output,
    Probe,
    ProbeResult,
    RawLine,
    RawSlice,
    Reason,
    Result,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.model.sources import Secret, Template
from checkrunner.model.tasks import Module, Task, TaskState
from checkrunner.model.values import MOST_PARSED_BYTES
from checkrunner.plan.facts_script import SECTION
from checkrunner.plan.taint import is_tainted
from checkrunner.plan.task_commands import NOT_BEGUN, NOT_NEEDED
from checkrunner.plan.task_names import found_by_tasks
from checkrunner.plan.task_results import TaskResult, loop_result, registered_task, text_query
from checkrunner.plan.tasks import Tasks
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import RemoteText

TASKS = Tasks(Templates())


def text(value: str) -> Template:
    return Template(text=value)


def planned(module: Module, args: Mapping[str, Any] | None = None, *, loop: bool = False, **more: Any) -> PlannedCheck:
    of_check = {key: more.pop(key) for key in ("register", "until", "timeout_s") if key in more}
    made = args or ({"cmd": text("x")} if module is Module.SHELL else {})
    check = Check(
        id="t",
        name="T",
        run=made.get("cmd"),
        task=Task(module=module, args=made, **more),
        loop=Loop(items=[1]),
        **of_check,
    )
    check = check if loop else replace(check, loop=None)
    return PlannedCheck(key="t[1]" if loop else "t", play="p", check=check, loop="t" if loop else "", item=1)


def settle(module: Module, args: Mapping[str, Any] | None = None, names: Any = None, **more: Any) -> Settled:
    found = TASKS.settle(planned(module, args, **more), names or {})
    assert isinstance(found, Settled)
    return found


def states(found: Settled | Judgement) -> tuple[str, str]:
    return str(found.verdict.state), str(found.task)


def said(found: Settled | Judgement) -> list[str]:
    return [reason.message for reason in found.verdict.reasons]


# ---- without a command


def test_assert_holds() -> None:
    found = settle(Module.ASSERT, {"that": (text("a == 1"), text("b"))}, {"a": 1, "b": "yes"})
    assert states(found) == ("ok", "ok")
    assert found.registered == {"changed": False, "failed": False, "msg": "All assertions passed"}
    assert found.message == ""


@pytest.mark.parametrize(
    ("message", "shown", "registered"),
    [
        (None, "Assertion failed: a  == 2".replace("  ", " "), "Assertion failed"),
        (text("a is {{ a }}"), "a is 1", "a is 1"),
        (["no", text("{{ a }}")], '["no", 1]', ["no", 1]),
        (["no", "way"], "no\nway", ["no", "way"]),
    ],
)
def test_assert_does_not_hold(message: Any, shown: str, registered: Any) -> None:
    args = {"that": (text("a == 1"), text("a  == 2"), text("never.looked.at"))}
    found = settle(Module.ASSERT, args if message is None else {**args, "fail_msg": message}, {"a": 1})
    assert states(found) == ("crit", "failed")
    assert said(found) == [shown]
    assert (found.registered["msg"], found.registered["assertion"]) == (registered, "a  == 2")


def test_assert_says_that_it_holds() -> None:
    args = {"that": (text("true"),), "success_msg": text("{{ a }} is fine")}
    assert settle(Module.ASSERT, args, {"a": 1}).message == "1 is fine"
    assert settle(Module.ASSERT, {**args, "quiet": True}, {"a": 1}).message == ""


@pytest.mark.parametrize(
    ("args", "message", "registered"),
    [
        ({}, "Hello world!", {"msg": "Hello world!"}),
        ({"msg": text("{{ a }} x")}, "1 x", {"msg": "1 x"}),
        ({"msg": [1, {"k": text("{{ a }}")}]}, '[1, {"k": 1}]', {"msg": [1, {"k": 1}]}),
        ({"var": text("a")}, "a: 1", {"a": 1}),
        ({"var": text("nowhere")}, "nowhere: VARIABLE IS NOT DEFINED!", {"nowhere": "VARIABLE IS NOT DEFINED!"}),
    ],
)
def test_debug(args: Any, message: str, registered: Any) -> None:
    found = settle(Module.DEBUG, args, {"a": 1})
    assert states(found) == ("ok", "ok")
    assert found.message == message
    assert found.registered == {"changed": False, "failed": False, **registered}


def test_debug_of_another_verbosity_is_skipped() -> None:
    assert isinstance(TASKS.settle(planned(Module.DEBUG, {"verbosity": 2}), {}), Skip)


def test_fail() -> None:
    assert said(settle(Module.FAIL)) == ["Failed as requested from task"]
    found = settle(Module.FAIL, {"msg": text("no {{ a }}")}, {"a": 1})
    assert (states(found), said(found)) == (("crit", "failed"), ["no 1"])
    several = settle(Module.FAIL, {"msg": (text("{{ a }}"), "x")}, {"a": RemoteText("$(id)")})
    assert (said(several), is_tainted(several.registered["msg"])) == (["$(id)\nx"], True)


def test_set_fact_keeps_types_and_secrets() -> None:
    facts = {
        "n": text("{{ a + 1 }}"),
        "t": text("{{ a }}{{ a }}"),
        "l": [text("{{ a }}")],
        "s": text("{{ s }}"),
        "p": 5,
    }
    found = settle(Module.SET_FACT, {"facts": facts}, {"a": 1, "s": Secret("hidden")})
    assert found.facts == {"n": 2, "t": "11", "l": [1], "s": Secret("hidden"), "p": 5}
    assert "hidden" not in repr(found)


def test_what_cannot_be_evaluated_has_failed() -> None:
    for module, args in (
        (Module.ASSERT, {"that": (text("nowhere == 1"),)}),
        (Module.DEBUG, {"msg": text("{{ nowhere }}")}),
        (Module.SET_FACT, {"facts": {"a": text("{{ nowhere.x }}")}}),
    ):
        found = settle(module, args)
        assert states(found) == ("crit", "failed")
        assert "'nowhere' is not defined" in said(found)[0]
        assert found.registered["failed"]
    quoting = settle(Module.SET_FACT, {"facts": {"a": text("{{ r | human_to_bytes }}")}}, {"r": RemoteText("$(id)")})
    assert "'$(id)' is no size" in quoting.registered["msg"]
    assert is_tainted(quoting.registered["msg"])


def test_failures_that_do_not_matter() -> None:
    ignored = settle(Module.FAIL, ignore_errors=True)
    assert (states(ignored), ignored.verdict.noted) == (("ok", "ignored"), True)
    assert said(ignored) == ["Failed as requested from task (ignored)"]
    assert ignored.registered["failed"]
    assert states(settle(Module.FAIL, names={"l": True}, ignore_errors=text("l"))) == ("ok", "ignored")
    assert states(settle(Module.FAIL, names={"l": False}, ignore_errors=text("l"))) == ("crit", "failed")
    rescued = TASKS.settle(planned(Module.FAIL), {}, rescued=True)
    assert isinstance(rescued, Settled)
    assert (states(rescued), said(rescued)) == (("ok", "rescued"), ["Failed as requested from task (rescued)"])


def test_nothing_is_said_without_log() -> None:
    found = settle(Module.FAIL, {"msg": "the password"}, no_log=True)
    assert said(found) == ["failed; what it says is not shown (no_log)"]
    assert settle(Module.DEBUG, {"msg": "the password"}, no_log=True).message == ""


def test_failed_when_of_other_modules() -> None:
    found = settle(Module.DEBUG, {"msg": "x"}, register="r", failed_when=(text("r.msg == 'x'"),))
    assert (states(found), said(found)) == (("crit", "failed"), ["failed_when: r.msg == 'x'"])
    assert states(settle(Module.FAIL, failed_when=(text("false"),))) == ("ok", "ok")


def test_an_item_says_which_it_is() -> None:
    found = TASKS.settle(planned(Module.DEBUG, loop=True), {})
    assert isinstance(found, Settled)
    assert (found.registered["item"], found.registered["ansible_loop_var"]) == (1, "item")


# ---- with a command

START = datetime(2024, 5, 1, 10, tzinfo=UTC)


def judge(
    one: PlannedCheck,
    rc: int | None = 0,
    *,
    stdout: str | None = None,
    stderr: str | None = None,
    names: Any = None,
    reads: Sequence[Stream] = (),
    unable: Verdict | None = None,
    attempt: int = 1,
    rescued: bool = False,
    **more: Any,
) -> Judgement:
    outputs = {}
    for stream, value in ((Stream.STDOUT, stdout), (Stream.STDERR, stderr)):
        data = (value or "").encode()
        outputs[str(stream)] = Output(lines=len((value or "").splitlines()), bytes=len(data), captured_bytes=len(data))
    fields: dict[str, Any] = {
        "seq": 1,
        "session": "main",
        "execution": Execution.DONE,
        "elapsed_s": 1.5,
        **outputs,
        **more,
    }
    result = Result(rc=rc, started_at=START, **fields)
    queries = tuple(text_query(stream) for stream in reads)
    step = Step(planned=one, command=Command(shell="x"), early=queries, reads=len(queries))
    given = [
        RawSlice(
            query=query,
            lines=(RawLine(number=0, data=((stdout if query.stream is Stream.STDOUT else stderr) or "").encode()),),
            total_lines=1,
        )
        for query in queries
    ]
    return TASKS.judge(step, result, names or {}, given, unable, attempt=attempt, rescued=rescued)


def test_the_result_of_a_command() -> None:
    found = judge(planned(Module.SHELL), stdout="a\nb\n\n", stderr="", reads=[Stream.STDOUT])
    assert states(found) == ("ok", "changed")
    assert found.registered == {
        "cmd": "x",
        "rc": 0,
        "msg": "",
        "changed": True,
        "failed": False,
        "start": "2024-05-01 10:00:00.000000",
        "end": "2024-05-01 10:00:01.500000",
        "delta": "0:00:01.500000",
        "stdout": "a\nb",
        "stdout_lines": ["a", "b"],
        "stderr": "",
        "stderr_lines": [],
    }
    assert isinstance(found.registered["stdout"], RemoteText)
    assert all(isinstance(line, RemoteText) for line in found.registered["stdout_lines"])


def test_a_return_code_that_is_not_0() -> None:
    found = judge(planned(Module.SHELL), 3)
    assert (states(found), said(found)) == (("crit", "failed"), ["rc was 3, expected 0"])
    assert (found.registered["failed"], found.registered["msg"], found.registered["rc"]) == (
        True,
        "non-zero return code",
        3,
    )


@pytest.mark.parametrize(
    ("failed_when", "changed_when", "rc", "state"),
    [
        (("r.rc == 3",), None, 3, "failed"),
        (("r.rc == 3", "r.rc == 4"), None, 3, "changed"),
        (("false",), ("false",), 3, "ok"),
        (None, ("r.rc == 0",), 0, "changed"),
        (None, ("'x' in r.stdout",), 0, "ok"),
        (("r.nothing.there == 1",), None, 0, "failed"),
        (None, ("nowhere",), 0, "failed"),
    ],
)
def test_what_decides(failed_when: Any, changed_when: Any, rc: int, state: str) -> None:
    given = {"failed_when": failed_when, "changed_when": changed_when}
    made: dict[str, Any] = {key: tuple(map(text, value)) for key, value in given.items() if value}
    assert str(judge(planned(Module.SHELL, register="r", **made), rc).task) == state


def test_text_that_was_not_fetched_or_is_too_long() -> None:
    found = judge(planned(Module.SHELL), stdout="a")
    assert found.registered["stderr"] == ""
    with pytest.raises(ValueError, match="was not fetched"):
        _ = found.registered["stdout"]
    with pytest.raises(KeyError):
        _ = found.registered["other"]
    long = judge(planned(Module.SHELL), stdout="x" * (MOST_PARSED_BYTES + 1), reads=[Stream.STDOUT])
    with pytest.raises(ValueError, match="262,145 bytes, and at most 256 KiB can be read"):
        _ = long.registered["stdout_lines"]
    using = settle(Module.DEBUG, {"msg": text("{{ r.stdout }}")}, {"r": long.registered})
    assert "at most 256 KiB can be read" in said(using)[0]


def test_what_a_command_said_is_no_template() -> None:
    found = judge(planned(Module.SHELL), stdout="{{ 7 * 7 }}", reads=[Stream.STDOUT])
    shown = settle(Module.DEBUG, {"msg": text("{{ r.stdout }}")}, {"r": found.registered})
    assert shown.message == "{{ 7 * 7 }}"


def unable(message: str = "was ended by its timeout") -> Verdict:
    reason = Reason(subject="execution", expected="done", actual="timed_out", message=message)
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))


def test_a_command_that_was_not_run_to_its_end() -> None:
    found = judge(planned(Module.SHELL), None, unable=unable(), execution=Execution.TIMED_OUT)
    assert (states(found), found.registered["failed"]) == (("unknown", "failed"), True)
    own = judge(planned(Module.SHELL, timeout_s=5.0), None, unable=unable(), execution=Execution.TIMED_OUT)
    assert states(own) == ("crit", "failed")
    ignored = judge(planned(Module.SHELL, ignore_errors=True), None, unable=unable(), execution=Execution.STUCK)
    assert states(ignored) == ("unknown", "ignored")
    rescued = judge(planned(Module.SHELL), None, unable=unable(), execution=Execution.STUCK, rescued=True)
    assert (states(rescued), said(rescued)) == (("unknown", "rescued"), ["was ended by its timeout (rescued)"])


def answered(probe: Probe) -> dict[str, ProbeResult]:
    return {probe.name: ProbeResult(name=probe.name, count=1, first_line=1)}


def test_a_command_that_was_not_needed() -> None:
    args = {"cmd": text("x"), "creates": text("/x")}
    line = "skipped, since /x exists"
    found = judge(planned(Module.SHELL, args), stdout=line, probes=answered(NOT_NEEDED))
    assert (states(found), found.registered["changed"]) == (("ok", "ok"), False)
    script = {**args, "text": "echo", "rest": text("")}
    skipped = judge(planned(Module.SCRIPT, script), stdout=line, probes=answered(NOT_NEEDED))
    assert (str(skipped.verdict.state), skipped.registered["skipped"]) == ("skipped", True)


def test_a_command_that_could_not_be_begun_with() -> None:
    found = judge(planned(Module.COMMAND, {"cmd": text("x")}), 2, stderr="[Errno 2] no", probes=answered(NOT_BEGUN))
    assert (found.registered["rc"], found.registered["changed"]) == (2, False)
    assert said(found) == ["Error executing command: there is no such program"]


def test_again_and_again() -> None:
    until = Until(conditions=(text("r.rc == 0"),), retries=2, delay_s=0.0)
    one = planned(Module.SHELL, register="r", until=until)
    first = judge(one, 1, attempt=1)
    assert first.registered["attempts"] == 1
    assert TASKS.again(one, first.registered, {}, 1) == 0.0
    assert TASKS.again(one, judge(one, 0, attempt=2).registered, {}, 2) is None
    last = judge(one, 1, attempt=3)
    assert TASKS.again(one, last.registered, {}, 3) is None
    assert (last.registered["attempts"], states(last)) == (2, ("crit", "failed"))


def test_a_command_that_never_gets_there_has_failed() -> None:
    until = Until(conditions=(text("r.rc == 5"),), retries=1, delay_s=0.0)
    found = judge(planned(Module.SHELL, register="r", until=until), 0, attempt=2)
    assert (states(found), said(found)) == (("crit", "failed"), ["until: r.rc == 5 did not hold in 2 attempts"])
    broken = planned(Module.SHELL, register="r", until=Until(conditions=(text("r.a.b"),), retries=5))
    assert states(judge(broken, 0)) == ("crit", "failed")
    assert TASKS.again(broken, judge(broken, 0).registered, {}, 1) is None
    without = planned(Module.SHELL, until=Until(conditions=(), retries=1, delay_s=3.0))
    assert TASKS.again(without, judge(without, 1).registered, {}, 1) == 3.0
    assert TASKS.again(without, judge(without, 0).registered, {}, 1) is None


def test_until_of_a_task_without_a_command() -> None:
    until = Until(conditions=(text("d.msg == 'y'"),), retries=2, delay_s=60.0)
    found = settle(Module.DEBUG, {"msg": text("x")}, register="d", until=until)
    assert (states(found), said(found)) == (("crit", "failed"), ["until: d.msg == 'y' did not hold in 1 attempt"])
    assert states(settle(Module.DEBUG, {"msg": text("y")}, register="d", until=until)) == ("ok", "ok")


def test_failed_when_counts_more_than_until() -> None:
    until = Until(conditions=(text("r.rc == 0"),), retries=1, delay_s=0.0)
    one = planned(Module.SHELL, register="r", until=until, failed_when=(text("false"),))
    found = judge(one, 3, attempt=2)
    assert (states(found), found.registered["failed"], found.verdict.noted) == (("ok", "changed"), True, True)
    assert said(found) == ["until: r.rc == 0 did not hold in 2 attempts (failed_when does not hold)"]
    odd = replace(until, conditions=(text("r.nothing.there"),))
    assert states(judge(planned(Module.SHELL, register="r", until=odd, failed_when=(text("false"),)), 3)) == (
        "crit",
        "failed",
    )


def test_facts_are_variables_from_now_on() -> None:
    printed = f"{SECTION}uptime\n42.5 3\n{SECTION}load\n0.5 1 2 1/2 3\n"
    found = judge(planned(Module.SETUP), stdout=printed, reads=[Stream.STDOUT])
    assert found.facts["ansible_uptime_seconds"] == 42
    assert found.facts["ansible_facts"]["loadavg"] == {"1m": 0.5, "5m": 1.0, "15m": 2.0}


def test_a_host_that_tells_no_facts_could_not_be_looked_at() -> None:
    found = judge(planned(Module.SETUP), 2, reads=[Stream.STDOUT])
    assert (states(found), said(found)) == (("unknown", "failed"), ["the host has told no facts (rc 2)"])
    assert found.registered["failed"]
    assert not found.facts


# ---- results of others


def outcome(
    one: PlannedCheck, state: VerdictState = VerdictState.OK, subject: str = "when", **more: Any
) -> CheckOutcome:
    reasons = () if state is VerdictState.OK else (Reason(subject=subject, expected="", actual="", message="why"),)
    return CheckOutcome(host="h", planned=one, verdict=Verdict(state=state, reasons=reasons), **more)


def test_results_of_tasks_that_did_not_run() -> None:
    skipped = registered_task(outcome(planned(Module.SHELL), VerdictState.SKIPPED))
    assert (skipped["skipped"], skipped["changed"], skipped["skip_reason"]) == (True, False, "why")
    assert registered_task(outcome(planned(Module.SHELL, loop=True), VerdictState.SKIPPED))["item"] == 1
    lost = registered_task(outcome(planned(Module.SHELL), VerdictState.UNKNOWN))
    assert (lost["failed"], lost["unreachable"]) == (True, True)


def test_the_result_of_a_loop() -> None:
    fine, bad = TaskResult({"changed": True, "failed": False}), TaskResult({"changed": False, "failed": True})
    skipped = TaskResult({"changed": False, "failed": False, "skipped": True})
    assert loop_result([fine, skipped]) == {
        "results": [fine, skipped],
        "changed": True,
        "failed": False,
        "msg": "All items completed",
    }
    assert loop_result([fine, bad])["failed"]
    assert loop_result([skipped, skipped])["skipped"]
    assert loop_result([])["results"] == []


def test_the_later_of_a_result_and_a_fact_counts() -> None:
    registers = planned(Module.SHELL, register="x")
    first = outcome(registers, registered=TaskResult({"rc": 0}), task=TaskState.OK)
    fact = replace(outcome(planned(Module.SET_FACT)), facts={"x": 5})
    assert found_by_tasks({"a": first, "b": fact})["x"] == 5
    assert found_by_tasks({"b": fact, "a": first})["x"] == {"rc": 0}
    not_reached = outcome(registers, VerdictState.SKIPPED, subject="tasks")
    assert found_by_tasks({"b": fact, "a": not_reached})["x"] == 5


def test_a_rescue_knows_what_failed() -> None:
    failed = outcome(planned(Module.FAIL), registered=TaskResult({"msg": "no"}), task=TaskState.RESCUED)
    found = found_by_tasks({"a": failed})
    assert found["ansible_failed_task"]["name"] == "T"
    assert found["ansible_failed_result"] == {"msg": "no"}
