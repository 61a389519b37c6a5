"""The script that the engine drives in a real run: plan, judge and slices joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.app.script import HostScript
from checkrunner.findings.novelty import Witnesses
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.salience import shape_of
from checkrunner.judge.judge import Judge
from checkrunner.model.plan import Step
from checkrunner.model.results import (
    Execution,
    Output,
    RawLine,
    RawSlice,
    Result,
    SliceMode,
    SliceQuery,
    Verdict,
    VerdictState,
)
from checkrunner.settings import resolve_settings
from checkrunner.testing import check_script

PLAYBOOK = """\
- hosts: all
  vars: {limit: 3}
  checks:
    - id: one
      run: "true"
      register: first
      slice: {head: 2, when: always}
    - id: two
      run: echo {{ first.rc }}
      when: first.ok
      expect: {stdout: {not_matches: "ERROR {{ limit }}"}, stdout_lines: "<= 3"}
      warn_if: stdout_lines > limit
    - id: never
      run: "true"
      when: limit > 5
    - id: lacking
      run: "true"
      requires: [no-such-tool]
      env: {TOKEN: x}
"""


def scripts(prepared: Prepared) -> list[HostScript]:
    plan = prepared.plan
    judge = Judge(plan.templates)
    redactor = PatternRedactor()
    return [HostScript(host, judge=judge, templates=plan.templates, redactor=redactor) for host in plan.hosts]


def prepared(playbook: str, tmp_path: Path) -> Prepared:
    return prepare(Request(playbook=playbook, settings=resolve_settings({}, environ={}, cwd=tmp_path)))


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(PLAYBOOK)

    for script in scripts(prepared(str(tmp_path / "p.yml"), tmp_path)):
        check_script(script)


@pytest.mark.parametrize("name", ["linux-health"])
def test_shipped_playbooks_keep_the_contract(name: str, tmp_path: Path) -> None:
    for script in scripts(prepared(name, tmp_path)):
        check_script(script)


def test_an_output_is_redacted_where_it_becomes_text(tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(PLAYBOOK)
    (script,) = scripts(prepared(str(tmp_path / "p.yml"), tmp_path))
    step = script.resolve(script.checks[0], {})
    assert isinstance(step, Step)
    raw = RawSlice(
        query=SliceQuery(mode=SliceMode.HEAD),
        lines=(RawLine(number=4, data=b"password=hunter2"),),
        total_lines=9,
    )

    shown = script.show(step, raw)

    assert (shown.text, shown.evidence) == ("password=<secret>", "localhost/one/stdout:4")


def test_hosts_that_are_fine_tell_what_is_usual_where_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text("- hosts: all\n  checks:\n    - {id: log, run: 'cat log'}\n")
    (tmp_path / "i.ini").write_text("".join(f"h{n}\n" for n in range(6)))
    made = resolve_settings({"inventory": (str(tmp_path / "i.ini"),)}, environ={}, cwd=tmp_path)
    plan = prepare(Request(playbook=str(tmp_path / "p.yml"), settings=made)).plan
    judge, redactor, witnesses = Judge(plan.templates), PatternRedactor(), Witnesses()
    first, *others = [
        HostScript(host, judge=judge, templates=plan.templates, redactor=redactor, witnesses=witnesses)
        for host in plan.hosts
    ]
    wrote = Output(lines=50, bytes=5000, captured_bytes=5000)
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=0, stdout=wrote)
    fine = Verdict(state=VerdictState.OK)

    def asked(script: HostScript, verdict: Verdict) -> Sequence[SliceQuery]:
        step = script.resolve(script.checks[0], {})
        assert isinstance(step, Step)
        return script.ask(step, result, verdict)

    assert asked(others[0], fine) == ()
    (query,) = asked(first, Verdict(state=VerdictState.CRIT))
    assert [len(asked(script, fine)) for script in others] == [1, 1, 1, 0, 0]
    raw = RawSlice(query=query, lines=(RawLine(number=1, data=b"ERROR 7", last=1),), total_lines=50, more_lines=49)
    for script in (first, others[0]):
        step = script.resolve(script.checks[0], {})
        assert isinstance(step, Step)
        assert len(script.show(step, raw).lines) == (script is first)
    assert shape_of("ERROR 8") in witnesses.shapes("h0", "log")
