"""The order of hosts through the real command line: batches, plays that stop, checks that run once or elsewhere."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from cli_runner import CommandLine, Outcome
from sshd import SshdFixture, wait_until

MANUAL = Path(__file__).parents[2] / "docs" / "fleet-order.md"


class Fleet(CommandLine):
    """Hosts h1, h2, ... and what each command wrote, in order, into the one file that they all have."""

    def lines(self) -> list[str]:
        path = self.folder / "written"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def fleet(tmp_path: Path, make_sshd: object) -> Fleet:
    assert callable(make_sshd)
    return Fleet(folder=tmp_path, sshd=make_sshd(), hosts=4)


def reasons(outcome: Outcome, check: str) -> list[str]:
    return [reason["message"] for reason in outcome.finding(check)["reasons"]]


def logins(sshd: SshdFixture) -> int:
    """How often somebody logged in so far."""
    return sshd.log().count("Accepted publickey")


def test_batches_come_one_after_another_over_one_connection_a_host(fleet: Fleet) -> None:
    outcome = fleet.run(
        f"""
        - hosts: all
          checks:
            - {{id: first, run: 'x=5; cd /usr; echo first >>{fleet.folder}/written'}}
        - hosts: all
          serial: [1, 2]
          checks:
            - {{id: begin, run: 'echo begin {{{{ inventory_hostname }}}} >>{fleet.folder}/written'}}
            - {{id: end, run: 'sleep 0.1; echo end {{{{ inventory_hostname }}}} >>{fleet.folder}/written'}}
        - hosts: all
          checks:
            - {{id: kept, run: 'echo "$x $PWD"', expect: {{stdout: {{equals: 5 /usr}}}}}}
            - {{id: last, run: 'echo last >>{fleet.folder}/written'}}
        """
    )

    assert outcome.code == 0, outcome.stdout
    lines = fleet.lines()
    assert lines[:4] == ["first"] * 4
    assert lines[4:6] == ["begin h1", "end h1"]
    assert sorted(lines[6:10]) == ["begin h2", "begin h3", "end h2", "end h3"]
    assert lines[10:] == ["begin h4", "end h4", *["last"] * 4]
    assert outcome.report["totals"]["planned"] == 20
    assert logins(fleet.sshd) == 4
    fleet.sshd.assert_clean()


def test_a_play_ends_where_too_many_hosts_failed_and_the_report_says_so(fleet: Fleet) -> None:
    fleet.hosts = 10
    outcome = fleet.run(
        """
        - hosts: all
          forks: 1
          max_fail: 30%
          checks:
            - {id: odd, run: 'case {{ inventory_hostname }} in h2|h4|h5) false;; esac'}
        """
    )

    assert outcome.code == 2
    assert outcome.report["totals"]["verdict"] == {"ok": 2, "crit": 3, "unknown": 5}
    assert outcome.report["totals"]["host"] == {"reached": 5, "not_tried": 5}
    (incomplete,) = outcome.report["incomplete"]
    assert (incomplete["hosts"], incomplete["reason"]) == ("h[6-10]", "max_fail: 3 of 10 hosts failed")
    assert outcome.report["run"]["complete"] is False


def test_where_nothing_is_critical_the_exit_code_says_that_not_all_was_looked_at(fleet: Fleet) -> None:
    outcome = fleet.run(
        """
        - hosts: all
          forks: 1
          max_fail: 1
          checks: [{id: slow, run: sleep 30, timeout: 0.3}]
        - hosts: all
          checks: [{id: fine, run: 'true'}]
        """
    )

    assert outcome.code == 3
    assert outcome.report["totals"]["execution"] == {"done": 4, "timed_out": 1, "not_run": 3}
    assert outcome.report["totals"]["host"] == {"reached": 4}
    assert "max_fail: 1 of 4 hosts failed" in json.dumps(outcome.report["incomplete"])


def test_a_host_that_cannot_be_reached_has_the_reason_in_every_play(fleet: Fleet) -> None:
    inventory = fleet.folder / "more.ini"
    inventory.write_text("h9 ansible_host=127.0.0.1 ansible_port=1\n")
    outcome = fleet.run(
        """
        - hosts: all
          checks: [{id: a, run: 'true'}]
        - hosts: all
          serial: 1
          checks: [{id: b, run: 'true'}]
        """,
        *("-i", inventory),
    )

    assert outcome.code == 3
    assert outcome.report["totals"]["verdict"] == {"ok": 8, "unknown": 2}
    (incomplete,) = outcome.report["incomplete"]
    assert (incomplete["hosts"], incomplete["state"]) == ("h9", "unreachable")
    assert logins(fleet.sshd) == 4


def test_one_host_runs_it_and_all_see_it(fleet: Fleet) -> None:
    outcome = fleet.run(
        f"""
        - hosts: all
          checks:
            - {{id: site, run: 'echo {{{{ inventory_hostname }}}} >>{fleet.folder}/written; exit 3', run_once: true, register: site}}
            - {{id: after, run: 'test {{{{ site.rc }}}} = 3', when: not site.ok}}
            - {{id: needing, run: 'true', needs: [site]}}
        """
    )

    assert fleet.lines() == ["h1"]
    assert outcome.report["totals"]["planned"] == 9
    assert outcome.report["totals"]["verdict"] == {"ok": 4, "crit": 1, "skipped": 4}
    assert outcome.finding("site")["hosts"] == "h1"
    fleet.sshd.assert_clean()


def test_a_check_runs_on_a_host_that_no_play_selects(fleet: Fleet) -> None:
    where = "echo ${SSH_CONNECTION:-none none here}"
    outcome = fleet.run(
        f"""
        - hosts: h1,h2
          checks:
            - {{id: own, run: '{where} | cut -d" " -f3', expect: {{stdout: {{equals: '{{{{ ansible_host }}}}'}}}}}}
            - id: there
              run: '{where} | cut -d" " -f3; false'
              delegate_to: h4
              slice: {{head: 1, when: always}}
            - {{id: local, run: '{where} | cut -d" " -f3', delegate_to: localhost, expect: {{stdout: {{equals: here}}}}}}
            - {{id: set, run: 'cd /usr; mine={{{{ inventory_hostname }}}}', delegate_to: h4}}
            - id: kept
              run: echo "$mine $PWD"
              delegate_to: h4
              expect: {{stdout: {{equals: '{{{{ inventory_hostname }}}} /usr'}}}}
        """
    )

    found = outcome.finding("there")
    assert found["hosts"] == "h[1-2]"
    assert found["notes"][0] == "ran on h4 (delegate_to)"
    assert [text for piece in found["slices"] for _, text in piece["lines"]] == [fleet.sshd.address(4)]
    assert outcome.report["totals"]["verdict"] == {"ok": 8, "crit": 2}
    assert outcome.report["totals"]["hosts"] == 2
    assert logins(fleet.sshd) == 3
    fleet.sshd.assert_clean()


def test_settings_of_the_other_host_may_be_templates_and_secrets(fleet: Fleet) -> None:
    inventory = fleet.sshd.write_inventory(fleet.folder / "all.yml", 1)
    text = inventory.read_text().replace(
        "      hosts:",
        "      hosts:\n"
        f'        lb: {{ansible_host: "{{{{ lb_address }}}}", lb_address: {fleet.sshd.address(7)}, token: !env TOKEN}}',
    )
    inventory.write_text(text)
    playbook = fleet.playbook(
        """
        - hosts: h1
          vars: {balancer: lb}
          checks:
            - id: there
              run: echo ${SSH_CONNECTION} | cut -d" " -f3; echo very-secret-token
              delegate_to: "{{ balancer }}"
              slice: {head: 2, when: always}
        """
    )
    known = ["--known-hosts", fleet.sshd.known_hosts, "--ssh-config", "none"]
    argv = fleet.argv("run", playbook, "-i", inventory, *known, "--format", "json")
    outcome = fleet.call(["env", "TOKEN=very-secret-token", *argv])

    assert outcome.code == 0, outcome.stdout
    shown = [text for piece in outcome.finding("there")["slices"] for _, text in piece["lines"]]
    assert shown[0] == fleet.sshd.address(7)
    assert "very-secret-token" not in outcome.stdout


def test_a_host_that_cannot_be_reached_costs_the_delegated_check_alone(fleet: Fleet) -> None:
    inventory = fleet.folder / "more.ini"
    inventory.write_text("lb ansible_host=127.0.0.1 ansible_port=1\n")
    outcome = fleet.run(
        """
        - hosts: fleet
          checks:
            - {id: there, run: 'true', delegate_to: lb}
            - {id: own, run: 'true'}
        """,
        *("-i", inventory),
    )

    assert outcome.code == 3
    assert outcome.report["totals"]["verdict"] == {"ok": 4, "unknown": 4}
    assert outcome.report["totals"]["host"] == {"reached": 4}
    assert outcome.report["incomplete"] == []
    (reason,) = reasons(outcome, "there")
    assert reason.startswith("on lb (delegate_to): ")
    assert outcome.finding("there")["hosts"] == "h[1-4]"


def test_hosts_that_cannot_be_reached_can_be_looked_at_from_elsewhere(fleet: Fleet) -> None:
    inventory = fleet.folder / "dead.ini"
    inventory.write_text("dead ansible_host=127.0.0.1 ansible_port=1\n")
    outcome = fleet.run(
        """
        - hosts: dead
          checks:
            - id: port
              run: exec 3<>/dev/tcp/{{ ansible_host }}/{{ ansible_port }}
              delegate_to: localhost
        """,
        *("-i", inventory),
    )

    assert outcome.code == 2
    assert outcome.report["totals"]["host"] == {"reached": 1}
    assert outcome.finding("port")["verdict"] == "crit"


@pytest.mark.parametrize("name", ["lb9", "h44"])
def test_a_name_that_nobody_has_is_an_error_before_anything_connects(fleet: Fleet, name: str) -> None:
    outcome = fleet.run(
        f"""
        - hosts: all
          checks:
            - id: there
              run: 'true'
              delegate_to: {name}
        """
    )

    assert outcome.code == 64
    assert f"play.yml:6:20: error: delegate_to: no host is called {name!r}" in outcome.stderr
    assert logins(fleet.sshd) == 0


def test_a_name_that_turns_out_to_be_nobodys_makes_the_check_unknown(fleet: Fleet) -> None:
    outcome = fleet.run(
        """
        - hosts: h1
          checks:
            - {id: a, run: 'exit 4', register: a, expect: {rc: 4}}
            - {id: there, run: 'true', delegate_to: 'lb{{ a.rc }}'}
            - {id: other, run: 'true', delegate_to: 'h{{ a.rc }}'}
        """
    )

    assert outcome.code == 3
    assert "no host is called 'lb4'" in reasons(outcome, "there")[0]
    assert outcome.report["totals"]["verdict"] == {"ok": 2, "unknown": 1}


@pytest.mark.parametrize("run_once", [False, True])
def test_an_interrupt_ends_what_runs_elsewhere_and_all_that_waits(fleet: Fleet, run_once: bool) -> None:
    playbook = fleet.playbook(
        f"""
        - hosts: h1,h2
          serial: [2]
          checks:
            - id: there
              run: 'echo x >>{fleet.folder}/written; sleep 300'
              timeout: 10m
              delegate_to: h4
              run_once: {str(run_once).lower()}
              register: there
            - {{id: after, run: 'true', when: there.ok}}
        - hosts: all
          checks: [{{id: last, run: 'true'}}]
        """
    )
    process = fleet.start(fleet.run_args(playbook, "--format", "json"))
    wait_until(lambda: len(fleet.lines()) == (1 if run_once else 2), deadline_s=60, what="the commands to run")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=150)

    assert process.returncode == 130, err
    report = json.loads(out)
    assert report["totals"]["planned"] == (7 if run_once else 8)
    assert report["totals"]["verdict"] == {"unknown": report["totals"]["planned"]}
    fleet.sshd.assert_clean()


def test_progress_counts_to_the_end(fleet: Fleet) -> None:
    outcome = fleet.run(
        """
        - hosts: all
          serial: 3
          checks:
            - {id: once, run: 'true', run_once: true}
            - {id: each, run: 'echo {{ item }}', loop: [1, 2, 3]}
            - {id: bad, run: 'false', severity: info, on_fail: [{id: more, run: 'true'}]}
        """
    )

    counts = re.search(r"finished in .*: (\d+) of (\d+) checks looked at", outcome.stderr)
    assert counts, outcome.stderr
    assert counts[1] == counts[2] == str(outcome.report["totals"]["planned"])
