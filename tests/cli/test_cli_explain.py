"""`init`, `explain`, `run --check` and the formats of `lint`, through the command line. Nothing connects."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from test_cli_verbs import Cli
from untagged import untagged

from checkrunner.model.problems import Level
from checkrunner.render.schema_lint import lint_schema, preview_schema

PLAYBOOK = """\
- name: Web
  hosts: web
  serial: 1
  vars: {db_password: hunter2hunter, port: 80}
  checks:
    - id: disk
      name: Disk space
      run: df -P {{ path | default('/') }}
      register: disk
      env: {LC_ALL: C, API_TOKEN: "{{ db_password }}"}
      parse: table
      extract: {used_pct: {column: Capacity, unit: '%'}}
      levels: {used_pct: {warn: '80%', crit: '{{ full | default("90%") }}'}}
      on_fail:
        - {id: disk-log, run: "dmesg | tail -n {{ disk.rc }} # {{ port }}"}
    - id: files
      run: stat {{ item }}
      loop: [/a, /b, "/{{ port }}"]
      when: [item != '/b', "inventory_hostname != 'w2'"]
    - id: later
      argv: [echo, "{{ port }} {{ disk.stdout_lines }}"]
      when: disk.ok
      needs: [disk]
      warn_if: elapsed_s > 1
    - id: rare
      run: uptime
      tags: [never, slow]
- hosts: db
  gather_facts: false
  become: true
  tasks:
    - shell: uptime
      args: {chdir: /srv}
      register: up
    - assert: {that: [up.rc == 0], fail_msg: bad}
    - shell: secret-tool
      no_log: true
    - debug: msg="{{ up.stdout }}"
"""


@pytest.fixture
def port() -> Iterator[int]:
    """Where somebody would notice a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):  # nobody has come
            server.accept()


@pytest.fixture
def cli(tmp_path: Path, port: int) -> Cli:
    cli = Cli(tmp_path)
    (tmp_path / "p.yml").write_text(PLAYBOOK)
    (tmp_path / "inv.yml").write_text(
        f"all:\n  vars: {{ansible_host: 127.0.0.1, ansible_port: {port}}}\n"
        "  children:\n    web: {hosts: {'w[1:3]': {}, w3: {path: /srv}}}\n    db: {hosts: {d1: {}}}\n"
    )
    return cli


def test_a_dry_run_shows_what_would_run_where(cli: Cli) -> None:
    done = cli("run", "p.yml", "-i", "inv.yml", "--check")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Web  (p.yml:1:3)  3 hosts: w[1-3]\n"
        "  serial 1\n"
        "  disk  on w[1-2]\n"
        "      df -P /\n"
        "  disk  on w3\n"
        "      df -P /srv\n"
        "    disk-log  perhaps on w[1-3]: only where disk is not ok\n"
        "      dmesg | tail -n {{ disk.rc }} # 80\n"
        "  files  on w[1,3]\n"
        "      [/a]  stat /a\n"
        "      [/b]  not run: when: item != '/b'\n"
        "      [/80]  stat /80\n"
        "  files  not on w2: when: inventory_hostname != 'w2'\n"
        "  later  perhaps on w[1-3]: when: disk.ok; needs disk to be ok or warn\n"
        "      echo 80 {{ disk.stdout_lines }}\n"
        "\n"
        "db  (p.yml:28:3)  1 host: d1\n"
        "  shell  on d1 as root by sudo\n"
        "      uptime\n"
        "  assert  on d1 as root by sudo\n"
        "      assert: that=[up.rc == 0], fail_msg=bad\n"
        "  shell-2  on d1 as root by sudo\n"
        "      (not shown: no_log)\n"
        "  debug  on d1 as root by sudo\n"
        "      debug: {{ up.stdout }}\n"
        "\n"
        "dry run: 4 hosts, 16 checks on hosts: 9 would run, 1 would not, 6 known only during the run; "
        "nothing was connected\n"
    )


