from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcome_factory import finished, host, output, planned, reason, result, run_info, shown, skipped, stopped

from checkrunner.findings.build import ReportLimits, build_report
from checkrunner.findings.fold import unfold
from checkrunner.findings.redact import PatternRedactor
from checkrunner.judge.execution import not_looked
from checkrunner.model.errors import SessionLostError, TemplateError, UnreachableError
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import CheckOutcome, Command, HostOutcome
from checkrunner.model.report import NumberRange, Report, Wait
from checkrunner.model.results import CaptureState, Execution, HostState, Verdict, VerdictState
from checkrunner.model.sources import Template

CRIT, WARN, OK, UNKNOWN, SKIPPED = (
    VerdictState.CRIT,
    VerdictState.WARN,
    VerdictState.OK,
    VerdictState.UNKNOWN,
    VerdictState.SKIPPED,
)
DISK, LOAD = planned("disk"), planned("load")


def build(*outcomes: HostOutcome, **options: Any) -> Report:
    return build_report(outcomes, run=options.pop("run", run_info()), **options)


outputs = st.builds(output, st.integers(0, 5), state=st.sampled_from(CaptureState))
results = st.one_of(
    st.none(),
    st.builds(
        result,
        seq=st.integers(0, 3),
        execution=st.sampled_from(Execution),
        rc=st.one_of(st.none(), st.integers(0, 3)),
        stdout=outputs,
        stderr=outputs,
        missing=st.sampled_from([(), ("smartctl",)]),
    ),
)
verdicts = st.builds(
    Verdict,
    state=st.sampled_from(VerdictState),
    reasons=st.lists(
        st.builds(
            reason, st.sampled_from(["rc is 1", "not run: x", "db1 failed 7"]), st.sampled_from(["rc", "execution"])
        ),
        max_size=2,
    ).map(tuple),
    noted=st.booleans(),
)
errors = st.sampled_from([None, UnreachableError("no route"), SessionLostError("gone")])


@st.composite
def hosts(draw: st.DrawFn, name: str) -> HostOutcome:
    checks = [
        CheckOutcome(
            host=name,
            planned=what,
            verdict=draw(verdicts),
            result=draw(results),
            slices=draw(st.sampled_from([(), (shown(name, what.key, f"{name} used 97%", more=2),)])),
            error=draw(errors),
        )
        for what in (DISK, LOAD)[: draw(st.integers(0, 2))]
    ]
    return host(name, *checks, state=draw(st.sampled_from(HostState)), error=draw(errors))


runs = st.integers(0, 8).flatmap(lambda number: st.tuples(*(hosts(name=f"web{at:02d}") for at in range(number))))


@given(runs, st.sampled_from(["normal", "deadline", "interrupted", "error"]))
@settings(deadline=None)
def test_totals_add_up_whatever_the_outcomes(outcomes: tuple[HostOutcome, ...], ended: str) -> None:
    report = build(*outcomes, run=run_info(ended=ended))

    totals = report.totals
    checks = [check for outcome in outcomes for check in outcome.checks]
    assert totals.hosts == len(outcomes) == sum(totals.host.values())
    assert totals.planned == len(checks) == totals.done + totals.skipped + totals.not_run
    assert totals.planned == sum(totals.verdict.values()) == sum(totals.execution.values())
    assert totals.done == sum(totals.capture.values())
    assert totals.skipped == totals.verdict.get(SKIPPED, 0)
    assert totals.skipped + totals.not_run == totals.execution.get(Execution.NOT_RUN, 0)
    if totals.not_run or totals.verdict.get(UNKNOWN) or totals.host.get(HostState.REACHED, 0) < totals.hosts:
        assert not report.run.complete


@given(runs)
@settings(deadline=None)
def test_everything_that_is_not_ok_is_somewhere(outcomes: tuple[HostOutcome, ...]) -> None:
    report = build(*outcomes)

    found = {(finding.check, name) for finding in report.findings for name in finding.names}
    incomplete = {name for entry in report.incomplete for name in entry.names}
    for outcome in outcomes:
        if outcome.state is not HostState.REACHED:
            assert outcome.host.name in incomplete
        for check in outcome.checks:
            if check.verdict.state in {CRIT, WARN, UNKNOWN} or (check.verdict.state is OK and check.verdict.noted):
                assert (check.planned.key, check.host) in found or check.host in incomplete
    ids = [finding.id for finding in report.findings]
    assert len(set(ids)) == len(ids)
    for finding in report.findings:
        assert sorted(unfold(finding.hosts)) == sorted(finding.names)


