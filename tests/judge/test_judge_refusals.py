"""What is said of single commands that sudo or doas did not run, and what of those that ran and failed."""

from __future__ import annotations

import re

import pytest

from checkrunner.judge.refusals import REFUSALS, refused
from checkrunner.model.plan import Account, Command
from checkrunner.model.results import Execution, ProbeResult, Result

_RESOLVE = "sudo: unable to resolve host web07: Name or service not known"


def said(stderr: str, rc: int = 1, method: str = "sudo", *, exact: bool = True) -> str:
    """The reason; "" where the command ran."""
    account = Account(user="app", method=method) if exact else None
    command = Command(shell="x", exact=account)
    answers = {
        probe.name: ProbeResult(
            name=probe.name, count=sum(bool(re.search(probe.text, line)) for line in stderr.splitlines())
        )
        for probe in REFUSALS
    }
    verdict = refused(command, Result(seq=1, session="main", execution=Execution.DONE, rc=rc, probes=answers))
    if verdict is None:
        return ""
    assert verdict.state == "unknown"
    return verdict.reasons[0].message


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("sudo: a password is required", "become_not_allowed"),
        ("sudo: a terminal is required to read the password", "become_not_allowed"),
        ("sudo: interactive authentication is required", "become_not_allowed"),
        ("sudo: I'm sorry alice. I'm afraid I can't do that", "become_not_allowed"),
        ("Sorry, user alice is not allowed to execute '/bin/ls' as app on web07.", "become_not_allowed"),
        ("alice is not in the sudoers file.  This incident will be reported.", "become_not_allowed"),
        ("alice ist nicht in der sudoers-Datei. Dieser Vorfall wird gemeldet.", "become_not_allowed"),
        ("aliceはsudoersファイル内にありません。", "become_not_allowed"),
        ("sudo: unknown user app\nsudo: error initializing audit plugin sudoers_audit", "become_unknown_user"),
        ("sudo: unknown user: app", "become_unknown_user"),
        ("sudo: user 'app' not found", "become_unknown_user"),
        ("sudo: sorry, you must have a tty to run sudo", "become_needs_tty"),
        ("sudo: dmidecode: command not found", "could not look"),
        ("sudo: '/usr/sbin/dmidecode': command not found", "could not look"),
        ("sudo: unable to execute /opt/tool: Permission denied", "could not look"),
        ("sudo: unable to allocate pty: No such device", "become_failed"),
        ("sudo: no valid sudoers sources found, quitting", "become_not_allowed"),
        (f"{_RESOLVE}\nsudo: a password is required", "become_not_allowed"),
    ],
)
def test_what_sudo_refuses_is_named(line: str, kind: str) -> None:
    assert said(line).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("doas: Operation not permitted", "become_not_allowed"),
        ("doas: Authorization required", "become_not_allowed"),
        ("doas: Authentication required", "become_not_allowed"),
        ("doas: unknown user", "become_unknown_user"),
        ("doas: dmidecode: command not found", "could not look"),
        ("doas: doas is not enabled, /etc/doas.conf: No such file or directory", "become_failed"),
    ],
)
def test_what_doas_refuses_is_named(line: str, kind: str) -> None:
    assert said(line, method="doas").startswith(f"{kind}: ")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "/etc/sudoers:12:5: syntax error",
        "visudo: /etc/sudoers is owned by uid 1000, should be 0",
        "parse error in /etc/sudoers near line 3",
        "unable to open sudoers: no such file",
        _RESOLVE,
        "sudo: setrlimit(RLIMIT_CORE): Operation not permitted",
        "sudo: unable to open log file: /var/log/sudo.log: No space left on device",
        "sudo: unable to mkdir /run/sudo/ts: Read-only file system",
        "sudo: unable to write to /run/sudo/ts/alice: No space left on device",
        "sudo: ldap_sasl_bind_s(): Can't contact LDAP server",
        "sudo: problem with defaults entries",
        f"{_RESOLVE}\nsudo: problem with defaults entries\ngrep: x: No such file or directory",
    ],
)
def test_a_command_that_ran_and_failed_is_judged_whatever_sudo_warned_of(line: str) -> None:
    assert said(line) == ""


@pytest.mark.parametrize("rc", [126, 127])
@pytest.mark.parametrize(
    "line",
    [
        "bash: line 1: sudo: command not found",
        "bash: line 1: /usr/bin/sudo: Permission denied",
        "sh: 1: sudo: not found",
        "sh: sudo: not found",
        "bash: Zeile 1: sudo: Kommando nicht gefunden.",
    ],
)
def test_a_host_without_it_is_told(line: str, rc: int) -> None:
    assert said(line, rc).startswith("become_not_installed: sudo is not on this host")


def test_a_command_that_does_not_find_its_own_programs_is_judged() -> None:
    assert said("sh: 1: dmidecode: not found", 127) == ""


def test_other_return_codes_and_other_checks_are_judged() -> None:
    assert said("sudo: a password is required", 2) == ""
    assert said("sudo: a password is required", exact=False) == ""
