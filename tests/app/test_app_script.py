"""The script that the engine drives in a real run: plan, judge and slices joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.app.script import HostScript
from checkrunner.findings.redact import PatternRedactor
from checkrunner.judge.judge import Judge
from checkrunner.model.plan import Step
from checkrunner.model.results import RawLine, RawSlice, SliceMode, SliceQuery
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
