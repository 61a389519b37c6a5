"""Loops, repeated commands and follow-ups in a real run of this machine: playbook in, report out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from untagged import untagged

from checkrunner.app.prepare import Request, prepare
from checkrunner.app.run import run_prepared
from checkrunner.app.script import HostScript
from checkrunner.findings.redact import PatternRedactor
from checkrunner.judge.judge import Judge
from checkrunner.model.report import Finding, Report
from checkrunner.plan.lint import lint
from checkrunner.render.progress import SilentProgress
from checkrunner.settings import resolve_settings
from checkrunner.testing import check_script

PAGE = Path(__file__).parents[2] / "docs" / "flow.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def run(playbook: str, tmp_path: Path, **options: Any) -> Report:
    (tmp_path / "p.yml").write_text(playbook)
    settings = resolve_settings({}, environ={}, cwd=tmp_path)
    return run_prepared(
        prepare(Request(playbook=str(tmp_path / "p.yml"), settings=settings, **options)), SilentProgress()
    )


def found(report: Report) -> dict[str, Finding]:
    return {finding.check: finding for finding in report.findings}


def test_items_are_checks_of_their_own(tmp_path: Path) -> None:
    report = run(
        """
- hosts: all
  checks:
    - {id: there, run: "ls -d {{ item }}", loop: [/, /no/such, /no/such], slice: {tail: 1, when: always}}
""",
        tmp_path,
    )

    assert (report.totals.planned, report.run.exit_code) == (3, 2)
    assert {key: str(finding.verdict) for key, finding in found(report).items()} == {
        "there[/]": "ok",
        "there": "crit",
    }
    assert found(report)["there"].items == ("/no/such", "/no/such~2")
    assert found(report)["there[/]"].slices[0].evidence == "localhost/there[%2F]/stdout:1"


def test_a_follow_up_says_what_it_follows(tmp_path: Path) -> None:
    report = run(
        """
- hosts: all
  checks:
    - id: disk
      run: "exit {{ item }}"
      loop: [0, 3]
      register: disk
      on_fail: {id: why, run: "echo {{ item }} {{ disk.rc }}", slice: {tail: 1, when: always}}
""",
        tmp_path,
    )

    (why,) = [finding for finding in report.findings if finding.because]
    assert (why.check, why.because, why.slices[0].text) == ("why[3]", "disk[3]", "3 3")
    assert report.totals.planned == 3


def test_a_command_is_run_until_its_conditions_hold(tmp_path: Path) -> None:
    report = run(
        f"""
- hosts: all
  checks:
    - id: third
      run: echo x >> {tmp_path}/times; wc -l < {tmp_path}/times; test $(wc -l < {tmp_path}/times) -ge 3
      register: third
      until: [rc == 0, third.rc == 0, third is succeeded]
      delay: 0
      slice: {{tail: 1, when: always}}
    - {{id: after, run: "wc -l < {tmp_path}/times", expect: {{stdout: {{equals: "3"}}}}}}
    - {{id: never, run: "false", until: rc == 0, retries: 1, delay: 0}}
    - {{id: quiet, run: "true", until: stdout_lines > 0, retries: 2, delay: 0}}
""",
        tmp_path,
    )

    third, never, quiet = (found(report)[key] for key in ("third", "never", "quiet"))
    assert (str(third.verdict), third.result["attempts"], third.slices[0].text) == ("ok", 3, "3")
    assert [reason.message for reason in never.reasons] == [
        "rc was 1, expected 0 (the default)",
        "until: rc == 0 was not met (rc = 1) after 2 attempts",
    ]
    assert [reason.message for reason in quiet.reasons] == [
        "until: stdout_lines > 0 was not met (stdout_lines = 0) after 3 attempts"
    ]
    assert "after" not in found(report)


def test_what_is_needed_and_what_comes_first(tmp_path: Path) -> None:
    report = run(
        """
- hosts: all
  pre_checks:
    - {id: up, run: "exit 1"}
  checks:
    - {id: a, run: "true"}
- hosts: all
  checks:
    - {id: b, run: "true"}
    - {id: c, run: "true", needs: [up, b]}
    - {id: d, run: "true", needs: b}
""",
        tmp_path,
    )

    assert report.totals.verdict == {"crit": 1, "ok": 2, "skipped": 2}
    assert (report.totals.planned, report.totals.not_run) == (5, 0)


def test_secrets_do_not_become_labels(tmp_path: Path) -> None:
    report = run(
        """
- hosts: all
  vars: {api_token: abcdef123456}
  checks:
    - id: c
      run: "false"
      loop: ["{{ api_token }}", {user: x, password: hunter22}]
""",
        tmp_path,
    )

    assert tuple(map(untagged, found(report)["c"].items)) == ("<secret>", "user=x, password=<secret>")


def test_secrets_in_variables_of_checks_and_in_items_are_masked(tmp_path: Path) -> None:
    report = run(
        """
- hosts: all
  checks:
    - vars: {db_password: hunter22x, dsn_password: "pre-{{ db_password }}"}
      block:
        - {id: a, run: "echo a {{ db_password }} {{ dsn_password }}", slice: {tail: 1, when: always}}
    - id: b
      run: echo b {{ item.password }}
      loop: [{user: u, password: swordfish1}]
      loop_control: {label: "{{ item.user }}"}
      slice: {tail: 1, when: always}
    - id: c
      run: read -rp 'Code? ' code </dev/tty; echo "c $code"
      loop: [12345678]
      prompts: {match: Code, answer: "x{{ item }}"}
      slice: {tail: 1, when: always}
""",
        tmp_path,
    )

    assert [untagged(finding.slices[0].text) for finding in report.findings] == [
        "a <secret> <secret>",
        "b <secret>",
        "c <secret>",
    ]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_of_the_manual_are_sound(number: int, tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(EXAMPLES[number])
    inventory = tmp_path / "hosts"
    inventory.write_text("[web]\nh1 ansible_connection=local\n[db:children]\nweb\n[storage:children]\nweb\n")
    settings = resolve_settings({"inventory": [str(inventory)]}, environ={}, cwd=tmp_path)
    prepared = prepare(Request(playbook=str(tmp_path / "p.yml"), settings=settings))

    assert [problem.message for problem in lint(prepared.plan) if problem.level != "info"] == []
    judge = Judge(prepared.plan.templates)
    for plan in prepared.plan.hosts:
        check_script(HostScript(plan, judge=judge, templates=prepared.plan.templates, redactor=PatternRedactor()))
