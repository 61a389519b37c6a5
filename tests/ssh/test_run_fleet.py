"""Checks that compare hosts, through the real command line; the manual's examples among them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli_runner import CommandLine, Outcome

from checkrunner.render.schema import report_schema

MANUAL = Path(__file__).parents[2] / "docs" / "fleet.md"


@pytest.fixture
def fleet(tmp_path: Path, make_sshd: Any) -> CommandLine:
    return CommandLine(folder=tmp_path, sshd=make_sshd(), hosts=5)


def told(outcome: Outcome, check: str) -> dict[str, str]:
    """The findings of a check: hosts, and the first reason."""
    found = [finding for finding in outcome.report["findings"] if finding["check"] == check]
    return {finding["hosts"]: finding["reasons"][0]["message"] for finding in found}


def test_the_odd_one_out(fleet: CommandLine) -> None:
    outcome = fleet.run(
        """
        - hosts: all
          checks:
            - id: driver
              run: |
                case {{ inventory_hostname }} in h4) echo 470.57;; *) echo 535.104;; esac
              consensus: true
            - id: split
              run: |
                case {{ inventory_hostname }} in h1|h2) echo a;; *) echo b;; esac
              consensus: true
            - id: tuned
              run: |
                case {{ inventory_hostname }} in h2) echo swappiness=60;; *) echo swappiness=1;; esac
              parse: kv
              extract: {swappiness: {column: swappiness}}
              consensus: {on: swappiness, by: site}
        """,
        "-e",
        "site=west",
    )

    jsonschema.validate(outcome.report, report_schema())
    assert outcome.code == 2, outcome.stderr
    assert told(outcome, "driver") == {"h4": "consensus: stdout is '470.57', expected '535.104' (4 of 5 hosts)"}
    assert told(outcome, "split") == dict.fromkeys(("h[3-5]", "h[1-2]"), "no consensus: 3 x 'b', 2 x 'a'")
    assert told(outcome, "tuned") == {"h2": "consensus: swappiness is 60, expected 1 (4 of 5 hosts)"}
    (driver,) = [finding for finding in outcome.report["findings"] if finding["check"] == "driver"]
    assert driver["slices"][0]["evidence"] == "h4/driver/stdout:1"
    fleet.sshd.assert_clean()


def test_enough_hosts(fleet: CommandLine) -> None:
    outcome = fleet.run(
        """
        - hosts: all
          checks:
            - {id: holds, run: 'case {{ inventory_hostname }} in h1) exit 1;; esac', quorum: 4}
            - {id: missed, run: 'case {{ inventory_hostname }} in h1|h2) exit 1;; esac', quorum: 80%}
        """
    )

    assert outcome.code == 2, outcome.stderr
    assert told(outcome, "missed") == {"h[1-2]": "rc was 1, expected 0 (the default)"}
    (missed,) = [finding for finding in outcome.report["findings"] if finding["check"] == "missed"]
    assert missed["reasons"][1]["message"] == "quorum is missed: 3 of 5 ok, 4 wanted"
    noted = [finding for finding in outcome.report["findings"] if finding["check"] == "holds"]
    assert [finding["verdict"] for finding in noted] == ["ok"]
    assert outcome.report["totals"]["verdict"]["crit"] == 2


def test_a_host_that_cannot_be_reached_has_no_vote(fleet: CommandLine) -> None:
    inventory = fleet.sshd.write_inventory(fleet.folder / "more.yml", 4)
    gone = fleet.folder / "gone.ini"
    gone.write_text("gone ansible_host=127.0.0.1 ansible_port=1\n")
    playbook = fleet.playbook(
        """
        - hosts: all
          checks:
            - {id: same, run: echo 1, consensus: true}
            - {id: most, run: 'true', quorum: 100%}
        """
    )
    argv = fleet.argv("run", playbook, "-i", inventory, "-i", gone, "--known-hosts", fleet.sshd.known_hosts)
    outcome = fleet.call_here([*argv, "--ssh-config", "none", "--format", "json"])

    assert outcome.code == 3, outcome.stderr
    assert outcome.report["totals"]["verdict"] == {"ok": 8, "unknown": 2}


@pytest.mark.parametrize("number", range(2))
def test_the_examples_of_the_manual(fleet: CommandLine, number: int) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", MANUAL.read_text(), re.DOTALL)
    assert len(examples) == 2
    inventory = fleet.folder / "groups.ini"
    inventory.write_text("[gpu]\ngpu1\n[web]\nweb1 region=west\n")
    outcome = fleet.call_here(fleet.argv("lint", fleet.playbook(examples[number]), "-i", inventory))
    assert outcome.code == 0, outcome.stdout + outcome.stderr
