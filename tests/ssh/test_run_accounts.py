"""Accounts of all kinds, through the real command line: login shells, start-up files, what a host may lack."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import CommandLine, Outcome
from slowness import allowed
from sshd import SshdFixture, wait_until

MakeSshd = Callable[..., SshdFixture]

PLAY = "- hosts: all\n  checks: [{id: a, run: 'echo $BASH', expect: {stdout: {matches: bash$}}}]\n"


def look(sshd: SshdFixture, folder: Path, settings: str = "") -> Outcome:
    (folder / "checkrunner.toml").write_text(settings)
    return CommandLine(folder=folder, sshd=sshd).run(PLAY)


def trouble(outcome: Outcome) -> str:
    """Why the one host could not be looked at; it was reached, and has no usable shell."""
    assert outcome.code == 3, outcome.stdout + outcome.stderr
    assert outcome.report["totals"]["host"] == {"no_shell": 1}
    return json.dumps(outcome.report["incomplete"])


@pytest.mark.parametrize("shell", ["/bin/dash", "tcsh", "fish", "busybox sh", "zsh"])
def test_checks_run_in_bash_whatever_the_login_shell(make_sshd: MakeSshd, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell.split()[0]) is None:
        pytest.skip(f"{shell} is not here")
    outcome = look(make_sshd(shell=shell), tmp_path)
    assert outcome.code == 0, outcome.stdout + outcome.stderr
    assert outcome.warnings == []


NO_SHELLS = {
    "/usr/sbin/nologin": "currently not available",
    "/bin/false": "the login shell ended before the agent started",
    "rbash": "rbash.*restricted",
    "/bin/cat": "ended before the agent started",
}


@pytest.mark.parametrize("shell", NO_SHELLS)
def test_an_account_that_may_run_nothing_is_told(make_sshd: MakeSshd, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    outcome = look(make_sshd(shell=shell), tmp_path)
    assert re.search(NO_SHELLS[shell], trouble(outcome))
    assert outcome.report["run"]["elapsed_s"] < allowed(10)


@pytest.fixture
def without_bash(tmp_path: Path) -> str:
    """A login shell on a host that has no bash: a name space that hides it, with busybox's shell."""
    bash = Path(shutil.which("bash") or "/bin/bash").resolve()
    if os.getuid() or shutil.which("busybox") is None or bash.is_relative_to("/usr/local"):
        pytest.skip("needs root and busybox")
    script = tmp_path / "shell"
    script.write_text(
        f'#!/bin/sh\nexec unshare -m /bin/sh -c \'mount --bind /dev/null {bash}; exec busybox sh "$@"\' sh "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


WITHOUT_BASH = r"""
- hosts: all
  checks:
    - {id: state, run: "cd /etc; x=kept; f() { echo f; }"}
    - {id: kept, run: 'echo "$x $PWD $(f)"', expect: {stdout: {contains: kept /etc f}}}
    - {id: bashism, run: '[[ -e /etc ]] && a=(1 2)', slice: {tail: 3, when: always}}
    - {id: hangs, run: 'x=later; sleep 30', timeout: 1}
    - {id: after, run: 'test "$x" = later'}
"""


def test_checks_run_in_sh_where_there_is_no_bash(make_sshd: MakeSshd, tmp_path: Path, without_bash: str) -> None:
    sshd = make_sshd(shell=without_bash)
    outcome = CommandLine(folder=tmp_path, sshd=sshd).run(WITHOUT_BASH, "-v")
    assert outcome.code == 2, outcome.stdout + outcome.stderr
    report = outcome.report
    assert {finding["check"]: finding["verdict"] for finding in report["findings"]} == {
        "bashism": "crit",
        "hangs": "unknown",
    }
    said = [warning for warning in report["warnings"] if "sessions_sh" in str(warning)]
    assert len(said) == 1, report["warnings"]
    assert "sessions run in dash" in str(said)
    assert re.search(r"python 3\.\d+\.\d+, dash, uid", outcome.stderr)
    sshd.assert_clean()


START_UPS = {
    "cat >/dev/null": "reads all input to its end.*-t 0",
    "while read -r line; do echo got $line; done": "reads all input to its end.*it printed: got.*-t 0",
    "exec </dev/null": "ended before its hello.*redirect standard input",
    "ulimit -n 6": "ulimit -n. is 6",
    "ulimit -d 4000": "ended before its hello.*MemoryError.*ulimit -a",
    "echo maintenance; exit 1": "ended before the agent started.*maintenance",
    "tmux() { echo no terminal >&2; exit 1; }; tmux attach": "ended before the agent started.*no terminal",
}


@pytest.mark.parametrize("file", START_UPS)
def test_a_start_up_file_that_lets_nobody_in_is_told_soon(make_sshd: MakeSshd, tmp_path: Path, file: str) -> None:
    sshd = make_sshd(shell="/bin/bash")
    (sshd.remote_home / ".bashrc").write_text(file + "\n")
    outcome = look(sshd, tmp_path)
    assert re.search(START_UPS[file], trouble(outcome)), outcome.stdout
    assert outcome.report["run"]["elapsed_s"] < allowed(15)
    sshd.assert_clean()


START_UPS_THAT_DO_NO_HARM = [
    "exec 3>&1 4>/dev/null 2>&4; export BASH_ENV=/nonexistent PROMPT_COMMAND='echo prompt'; readonly PS1=x",
    "set -eu; set -o pipefail; alias exec='echo no'; IFS=x; PATH=$PATH",
    "export PYTHONHOME=/nonexistent PYTHONPATH=/nonexistent PYTHONSTARTUP=/nonexistent PYTHONIOENCODING=ascii",
    "python3() { echo mine; }; bash() { echo mine; }; export -f python3 bash; export BASH_FUNC_eval%%='() { :; }'",
    "ulimit -v 90000; ulimit -u 500; ulimit -f 0; umask 777",
    "trap 'echo left' EXIT; trap '' TERM HUP; cd /; export CDPATH=/usr TMOUT=1 LC_ALL=xx_YY",
]


@pytest.mark.parametrize("file", START_UPS_THAT_DO_NO_HARM)
def test_a_start_up_file_that_sets_odd_things_does_no_harm(make_sshd: MakeSshd, tmp_path: Path, file: str) -> None:
    sshd = make_sshd(shell="/bin/bash")
    (sshd.remote_home / ".bashrc").write_text(file + "\n")
    outcome = look(sshd, tmp_path)
    assert outcome.code == 0, outcome.stdout + outcome.stderr
    sshd.assert_clean()


def test_what_hangs_and_cannot_be_ended_is_told(make_sshd: MakeSshd, tmp_path: Path) -> None:
    """A server passes on no signal to what root or a forced command has started."""
    sshd = make_sshd(shell="/bin/bash")
    (sshd.remote_home / ".bashrc").write_text("echo wait for it; sleep 1234\n")
    said = trouble(look(sshd, tmp_path, 'start_timeout = "2s"\n'))
    assert "did not say hello within 2 s" in said
    assert "the login shell goes on there" in said
    assert "pkill -f checkrunner-starting" in said
    left = sshd.processes()
    assert any("sleep 1234" in text for text in left.values())
    # What is advised there, for this sshd alone.
    for pid, text in left.items():
        if "checkrunner-starting" in text or "sleep" in text:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not sshd.processes(), what="the end of what hung")
