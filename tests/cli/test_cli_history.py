"""Runs are stored by themselves; `history` lists them and `show` shows them again."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, call_here, environment

PLAYBOOK = """\
- name: Site
  hosts: all
  checks:
    - {id: flag, name: The flag, run: "cat flag; test ! -s flag", cwd: FOLDER}
    - {id: fine, name: Fine, run: "true"}
    - {id: part, name: Part, run: "test {{ item }} = a", loop: [a, b]}
    - {id: shy, name: Shy, run: "echo password=Zq81xLwpt7; exit 1"}
"""


class Site:
    """A folder with a playbook; what a run keeps is where it is by default."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / ".local" / "state" / "checkrunner" / "history.db"
        (folder / "play.yml").write_text(PLAYBOOK.replace("FOLDER", str(folder)))
        self.flag = folder / "flag"
        self.flag.write_text("")

    def __call__(self, *args: str, **env: str) -> Done:
        given = {**environment(self.folder), "CHECKRUNNER_HISTORY": "", "CHECKRUNNER_AUDIT_LOG": "none", **env}
        return call_here(args, folder=self.folder, env=given)

    def run(self, *args: str, **env: str) -> Done:
        return self("run", "play.yml", "-q", *args, **env)

    def json(self, *args: str) -> Any:
        done = self(*args, "--format", "json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


def times(text: str) -> str:
    """Without how long ago things were: a report that was stored has times to the second."""
    return re.sub(r" for \d+ s|, since [^,\n]* UTC( \(\d+ s\))?", "", text)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_runs_are_listed_and_shown_as_they_showed_themselves(site: Site) -> None:
    first = site.run()
    site.flag.write_text("the flag is up\n")
    second = site.run()
    assert (first.returncode, second.returncode, first.stderr, second.stderr) == (2, 2, "", "")

    listed = site.json("history")
    assert listed["count"] == 2
    assert [(run["number"], run["drift"]) for run in listed["runs"] if "drift" in run] == [(2, "worse")]
    newest, oldest = listed["runs"]
    assert newest["playbook"] == str(site.folder / "play.yml")
    assert (newest["hosts"], newest["exit_code"], newest["worse"]) == (1, 2, 1)
    assert newest["verdicts"] == {"ok": 2, "warn": 0, "crit": 3, "unknown": 0, "skipped": 0}
    assert oldest["verdicts"]["crit"] == 2
    table = site("history", "--limit", "1").stdout.splitlines()
    assert table[0].split()[:2] == ["RUN", "WHEN"]
    assert table[1].split()[0] == "2"
    assert table[1].endswith(f"2  1 worse  {site.folder}/play.yml")
    assert table[2] == "1 of 2 runs; --limit shows more"

    for run, showed in (("1", first), ("-2", first), ("last", second), (newest["id"], second)):
        assert times(site("show", run).stdout) == times(showed.stdout)
    report = site.json("show", "last")
    assert report["run"]["id"] == newest["id"]
    assert report["drift"]["worse"] == 1


def test_single_hosts_and_checks_are_told_beyond_the_report(site: Site) -> None:
    site.run()
    site.flag.write_text("the flag is up\n")
    site.run()

    shown = site("show", "last", "--host", "localhost").stdout
    assert "CRIT  flag: The flag\n      on localhost\n      - rc was 1, expected 0 (the default)\n" in shown
    assert "1 | the flag is up\n" in shown
    assert "stdout was kept: checkrunner read 2 localhost flag --stream stdout\n" in shown
    assert "CRIT  part[b]: Part\n      on localhost, since " in shown
    assert shown.endswith("\nok: fine, part[a] (2 checks)\n")
    (one,) = site.json("show", "2", "--host", "localhost", "--check", "fine")["results"]
    assert (one["check"], one["verdict"], one["execution"]) == ("fine", "ok", "done")
    loop = site.json("show", "2", "--check", "part")
    assert [(one["check"], one["verdict"]) for one in loop["results"]] == [("part[b]", "crit")]
    assert loop["others"] == [{"verdict": "ok", "hosts": "localhost", "count": 1}]
    assert loop["results"][0]["reasons"][0]["message"] == "rc was 1, expected 0 (the default)"
    assert site("read", "last", "localhost", "flag").stdout == "the flag is up\n"


def test_no_secret_is_stored(site: Site) -> None:
    site.run("-e", "token=Hj63vbTQ0pm")
    with closing(sqlite3.connect(site.store)) as connection:
        everything = "\n".join(connection.iterdump())
    stored = site("show", "last", "--check", "shy", "--format", "json").stdout
    stored += site("read", "last", "localhost", "shy").stdout

    assert "password=<secret:" in stored
    for secret in ("Zq81xLwpt7", "Hj63vbTQ0pm"):
        assert secret not in everything + stored
        assert secret.encode().hex().upper() not in everything


def test_what_only_looks_stores_nothing(site: Site) -> None:
    for done in (site.run("--check"), site.run("--help-params"), site.run("--history", "none")):
        assert done.stderr == ""
    assert site.run(CHECKRUNNER_HISTORY="none").returncode == 2

    assert not site.store.exists()
    done = site("history")
    assert done.returncode == 64
    assert done.stderr == (
        f"error: history {site.store}: there is no such file\n"
        "  hint: The first run makes it (checkrunner run PLAYBOOK); --history names another file\n"
    )
    done = site("show", "--history", "none")
    assert (done.returncode, done.stderr) == (
        64,
        "error: history none: no history of runs is kept\n  hint: It is so by flag\n",
    )


def test_a_run_whose_store_cannot_be_used_goes_on_and_says_so(site: Site) -> None:
    site.store.parent.mkdir(parents=True)
    site.store.write_text("Remember the milk. " * 100)
    fine = site.run("--history", "none", "--format", "json")

    done = site.run("--format", "json")

    told = f"history {site.store}: the file is no store of runs, or it is damaged (file is not a database)"
    assert done.returncode == fine.returncode == 2
    assert done.stderr.startswith(f"warning: {told}")
    report = json.loads(done.stdout)
    assert len(report["warnings"]) == 1
    assert report["warnings"][0].startswith(told)
    assert report["warnings"][0].endswith("; this run is not stored")
    assert report["totals"] == json.loads(fine.stdout)["totals"]
    assert report["budget"]["used"] > json.loads(fine.stdout)["budget"]["used"]
    assert site.store.read_text().startswith("Remember the milk. ")


def test_what_a_bad_disk_left_of_a_store_keeps_no_run_from_being_made(site: Site) -> None:
    fine = site.run()
    with closing(sqlite3.connect(site.store)) as connection, connection:
        connection.execute("UPDATE blob SET data = x'01FFFF'")

    done = site.run()
    shown = site("diff", "1", "1")

    told = f"history {site.store}: it is damaged: a piece of it cannot be read"
    assert (done.returncode, fine.returncode) == (2, 2)
    assert done.stderr.startswith(f"warning: {told}")
    assert done.stderr.endswith("; this run is not stored\n")
    assert (shown.returncode, shown.stderr.splitlines()[0]) == (64, f"error: {told}")
    with closing(sqlite3.connect(site.store)) as connection, connection:
        connection.execute("DELETE FROM name")

    done = site.run()

    assert done.returncode == 2
    assert done.stderr.startswith("warning: the history cannot be read, and this run is not stored")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "9"], "no run is called '9'"),
        (
            ["show", "--host", "locallost"],
            "no host of that run is called 'locallost'\n  hint: Did you mean 'localhost'?",
        ),
        (["show", "1", "--check", "flagg"], "no check of that run is called 'flagg'\n  hint: Did you mean 'flag'?"),
        (["show", "--check", "flag", "--format", "html"], "no format of single results is called 'html'"),
        (["show", "--hosts"], "there is no option --hosts"),
        (["history", "--format", "xml"], "no format is called 'xml'"),
        (["history", "--limit", "-1"], "--limit cannot be -1"),
        (["history", "--limit", "3", "prune"], "options of `history prune` come behind it"),
        (["history", "prun"], "no such command 'prun'"),
    ],
)
def test_what_cannot_be_shown_is_told(site: Site, arguments: list[str], words: str) -> None:
    site.run()
    done = site(*arguments)

    assert (done.returncode, done.stdout) == (64, "")
    assert words in done.stderr


def test_limits_are_settings_and_prune_makes_the_file_fit(site: Site) -> None:
    for _ in range(3):
        site.run()

    assert site("history", "prune").stdout.startswith("0 runs deleted, 3 left in ")
    assert site("history", "prune", CHECKRUNNER_HISTORY_RUNS="1").stdout.startswith("2 runs deleted, 1 left in ")
    assert [run["number"] for run in site.json("history")["runs"]] == [3]
    site.run(CHECKRUNNER_HISTORY_RUNS="1")
    assert [run["number"] for run in site.json("history")["runs"]] == [4]