def test_equal_outcomes_are_one_finding() -> None:
    report = build(*(host(f"web{at:02d}", finished(f"web{at:02d}", DISK, CRIT, reason(), rc=1)) for at in range(3)))

    (finding,) = report.findings
    assert (finding.hosts, finding.verdict, finding.names) == ("web[00-02]", CRIT, ("web00", "web01", "web02"))
    assert finding.reasons == (reason(),)
    assert (finding.folded_by, finding.notes) == ("equal", ())


def test_texts_that_differ_in_names_times_and_numbers_fold_and_say_so() -> None:
    outcomes = []
    for at, name in enumerate(["web01", "web02"]):
        text = f"Jan  {at + 1} 0{at}:00:00 {name} sshd[{at + 100}]: {name} used {90 + at}% of 1{at}G by 0x{at}f on sda1"
        piece = shown(name, "disk", text)
        outcomes.append(host(name, finished(name, DISK, CRIT, reason(), slices=[piece], rc=1, elapsed_s=1.0 + at)))

    (finding,) = build(*outcomes).findings

    assert finding.hosts == "web[01-02]"
    assert finding.slices == outcomes[0].checks[0].slices
    assert (finding.folded_by, finding.notes) == ("masked", ())
    assert finding.result["elapsed_s"] == NumberRange(minimum=1.0, median=1.5, maximum=2.0, max_host="web02")
    assert finding.result["rc"] == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"rc": 1}, {"rc": 2}),
        ({"execution": Execution.TIMED_OUT, "rc": None}, {"rc": 1}),
        ({"slices": [shown("a", "disk", "sda1 full")]}, {"slices": [shown("b", "disk", "sdb1 full")]}),
    ],
)
def test_different_faults_stay_apart(one: dict[str, Any], two: dict[str, Any]) -> None:
    outcomes = [host(name, finished(name, DISK, CRIT, reason(), **fields)) for name, fields in (("a", one), ("b", two))]

    assert len(build(*outcomes).findings) == 2


def test_the_same_words_about_two_hosts_are_one_finding_also_where_they_name_one() -> None:
    outcomes = [host(name, finished(name, DISK, CRIT, reason("known are a, b, c"))) for name in ("a", "b")]

    assert [finding.hosts for finding in build(*outcomes).findings] == ["a,b"]


def test_where_a_delegated_check_ran_is_told_only_if_it_ran() -> None:
    ran = replace(finished("a", DISK, CRIT, reason()), on="lb1")

    assert build(host("a", ran)).findings[0].notes == ("ran on lb1 (delegate_to)",)
    assert build(host("a", replace(ran, result=None))).findings[0].notes == ()


def test_numbers_of_reasons_become_a_range_with_its_hosts() -> None:
    outcomes = [
        host(name, finished(name, LOAD, WARN, reason(f"load is {load}, limit 8", "load", "<= 8", load)))
        for name, load in (("a", "9.5"), ("b", "31"), ("c", "12"))
    ]

    (finding,) = build(*outcomes).findings

    assert finding.reasons[0].actual == "9.5 to 31 (median 12; lowest on a, highest on b)"
    assert finding.reasons[0].message == "load is 9.5 to 31, limit 8"


def test_ranges_are_found_inside_words_and_in_several_places() -> None:
    def loaded(name: str, free: str, rest: str) -> HostOutcome:
        seen = f"free_pct = {free}, disk = '{rest}'"
        return host(name, finished(name, LOAD, CRIT, reason(f"crit_if: free_pct < 5 ({seen})", "crit_if", "no", seen)))

    one, other = build(loaded("a", "3", "sda1"), loaded("b", "1.5", "sda1"), loaded("c", "3", "sdb1")).findings

    assert one.reasons[0].message == "crit_if: free_pct < 5 (free_pct = 1.5 to 3, disk = 'sda1')"
    assert one.reasons[0].actual.endswith("'sda1' (median 2.25; lowest on b, highest on a)")
    assert other.reasons[0].actual == "free_pct = 3, disk = 'sdb1'"
    two_numbers = [
        host(name, finished(name, LOAD, CRIT, reason("odd", "x", "", f"{at:,} of {at * 10}")))
        for at, name in ((1, "a"), (2000, "b"))
    ]
    assert build(*two_numbers).findings[0].reasons[0].actual == "1 to 2,000 of 10 to 20000"


