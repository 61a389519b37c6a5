"""What a script does with outputs that are compared with a baseline, and with checks that do harm."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from checkrunner.app.prepare import Request, prepare
from checkrunner.app.script import HostScript
from checkrunner.findings.redact import PatternRedactor
from checkrunner.judge.judge import Judge
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import Baseline, Suppression
from checkrunner.model.plan import CheckOutcome, Judgement, Settled, Step
from checkrunner.model.results import (
    CaptureState,
    Execution,
    Output,
    RawLine,
    RawSlice,
    Result,
    VerdictState,
)
from checkrunner.model.seams import Past
from checkrunner.settings import resolve_settings
from checkrunner.testing import MemoryPast, check_script

PLAYBOOK = """\
- hosts: all
  vars: {comment: '#'}
  checks:
    - id: conf
      run: cat conf
      baseline: {ignore: "^{{ comment }}"}
      on_fail: {id: more, run: ls}
"""
AT = datetime(2026, 1, 2, tzinfo=UTC)


def accepted(*lines: str) -> MemoryPast:
    made = Baseline(playbook="p.yml", host="localhost", check="conf", lines=lines, run="r1", accepted_at=AT)
    return MemoryPast(baselines={("localhost", "conf"): made})


def script(tmp_path: Path, past: Past | None, playbook: str = PLAYBOOK) -> HostScript:
    (tmp_path / "p.yml").write_text(playbook)
    request = Request(playbook=str(tmp_path / "p.yml"), settings=resolve_settings({}, environ={}, cwd=tmp_path))
    plan = prepare(request).plan
    redactor = PatternRedactor(key=b"k")
    (made,) = [
        HostScript(host, judge=Judge(plan.templates), templates=plan.templates, redactor=redactor, past=past)
        for host in plan.hosts
    ]
    return made


def judged(made: HostScript, data: bytes, **fields: Any) -> tuple[Judgement, int]:
    """The judgement on an output, and how many more slices are asked for then."""
    step = made.resolve(made.checks[0], {})
    assert isinstance(step, Step)
    output = Output(lines=data.count(b"\n"), bytes=len(data), captured_bytes=len(data), **fields.pop("stdout", {}))
    result = Result(**{"seq": 1, "session": "main", "execution": Execution.DONE, "rc": 0, "stdout": output, **fields})
    raw = RawSlice(query=step.early[-1], lines=(RawLine(number=0, data=data),) if data else (), total_lines=3)
    found = made.judge(step, result, {}, [raw][: step.reads])
    return found, len(made.ask(step, result, found.verdict))


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    check_script(script(tmp_path, accepted("a")))


def test_an_output_that_is_as_accepted_is_fine_and_shows_nothing(tmp_path: Path) -> None:
    found, asked = judged(script(tmp_path, accepted("a", "b")), b"a\n# made today\nb\n")

    assert (found.verdict.state, found.slices, asked) == (VerdictState.OK, (), 0)
    assert found.output == ("a", "# made today", "b")


def test_new_lines_are_a_slice_of_this_output(tmp_path: Path) -> None:
    found, asked = judged(script(tmp_path, accepted("a", "gone")), b"\x1b[1mnew\x1b[0m\na\n# x\nnewer\n")

    (piece,) = found.slices
    assert found.verdict.state is VerdictState.CRIT
    assert [(line.number, line.text) for line in piece.lines] == [(1, "new"), (4, "newer")]
    assert piece.evidence == "localhost/conf/stdout:1,4"
    assert [reason.message for reason in found.verdict.reasons][1:] == ["gone: 'gone'"]
    assert asked == 0


def test_of_very_many_new_lines_the_first_are_shown(tmp_path: Path) -> None:
    found, _ = judged(script(tmp_path, accepted("a")), b"".join(b"line %d\n" % n for n in range(50)) + b"x" * 3000)

    (piece,) = found.slices
    assert (len(piece.lines), piece.more_lines, piece.total_lines) == (20, 31, 51)
    assert found.output is not None
    assert found.output[-1] == "x" * 3000


def test_secrets_are_masked_and_their_tags_make_no_difference(tmp_path: Path) -> None:
    first, _ = judged(script(tmp_path, MemoryPast()), b"password=hunter2\n")
    assert first.output == ("password=<secret>",)

    again, _ = judged(script(tmp_path, accepted(*first.output)), b"password=another\n")

    assert again.verdict.state is VerdictState.OK


def test_a_baseline_that_is_damaged_compares_with_nothing(tmp_path: Path) -> None:
    class Damaged(MemoryPast):
        def baseline(self, host: str, check: str) -> Baseline | None:
            raise HistoryError(f"of {check} on {host}", "history.db")

    found, _ = judged(script(tmp_path, Damaged()), b"a\n")

    assert found.verdict.state is VerdictState.UNKNOWN
    assert found.verdict.reasons[-1].message == "baseline: history history.db: of conf on localhost"


def test_without_a_baseline_nothing_is_known(tmp_path: Path) -> None:
    found, asked = judged(script(tmp_path, MemoryPast()), b"a\n")
    nowhere, _ = judged(script(tmp_path, None), b"a\n")

    assert (found.verdict.state, found.output, asked) == (VerdictState.UNKNOWN, ("a",), 0)
    assert "checkrunner baseline accept --check conf" in found.verdict.reasons[0].message
    assert "no history of runs is kept" in nowhere.verdict.reasons[0].message


def test_an_empty_output_may_be_the_right_one(tmp_path: Path) -> None:
    found, _ = judged(script(tmp_path, accepted()), b"")

    assert (found.verdict.state, found.output) == (VerdictState.OK, ())


@pytest.mark.parametrize(
    ("fields", "state", "words"),
    [
        ({"stdout": {"state": CaptureState.TRUNCATED}}, VerdictState.UNKNOWN, "was cut"),
        ({"stdout": {"binary": True}}, VerdictState.UNKNOWN, "not text"),
        ({"rc": 1}, VerdictState.CRIT, "rc was 1"),
        ({"execution": Execution.TIMED_OUT, "rc": None}, VerdictState.UNKNOWN, "timeout"),
    ],
)
def test_what_cannot_be_compared_is_not_accepted_either(
    tmp_path: Path, fields: dict[str, Any], state: VerdictState, words: str
) -> None:
    found, _ = judged(script(tmp_path, accepted("a")), b"other\n", **fields)

    assert (found.verdict.state, found.output) == (state, None)
    assert words in found.verdict.reasons[0].message


def held(check: str) -> MemoryPast:
    made = Suppression(
        playbook="p.yml", host="localhost", check=check, since=AT, until=AT, strikes=3, reason="could not be ended"
    )
    return MemoryPast(suppressions={("localhost", check): made})


def test_what_does_harm_is_not_run_and_nothing_follows_it(tmp_path: Path) -> None:
    made = script(tmp_path, held("conf"))

    settled = made.resolve(made.checks[0], {})

    assert isinstance(settled, Settled)
    assert settled.verdict.state is VerdictState.UNKNOWN
    message = settled.verdict.reasons[0].message
    assert "not run before 2026-01-02 00:00 UTC: 3 times in a row" in message
    assert message.endswith("could not be ended")
    outcome = CheckOutcome(host="localhost", planned=made.checks[0], verdict=settled.verdict)
    assert list(made.follow(outcome)) == []


def test_a_condition_that_does_not_hold_comes_first(tmp_path: Path) -> None:
    made = script(tmp_path, held("a"), "- {hosts: all, checks: [{id: a, run: ls, when: 'false'}]}\n")

    assert not isinstance(made.resolve(made.checks[0], {}), Settled)


def test_a_task_that_does_harm_has_failed(tmp_path: Path) -> None:
    made = script(tmp_path, held("first"), "- {hosts: all, tasks: [{name: first, shell: ls}]}\n")

    settled = made.resolve(made.checks[0], {})

    assert isinstance(settled, Settled)
    assert settled.task == "failed"
    assert settled.verdict.reasons[0].subject == "suppressed"
