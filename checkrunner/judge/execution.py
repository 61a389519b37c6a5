"""Verdicts on commands that could not be looked at: they did not run, did not end, or were not found."""

from __future__ import annotations

from checkrunner.model.plan import Command
from checkrunner.model.playbook import OnInput
from checkrunner.model.results import (
    LINK_LOST,
    CaptureState,
    Execution,
    Reason,
    Result,
    Verdict,
    VerdictState,
)

__all__ = ["NOT_FOUND", "not_found", "not_looked"]

NOT_FOUND = {126: "a command could not be executed, or was itself denied what it needs", 127: "a command was not found"}
"""Return codes by which a shell says that it could not run something."""

_ENDS_OF_RUN = {
    "interrupted": "the run was interrupted",
    "deadline": "the run's deadline passed",
    "cancelled": "the run was cancelled",
}
"""Notes of a result that say that its run ended before it."""


def not_looked(command: Command, result: Result) -> Verdict | None:
    """The verdict when the command did not run to its end; None when it did."""
    if result.execution is Execution.DONE:
        return None
    if result.execution is Execution.NOT_RUN and result.missing:
        words = _listed(result.missing)
        verb = "is" if len(result.missing) == 1 else "are"
        message = f"needs {words}, which {verb} not on this host"
        reason = Reason(subject="requires", expected=words, actual="missing", message=message)
        return Verdict(state=VerdictState.SKIPPED, reasons=(reason,))
    message = _SAID[result.execution](command, result)
    why = "" if LINK_LOST in result.notes else result.state
    last = result.seen.evidence if result.seen else why
    if last:
        message = f"{message}; last seen: {last}"
    if result.prompt:
        # At the end: what follows "Password:" would be taken for one, and masked.
        message = f"{message}; it asks: {result.prompt}"
    reason = Reason(subject="execution", expected="done", actual=str(result.execution), message=message)
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))


def not_found(result: Result) -> Verdict | None:
    """`unknown` for the return codes 126 and 127: nothing was looked at."""
    if result.rc not in NOT_FOUND:
        return None
    message = f"could not look: {NOT_FOUND[result.rc]} (rc {result.rc})"
    reason = Reason(subject="rc", expected="0", actual=str(result.rc), message=message)
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _timed_out(command: Command, result: Result) -> str:
    return f"was ended by its timeout of {command.timeout_s:g} s after {result.elapsed_s:.1f} s"


def _killed(command: Command, result: Result) -> str:
    if "host_capped" in result.notes:
        return "was ended because all outputs of this host together reached their cap"
    if "capped" in result.notes:
        # A host without room for captures keeps less than was asked for.
        cut = [out.captured_bytes for out in (result.stdout, result.stderr) if out.state is CaptureState.TRUNCATED]
        return f"was ended because its output reached the cap of {max(cut, default=command.capture_bytes):,} bytes"
    if cause := _end_of_run(result):
        return f"was ended because {cause}"
    return f"was ended by signal {result.signal}" if result.signal else "was ended from outside"


def _stuck(_command: Command, result: Result) -> str:
    return f"could not be ended after {result.elapsed_s:.1f} s"


def _waiting_input(command: Command, result: Result) -> str:
    if result.answered:
        times = "its answer" if result.answered == 1 else f"{result.answered} answers"
        return f"asks again after {times}: the same question, or one that none of its prompts matches"
    if command.prompts:
        return "asks what none of its prompts matches"
    if command.on_input is OnInput.ASK:
        return "asks, and nobody answered (run --interactive asks you)"
    return "waits for input that nobody gives"


def _lost(_command: Command, result: Result) -> str:
    if LINK_LOST in result.notes:
        return f"the link was lost {result.elapsed_s:.1f} s after it began ({result.state})"
    return "its session was lost while it ran"


def _not_run(command: Command, result: Result) -> str:
    if "cwd_failed" in result.notes:
        return f"was not run: its working directory {command.cwd!r} cannot be entered"
    if "env_failed" in result.notes:
        return "was not run: a variable of its env is readonly in the session"
    if "become_unavailable" in result.notes:
        user = command.become.user if command.become else "another user"
        return f"was not run: it has to run as {user}, and what was started there is not"
    cause = _end_of_run(result)
    return f"was not run: {cause}" if cause else "was not run"


def _end_of_run(result: Result) -> str:
    return next((_ENDS_OF_RUN[note] for note in result.notes if note in _ENDS_OF_RUN), "")


_SAID = {
    Execution.TIMED_OUT: _timed_out,
    Execution.KILLED: _killed,
    Execution.STUCK: _stuck,
    Execution.WAITING_INPUT: _waiting_input,
    Execution.LOST: _lost,
    Execution.NOT_RUN: _not_run,
}