def test_a_dry_run_as_json(cli: Cli) -> None:
    done = cli("run", "p.yml", "-i", "inv.yml", "-C", "--format", "json", "-l", "web", "-t", "all,slow")
    found = json.loads(done.stdout)

    assert done.returncode == 0
    jsonschema.validate(found, preview_schema())
    assert (found["host_count"], found["check_count"]) == (3, 15)
    web = found["plays"][0]
    assert [check["key"] for check in web["checks"]] == ["disk", "disk-log", "files", "later", "rare"]
    disk = web["checks"][0]
    assert (disk["followed_by"], disk["source"]) == (["disk-log"], {"path": "p.yml", "line": 6, "column": 7})
    assert [(one["hosts"], one["preview"]["command"]) for one in disk["shared"]] == [
        ("w[1-2]", "df -P /"),
        ("w3", "df -P /srv"),
    ]
    assert disk["shared"][0]["preview"]["env"] == {"LC_ALL": "C", "API_TOKEN": "********"}
    assert "hunter2hunter" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "needle"),
    [
        (("p.yml", "-i", "inv.yml", "-t", "slo"), 64, "Did you mean 'slow'?"),
        (("p.yml", "-i", "inv.yml", "-l", "nobody"), 4, "nobody"),
        (("p.yml", "-i", "inv.yml", "-o", "x.json"), 64, "--output does not go with --check"),
        (("p.yml", "-i", "inv.yml", "--metrics", "-"), 64, "--metrics does not go with --check"),
        (("bad.yml", "-i", "inv.yml"), 64, "'nope' is not defined"),
        (("p.yml", "-i", "inv.yml", "-K", "-k"), 0, ""),  # nobody is asked for a password
    ],
)
def test_what_ends_a_dry_run(cli: Cli, arguments: tuple[str, ...], code: int, needle: str) -> None:
    (cli.folder / "bad.yml").write_text("- hosts: all\n  checks: [{run: 'echo {{ nope }}'}]\n")
    done = cli("run", *arguments, "--check")

    assert done.returncode == code
    assert needle in done.stderr
    assert not (cli.folder / "x.json").exists()


def test_programs_of_secrets_are_not_run(cli: Cli) -> None:
    (cli.folder / "s.yml").write_text(
        "- hosts: web\n  vars: {t: !cmd touch ran}\n  checks: [{id: c, run: id, env: {T: '{{ t }}'}}]\n"
    )
    dry = cli("run", "s.yml", "--check", "-i", "inv.yml")
    explained = cli("explain", "s.yml", "c", "-i", "inv.yml")
    assert (dry.returncode, dry.stderr, explained.returncode, explained.stderr) == (0, "", 0, "")
    assert "T=********" in explained.stdout
    assert not (cli.folder / "ran").exists()


def test_what_looks_like_a_secret_is_masked_wherever_it_stands(cli: Cli) -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    (cli.folder / "t.yml").write_text(
        f"""
- hosts: web
  checks:
    - id: a
      name: With {token}
      run: "echo {{{{ item }}}} {token}"
      loop: [x, {token}]
      when: item != '{token}'
      until: rc == 0 and cwd != '{token}'
      extract: {{v: {{regex: {token}}}}}
"""
    )
    for words in (
        ("run", "t.yml", "--check"),
        ("run", "t.yml", "--check", "--format", "json"),
        ("explain", "t.yml", "a"),
    ):
        done = cli(*words, "-i", "inv.yml")

        assert done.returncode == 0
        assert "<secret>" in untagged(done.stdout)
        assert token not in done.stdout + done.stderr


def test_explain_tells_all_of_a_check(cli: Cli) -> None:
    done = cli("explain", "p.yml", "disk", "-i", "inv.yml")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "disk  Disk space  (p.yml:6:7)\n"
        "  play:        Web (hosts: web); serial 1\n"
        "  severity:    critical\n"
        "  if not ok:   disk-log\n"
        "  session:     main, timeout 1 min 00 s\n"
        "  value:       used_pct: first of column 'Capacity', number in %\n"
        "  on w[1-2] (2 hosts)\n"
        "    env:        LC_ALL=C\n"
        "    env:        API_TOKEN=********\n"
        "    expects:    rc 0 (the default)\n"
        "    level:      used_pct: warn 80%, crit 90%\n"
        "    command:\n"
        "      df -P /\n"
        "  on w3 (1 host)\n"
        "    env:        LC_ALL=C\n"
        "    env:        API_TOKEN=********\n"
        "    expects:    rc 0 (the default)\n"
        "    level:      used_pct: warn 80%, crit 90%\n"
        "    command:\n"
        "      df -P /srv\n"
    )


def test_explain_with_a_limit_and_what_needs_a_result(cli: Cli) -> None:
    done = cli("explain", "p.yml:later", "-i", "inv.yml", "-l", "w1")

    assert "  waits for:   disk\n" in done.stdout
    assert "  perhaps on w1 (1 host): when: disk.ok; needs disk to be ok or warn\n" in done.stdout
    assert "    warn_if:    elapsed_s > 1\n" in done.stdout
    assert "    command, what a run finds out left as written:\n      echo 80 {{ disk.stdout_lines }}\n" in done.stdout


