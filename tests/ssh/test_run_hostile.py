"""Checks that broke other tools' sessions, in one session each, through the real command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import CommandLine, Outcome
from slowness import allowed
from sshd import SshdFixture

MakeSshd = Callable[..., SshdFixture]


def verdicts(outcome: Outcome) -> dict[str, str]:
    """Verdict by check, `ok` for those without a finding."""
    return {finding["check"]: finding["verdict"] for finding in outcome.report["findings"]}


def test_no_check_spoils_the_next_one(cli: CommandLine) -> None:
    outcome = cli.run(r"""
        - hosts: all
          checks:
            - {id: errexit, run: 'set -euo pipefail; false', expect: {rc: 1}}
            - {id: options-off, run: 'set +e +u +o pipefail; echo alive', expect: {stdout: {equals: alive}}}
            - {id: nounset, run: 'set -u'}
            - {id: quiet, run: 'echo fine', expect: {stderr: {empty: true}}}
            - {id: no-nounset, run: 'set +u'}
            - {id: functions, run: 'cat() { :; }; printf() { :; }; alias date=false; PATH=/x'}
            - {id: still-there, run: 'echo here', expect: {stdout: {equals: here}}}
            - {id: path-back, run: 'PATH=/usr/bin:/bin; unset -f cat printf'}
            - {id: redirected, run: 'exec >/dev/null 2>&1; exec 3>&-; echo nowhere', expect: {stdout: {empty: true}}}
            - {id: back, run: 'echo seen', expect: {stdout: {equals: seen}}}
            - {id: noise, run: 'export PROMPT_COMMAND="echo noise"; readonly PS1=x; readonly IFS=x; trap "echo t" DEBUG; trap - DEBUG'}
            - {id: no-noise, run: 'echo clean', expect: {stdout: {equals: clean}}}
            - {id: replaced, run: 'exec bash'}
            - {id: after-exec, run: 'echo again', expect: {stdout: {equals: again}}}
            - {id: break, run: 'break; continue; return', expect: {rc: '0..2'}}
            - {id: quote, run: 'echo "abc', expect: {rc: '> 0'}}
            - {id: heredoc, run: "cat <<X\nno end"}
            - {id: paren, run: '(', expect: {rc: '> 0'}}
            - {id: last, run: 'echo last', expect: {stdout: {equals: last}}}
        """)

    assert verdicts(outcome) == {}, json.dumps(outcome.report, indent=1)
    assert outcome.code == 0
    assert outcome.report["run"]["elapsed_s"] < allowed(20)


def test_children_that_stay_delay_nothing_and_are_named(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks:
            - {id: background, run: 'sleep 3000 & echo started', slice: {head: 1, when: always}, expect: "elapsed_s < 300"}
            - {id: after, run: 'true'}
        """)

    assert outcome.code == 0
    assert outcome.report["run"]["elapsed_s"] < allowed(20)
    (warning,) = outcome.warnings
    assert "left_running: the check background left processes running" in warning
    cli.sshd.assert_clean()


def test_outputs_keep_their_bytes_and_their_counts(cli: CommandLine) -> None:
    outcome = cli.run(r"""
        - hosts: all
          checks:
            - {id: nul, run: "printf 'a\\0b'", expect: 'stdout_lines == 1 and stdout_bytes == 3'}
            - {id: open, run: "printf abc", expect: 'stdout_lines == 1 and stdout_bytes == 3'}
            - {id: blank, run: "printf 'a\\n\\n\\n'", expect: 'stdout_lines == 3 and stdout_bytes == 4'}
            - id: latin
              run: "printf 'caf\\351\\377\\n'; exit 1"
              severity: warning
            - id: wide
              run: head -c 5M /dev/zero | tr '\0' x; exit 1
              severity: warning
        """)

    assert verdicts(outcome) == {"latin": "warn", "wide": "warn"}, json.dumps(outcome.report, indent=1)
    (latin,) = outcome.finding("latin")["slices"]
    assert latin["lines"] == [[1, "caf\ufffd\ufffd"]]
    (wide,) = outcome.finding("wide")["slices"]
    assert wide["lines"][0][2] > 5_000_000
    assert len(outcome.stdout) < 8000


