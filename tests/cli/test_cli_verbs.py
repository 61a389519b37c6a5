"""The verbs that connect to nothing, errors and exit codes, through the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Done, call_here, call_process, environment

ROOT = Path(__file__).parents[2]

PLAYBOOK = """\
- name: web
  hosts: web
  tags: [front]
  checks:
    - name: Port open
      id: port
      run: 'true'
      tags: net
    - name: Disk
      run: df -h
      severity: warning
      requires: [df]
- hosts: db
  checks:
    - run: uptime
"""
INVENTORY = """\
web01 tier=1
[web]
web[01:03] color=blue
[db]
db1
[db:vars]
color=red
"""


class Cli:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "play.yml").write_text(PLAYBOOK)
        (folder / "inv.ini").write_text(INVENTORY)

    def __call__(self, *args: str, stdin: str = "", **environ: str) -> Done:
        return call_here(args, folder=self.folder, env=environment(self.folder) | environ, stdin=stdin)

    def process(self, *args: str) -> Done:
        """The same as a process, for what is about that."""
        return call_process(args, folder=self.folder)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_version(cli: Cli) -> None:
    done = cli("--version")

    assert done.stdout.startswith("checkrunner 0.")
    assert done.returncode == 0


def test_help_teaches(cli: Cli) -> None:
    done = cli("run", "--help")

    assert done.returncode == 0
    for needle in ("--limit", "--known-hosts", "--deadline", "Examples", "checkrunner run linux-health"):
        assert needle in done.stdout
    assert "Exit codes" in cli("--help").stdout


def test_hosts_lists_what_a_pattern_selects(cli: Cli) -> None:
    assert cli("hosts", "web:!web02", "-i", "inv.ini").stdout.split() == ["web01", "web03"]
    assert cli("hosts", "-i", "inv.ini", "-l", "db").stdout.split() == ["db1"]
    assert cli("hosts").stdout.split() == ["localhost"]


def test_hosts_explains_one(cli: Cli) -> None:
    done = cli("hosts", "-i", "inv.ini", "--explain", "web01")

    assert done.returncode == 0
    assert 'color = "blue"' in done.stdout
    assert "inv.ini:3" in done.stdout
    assert "tier = 1" in done.stdout


def test_hosts_explains_what_selects_one(cli: Cli) -> None:
    done = cli("hosts", "w*:!web02", "-i", "inv.ini", "-l", "!web01", "--explain", "web01")

    assert "selected by the pattern 'w*:!web02'\n    w*: group web\n" in done.stdout
    assert "not selected by the limit '!web01'\n    all: every host\n    !web01: its name\n" in done.stdout
    assert "    in web (inv.ini:3:1)\n" in done.stdout


def test_hosts_with_a_typing_error_says_what_was_meant(cli: Cli) -> None:
    done = cli("hosts", "wev", "-i", "inv.ini")

    assert done.returncode == 4
    assert "web" in done.stderr
    assert cli("hosts", "web:!web", "-i", "inv.ini").returncode == 4
    assert cli("hosts", "web:!web", "-i", "inv.ini", "--allow-empty").returncode == 0


def test_checks_lists_a_playbook(cli: Cli) -> None:
    done = cli("checks", "play.yml")

    assert "port" in done.stdout
    assert "needs df" in done.stdout
    assert "hosts: db" in done.stdout
    assert "port" not in cli("checks", "play.yml", "--skip-tags", "net").stdout
    assert cli("checks", "play.yml", "-t", "nett").returncode == 64


def test_the_shipped_playbook_goes_by_its_name(cli: Cli) -> None:
    assert "disk" in cli("checks", "linux-health").stdout
    done = cli("checks", "linux-heatlh")
    assert done.returncode == 64
    assert "linux-health" in done.stderr


@pytest.mark.parametrize("what", ["report", "playbook", "lint", "preview"])
def test_schemas_are_json_schemas(cli: Cli, what: str) -> None:
    done = cli("schema", what)

    assert json.loads(done.stdout)["$schema"].startswith("https://json-schema.org/")
    assert cli("schema", "reprot").returncode == 64


def test_lint_finds_what_is_wrong_without_connecting(cli: Cli) -> None:
    (cli.folder / "bad.yml").write_text(
        "- hosts: web\n  checks:\n    - id: a\n      run: rm -rf /var/tmp/x {{ colour }}\n"
    )

    done = cli("lint", "bad.yml", "-i", "inv.ini")

    assert done.returncode == 64
    assert "bad.yml:4:" in done.stdout
    assert "color" in done.stdout
    assert "rm" in done.stdout
    assert cli("lint", "play.yml", "-i", "inv.ini").returncode == 0


@pytest.mark.parametrize(
    ("text", "line", "needle"),
    [
        ("- hosts: all\n  checks:\n    - run: 'true'\n      expct: {rc: 0}\n", 4, "expect"),
        ("- hosts: all\n  checks:\n    - run: echo {{ nope }}\n", 3, "nope"),
        ("- hosts: all\n  checks:\n    - run: docker ps --format '{{.ID}}'\n", 3, "raw"),
        ("- hosts: all\n  checks:\n    - {id: a, run: x}\n    - {id: a, run: y}\n", 4, "a"),
        ("- hosts: all\n  checks:\n\t- run: x\n", 3, "tab"),
        ("- hosts: all\n  checks:\n    - run: x\n      timeout: soon\n", 4, "(2m)"),
    ],
)
def test_a_wrong_playbook_is_said_with_its_place_and_nothing_runs(cli: Cli, text: str, line: int, needle: str) -> None:
    (cli.folder / "bad.yml").write_text(text)

    done = cli("run", "bad.yml", "--format", "json")

    assert done.returncode == 64
    assert f"bad.yml:{line}" in done.stderr
    assert needle in done.stderr
    document = json.loads(done.stdout)
    assert document["run"]["ended"] == "error"
    assert document["run"]["exit_code"] == 64


def test_every_error_of_a_playbook_is_shown_at_once(cli: Cli) -> None:
    (cli.folder / "bad.yml").write_text(
        "- hosts: all\n  checks:\n" + "".join(f"    - {{id: c{n}, rn: x}}\n" for n in range(12))
    )

    done = cli("run", "bad.yml", "-i", "inv.ini")

    assert done.returncode == 64
    assert done.stderr.count("error: unknown key 'rn'") == 10
    assert "bad.yml:3:16: error: unknown key 'rn'" in done.stderr
    assert "... and 2 more errors in this file" in done.stderr


def test_a_secret_in_a_faulty_line_is_shown_nowhere(cli: Cli) -> None:
    (cli.folder / "inv.ini").write_text("web1 ansible_port=many ansible_password=hunter2\n")

    done = cli("run", "play.yml", "-i", "inv.ini", "--format", "json")

    assert done.returncode == 64
    assert "hunter2" not in done.stdout + done.stderr
    assert "ansible_port=many ansible_password=<secret>" in done.stderr
    assert "ansible_password=<secret>" in json.loads(done.stdout)["run"]["error"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["run", "play.yml", "-i", "inv.ini", "--no-such-flag"], 64),
        (["run"], 64),
        (["run", "nowhere.yml"], 64),
        (["run", "play.yml", "-i", "nowhere.ini"], 64),
        (["run", "play.yml", "-i", "inv.ini", "-l", "wbe"], 4),
        (["run", "play.yml", "-i", "inv.ini", "--forks", "many"], 64),
        (["run", "play.yml", "-i", "inv.ini", "-o", "no/such/folder/x.json"], 64),
        (["run", "play.yml", "-i", "inv.ini", "-e", "nonsense"], 64),
    ],
)
def test_json_is_one_document_on_every_failure(cli: Cli, args: list[str], code: int) -> None:
    done = cli(*args, "--format", "json")

    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert document["run"]["exit_code"] == code
    assert document["run"]["error"]
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "args", [("hosts", "-i", "odd.yml"), ("hosts", "-i", "odd.yml", "--explain", "a"), ("checks", "odd-play.yml")]
)
def test_listings_send_no_escapes_to_a_terminal(cli: Cli, args: tuple[str, ...]) -> None:
    (cli.folder / "odd.yml").write_text(
        'all: {hosts: {a: {x: "\\e[2J\u202e"}}, children: {"g\\e[2J": {hosts: {a: }}}}\n'
    )
    (cli.folder / "odd-play.yml").write_text('- hosts: all\n  checks: [{id: a, name: "b\\e[2J\u202e", run: "true"}]\n')

    done = cli(*args)

    assert done.returncode in (0, 64), done.stderr
    assert all(char.isprintable() or char == "\n" for char in done.stdout + done.stderr)


def test_an_unknown_format_is_said_with_the_known_ones(cli: Cli) -> None:
    done = cli("run", "play.yml", "--format", "jsn")

    assert done.returncode == 64
    assert "json" in done.stderr


def test_an_empty_selection_may_be_allowed(cli: Cli) -> None:
    done = cli("run", "play.yml", "-i", "inv.ini", "-l", "nobody", "--allow-empty", "--format", "json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["hosts"] == 0


def test_localhost_without_an_inventory(cli: Cli) -> None:
    (cli.folder / "local.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'test -n \"$HOME\"'}]\n")

    done = cli("run", "local.yml", "-q")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


def test_progress_goes_to_stderr_in_lines(cli: Cli) -> None:
    (cli.folder / "local.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'true'}, {id: b, run: 'true'}]\n")

    done = cli("run", "local.yml", "-v")

    assert "localhost: a: ok" in done.stderr
    assert re.search(r"localhost: 2 ok \(python 3\S+, bash \S+, uid \d+; connected in \d+\.\d s\)", done.stderr)
    assert "localhost: a: ok" not in done.stdout


def test_a_closed_pipe_is_no_error(cli: Cli) -> None:
    command = f"{sys.executable} -m checkrunner schema report | head -n 1"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, timeout=50, check=False)

    assert done.stdout == "{\n"
    assert done.stderr == ""


FAILING = "- hosts: all\n  checks: [{id: a, run: 'false'}]\n"


@pytest.mark.parametrize(
    ("where", "code", "needle"),
    [
        ("| true", 2, ""),
        (">/dev/full", 64, "error: the report could not be written to stdout: No space left on device"),
        ("-o /dev/full", 64, "error: the report could not be written to /dev/full: No space left on device"),
    ],
)
def test_a_run_whose_report_finds_no_reader_is_no_success(cli: Cli, where: str, code: int, needle: str) -> None:
    (cli.folder / "local.yml").write_text(FAILING)
    command = f"{sys.executable} -m checkrunner run local.yml -q --format json {where}; exit ${{PIPESTATUS[0]}}"
    env = {"PATH": os.environ["PATH"], "HOME": str(cli.folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=cli.folder, env=env, capture_output=True, text=True, timeout=50, check=False
    )

    assert done.returncode == code, done.stderr
    assert done.stderr.strip() == needle
    if where.startswith("-o"):
        assert json.loads(done.stdout)["run"]["exit_code"] == 2


def test_without_a_verb_there_is_help_and_no_error(cli: Cli) -> None:
    done = cli()

    assert done.returncode == 0
    assert "Usage: checkrunner" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (("run", "play.yml", "--list-hosts"), "there is no option --list-hosts", "checkrunner hosts"),
        (("run", "play.yml", "--syntax-check"), "there is no option --syntax-check", "checkrunner lint"),
        (("run", "play.yml", "--list-tags"), "there is no option --list-tags", "checkrunner checks"),
        (("run", "play.yml", "--become-pass"), "there is no option --become-pass", "--ask-become-pass"),
        (("run", "play.yml", "--known-host", "x"), "there is no option --known-host", "Did you mean --known-hosts?"),
        (("run",), "missing argument 'PLAYBOOK'", ""),
        (("run", "play.yml", "-o", "-"), "it names a file, not stdout; for JSON on stdout: --format json", ""),
        (("run", "play.yml", "-o", "-", "--format", "json"), "stdout has the JSON report already", ""),
    ],
)
def test_a_wrong_command_line_is_said_as_every_error_is(
    cli: Cli, args: tuple[str, ...], message: str, hint: str
) -> None:
    done = cli(*args)

    assert done.returncode == 64
    said = done.stderr[done.stderr.index("error: ") :].splitlines()
    assert said[0].startswith("error: ")
    assert said[0].endswith(message)
    assert [line.startswith("  hint: ") for line in said[1:]] == [True] * bool(hint)
    assert hint in said[-1]
    assert not (cli.folder / "-").exists()


@pytest.mark.parametrize(
    ("option", "value", "needle"),
    [
        ("ssh_config", "nope", "(from {}): there is no file nope"),
        ("ssh_config", "broken.cfg", "(from {}): broken.cfg line 2: "),
        ("known_hosts", "nope", "(from {}): there is no file nope"),
        ("private_key", "nope", "(from {}): there is no file nope"),
        ("ssh_common_args", "-o StrictHostKeyChecking=maybe", "(from {}): host key checking is 'maybe', not one of "),
    ],
)
def test_wrong_ssh_settings_end_a_run_before_it_connects(cli: Cli, option: str, value: str, needle: str) -> None:
    (cli.folder / "broken.cfg").write_text("Host *\n  Port many\n")
    flag, variable = f"--{option.replace('_', '-')}={value}", f"CHECKRUNNER_{option.upper()}"
    run = cli("run", "play.yml", "-i", "inv.ini", flag)
    lint = cli("lint", "play.yml", "-i", "inv.ini", **{variable: value})

    assert (run.returncode, run.stdout) == (64, "")
    assert needle.format("flag") in run.stderr
    assert lint.returncode == 64
    assert needle.format(variable) in lint.stdout


def test_wrong_ssh_settings_of_a_host_name_the_host(cli: Cli) -> None:
    (cli.folder / "inv.ini").write_text(INVENTORY + "[more]\ndb1 ansible_ssh_common_args='-o Port=many'\n")

    for verb in ("run", "lint"):
        done = cli(verb, "play.yml", "-i", "inv.ini")
        assert done.returncode == 64
        said = done.stderr if verb == "run" else done.stdout
        assert "db1: its SSH settings cannot be used: Invalid Port integer value: many" in said


MANY_FAULTS = """\
- hosts: nobody
  checks:
    - id: a
      run: |
        if true; then
          echo {{ colour }}
    - id: b
      run: "echo \\"x\\" {{ a | defalt(3) }}"
    - id: c
      run: id
      blok: []
