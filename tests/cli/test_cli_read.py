"""`checkrunner read`: what a run has kept, when nobody is asked any more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Done, call_here

PLAYBOOK = """\
- hosts: all
  checks:
    - id: log
      name: The log
      run: seq -f 'line %g is fine' 3000; echo 'FATAL password=hunter2'; echo 'after it'; echo complaint >&2; exit 1
    - {id: fine, run: echo fine}
    - {id: loop, loop: [a, b], run: "echo {{ item }} >&2; false"}
"""
Call = Callable[..., Done]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Calls command lines where one run was made and its playbook is gone."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "play.yml").write_text(PLAYBOOK)

    def call(*arguments: str) -> Done:
        return call_here(arguments, folder=folder)

    made = call("run", "play.yml", "--history", "h.db", "-q", "--format", "json")
    assert made.returncode == 2, made.stderr
    (folder / "play.yml").unlink()
    return lambda *arguments: call("read", "last", "localhost", *arguments, "--history", "h.db")


def test_an_output_is_read_as_text(kept: Call) -> None:
    done = kept("log")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines) == 3002
    assert lines[0] == "line 1 is fine"
    assert lines[-2].startswith("FATAL password=<secret")
    assert "hunter2" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--tail", "1"], "after it\n"),
        (["--head", "1", "-n"], "1:line 1 is fine\n"),
        (["--lines", "7:8"], "line 7 is fine\nline 8 is fine\n"),
        (["--lines", "7,9", "-n"], "7:line 7 is fine\n--\n9:line 9 is fine\n"),
        (["--match", "^line 10 ", "-C", "1"], "9-line 9 is fine\n10:line 10 is fine\n11-line 11 is fine\n"),
        (["--bytes", "0:6"], "line 1"),
        (["--stream", "stderr"], "complaint\n"),
    ],
)
def test_parts_of_it(kept: Call, arguments: list[str], text: str) -> None:
    done = kept("log", *arguments)
    assert (done.returncode, done.stdout) == (0, text)


def test_what_is_found_is_counted_beside_the_text(kept: Call) -> None:
    done = kept("log", "--match", "FATAL")
    assert done.stdout.startswith("3001:FATAL password=<secret")
    assert done.stderr == "1 line of 3,002 kept lines match\n"
    assert kept("log", "--match", "nowhere").stdout == ""


def test_json_is_one_document_that_can_be_cited(kept: Call) -> None:
    done = kept("log", "--lines", "2:3", "--format", "json")
    document = json.loads(done.stdout)
    assert document.pop("run")
    assert document == {
        "schema": "checkrunner/output/1",
        "host": "localhost",
        "check": "log",
        "stream": "stdout",
        "total_lines": 3002,
        "total_bytes": document["total_bytes"],
        "evidence": "localhost/log/stdout:2-3",
        "lines": [[2, "line 2 is fine"], [3, "line 3 is fine"]],
    }
    assert done.stderr == ""


def test_items_of_loops_and_names_of_checks(kept: Call) -> None:
    assert kept("loop[b]").stdout == "b\n"
    assert kept("The log", "--tail", "1").stdout == "after it\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lgo"], "Did you mean 'log'?"),
        (["fine"], "it was ok there"),
        (["loop"], "loop[a], loop[b]"),
        (["log", "--match", "("], "is not a regular expression"),
        (["log", "--head", "1", "--tail", "1"], "cannot be given together"),
        (["log", "--format", "yaml"], "no format is called 'yaml'"),
    ],
)
def test_what_cannot_be_read_ends_with_64(kept: Call, arguments: list[str], said: str) -> None:
    done = kept(*arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert said in done.stderr


def test_a_run_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text("- hosts: all\n  checks: [{id: bad, run: 'echo x; false'}]\n")
    call_here(["run", "play.yml", "--history", "h.db", "--keep", "none"], folder=tmp_path)
    done = call_here(["read", "last", "localhost", "bad", "--history", "h.db"], folder=tmp_path)
    assert done.returncode == 64
    assert "--keep none" in done.stderr