def test_a_firehose_is_stopped_at_its_cap(cli: CommandLine) -> None:
    (cli.folder / "checkrunner.toml").write_text('capture_bytes = "1M"\n')

    outcome = cli.run(
        """
        - hosts: all
          checks:
            - {id: yes, run: 'yes', timeout: 30}
            - {id: after, run: 'true'}
        """.replace("yes,", "firehose,")
    )

    finding = outcome.finding("firehose")
    assert finding["verdict"] == "unknown"
    assert finding["execution"] == "killed"
    assert outcome.report["totals"]["capture"]["truncated"] == 1
    assert outcome.report["totals"]["verdict"] == {"ok": 1, "unknown": 1}
    assert outcome.report["run"]["elapsed_s"] < allowed(20)


def test_a_long_command_arrives_whole(cli: CommandLine) -> None:
    text = "'" + "0123456789abcdef" * 12_500 + "'"
    (cli.folder / "long.json").write_text(
        json.dumps([{"hosts": "all", "checks": [{"id": "long", "run": f"x={text}; echo ${{#x}}", "raw": True,
                                                 "expect": {"stdout": {"equals": "200000"}}}]}])
    )  # fmt: skip

    outcome = cli.call_here(cli.run_args(cli.folder / "long.json", "--format", "json"))

    assert verdicts(outcome) == {}


def test_start_up_files_that_talk_and_read_are_survived_and_noted(make_sshd: object, tmp_path: Path) -> None:
    sshd: SshdFixture = make_sshd(shell="/bin/bash")  # type: ignore[operator]  # the fixture is a callable
    (sshd.remote_home / ".bashrc").write_text(
        "echo welcome to this host\nread -t 5 line\nexport BASH_ENV=/nonexistent\n"
    )
    cli = CommandLine(folder=tmp_path, sshd=sshd)

    outcome = cli.run("- hosts: all\n  checks: [{id: a, run: echo fine, expect: {stdout: {equals: fine}}}]\n")

    assert outcome.code == 0, outcome.stdout + outcome.stderr
    assert "welcome to this host" in json.dumps(outcome.report["warnings"])


def test_become_is_never_dropped(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          become: true
          checks:
            - {id: other, run: 'true', become_user: nobody-here}
        """)

    assert outcome.finding("other")["verdict"] == "unknown"
    assert "nobody-here" in outcome.finding("other")["reasons"][0]["message"]


def test_what_nobody_knows_is_never_a_success(cli: CommandLine) -> None:
    outcome = cli.run(r"""
        - hosts: all
          checks:
            - {id: before, run: 'kept=1; cd /usr'}
            - {id: frozen, run: 'for name in $(compgen -v); do readonly $name 2>/dev/null; done; false'}
            - {id: removed, run: 'rm -rf "$XDG_RUNTIME_DIR"/checkrunner-*; false'}
            - {id: after, run: 'echo $kept $PWD', expect: {stdout: {equals: 1 /usr}}}
            - {id: output, run: 'seq 20000', expect: {stdout: {contains: '19999'}}}
            - {id: other, run: 'echo here', session: other, expect: {stdout: {equals: here}}}
        """)

    found = verdicts(outcome)
    assert (found.pop("frozen"), found.pop("removed")) == ("unknown", "unknown")
    assert found in ({}, {"other": "unknown"})  # that session may have been at work when its files were removed
    assert outcome.report["totals"]["host"] == {"reached": 1}


def test_messages_about_files_can_be_read(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks: [{id: a, run: 'echo "cat: /etc/passwd: Permission denied"; exit 1'}]
        """)

    assert "Permission denied" in json.dumps(outcome.finding("a")["slices"])


