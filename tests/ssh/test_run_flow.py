"""Loops, repeated commands, needs, follow-ups and pre-checks over real SSH, from the command line to the report."""

from __future__ import annotations

import time
from pathlib import Path

import jsonschema
import pytest
from cli_runner import CommandLine, Outcome
from sshd import SshdFixture, wait_until

from checkrunner.render.schema import report_schema


def verdicts(outcome: Outcome, *, host: str = "") -> dict[str, str]:
    found = outcome.report["findings"]
    return {finding["check"]: finding["verdict"] for finding in found if not host or finding["hosts"] == host}


def shown(outcome: Outcome, check: str) -> str:
    return "\n".join(line[1] for piece in outcome.finding(check)["slices"] for line in piece["lines"])


def test_a_loop_over_what_another_check_found(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks:
            - id: units
              run: printf 'a.service failed\\n{{ '{{ 7 * 7 }}' }} failed\\n$(touch x) failed\\n'
              extract: {names: {regex: '^(.*) failed', type: text, agg: list}}
              register: units
            - id: unit
              run: printf '%s\\n' {{ item }}
              loop: units.values.names
              slice: {tail: 1, when: always}
            - id: after
              run: test ! -e x
    """)

    jsonschema.validate(outcome.report, report_schema())
    assert outcome.code == 0
    assert outcome.report["totals"]["planned"] == 5
    assert outcome.finding("unit")["items"] == ["a.service", "{{ 7 * 7 }}", "$(touch x)"]
    assert shown(outcome, "unit") == "a.service"


def test_items_differ_from_host_to_host_and_fold_where_they_do_not(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=3)

    outcome = cli.run("""
        - hosts: all
          vars:
            mounts: "{{ ['/data', '/more'] if inventory_hostname == 'h2' else ['/data'] }}"
          checks:
            - {id: mounted, run: "test -d /no/{{ item }}", loop: mounts}
            - {id: nothing, run: "false", loop: "mounts[2:]"}
    """)

    found = {finding["check"]: finding["hosts"] for finding in outcome.report["findings"]}
    assert found == {"mounted[/data]": "h[1-3]", "mounted[/more]": "h2"}
    assert outcome.report["totals"]["verdict"] == {"crit": 4, "skipped": 3}


def test_until(cli: CommandLine) -> None:
    started = time.monotonic()

    outcome = cli.run(f"""
        - hosts: all
          checks:
            - id: grows
              run: echo x >> {cli.folder}/grows; cat {cli.folder}/grows
              until: stdout_lines >= 3
              delay: 300ms
            - {{id: sees, run: "wc -l < {cli.folder}/grows", expect: {{stdout: {{equals: "3"}}}}}}
            - {{id: never, run: "exit 7", until: rc == 0, retries: 2, delay: 100ms}}
            - {{id: other, run: "true", session: other}}
    """)

    assert time.monotonic() - started > 0.8
    assert verdicts(outcome) == {"never": "crit"}
    never = outcome.finding("never")
    assert never["result"]["attempts"] == 3
    assert never["reasons"][1]["message"] == "until: rc == 0 was not met (rc = 7) after 3 attempts"


def test_an_interrupt_ends_the_waiting_for_the_next_attempt(cli: CommandLine) -> None:
    tried = cli.folder / "tried"
    playbook = cli.playbook(f"""
        - hosts: all
          checks: [{{id: never, run: "echo x >> {tried}; false", until: rc == 0, retries: 99, delay: 1m}}]
    """)
    process = cli.start(cli.run_args(playbook, "--format", "json"))
    wait_until(tried.exists, deadline_s=30.0)
    process.terminate()
    stdout, stderr = process.communicate(timeout=150)

    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    assert outcome.report["run"]["ended"] == "interrupted"
    assert verdicts(outcome) == {"never": "unknown"}
    assert tried.read_text() == "x\n"


@pytest.mark.parametrize(("rc", "states"), [(0, {"ok": 3}), (1, {"crit": 1, "skipped": 2})])
def test_needs(cli: CommandLine, rc: int, states: dict[str, int]) -> None:
    outcome = cli.run(f"""
        - hosts: all
          checks:
            - {{id: db, run: exit {rc}}}
            - {{id: app, run: "true", needs: db, session: other}}
            - {{id: page, run: "true", needs: [app]}}
    """)

    assert outcome.report["totals"]["verdict"] == states


def test_follow_ups_run_where_they_are_needed_alone(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=3)

    outcome = cli.run("""
        - hosts: all
          checks:
            - id: disk
              run: here={{ item }}; test {{ inventory_hostname }} != h2
              loop: [a, b]
              register: disk
              on_fail:
                - id: who
                  run: echo "$here {{ item }} {{ disk.rc }}"
                  register: who
                  slice: {tail: 1, when: always}
                - {id: more, run: "exit {{ who.stdout_lines }}", severity: warning}
            - {id: last, run: "true"}
    """)

    assert outcome.report["totals"]["planned"] == 3 * 3 + 4
    who = outcome.finding("who[b]")
    assert (who["hosts"], who["because"], who["verdict"]) == ("h2", "disk[b]", "ok")
    # The session keeps what the check left there.
    assert shown(outcome, "who[b]").endswith("b 1")
    # Items that are in the same trouble are one finding.
    assert verdicts(outcome, host="h2") == {"disk": "crit", "who[a]": "ok", "who[b]": "ok", "more": "warn"}
    assert outcome.finding("disk")["items"] == outcome.finding("more")["items"] == ["a", "b"]


def test_pre_checks(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=2)

    outcome = cli.run("""
        - hosts: all
          pre_checks: [{id: up, run: "test {{ inventory_hostname }} = h1"}]
          checks: [{id: a, run: "true"}, {id: b, run: "true"}]
        - hosts: all
          checks: [{id: c, run: "true"}]
    """)

    assert verdicts(outcome) == {"up": "crit"}
    assert outcome.report["totals"]["verdict"] == {"ok": 5, "crit": 1, "skipped": 2}


def test_a_lost_host_in_the_middle_of_a_loop(tmp_path: Path) -> None:
    with SshdFixture(tmp_path / "sshd") as sshd:
        cli = CommandLine(folder=tmp_path, sshd=sshd)
        (tmp_path / "checkrunner.toml").write_text("reconnect = 0\n")
        playbook = cli.playbook("""
            - hosts: all
              checks:
                - {id: l, run: "sleep {{ item }}", loop: [0, 60, 61], on_fail: {id: f, run: "true"}}
                - {id: z, run: "true", needs: l}
        """)
        process = cli.start(cli.run_args(playbook, "--format", "json"))
        wait_until(lambda: any("sleep 60" in line for line in sshd.processes().values()), deadline_s=30.0)
        sshd.stop()
        stdout, stderr = process.communicate(timeout=150)

    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    totals = outcome.report["totals"]
    assert (totals["planned"], totals["verdict"]) == (4, {"ok": 1, "unknown": 3}), outcome.report