def test_texts_that_cannot_be_rendered_stand_as_written() -> None:
    def fail(_outcome: CheckOutcome) -> tuple[str, str]:
        raise TemplateError("'x' is undefined")

    what = planned("disk", why=Template(text="w {{ x }}"))

    assert build(host("a", finished("a", what, CRIT, reason())), texts=fail).findings[0].why == "w {{ x }}"


def test_findings_are_ranked_by_verdict_then_spread_then_order() -> None:
    keys = ["a", "b", "c", "d", "e", "f", "g"]
    checks = {key: planned(key) for key in keys}
    one = [
        finished("h1", checks["a"], OK, reason(), noted=True),
        finished("h1", checks["b"], WARN, reason()),
        finished("h1", checks["c"], UNKNOWN, reason()),
        finished("h1", checks["d"], CRIT, reason()),
        finished("h1", checks["e"], CRIT, reason()),
        skipped("h1", checks["f"], "smartctl"),
        skipped("h1", checks["g"]),
    ]
    two = [finished("h2", checks["e"], CRIT, reason())]

    report = build(host("h1", *one), host("h2", *two))

    assert [finding.check for finding in report.findings] == ["e", "d", "c", "b", "a", "f"]
    assert report.findings[-1].verdict is SKIPPED
    assert (report.totals.skipped, report.totals.planned) == (2, 8)


def test_ids_are_stable_and_do_not_depend_on_hosts_or_numbers() -> None:
    def one(name: str, used: int) -> str:
        piece = shown(name, "disk", f"{name}: {used}% used")
        return build(host(name, finished(name, DISK, CRIT, reason(), slices=[piece]))).findings[0].id

    assert one("web01", 97) == one("db7", 99)
    assert len(one("web01", 97)) == 12
    assert build(host("a", finished("a", DISK, WARN, reason()))).findings[0].id != one("a", 1)


def test_unreachable_hosts_fold_by_reason_and_make_no_findings() -> None:
    def lost(name: str, address: str, message: str) -> HostOutcome:
        error = UnreachableError(message, hint=f"Try ssh {name}.")
        checks = [stopped(name, what, message, error) for what in (DISK, LOAD)]
        return host(name, *checks, state=HostState.UNREACHABLE, error=error, address=address)

    report = build(
        lost("web01", "10.0.0.1", "web01: connecting to 10.0.0.1 port 22: refused"),
        lost("web02", "10.0.0.2", "web02: connecting to 10.0.0.2 port 22: refused"),
        lost("web03", "10.0.0.3", "web03: no such name"),
        host("db1", finished("db1", DISK), finished("db1", LOAD)),
    )

    assert report.findings == ()
    assert [(entry.hosts, entry.reason, entry.hint) for entry in report.incomplete] == [
        ("web[01-02]", "connecting to <host> port 22: refused", "Try ssh <host>."),
        ("web03", "no such name", "Try ssh web03."),
    ]
    assert report.totals.verdict == {OK: 2, UNKNOWN: 6}
    assert (report.totals.not_run, report.totals.done) == (6, 2)
    assert (report.run.complete, report.run.exit_code) == (False, 3)


def test_a_host_lost_in_the_middle_keeps_what_was_finished() -> None:
    error = SessionLostError("the link ended")
    running = replace(finished("web01", LOAD, UNKNOWN, seq=0, execution=Execution.LOST, rc=None), error=error)
    rest = stopped("web01", planned("mem"), "the link ended", error)

    report = build(
        host("web01", finished("web01", DISK, CRIT, reason()), running, rest, state=HostState.LOST, error=error)
    )

    assert [finding.check for finding in report.findings] == ["disk"]
    assert report.incomplete[0].reason == "the link ended (2 checks were not finished)"
    assert report.totals.capture == {CaptureState.COMPLETE: 1, CaptureState.FAILED: 1}
    assert report.totals.execution == {Execution.DONE: 1, Execution.LOST: 1, Execution.NOT_RUN: 1}
    assert report.run.exit_code == 2


