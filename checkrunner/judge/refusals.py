"""Verdicts on single commands that sudo or doas did not run: what these say on standard error, and what it means."""

from __future__ import annotations

from collections.abc import Mapping

from checkrunner.model.errors import BecomeFailure
from checkrunner.model.plan import Account, Command
from checkrunner.model.results import Probe, ProbeKind, Reason, Result, Stream, Verdict, VerdictState

__all__ = ["REFUSALS", "refused"]

_SAID, _WARNED, _ABSENT, _NO_COMMAND = "become", "become_warned", "become_absent", "become_no_command"
_SHELL_CODES = (126, 127)
# For any agent: no more than extended regular expressions of POSIX. Of those that name a failure the first that is
# found counts.
_PATTERNS = {
    # In any language; not the path of the file of rules, which a command may have something to say of.
    _SAID: r"^(sudo|doas): |^Sorry, user |(^|[^/A-Za-z0-9_.])sudoers([^:/A-Za-z0-9_.]|[.]?$)|^I'm sorry ",
    # What it says and goes on.
    _WARNED: (
        "^sudo: (unable to resolve host|[gs]etrlimit|ldap_|problem with defaults entries|unable to initialize SSS|"
        "unable to (open|stat|mkdir|chown|write to|read|lock) (log|time|/(run|var/(run|lib|db))/sudo)|"
        "(ignoring )?time ?stamp)"
    ),
    # What a shell says that does not find it.
    _ABSENT: r"(^|[: ])(/[^: ]*/)?(sudo|doas): [^:]*$",
    _NO_COMMAND: r"^(sudo|doas): (.*: command not found$|unable to execute |cannot execute )",
    BecomeFailure.NEEDS_TTY: r"^sudo: .*(must have a tty|tty (is )?required)",
    BecomeFailure.UNKNOWN_USER: r"^(sudo|doas): (unknown user|user .* not found|invalid user)",
    BecomeFailure.NOT_ALLOWED: (
        r"^(sudo|doas): (a |interactive )?(password|terminal|[Aa]uthentication|[Aa]uthorization) (is )?required|"
        r"^doas: Operation not permitted|sudoers|^(Sorry, user|(sudo: )?I'm sorry) |not allowed|"
        r"may not run"
    ),
}

REFUSALS = tuple(
    Probe(name=str(name), kind=ProbeKind.MATCHES, stream=Stream.STDERR, text=text) for name, text in _PATTERNS.items()
)
"""What is asked of the standard error of a single command."""


def refused(command: Command, result: Result) -> Verdict | None:
    """`unknown` where sudo or doas did not run the command that was put after it, or is not on the host."""
    if command.exact is None:
        return None
    count = {name: answer.count or 0 for name, answer in result.probes.items()}
    if result.rc in _SHELL_CODES and count.get(_ABSENT):
        return _unknown(BecomeFailure.NOT_INSTALLED, _words(BecomeFailure.NOT_INSTALLED, command.exact))
    if result.rc != 1 or count.get(_SAID, 0) <= count.get(_WARNED, 0):
        return None
    if count.get(_NO_COMMAND):
        method, user = command.exact.method, command.exact.user
        return _unknown("could not look", f"{method} did not find the command, or cannot start it, as {user}")
    kind = _kind(count)
    return _unknown(kind, _words(kind, command.exact))


def _kind(count: Mapping[str, int]) -> BecomeFailure:
    named = (BecomeFailure.NEEDS_TTY, BecomeFailure.UNKNOWN_USER, BecomeFailure.NOT_ALLOWED)
    return next((kind for kind in named if count.get(kind)), BecomeFailure.FAILED)


def _words(kind: BecomeFailure, account: Account) -> str:
    user, method = account.user, account.method
    rules = {
        "sudo": f"`LOGIN ALL=({user}) NOPASSWD: /PATH/COMMAND` in sudoers",
        "doas": f"`permit nopass LOGIN as {user} cmd /PATH/COMMAND` in doas.conf",
    }
    return {
        BecomeFailure.NOT_INSTALLED: f"{method} is not on this host. Install it, or take another `become_method`",
        BecomeFailure.NEEDS_TTY: f"{method} does nothing without a terminal. Take the requirement away for the account "
        "that logs in, in sudoers: Defaults:LOGIN !requiretty",
        BecomeFailure.UNKNOWN_USER: f"{method} knows no user {user}. See `become_user`",
        BecomeFailure.NOT_ALLOWED: f"{method} did not run it as {user}. The rule that is needed, with this command's "
        f"path: {rules[method]}",
    }.get(kind, f"{method} did not run it as {user}; its standard error says why")


def _unknown(kind: str, words: str) -> Verdict:
    reason = Reason(subject="execution", expected="done", actual="refused", message=f"{kind}: {words}")
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))
