"""Verdicts: which state, for which reasons, in which words."""

from __future__ import annotations

from typing import Any

import pytest
from judge_factory import FAILED, TRUNCATED, expected, judged, make_check, output, reasons, text, that

from checkrunner.judge.expectations import EXPECTATIONS
from checkrunner.judge.judge import Judge
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import Command, Prompt
from checkrunner.model.playbook import Check, Expectation, OnInput
from checkrunner.model.results import (
    Execution,
    Output,
    Probe,
    ProbeKind,
    ProbeResult,
    Reason,
    Severity,
    Stream,
    VerdictState,
)
from checkrunner.model.sources import Secret
from checkrunner.plan.texts import Templates

OK, WARN, CRIT, UNKNOWN, SKIPPED = VerdictState


def test_the_default_expectation() -> None:
    assert judged(make_check()).state is OK
    verdict = judged(make_check(), rc=2)
    assert verdict.state is CRIT
    assert verdict.reasons == (
        Reason(subject="rc", expected="0", actual="2", message="rc was 2, expected 0 (the default)"),
    )


@pytest.mark.parametrize(
    ("check", "rc", "state"),
    [
        (make_check(expected("rc", "number", [0, 1])), 1, OK),
        (make_check(expected("rc", "number", 3)), 0, CRIT),
        (make_check(that("rc in [0, 3]")), 3, OK),
        (make_check(crit_if=["rc > 3"]), 2, OK),
        (make_check(crit_if=["rc > 3"]), 4, CRIT),
        (make_check(warn_if=["rc == 1"]), 1, WARN),
        (make_check(crit_if=["stdout_lines > 3"]), 2, CRIT),
        (make_check(that("disk.rc == 2")), 2, CRIT),
        (make_check(expected("stdout", "empty", True)), 2, CRIT),
        (make_check(that("'rc' == 'rc'")), 2, CRIT),
    ],
)
def test_the_default_holds_unless_rc_is_spoken_of(check: Check, rc: int, state: VerdictState) -> None:
    disk = type("R", (), {"rc": 2})()
    assert judged(check, rc=rc, names={"disk": disk}).state is state


@pytest.mark.parametrize(
    ("rc", "message"),
    [
        (127, "could not look: a command was not found (rc 127)"),
        (126, "could not look: a command could not be executed, or was itself denied what it needs (rc 126)"),
    ],
)
def test_a_command_that_was_not_found(rc: int, message: str) -> None:
    verdict = judged(make_check(crit_if=["stdout_lines == 0"]), rc=rc)
    assert (verdict.state, reasons(verdict)) == (UNKNOWN, [message])
    assert judged(make_check(expected("rc", "number", rc)), rc=rc).state is OK
    assert judged(make_check(expected("rc", "number", 0)), rc=rc).state is CRIT