def test_a_deadline_makes_reached_hosts_incomplete() -> None:
    outcomes = [
        host(name, finished(name, DISK), stopped(name, LOAD, "the run's deadline passed")) for name in ("a", "b")
    ]

    report = build(*outcomes, run=run_info(ended="deadline"))

    assert report.findings == ()
    assert report.incomplete[0].reason == "the run's deadline passed (2 checks were not finished)"
    assert report.incomplete[0].state is HostState.REACHED


def test_commands_that_a_host_did_not_start_any_more_are_no_findings() -> None:
    why = reason("was not run: the run's deadline passed", "execution", "done", "not_run")
    left = finished("a", DISK, UNKNOWN, why, execution=Execution.NOT_RUN, rc=None, notes=("deadline",))

    report = build(host("a", left, stopped("a", LOAD, "the run's deadline passed")), run=run_info(ended="deadline"))

    assert report.findings == ()
    assert [entry.reason for entry in report.incomplete] == ["the run's deadline passed (2 checks were not finished)"]
    assert report.totals.not_run == 2


def test_a_template_that_fails_on_a_reached_host_is_a_finding() -> None:
    verdict = Verdict(state=UNKNOWN, reasons=(reason("p.yml:3:1: 'x' is undefined", "template", "", ""),))

    report = build(host("a", CheckOutcome(host="a", planned=DISK, verdict=verdict)))

    assert [finding.verdict for finding in report.findings] == [UNKNOWN]
    assert report.incomplete == ()


def test_too_many_variants_of_an_output_are_folded_with_an_omission() -> None:
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koi", "lynx"]
    outcomes = [
        host(f"h{at}", finished(f"h{at}", DISK, CRIT, reason(), slices=[shown(f"h{at}", "disk", word)]))
        for at, word in enumerate(words)
    ]

    report = build(*outcomes, limits=ReportLimits(variants=4))

    assert [len(finding.names) for finding in report.findings] == [8, 1, 1, 1, 1]
    assert report.findings[0].notes == ("8 different outputs are folded here; the one shown is of h4",)
    assert [(omission.what, omission.count) for omission in report.omissions] == [("variant of the output", 7)]


def test_what_is_left_out_is_said() -> None:
    names = [f"host-{word}" for word in ("alpha", "beta", "gamma", "delta", "epsilon")]
    outcomes = [
        host(
            name,
            finished(name, DISK, stdout=output(state=CaptureState.TRUNCATED)),
            finished(name, LOAD, CRIT, reason(), slices=[shown(name, "load", "same", more=7)]),
            notes=[f"note {name[5:]}"],
        )
        for name in names
    ]

    report = build(*outcomes, limits=ReportLimits(host_chars=30, notes=2))

    assert report.findings[0].names == tuple(names)
    assert len(report.findings[0].hosts) <= 30
    said = {(omission.what, omission.count) for omission in report.omissions}
    assert said >= {("line", 7), ("host name", 6), ("output", 5), ("host note", 3)}
    assert report.warnings == ("host-alpha: note alpha", "host-beta: note beta")


def test_slices_that_were_asked_for_always_are_shown_for_healthy_hosts() -> None:
    report = build(host("a", finished("a", DISK, slices=[shown("a", "disk", "top process: x")])))

    assert [(finding.verdict, finding.slices[0].text) for finding in report.findings] == [(OK, "top process: x")]
    assert report.run.exit_code == 0


def test_tables_that_differ_in_numbers_are_one_finding() -> None:
    rows = {"a": "    7  1.5 java", "b": "31245 10.0 java", "c": "  999 99.9 java"}
    outcomes = [host(name, finished(name, DISK, slices=[shown(name, "disk", row)])) for name, row in rows.items()]

    assert [finding.names for finding in build(*outcomes).findings] == [("a", "b", "c")]