def test_explain_an_item_a_follow_up_and_what_no_tag_selects(cli: Cli) -> None:
    item = cli("explain", "p.yml", "files[/80]", "-i", "inv.yml")
    assert "    1 item:\n      [/80]  stat /80\n" in item.stdout
    assert "[/a]" not in item.stdout
    assert (
        "perhaps on w[1-3] (3 hosts): only where disk is not ok"
        in cli("explain", "p.yml", "disk-log", "-i", "inv.yml").stdout
    )
    assert "on w[1-3] (3 hosts)" in cli("explain", "p.yml", "rare", "-i", "inv.yml").stdout


def test_explain_a_task(cli: Cli) -> None:
    done = cli("explain", "p.yml", "shell", "-i", "inv.yml", "--format", "json")

    found = json.loads(done.stdout)
    jsonschema.validate(found, preview_schema())
    ((shared,),) = [check["shared"] for play in found["plays"] for check in play["checks"]]
    preview = shared["preview"]
    assert (preview["command"], preview["cwd"], preview["become"]) == ("uptime", "/srv", "root by sudo")


@pytest.mark.parametrize(
    ("words", "needle"),
    [
        (("p.yml", "dsk"), "Did you mean 'disk'?"),
        (("p.yml:fils",), "Did you mean 'files'?"),
        (("p.yml", "files[/8]"), "Did you mean 'files[/80]'?"),
        (("p.yml",), "One of: disk, disk-log, files, later, rare"),
        (("lod",), "Did you mean 'load'?"),
        (("linux-health",), "One of: load, memory"),
        (("q.yml", "disk"), "there is no file 'q.yml'"),
        (("p.yml", "disk", "files"), "explain takes one check"),
        (("p.yml", "disk", "--format", "jsn"), "Did you mean 'json'?"),
    ],
)
def test_explain_knows_near_misses(cli: Cli, words: tuple[str, ...], needle: str) -> None:
    done = cli("explain", *words, "-i", "inv.yml")

    assert done.returncode == 64
    assert needle in done.stderr
    assert done.stdout == ""


def test_explain_a_check_of_a_shipped_playbook(cli: Cli) -> None:
    done = cli("explain", "load")

    assert done.returncode == 0
    assert done.stdout.startswith("load  Load against cores  (")
    assert "  on localhost (1 host)\n" in done.stdout


def test_explain_names_the_second_of_two_checks_of_one_id(cli: Cli) -> None:
    (cli.folder / "two.yml").write_text(
        "- hosts: web\n  checks: [{id: a, run: id}]\n- hosts: db\n  checks: [{id: a, run: uptime}]\n"
    )
    both, second = (cli("explain", "two.yml", name, "-i", "inv.yml").stdout for name in ("a", "a~2"))

    assert both.count("  command:") == 2
    assert second.startswith("a~2  a  (two.yml:4:")
    assert second.count("  command:") == 1