@pytest.mark.parametrize(
    ("result", "state", "message"),
    [
        (
            {"execution": Execution.TIMED_OUT, "elapsed_s": 60.04, "state": "df: io_wait, /mnt/nfs"},
            UNKNOWN,
            "was ended by its timeout of 60 s after 60.0 s; last seen: df: io_wait, /mnt/nfs",
        ),
        (
            {
                "execution": Execution.TIMED_OUT,
                "elapsed_s": 60.04,
                "state": "what a person would read",
                "seen": Observation(
                    kind=Activity.IO_WAIT,
                    pid=4242,
                    name="smartctl",
                    wchan="blk_mq_get_tag",
                    syscall="ioctl",
                    fd=3,
                    on="/dev/sdb",
                    since_s=42.4,
                ),
            },
            UNKNOWN,
            (
                "was ended by its timeout of 60 s after 60.0 s; last seen: smartctl (pid 4242) io_wait for 42.4 s,"
                " wchan blk_mq_get_tag, in ioctl of fd 3, /dev/sdb"
            ),
        ),
        (
            {
                "execution": Execution.STUCK,
                "elapsed_s": 63.0,
                "seen": Observation(kind=Activity.UNKNOWN),
            },
            UNKNOWN,
            "could not be ended after 63.0 s; last seen: unknown",
        ),
        (
            {
                "execution": Execution.WAITING_INPUT,
                "prompt": "Password:",
                "seen": Observation(
                    kind=Activity.WAITING_INPUT, pid=7, name="su", on="/dev/pts/3", echo=False, since_s=2.0
                ),
            },
            UNKNOWN,
            (
                "waits for input that nobody gives; last seen: su (pid 7) waiting_input for 2.0 s,"
                " /dev/pts/3, the terminal does not show what is typed; it asks: Password:"
            ),
        ),
        ({"execution": Execution.KILLED, "signal": 9}, UNKNOWN, "was ended by signal 9"),
        ({"execution": Execution.KILLED}, UNKNOWN, "was ended from outside"),
        (
            {"execution": Execution.KILLED, "notes": ("capped",)},
            UNKNOWN,
            "was ended because its output reached the cap of 67,108,864 bytes",
        ),
        (
            {"execution": Execution.KILLED, "notes": ("host_capped",)},
            UNKNOWN,
            "was ended because all outputs of this host together reached their cap",
        ),
        ({"execution": Execution.KILLED, "notes": ("cancelled",)}, UNKNOWN, "was ended because the run was cancelled"),
        ({"execution": Execution.STUCK, "elapsed_s": 70}, UNKNOWN, "could not be ended after 70.0 s"),
        ({"execution": Execution.WAITING_INPUT}, UNKNOWN, "waits for input that nobody gives"),
        ({"execution": Execution.LOST}, UNKNOWN, "its session was lost while it ran"),
        ({"execution": Execution.NOT_RUN}, UNKNOWN, "was not run"),
        ({"execution": Execution.NOT_RUN, "notes": ("cancelled",)}, UNKNOWN, "was not run: the run was cancelled"),
        (
            {"execution": Execution.NOT_RUN, "notes": ("cwd_failed",)},
            UNKNOWN,
            "was not run: its working directory '/x' cannot be entered",
        ),
        (
            {"execution": Execution.NOT_RUN, "missing": ("smartctl",)},
            SKIPPED,
            "needs smartctl, which is not on this host",
        ),
        (
            {"execution": Execution.NOT_RUN, "missing": ("a", "b", "/c")},
            SKIPPED,
            "needs a, b and /c, which are not on this host",
        ),
    ],
)
def test_what_did_not_run_to_its_end(result: dict[str, Any], state: VerdictState, message: str) -> None:
    check = make_check(expected("rc", "number", 0), crit_if=["execution != 'done'"])
    verdict = judged(check, rc=None, command=Command(shell="true", cwd="/x"), **result)
    assert (verdict.state, reasons(verdict)) == (state, [message])


def test_a_shell_that_died_of_a_signal() -> None:
    verdict = judged(make_check(), rc=None, signal=11)
    assert (verdict.state, reasons(verdict)) == (CRIT, ["it was ended by signal 11, expected rc 0 (the default)"])


@pytest.mark.parametrize(
    ("severity", "state", "noted"),
    [(Severity.CRITICAL, CRIT, False), (Severity.WARNING, WARN, False), (Severity.INFO, OK, True)],
)
def test_severity(severity: Severity, state: VerdictState, noted: bool) -> None:
    verdict = judged(make_check(severity=severity), rc=1)
    assert (verdict.state, verdict.noted) == (state, noted)
    assert reasons(verdict) == ["rc was 1, expected 0 (the default)"]
    assert judged(make_check(severity=severity)).noted is False


@pytest.mark.parametrize(
    ("lines", "state", "messages"),
    [
        (2, OK, []),
        (6, WARN, ["warn_if: stdout_lines > warn (stdout_lines = 6, warn = 5)"]),
        (11, CRIT, ["crit_if: stdout_lines > crit (stdout_lines = 11, crit = 10)"]),
    ],
)
def test_levels(lines: int, state: VerdictState, messages: list[str]) -> None:
    check = make_check(warn_if=["stdout_lines > warn"], crit_if=["stdout_lines > crit"])
    verdict = judged(check, stdout="x\n" * lines, names={"warn": 5, "crit": 10})
    assert (verdict.state, reasons(verdict)) == (state, messages)