def test_a_secret_in_the_name_of_a_check_is_masked() -> None:
    leaky = planned("db", name="Log in with password=hunter2")

    (finding,) = build(host("a", finished("a", leaky, CRIT, reason())), redactor=PatternRedactor()).findings

    assert "hunter2" not in finding.name
    assert finding.name.startswith("Log in with password=<secret")


def test_binary_output_is_said_with_its_size() -> None:
    report = build(host("a", finished("a", DISK, CRIT, reason(), stdout=output(binary=True, bytes=4096))))

    assert report.findings[0].notes == ("stdout is binary, 4,096 bytes",)


def test_pids_that_are_left_over_are_shown_for_one_host() -> None:
    pids = tuple(range(100, 108))
    one = build(host("a", finished("a", DISK, CRIT, reason(), leftover_pids=pids))).findings[0].result
    many = build(*(host(name, finished(name, DISK, CRIT, reason(), leftover_pids=pids)) for name in "ab"))

    assert (one["leftover_processes"], one["leftover_pids"]) == (8, pids[:5])
    assert "leftover_pids" not in many.findings[0].result


def test_notes_of_hosts_fold_into_warnings() -> None:
    outcomes = [host(f"w{at}", notes=[f"login shell of w{at} printed {at} bytes"]) for at in (1, 2, 3)]

    assert build(*outcomes, warnings=["odd", "odd"]).warnings == (
        "odd",
        "w[1-3]: login shell of <host> printed 1 bytes (on w1; numbers or times differ)",
    )


def test_notes_that_differ_by_the_hosts_name_are_one_line_however_many_hosts() -> None:
    names = [f"web{at:03d}" for at in range(1, 151)]
    notes = ["{0}: the SSH option ForwardX11 is set and not honoured", "login_noise: welcome to {0}", "the same"]

    report = build(*(host(name, notes=[note.format(name) for note in notes]) for name in names))

    assert report.warnings == (
        "web[001-150]: the SSH option ForwardX11 is set and not honoured",
        "web[001-150]: login_noise: welcome to <host>",
        "web[001-150]: the same",
    )
    assert report.omissions == ()


def test_warnings_are_bounded() -> None:
    report = build(host("a"), warnings=[f"odd {at}" for at in range(30)])

    assert len(report.warnings) == 20
    assert [(omission.what, omission.count) for omission in report.omissions] == [("warning", 10)]


def test_waits_are_bounded_and_masked_and_the_longest_come_first() -> None:
    waits = tuple(Wait(place=f"s{at} password=hunter2", hosts=1, longest_s=at, waited_s=at) for at in range(14))
    report = build(host("a"), run=run_info(waits=waits), redactor=PatternRedactor())

    assert [wait.longest_s for wait in report.run.waits] == list(range(13, 3, -1))
    assert report.run.waits[0].place == "s13 password=<secret>"
    assert [(omission.what, omission.count) for omission in report.omissions] == [("wait", 4)]


def test_a_run_that_looked_everywhere_is_complete_however_it_ended() -> None:
    seen = build(host("a", finished("a", DISK)), run=run_info(ended="deadline"))
    missed = build(host("a", finished("a", DISK, UNKNOWN, reason())))

    assert (seen.run.complete, seen.run.exit_code) == (True, 0)
    assert (missed.run.complete, missed.run.exit_code) == (False, 3)


def test_reasons_and_warnings_are_masked_and_bounded() -> None:
    report = build(
        host("a", finished("a", DISK, CRIT, reason("no match for password=hunter2 " + "x" * 2000))),
        warnings=["token=abc in the inventory"],
        redactor=PatternRedactor(),
    )

    message = report.findings[0].reasons[0].message
    assert message.startswith("no match for password=<secret> xxx")
    assert message.endswith(" characters more)")
    assert report.warnings == ("token=<secret> in the inventory",)


def test_why_and_fix_are_rendered_for_the_first_host() -> None:
    what = planned("disk", why=Template(text="because"), fix=Template(text="clean {{ x }}"))
    outcome = host("a", finished("a", what, CRIT, reason()))

    assert build(outcome).findings[0].fix == "clean {{ x }}"
    rendered = build(outcome, texts=lambda check: ("w", f"clean {check.host}")).findings[0]
    assert (rendered.why, rendered.fix) == ("w", "clean a")


