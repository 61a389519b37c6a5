"""`baseline`, `silence`, `silences` and what they do to runs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Done, call_here

PLAYBOOK = """\
- hosts: all
  checks:
    - id: conf
      run: cat conf
      baseline: {ignore: '^#'}
    - id: load
      run: exit {{ code | default(0) }}
"""


class Cli:
    """A folder with a playbook, and a store of runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "p.yml").write_text(PLAYBOOK)
        (folder / "inv.ini").write_text("web1 ansible_connection=local\nweb2 ansible_connection=local\n")
        self.conf("a", "# made today", "b")

    def conf(self, *lines: str) -> None:
        (self.folder / "conf").write_text("".join(f"{line}\n" for line in lines))

    def __call__(self, *words: str, code: int = 0) -> Done:
        done = call_here([*words, "--history", str(self.folder / "h.db")], folder=self.folder)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def run(self, *words: str, code: int = 0) -> list[dict[str, object]]:
        """A run's findings."""
        done = self("run", "p.yml", "-i", "inv.ini", "--format", "json", *words, code=code)
        return [*json.loads(done.stdout)["findings"]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_an_output_is_accepted_compared_and_dropped(cli: Cli) -> None:
    (finding,) = cli.run(code=3)
    assert (finding["check"], finding["verdict"], finding["hosts"]) == ("conf", "unknown", "web[1-2]")

    offered = cli("baseline", "accept", "--check", "conf", "--dry-run").stdout
    assert offered == (
        "offered by run 1:\nconf on web[1-2] (2 hosts): 3 lines, the first baseline\n  + a\n  + # made today\n  + b\n"
    )
    assert cli("baseline", "show").stderr == "no baseline is accepted\n"
    assert cli("baseline", "accept", "--why", "looked at").stdout.startswith("accepted from run 1:\nconf on web[1-2]")
    assert cli.run() == []

    cli.conf("a", "# made tomorrow", "c")
    (finding,) = cli.run(code=2)
    assert [reason["message"] for reason in finding["reasons"]][1:] == ["gone: 'b'"]  # type: ignore[attr-defined]  # JSON
    assert [piece["evidence"] for piece in finding["slices"]] == ["web1/conf/stdout:3"]  # type: ignore[attr-defined]  # JSON

    changed = cli("baseline", "accept", "last", "--host", "web1").stdout
    assert changed == "accepted from run 3:\nconf on web1: 3 lines, 2 new, 2 gone\n"
    (finding,) = cli.run(code=2)
    assert finding["hosts"] == "web2"

    assert cli("baseline", "drop", "--host", "web2").stdout == "dropped conf on web2: 3 lines\n"
    (finding,) = cli.run(code=3)
    assert (finding["hosts"], finding["verdict"]) == ("web2", "unknown")


def test_what_is_accepted_is_shown(cli: Cli) -> None:
    cli.run(code=3)
    cli("baseline", "accept", "--why", "token=abcdefgh12345678")

    listed, shown = cli("baseline", "show").stdout, cli("baseline", "show", "--host", "web2").stdout
    document = json.loads(cli("baseline", "show", "--format", "json").stdout)

    assert "conf on web[1-2] (2 hosts): 3 lines" in listed
    assert "2 | # made today" not in listed
    assert re.search(r"conf on web2: 3 lines\n  accepted \S+ \S+ UTC by \S+ from run \S+: token=<secret", shown)
    assert "  2 | # made today\n" in shown
    assert [(one["host"], one["lines"]) for one in document["baselines"]] == [
        ("web1", ["a", "# made today", "b"]),
        ("web2", ["a", "# made today", "b"]),
    ]
    assert document["schema"] == "checkrunner/baselines/1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["accept", "7"], "7"),
        (["accept", "--check", "cnof"], "Did you mean 'conf'?"),
        (["accept", "last", "--host", "wbe1"], "Did you mean 'web1'?"),
        (["accept", "--check", "load"], "no check with an output to accept is called 'load'"),
        (["show", "--format", "xml"], "xml"),
        (["drop"], "--all"),
    ],
)
def test_what_cannot_be_accepted_shown_or_dropped(cli: Cli, words: list[str], message: str) -> None:
    cli.run(code=3)

    assert message in cli("baseline", *words, code=64).stderr


def test_a_store_without_such_outputs_says_what_has_one(cli: Cli) -> None:
    (cli.folder / "plain.yml").write_text("- {hosts: all, checks: [{id: a, run: 'true'}]}\n")
    cli("run", "plain.yml")

    assert "A check with `baseline` has one" in cli("baseline", "accept", code=64).stderr
    assert "run 1 has no output" in cli("baseline", "accept", "last", code=64).stderr
    done = call_here(["baseline", "accept", "--history", "none"], folder=cli.folder)

    assert done.returncode == 64
    assert "no history of runs is kept" in done.stderr