def test_the_worst_wins_and_all_reasons_stay() -> None:
    check = make_check(
        expected("stdout_lines", "number", 0), that("nope > 1"), warn_if=["true"], severity=Severity.CRITICAL
    )
    verdict = judged(check, stdout="x\n", rc=1)
    assert verdict.state is CRIT
    assert reasons(verdict) == [
        "stdout_lines was 1, expected 0",
        "rc was 1, expected 0 (the default)",
        "expect: nope > 1: 'nope' is not defined",
        "warn_if: true",
    ]


@pytest.mark.parametrize(
    ("check", "state"),
    [
        (make_check(that("nope"), warn_if=["true"]), UNKNOWN),
        (make_check(that("nope")), UNKNOWN),
        (make_check(that("nope"), severity=Severity.INFO), UNKNOWN),
        (make_check(that("nope"), that("false"), severity=Severity.INFO), UNKNOWN),
        (make_check(crit_if=["nope"], warn_if=["true"]), UNKNOWN),
        (make_check(warn_if=["nope"], crit_if=["true"]), CRIT),
        (make_check(crit_if=["1 / 0"]), UNKNOWN),
    ],
)
def test_an_expression_that_fails_is_unknown_unless_worse_is_known(check: Check, state: VerdictState) -> None:
    verdict = judged(check)
    assert verdict.state is state
    assert verdict.noted is False


def test_words_for_false_are_false() -> None:
    assert judged(make_check(crit_if=["flag"]), names={"flag": "no"}).state is OK
    assert judged(make_check(that("flag")), names={"flag": "no"}).state is CRIT


def test_values_in_messages() -> None:
    result = type("R", (), {"rc": 4, "elapsed_s": 0.123456})()
    check = make_check(crit_if=["disk.rc > 3 and\n  disk.elapsed_s < 1 and free_pct < 5 and token and words"])
    names = {"disk": result, "free_pct": 3, "token": Secret("hunter2"), "words": ["x" * 200]}
    (message,) = reasons(judged(check, names=names))
    assert message.startswith(
        "crit_if: disk.rc > 3 and disk.elapsed_s < 1 and free_pct < 5 and token and words (disk.rc = 4, "
    )
    assert "disk.elapsed_s = 0.123, free_pct = 3, words = ['xxx" in message
    assert "hunter2" not in message
    assert len(message) < 220


READY = "one\nready\nthree\n"

# expectation, stdout, the message when it is not met
UNMET: list[tuple[Expectation, str, str]] = [
    (expected("stdout", "contains", "ready"), "a\n" * 1200, "stdout: 'ready' not found in 1,200 lines"),
    (expected("stdout", "contains", "ready"), "a\n", "stdout: 'ready' not found in 1 line"),
    (expected("stdout", "matches", "rea"), "a\n\n", "stdout: the pattern 'rea' was not found in 2 lines"),
    (expected("stdout", "not_matches", "ready"), READY, "stdout line 2 matches 'ready'"),
    (expected("stdout", "not_matches", "e"), READY, "stdout line 1 matches 'e' (3 lines do)"),
    (expected("stdout", "equals", "x"), READY, "stdout is not 'x' (it has 3 lines, 16 bytes)"),
    (expected("stdout", "empty", True), READY, "stdout has 3 lines, expected none"),
    (expected("stdout", "empty", False), "", "stdout is empty"),
    (expected("stdout_lines", "number", ">= 5"), READY, "stdout_lines was 3, expected >= 5"),
    (expected("stderr_lines", "number", 1), READY, "stderr_lines was 0, expected 1"),
    (expected("elapsed_s", "number", "< 0.5"), "", "elapsed_s was 2.5 s, expected < 0.5 s"),
    (expected("rc", "number", [1, 2]), "", "rc was 0, expected 1 or 2"),
    (that("stdout_lines  >\n 5"), READY, "expected stdout_lines > 5 (stdout_lines = 3)"),
    (that("1 > 2"), "", "expected 1 > 2"),
]


@pytest.mark.parametrize(("expectation", "stdout", "message"), UNMET)
def test_unmet(expectation: Expectation, stdout: str, message: str) -> None:
    verdict = judged(make_check(expectation), stdout=stdout, elapsed_s=2.5)
    assert (verdict.state, reasons(verdict)) == (CRIT, [message])


