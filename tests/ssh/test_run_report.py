"""A playbook over real SSH, from the command line to the report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from cli_runner import CommandLine
from sshd import SshdFixture

from checkrunner.render.schema import report_schema

MIXED = """
- hosts: all
  vars: {word: ready}
  checks:
    - name: fine
      run: echo {{ word }}
      expect: {stdout: {contains: "{{ word }}"}, stdout_lines: 1}
      register: fine
    - name: broken
      run: |
        seq 1 100
        echo "cannot open /dev/foo" >&2
        exit 3
      why: it is needed
      fix: open it
    - name: warned
      run: exit 1
      warn_if: rc == 1
    - name: dependent
      when: fine.ok
      run: pwd
      cwd: /usr
    - name: left out
      when: fine.rc == 1
      run: pwd
    - name: no tool
      requires: no-such-tool-here
      run: no-such-tool-here
    - name: not found
      run: no-such-command-here
"""


def test_verdicts_totals_slices_and_exit_code(cli: CommandLine) -> None:
    outcome = cli.run(MIXED)
    report = outcome.report

    jsonschema.validate(report, report_schema())
    assert outcome.code == 2
    totals = report["totals"]
    assert totals["planned"] == 7
    assert totals["done"] + totals["skipped"] + totals["not_run"] == 7
    assert totals["verdict"] == {"ok": 2, "warn": 1, "crit": 1, "unknown": 1, "skipped": 2}
    assert sum(totals["execution"].values()) == 7
    assert sum(totals["capture"].values()) == totals["done"]
    assert totals["host"] == {"reached": 1}
    assert not report["run"]["complete"]
    broken = outcome.finding("broken")
    assert broken["verdict"] == "crit"
    assert broken["hosts"] == "h1"
    assert broken["reasons"][0]["expected"] == "0"
    assert broken["reasons"][0]["actual"] == "3"
    assert broken["why"] == "it is needed"
    assert broken["fix"] == "open it"
    stderr = next(piece for piece in broken["slices"] if "/stderr:" in piece["evidence"])
    assert stderr["evidence"] == "h1/broken/stderr:1"
    assert "cannot open /dev/foo" in json.dumps(stderr)
    assert outcome.finding("not-found")["verdict"] == "unknown"
    assert outcome.finding("no-tool")["verdict"] == "skipped"
    assert "no-such-tool-here" in outcome.finding("no-tool")["reasons"][0]["message"]


def test_the_terminal_report_and_the_file_together(cli: CommandLine) -> None:
    argv = cli.run_args(cli.playbook(MIXED), "-o", "report.json")

    outcome = cli.call(argv)

    assert "cannot open /dev/foo" in outcome.stdout
    assert "h1/broken/stderr:1" in outcome.stdout
    jsonschema.validate(json.loads((cli.folder / "report.json").read_text()), report_schema())
    assert "\x1b" not in outcome.stdout + outcome.stderr


def test_ten_healthy_checks_fit_into_four_kilobytes(cli: CommandLine) -> None:
    checks = "".join(f"    - {{name: check {n}, run: 'seq 1 1000'}}\n" for n in range(10))

    outcome = cli.run("- hosts: all\n  checks:\n" + checks)

    assert outcome.code == 0
    assert len(outcome.stdout.encode()) <= 4096
    assert outcome.report["run"]["complete"]


def test_equal_trouble_on_many_hosts_is_one_finding(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=12)

    outcome = cli.run("- hosts: fleet\n  checks:\n    - {id: full, run: 'echo disk full; exit 1'}\n")

    finding = outcome.finding("full")
    assert finding["hosts"] == "h[1-12]"
    assert finding["host_count"] == 12
    assert outcome.report["totals"]["hosts"] == 12


def test_state_lasts_through_three_hundred_checks_and_an_exit(cli: CommandLine) -> None:
    lines = [
        "- hosts: all",
        "  checks:",
        "    - id: first",
        "      run: |",
        "        cd /usr/lib; export KEPT=yes; kept() { echo function $1; }; set -o pipefail; declare -A map=([a]=1)",
    ]
    lines += [f"    - {{id: c{n}, run: '{'exit 3' if n == 150 else 'true'}'}}" for n in range(2, 300)]
    lines += [
        "    - id: last",
        "      run: |",
        '        echo "$PWD $KEPT $(kept x) ${map[a]} $(set -o | grep pipefail | tr -s "[:space:]" " ")"',
        "      expect: {stdout: {equals: '/usr/lib yes function x 1 pipefail on '}}",
        "      slice: {head: 3}",
    ]

    outcome = cli.run("\n".join(lines) + "\n")

    assert outcome.report["totals"]["verdict"] == {"ok": 299, "crit": 1}, outcome.report
    assert outcome.finding("c150")["reasons"][0]["actual"] == "3"
    assert outcome.finding("c150")["notes"] == ["shell_exited"]


def test_a_hung_check_is_timed_out_and_the_rest_goes_on(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks:
            - {id: hung, run: sleep 100, timeout: 1}
            - {id: after, run: echo after}
            - {id: beside, run: echo beside, session: other}
        """)

    hung = outcome.finding("hung")
    assert hung["verdict"] == "unknown"
    assert hung["execution"] == "timed_out"
    assert outcome.report["totals"]["verdict"] == {"ok": 2, "unknown": 1}
    assert outcome.code == 3