def test_init_writes_what_runs_at_once(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    made = cli("init", "new dir")

    assert (made.returncode, made.stderr) == (0, "")
    names = ["checks.yml", "playbook.schema.json", "inventory.yml", "checkrunner.toml", "README.md"]
    assert made.stdout.splitlines() == [
        *(f"wrote new dir/{name}" for name in names),
        "Next: cd 'new dir' && checkrunner run checks.yml",
    ]
    folder = tmp_path / "new dir"
    assert (folder / "checks.yml").read_text().startswith("# yaml-language-server: $schema=playbook.schema.json\n")
    schema = json.loads((folder / "playbook.schema.json").read_text())
    assert schema == json.loads(cli("schema", "playbook").stdout)

    inside = Cli(folder)
    done = inside("run", "checks.yml", "--format", "json")
    report = json.loads(done.stdout)
    assert report["run"]["complete"] is True
    assert done.returncode in (0, 1, 2)  # the disk of this machine may be full
    assert set(report["totals"]["execution"]) == {"done"}
    assert "unknown" not in report["totals"]["verdict"]
    lint = inside("lint", "checks.yml")
    assert (lint.returncode, lint.stdout) == (0, "")
    assert inside("run", "checks.yml", "--check").returncode == 0


def test_init_keeps_what_is_there(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    (tmp_path / "checks.yml").write_text("mine")
    (tmp_path / "README.md").symlink_to("nowhere")

    kept = cli("init").stdout
    assert "kept ./checks.yml (it was there; --force overwrites it)" in kept.replace("kept checks", "kept ./checks")
    assert (tmp_path / "checks.yml").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()

    assert "overwrote checks.yml" in cli("init", "--force").stdout
    assert (tmp_path / "checks.yml").read_text() != "mine"


def test_init_of_no_name_is_an_error(tmp_path: Path) -> None:
    done = Cli(tmp_path)("init", "")

    assert (done.returncode, done.stdout) == (64, "")
    assert "no directory is called ''" in done.stderr
    assert not (tmp_path / "checks.yml").exists()


def test_init_in_a_file_is_an_error(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    (tmp_path / "file").write_text("")
    done = cli("init", "file/below")

    assert done.returncode == 64
    assert "cannot write file" in done.stderr


FAULTY = """\
- hosts: web
  vars: {api_token: hunter2hunter}
  checks:
    - id: restart
      run: systemctl restart nginx
      when: "'wbe' in group_names"
"""


def test_lint_as_json_and_sarif(cli: Cli) -> None:
    (cli.folder / "f.yml").write_text(FAULTY)
    found = {name: cli("lint", "f.yml", "-i", "inv.yml", "--format", name) for name in ("text", "json", "sarif")}

    assert {done.returncode for done in found.values()} == {1}
    assert all("hunter2hunter" not in done.stdout + done.stderr for done in found.values())
    document = json.loads(found["json"].stdout)
    jsonschema.validate(document, lint_schema())
    rules = [problem["rule"] for problem in document["problems"]]
    assert sorted(rules) == ["changes-host", "secret-in-clear", "undocumented", "unknown-host", "unreachable"]
    assert document["totals"][Level.WARNING] == 4
    (run,) = json.loads(found["sarif"].stdout)["runs"]
    assert [result["ruleId"] for result in run["results"]] == rules
    by_index = run["tool"]["driver"]["rules"]
    assert [by_index[result["ruleIndex"]]["id"] for result in run["results"]] == rules
    assert all(f"({rule})" in found["text"].stdout for rule in rules)


@pytest.mark.parametrize(
    ("arguments", "rule", "message"),
    [
        (("nope.yml",), "playbook", "there is no file 'nope.yml'"),
        (("nope",), "playbook", "no playbook is called 'nope'"),
        (("ok.yml", "-e", "@nope"), "arguments", "cannot be read: No such file or directory"),
    ],
)
def test_lint_tells_programs_too_that_it_could_not_look(
    cli: Cli, arguments: tuple[str, ...], rule: str, message: str
) -> None:
    (cli.folder / "ok.yml").write_text("- hosts: all\n  checks: [{id: a, run: w}]\n")
    done = cli("lint", *arguments, "--format", "json")
    document = json.loads(done.stdout)
    log = json.loads(cli("lint", *arguments, "--format", "sarif").stdout)

    assert (done.returncode, document["exit_code"]) == (64, 64)
    assert [(one["rule"], one["message"]) for one in document["problems"]] == [(rule, message)]
    assert message in done.stderr
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == [rule]


def test_lint_of_nothing_wrong_and_of_what_cannot_be_read(cli: Cli) -> None:
    (cli.folder / "ok.yml").write_text("- hosts: web\n  checks: [{id: a, run: id, why: W, fix: F}]\n")
    (cli.folder / "no.yml").write_text("- hosts: [\n")
    fine = cli("lint", "ok.yml", "-i", "inv.yml", "--format", "sarif")
    wrong = cli("lint", "no.yml", "-i", "inv.yml", "--format", "json")

    assert (fine.returncode, json.loads(fine.stdout)["runs"][0]["results"]) == (0, [])
    assert (wrong.returncode, json.loads(wrong.stdout)["problems"][0]["rule"]) == (64, "playbook")
    assert cli("lint", "ok.yml", "--format", "srif").returncode == 64


def test_lint_of_tasks_names_what_is_supported(cli: Cli) -> None:
    (cli.folder / "t.yml").write_text(
        "- hosts: web\n  tasks:\n    - apt: name=x\n    - shell: rm /etc/x\n"
        "    - shell: rm /etc/y\n      vars: {changes_host: true}\n    - fail: msg=x\n    - shell: uptime\n"
    )
    done = cli("lint", "t.yml", "-i", "inv.yml")

    assert done.returncode == 64
    assert "t.yml:3:7: error: the module 'apt' is not supported: it changes the host (playbook)" in done.stdout
    assert "Supported: assert, command, debug" in done.stdout
    assert done.stdout.count("(changes-host)") == 1
    assert "t.yml:8:7: warning: task 'shell' is never got to: task 'fail' ends the play before" in done.stdout