@pytest.mark.parametrize(
    ("expectation", "stdout"),
    [
        (expected("stdout", "contains", "ready"), READY),
        (expected("stdout", "matches", "ready"), READY),
        (expected("stdout", "not_matches", "ERROR"), READY),
        (expected("stdout", "equals", "one\nready\nthree"), READY),
        (expected("stdout", "empty", True), ""),
        (expected("stdout", "empty", False), READY),
        (expected("stdout_lines", "number", 3), READY),
        (expected("stdout_lines", "number", "1..5"), READY),
        (expected("elapsed_s", "number", "< 5"), READY),
        (expected("stdout", "contains", "{{ word }}"), READY),
        (that("stdout_lines == 3 and execution == 'done'"), READY),
    ],
)
def test_met(expectation: Expectation, stdout: str) -> None:
    verdict = judged(make_check(expectation), stdout=stdout, elapsed_s=2.5, names={"word": "ready"})
    assert (verdict.state, verdict.reasons) == (OK, ())


def test_every_kind_is_tested_both_ways() -> None:
    assert {expectation.op for expectation, _, _ in UNMET} == set(EXPECTATIONS)


# expectation, whether "ready" is in what was kept; the state when stdout was cut, when its capture failed, when it is binary
PARTIAL = [
    (expected("stdout", "contains", "ready"), True, OK, OK, OK),
    (expected("stdout", "contains", "ready"), False, UNKNOWN, UNKNOWN, UNKNOWN),
    (expected("stdout", "matches", "ready"), True, OK, OK, OK),
    (expected("stdout", "matches", "ready"), False, UNKNOWN, UNKNOWN, UNKNOWN),
    (expected("stdout", "not_matches", "ready"), True, CRIT, CRIT, CRIT),
    (expected("stdout", "not_matches", "ready"), False, UNKNOWN, UNKNOWN, UNKNOWN),
    (expected("stdout", "equals", "ready"), True, UNKNOWN, UNKNOWN, UNKNOWN),
    (expected("stdout", "equals", "ready"), False, UNKNOWN, UNKNOWN, UNKNOWN),
    (expected("stdout", "empty", True), True, CRIT, CRIT, CRIT),
    (expected("stdout", "empty", False), True, OK, OK, OK),
    (expected("stdout_lines", "number", ">= 1"), True, OK, UNKNOWN, OK),
    (expected("stdout_lines", "number", "< 1"), True, CRIT, UNKNOWN, CRIT),
    (expected("stdout_lines", "number", ">= 9"), True, UNKNOWN, UNKNOWN, CRIT),
    (expected("stdout_lines", "number", 1), True, UNKNOWN, UNKNOWN, OK),
    (expected("stderr_lines", "number", 0), True, OK, OK, OK),
    (that("stdout_lines == 1"), True, UNKNOWN, UNKNOWN, OK),
    (that("truncated or stdout_lines == 1"), True, OK, OK, OK),
    (that("stderr_bytes == 0"), True, OK, OK, OK),
]


@pytest.mark.parametrize(("expectation", "there", "cut", "failed", "binary"), PARTIAL)
def test_output_that_could_not_all_be_seen(
    expectation: Expectation, there: bool, cut: VerdictState, failed: VerdictState, binary: VerdictState
) -> None:
    stdout = "ready\n" if there else "other\n"
    for extra, state in ((TRUNCATED, cut), (FAILED, failed), ({"binary": True}, binary)):
        verdict = judged(make_check(expectation), stdout=stdout, out=extra)
        assert verdict.state is state, extra
        if state is UNKNOWN:
            assert any(why in reasons(verdict)[0] for why in ("was cut after 4,096 bytes", "failed", "is not text"))


def test_nothing_captured_is_not_empty() -> None:
    assert judged(make_check(expected("stdout", "empty", True)), out=FAILED).state is UNKNOWN


def test_a_cut_count_says_at_least() -> None:
    verdict = judged(make_check(expected("stdout_lines", "number", "<= 2")), stdout=READY, out=TRUNCATED)
    assert reasons(verdict) == ["stdout_lines was at least 3, expected <= 2"]