"""


@pytest.mark.parametrize(
    ("arguments", "level", "hint"),
    [
        ((), "warning", "No inventory was given: name one with -i"),
        (("-i", "inv.ini"), "error", "Known: "),
    ],
)
def test_lint_tells_everything_whatever_the_pattern_selects(
    cli: Cli, arguments: tuple[str, ...], level: str, hint: str
) -> None:
    (cli.folder / "many.yml").write_text(MANY_FAULTS)

    done = cli("lint", "many.yml", *arguments)

    assert done.returncode == 64
    told = [line for line in done.stdout.splitlines() if line.startswith("many.yml:") and ": info: " not in line]
    assert [line.split(": ")[:2] for line in told] == [
        ["many.yml:1:10", level],
        ["many.yml:6:11", "warning"],
        ["many.yml:6:19", "warning"],
        ["many.yml:8:31", "error"],
        ["many.yml:11:7", "error"],
    ]
    assert hint in done.stdout
    assert "'colour' is defined by no inventory given" in done.stdout
    assert "bash: syntax error: unexpected end of file" in done.stdout
    assert '  8 |       run: "echo \\"x\\" {{ a | defalt(3) }}"' in done.stdout


def test_lint_looks_at_the_playbook_though_the_inventory_is_wrong(cli: Cli) -> None:
    (cli.folder / "wrong.ini").write_text("[web\na\n")
    (cli.folder / "bad.yml").write_text("- hosts: web\n  checks:\n    - run: echo {{ 1 + }}\n")

    done = cli("lint", "bad.yml", "-i", "wrong.ini")

    assert done.returncode == 64
    assert "wrong.ini:1:" in done.stdout
    assert "bad.yml:3:" in done.stdout


def test_variables_of_the_command_line_with_typing_errors(cli: Cli) -> None:
    for verb in ("run", "lint"):
        wrong = cli(verb, "linux-health", "-e", "disk_free_warn=abc")
        assert wrong.returncode == 64
        assert "disk_free_warn is 'abc', not a number" in wrong.stdout + wrong.stderr

    done = cli("lint", "linux-health", "-e", "disk_free_wran=50")
    assert done.returncode == 1
    assert "-e disk_free_wran: no text of the playbook reads it" in done.stdout
    assert "Did you mean 'disk_free_warn'?" in done.stdout


def test_hosts_takes_one_pattern(cli: Cli) -> None:
    done = cli("hosts", "web1", "db1", "-i", "inv.ini")

    assert done.returncode == 64
    assert "web1,db1" in done.stderr


def test_checks_show_what_they_are_for_and_the_tags_of_the_play(cli: Cli) -> None:
    (cli.folder / "t.yml").write_text("- hosts: all\n  tags: [daily]\n  checks: [{id: a, run: id, why: Who am I}]\n")

    assert cli("checks", "t.yml").stdout == (
        "all  (hosts: all, 1 of 1 checks)  [daily]\n  a  critical\n               Who am I\n"
    )


def test_lint_does_not_call_unknown_what_a_faulty_check_would_have_given(cli: Cli) -> None:
    (cli.folder / "bad.yml").write_text(
        "- hosts: all\n  checks:\n    - {id: a, run: id, register: left, blok: 1}\n"
        "    - {id: b, run: id, when: left.ok}\n"
    )

    done = cli("lint", "bad.yml", "-e", "unread=1")

    told = [line.split(" ")[:2] for line in done.stdout.splitlines() if line.startswith("bad.yml")]
    assert told == [["bad.yml:3:40:", "error:"], ["bad.yml:4:7:", "info:"]]
    assert "unread" not in done.stdout