def test_the_size_is_measured_with_the_given_renderer() -> None:
    report = build(to_text=lambda made: f"totals of {made.totals.hosts} hosts")

    assert (report.budget.used, report.budget.counter, report.budget.limit) == (6, "estimate/2", None)


def test_building_a_large_run_takes_little_time() -> None:
    rng = random.Random(7)
    checks = [planned(f"c{at}") for at in range(8)]
    outcomes = []
    for at in range(10_000):
        name = f"node{at:05d}"
        made = [
            finished(
                name, what, CRIT, reason(), slices=[shown(name, what.key, f"{name} sd{rng.choice('abc')} {at}")], rc=1
            )
            if rng.random() < 0.1
            else finished(name, what)
            for what in checks
        ]
        outcomes.append(host(name, *made))
    start = time.process_time()

    report = build(*outcomes)

    assert len(report.findings) == 24
    assert time.process_time() - start < 10


def hung(at: int, *, seen: Observation, prompt: str = "", execution: Execution = Execution.TIMED_OUT) -> HostOutcome:
    """A host whose check did not end, judged as the judge does."""
    made = result(execution=execution, rc=None, elapsed_s=60.0 + at / 10, seen=seen, prompt=prompt)
    verdict = not_looked(Command(shell="true"), made)
    assert verdict is not None
    name = f"gpu{at:02d}"
    return host(name, CheckOutcome(host=name, planned=DISK, verdict=verdict, result=made), address=f"10.0.0.{at}")


def waits(at: int, on: str = "/dev/sdb", **fields: Any) -> Observation:
    known: dict[str, Any] = {"kind": Activity.IO_WAIT, "pid": 1000 + at, "name": "smartctl", "wchan": "blk_mq_get_tag"}
    return Observation(on=on, since_s=40.0 + at, **{**known, **fields})


def test_the_same_state_on_many_hosts_is_one_finding() -> None:
    (finding,) = build(*(hung(at, seen=waits(at, fd=at)) for at in range(1, 8))).findings

    assert finding.hosts == "gpu[01-07]"
    assert finding.execution is Execution.TIMED_OUT
    assert finding.seen == {
        "kind": "io_wait",
        "name": "smartctl",
        "wchan": "blk_mq_get_tag",
        "fd": 1,
        "on": "/dev/sdb",
        "since_s": NumberRange(minimum=41.0, median=44.0, maximum=47.0, max_host="gpu07"),
    }
    assert (finding.folded_by, finding.notes) == ("masked", ())


def test_another_device_or_another_state_is_another_finding() -> None:
    report = build(
        hung(1, seen=waits(1)),
        hung(2, seen=waits(2, "/dev/sdc")),
        hung(3, seen=waits(3, kind=Activity.IDLE)),
        hung(4, seen=waits(4), execution=Execution.STUCK),
    )

    assert len(report.findings) == 4
    assert {finding.seen["pid"] for finding in report.findings} == {1001, 1002, 1003, 1004}


def test_what_a_command_asks_for_is_masked_and_folded() -> None:
    def asks(at: int) -> HostOutcome:
        seen = Observation(kind=Activity.WAITING_INPUT, pid=at, name="ssh", on=f"/dev/pts/{at}", echo=False, since_s=at)
        prompt = f"root@gpu{at:02d}'s password for postgres://app:hunter2@db1/main (10.0.0.{at}):"
        return hung(at, seen=seen, prompt=prompt, execution=Execution.WAITING_INPUT)

    report = build(*(asks(at) for at in (1, 2, 3)), redactor=PatternRedactor())

    (finding,) = report.findings
    assert finding.hosts == "gpu[01-03]"
    assert finding.seen["prompt"] == "root@gpu01's password for postgres://app:<secret>@db1/main (10.0.0.1):"
    assert finding.reasons[0].message.endswith(f"; it asks: {finding.seen['prompt']}")
    assert "hunter2" not in repr(report)


def test_what_a_host_says_of_a_state_is_masked_and_not_endless() -> None:
    seen = waits(1, "postgres://app:hunter2@db1/main " + "x" * 4000)

    report = build(hung(1, seen=seen), redactor=PatternRedactor())

    assert "hunter2" not in repr(report)
    assert len(str(report.findings[0].seen["on"])) < 1100