def test_dead_hosts_are_incomplete_and_the_others_are_looked_at(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=2)
    inventory = sshd.write_inventory(tmp_path / "inventory.yml", 2)
    dead = ",".join(f"dead{n}" for n in range(1, 4))
    (tmp_path / "dead.ini").write_text(
        "\n".join(f"{name} ansible_host=127.9.9.9 ansible_port=1" for name in dead.split(",")) + "\n"
    )
    argv = cli.argv(
        "run", cli.playbook("- hosts: all\n  checks: [{id: a, run: 'true'}, {id: b, run: 'true'}]\n"),
        "-i", inventory, "-i", tmp_path / "dead.ini", "--known-hosts", sshd.known_hosts, "--ssh-config", "none",
        "--format", "json",
    )  # fmt: skip

    outcome = cli.call_here(argv)

    assert outcome.code == 3
    (incomplete,) = outcome.report["incomplete"]
    assert incomplete["hosts"] == "dead[1-3]"
    assert incomplete["state"] == "unreachable"
    assert outcome.report["findings"] == []
    assert outcome.report["totals"]["host"] == {"reached": 2, "unreachable": 3}
    assert outcome.report["totals"]["verdict"] == {"ok": 4, "unknown": 6}


def test_a_changed_host_key_sends_no_command(make_sshd: object, tmp_path: Path) -> None:
    sshd = make_sshd()  # type: ignore[operator]  # the fixture is a callable that makes one
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    marker = tmp_path / "ran"
    sshd.change_host_key()

    outcome = cli.run(f"- hosts: all\n  checks: [{{id: a, run: 'touch {marker}'}}]\n")

    assert outcome.report["totals"]["host"] == {"host_key_mismatch": 1}
    assert outcome.code == 3
    assert not marker.exists()


def test_a_password_is_asked_for_and_appears_nowhere(make_sshd: object, tmp_path: Path) -> None:
    sshd = make_sshd(password="open-sesame-4711")  # type: ignore[operator]  # as above
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    (tmp_path / "inventory.ini").write_text(
        f"h1 ansible_host={sshd.address(1)} ansible_port={sshd.port} ansible_user=root ansible_password=open-sesame-4711\n"
    )
    argv = cli.argv(
        "run", cli.playbook("- hosts: all\n  checks: [{id: a, run: 'echo open-sesame-4711; exit 1'}]\n"),
        "-i", tmp_path / "inventory.ini", "--known-hosts", sshd.known_hosts, "--ssh-config", "none",
        "--format", "json", "-v",
    )  # fmt: skip

    outcome = cli.call_here(argv)

    assert outcome.finding("a")["verdict"] == "crit"
    assert "open-sesame" not in outcome.stdout + outcome.stderr


def test_settings_that_are_templates_reach_the_host(make_sshd: object, tmp_path: Path) -> None:
    sshd = make_sshd(password="open-sesame-4711")  # type: ignore[operator]  # as above
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    (tmp_path / "inventory.yml").write_text(
        "all:\n  hosts: {h1: {number: 1}, h2: {number: 2}, win: {ansible_connection: winrm}}\n  vars:\n"
        f"    addresses: ['', {sshd.address(1)}, {sshd.address(2)}]\n"
        "    ansible_host: '{{ addresses[number] }}'\n"
        f"    ansible_port: '{{{{ {sshd.port} if login else 1 }}}}'\n"
        "    ansible_user: '{{ login }}'\n"
        "    ansible_password: '{{ vault_password }}'\n"
        "    ansible_ssh_common_args: '-o UserKnownHostsFile={{ keys }}'\n"
        "    vault_password: !cmd printf open-sesame-4711\n"
        f"    keys: {sshd.known_hosts}\n"
    )
    argv = cli.argv(
        "run", cli.playbook("- hosts: all\n  checks: [{id: a, run: 'echo open-sesame-4711; exit 1'}]\n"),
        "-i", tmp_path / "inventory.yml", "-e", "login=root", "--ssh-config", "none", "--format", "json", "-v",
    )  # fmt: skip

    outcome = cli.call_here(argv)

    assert outcome.finding("a")["hosts"] == "h[1-2]"
    assert outcome.report["totals"]["host"] == {"reached": 2, "unsupported": 1}
    assert "open-sesame" not in outcome.stdout + outcome.stderr