def test_a_silence_is_reported_and_not_counted(cli: Cli) -> None:
    cli.run("-e", "code=1", code=2)
    made = cli("silence", "web*", "*", "--until", "3d", "--why", "being  built").stdout
    assert re.fullmatch(
        r"1  \* on web\* until \S+ \S+ UTC \(in 3 days\) by \S+: being built\n4 checks on 2 hosts, as of the last runs\n",
        made,
    )

    findings = cli.run("-e", "code=1")
    assert [(one["check"], one["silenced"]["why"]) for one in findings] == [  # type: ignore[index]  # JSON
        ("load", "being built"),
        ("conf", "being built"),
    ]

    assert cli("silences").stdout.startswith("1  * on web* until ")
    assert " ended " in cli("silences", "end", "1").stdout
    assert cli("silences").stderr == "nothing is silenced\n"
    (one,) = json.loads(cli("silences", "--all", "--format", "json").stdout)["silences"]
    assert (one["number"], one["holds"], one["why"]) == (1, False, "being built")
    assert all("silenced" not in one for one in cli.run("-e", "code=1", code=2))


def test_names_that_nobody_knows_are_silenced_with_a_warning(cli: Cli) -> None:
    early = cli("silence", "web1", "conf", "--until", "2h", "--why", "x").stderr
    assert early == "warning: no run is stored yet: whether there is such a host or check is not known\n"
    cli("run", "p.yml", "-i", "inv.ini", "-l", "web1")

    host = cli("silence", "wbe1", "conf", "--until", "2h", "--why", "x").stderr
    check = cli("silence", "web1", "conv", "--until", "2h", "--why", "x").stderr
    both = cli("silence", "db9", "qqqqqq", "--until", "2h", "--why", "x").stderr

    assert host == "warning: no recent run has a host 'wbe1'; did you mean 'web1'?\n"
    assert check == "warning: no recent run has a check 'conv'; did you mean 'conf'?\n"
    assert both == "warning: no recent run has a host 'db9'\nwarning: no recent run has a check 'qqqqqq'\n"
    assert len(cli("silences").stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["web1", "disk", "--until", "2 hours", "--why", "x"], "Did you mean '2h'?"),
        (["web1", "disk", "--until", "2020-01-01", "--why", "x"], "is past"),
        (["web1", "disk", "--until", "2h", "--why", " "], "needs a reason"),
        (["web1", "", "--until", "2h", "--why", "x"], "is no name"),
        (["web1\n", "disk", "--until", "2h", "--why", "x"], "is no name"),
        (["web1", "disk", "--until", "2h", "--why", "x" * 501], "at most 500"),
        (["web1", "disk", "--why", "x"], "--until"),
        (["web1", "disk", "--until", "2h"], "--why"),
    ],
)
def test_what_is_no_silence(cli: Cli, words: list[str], message: str) -> None:
    assert message in cli("silence", *words, code=64).stderr
    assert not (cli.folder / "h.db").exists()


def test_dates_are_those_of_the_zone_here(cli: Cli) -> None:
    there = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)

    made = cli("silence", "*", "*", "--until", f"{there:%Y-%m-%dT%H:%M:%SZ}", "--why", "x").stdout

    assert f"until {there:%Y-%m-%d %H:%M} UTC" in made


def test_only_silences_that_are_there_can_be_ended(cli: Cli) -> None:
    cli("silence", "*", "*", "--until", "2h", "--why", "x")

    before = call_here(["silences", "--all", "end", "1"], folder=cli.folder)
    assert "options of `silences end` come behind it" in before.stderr
    assert "no silence 7" in cli("silences", "end", "7", code=64).stderr


def test_a_check_that_costs_its_session_is_not_run_the_third_time(cli: Cli) -> None:
    (cli.folder / "evil.yml").write_text(
        "- hosts: all\n  checks:\n    - {id: evil, run: 'kill -9 $PPID; sleep 60'}\n    - {id: fine, run: 'true'}\n"
    )
    (cli.folder / "checkrunner.toml").write_text("suppress_after = 2\n")

    reports = [json.loads(cli("run", "evil.yml", "--format", "json", code=3).stdout) for _ in range(3)]

    assert [report["totals"]["done"] for report in reports] == [2, 2, 1]
    assert [entry["strikes"] for report in reports for entry in report.get("suppressed", ())] == [2]
    (finding,) = reports[2]["findings"]
    assert (finding["check"], finding["execution"], finding["reasons"][0]["subject"]) == (
        "evil",
        "not_run",
        "suppressed",
    )

    listed = cli("history", "suppressed").stdout
    document = json.loads(cli("history", "suppressed", "--format", "json").stdout)
    assert re.match(
        r"evil on localhost: not run until \S+ \S+ UTC \(in 2[34] h\)\n  harm 2 times in a row, last: ", listed
    )
    assert [(one["check"], one["strikes"], "until" in one) for one in document["checks"]] == [("evil", 2, True)]
    assert "Did you mean 'evil'?" in cli("history", "resume", "localhost", "evli", code=64).stderr
    assert cli("history", "resume", "*", "evil").stdout == "evil is run again on localhost\n"
    assert cli("history", "suppressed").stderr == "no check has done harm\n"