@pytest.mark.parametrize("op", ["contains", "matches", "not_matches", "equals"])
def test_a_probe_without_an_answer(op: str) -> None:
    check = make_check(expected("stdout", op, "x"))
    broken = {"p0": ProbeResult(name="p0", error="bad escape at 3")}
    assert reasons(judged(check, probes=broken)) == [
        f"could not tell whether stdout {EXPECTATIONS_VERB[op]} 'x': bad escape at 3"
    ]
    verdict = judged(check, probes={})
    assert (verdict.state, verdict.reasons[0].actual) == (UNKNOWN, "the host did not answer")


EXPECTATIONS_VERB = {
    "contains": "contains",
    "matches": "matches",
    "not_matches": "does not match",
    "equals": "equals",
}


def test_probes_are_asked_once() -> None:
    check = make_check(
        expected("stdout", "matches", "a"),
        expected("stdout", "not_matches", "a"),
        expected("stderr", "matches", "a"),
        expected("stdout", "contains", "{{ word }}"),
        expected("stdout", "contains", "a"),
        expected("stdout_lines", "number", 1),
        that("rc == 0"),
    )
    assert Judge(Templates()).probes(check, {"word": "a"}) == (
        Probe(name="p0", kind=ProbeKind.MATCHES, stream=Stream.STDOUT, text="a"),
        Probe(name="p1", kind=ProbeKind.MATCHES, stream=Stream.STDERR, text="a"),
        Probe(name="p2", kind=ProbeKind.CONTAINS, stream=Stream.STDOUT, text="a"),
    )


def test_long_texts_are_cut_in_messages() -> None:
    (message,) = reasons(judged(make_check(expected("stdout", "contains", "x\n" * 500)), stdout="a\n"))
    assert "\n" not in message
    assert len(message) < 140


def test_stderr_is_judged_by_its_own_capture() -> None:
    check = make_check(expected("stderr", "empty", True))
    assert judged(check, stderr=output("warning\n")).state is CRIT
    assert judged(check, stdout="x", out=TRUNCATED, stderr=Output()).state is OK


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        (expected("rc", "number", ">> 3"), "rc: '>> 3' is not a number or a comparison"),
        (expected("stdout", "empty", 3), "stdout: 3 is neither true nor false"),
        (Expectation(subject="stdout", op="contains", value=3), "stdout: 3 is not a text"),
    ],
)
def test_values_that_can_never_be_used(expectation: Expectation, message: str) -> None:
    (error,) = Judge(Templates()).problems(make_check(expectation, expected("rc", "number", 0)))
    assert error.message.startswith(message)


def test_values_made_by_templates() -> None:
    check = make_check(Expectation(subject="stdout_lines", op="number", value=text(">= {{ least }}")))
    assert not Judge(Templates()).problems(check)
    assert judged(check, stdout=READY, names={"least": 3}).state is OK
    assert judged(check, stdout=READY, names={"least": "x"}).state is UNKNOWN


@pytest.mark.parametrize(
    ("command", "answers", "message"),
    [
        ({"prompts": (Prompt(match="Name", answer="x"),)}, 0, "asks what none of its prompts matches"),
        (
            {"prompts": (Prompt(match="Name", answer="x"),)},
            1,
            "asks again after its answer: the same question, or one that none of its prompts matches",
        ),
        (
            {"on_input": OnInput.ASK},
            2,
            "asks again after 2 answers: the same question, or one that none of its prompts matches",
        ),
        ({"on_input": OnInput.ASK}, 0, "asks, and nobody answered (run --interactive asks you)"),
        ({"on_input": OnInput.FAIL}, 0, "waits for input that nobody gives"),
    ],
)
def test_a_question_without_an_answer_says_why_there_was_none(
    command: dict[str, Any], answers: int, message: str
) -> None:
    verdict = judged(
        make_check(),
        command=Command(shell="ask", **command),
        execution=Execution.WAITING_INPUT,
        rc=None,
        answered=answers,
    )
    assert (verdict.state, reasons(verdict)) == (UNKNOWN, [message])
