"""What is telling in a large output, over real SSH, from the command line to the report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from cli_runner import CommandLine
from sshd import SshdFixture

from checkrunner.render.schema import report_schema

LOG = (
    'awk \'BEGIN { for (n = 1; n <= 40000; n++) { if (n == 31007) print n " postgres: FATAL: could not open pg_wal";'
    ' else print n " web: request " n * 7 " served in " n % 90 " ms" } exit 1 }\''
)


@pytest.mark.parametrize("agent", ["python", "shell"])
def test_the_line_that_matters_of_forty_thousand(cli: CommandLine, agent: str) -> None:
    playbook = cli.playbook(f"""
        - hosts: all
          checks:
            - id: log
              run: {json.dumps(LOG)}
            - id: few
              run: echo one; echo "no space left on device" >&2; false
            - id: fine
              run: seq 1000
              slice: {{mode: salient, when: always, max_lines: 3}}
    """)

    argv = cli.run_args(playbook, "--format", "json")
    inventory = cli.folder / "inventory.yml"
    inventory.write_text(
        inventory.read_text().replace("      vars:", f"      vars:\n        checkrunner_agent: {agent}")
    )
    outcome = cli.call(argv)

    jsonschema.validate(outcome.report, report_schema())
    assert outcome.code == 2
    (piece,) = outcome.finding("log")["slices"]
    numbers = [line[0] for line in piece["lines"]]
    assert 31007 in numbers
    assert len(numbers) <= 24
    assert sum((line[3:] or [1])[0] for line in piece["lines"]) + piece.get("more_lines", 0) == 40000
    assert "FATAL" in next(line[1] for line in piece["lines"] if line[0] == 31007)
    assert "31007" in piece["evidence"]
    few = [line for piece in outcome.finding("few")["slices"] for line in piece["lines"]]
    assert [line[1] for line in few] == ["no space left on device", "one"]


def test_what_healthy_peers_show_too_is_told_last(tmp_path: Path, sshd: SshdFixture) -> None:
    """The first host is in trouble; those that come after it are fine, and are asked what is usual."""
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=6)
    playbook = cli.playbook("""
        - hosts: all
          checks:
            - id: log
              run: |
                for n in $(seq 60); do echo "ERROR: probe $n of sensor $n got no answer"; done
                [ {{ inventory_hostname }} != h1 ] || { echo "WARN: volume data was remounted read-only"; false; }
    """)
    outcome = cli.call(cli.run_args(playbook, "--format", "json", "--forks", "1"))

    finding = outcome.finding("log")
    assert finding["hosts"] == "h1"
    assert len(outcome.report["findings"]) == 1
    (piece,) = finding["slices"]
    assert "WARN: volume data was remounted read-only" in [line[1] for line in piece["lines"]]