def test_a_pattern_that_can_never_be_found_is_refused(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks:
            - id: a
              run: echo ERROR
              expect:
                stdout:
                  not_matches: |
                    ERROR
        """)

    assert outcome.code == 64
    assert "newline" in outcome.report["run"]["error"]


def test_a_check_that_kills_the_agent_is_lost_alone(cli: CommandLine) -> None:
    outcome = cli.run("""
        - hosts: all
          checks:
            - {id: before, run: 'true'}
            - {id: killer, run: 'sleep 300 & kill -9 $PPID; sleep 300'}
            - {id: after, run: 'true'}
        """)

    assert outcome.code == 3
    assert outcome.report["totals"]["host"] == {"reached": 1}
    assert outcome.report["totals"]["verdict"] == {"ok": 2, "unknown": 1}
    assert outcome.finding("killer")["execution"] == "lost"
    assert outcome.report["run"]["elapsed_s"] < allowed(20)
    again = cli.run("- hosts: all\n  checks: [{id: again, run: 'echo on', expect: {stdout: {equals: 'on'}}}]\n")
    assert again.code == 0, again.stdout
    cli.sshd.assert_clean()


@pytest.fixture
def cramped(make_sshd: MakeSshd, tmp_path: Path, request: pytest.FixtureRequest) -> CommandLine:
    """A host on which all places for captures are file systems made as the test says."""
    if os.getuid():
        pytest.skip("needs root")
    sshd: SshdFixture
    shell = tmp_path / "shell"
    sshd = make_sshd(shell=str(shell))
    places = [sshd.run_dir, sshd.remote_home, "/dev/shm", "/var/tmp", "/tmp"]
    mounts = "; ".join(f"mount -t tmpfs -o {request.param} tmpfs {place}" for place in places)
    shell.write_text(f'#!/bin/sh\nexec unshare -m /bin/sh -c \'{mounts}; exec /bin/bash "$@"\' sh "$@"\n')
    shell.chmod(0o755)
    return CommandLine(folder=tmp_path, sshd=sshd)


# In memory are kept 256 KiB of an output; the command that writes more is ended.
CRAMPED = """
    - hosts: all
      checks:
        - {id: large, run: 'seq 1000000; exit 3', expect: {rc: 3}}
        - {id: small, run: 'echo fine', session: b, expect: {stdout: {equals: fine}}}
        - {id: failing, run: 'seq 1000000; false'}
        - {id: quiet, run: 'false'}
        - {id: heredoc, run: "cat <<X\nhere\nX", expect: {stdout: {equals: here}}}
    """


@pytest.mark.parametrize("cramped", ["size=1m,noexec", "size=16k", "ro", "size=1m,nr_inodes=3"], indirect=True)
def test_a_host_without_room_says_what_it_can(cramped: CommandLine) -> None:
    """A full or read-only disk costs outputs, never return codes."""
    outcome = cramped.run(CRAMPED)

    assert outcome.report["totals"]["host"] == {"reached": 1}, outcome.stdout + outcome.stderr
    found = verdicts(outcome)
    in_memory = "kept in memory, up to 256 KiB each" in json.dumps(outcome.report["warnings"])
    if in_memory:
        assert "reached the cap of 262,144 bytes" in outcome.finding("failing")["reasons"][0]["message"]
        assert (found["failing"], found["large"]) == ("unknown", "unknown")
    else:
        assert found["failing"] == "crit"
        assert outcome.finding("failing")["result"]["rc"] == 1
        assert outcome.report["totals"]["capture"]["failed"] == 2
    assert found["quiet"] == "crit"
    assert found.keys() <= {"failing", "quiet", "large", "heredoc"}
    # Where nothing can be written, bash itself has nowhere to put a here document.
    assert found.get("heredoc", "crit") == "crit"
