"""What came of a run as the store gets it. Everything in it is masked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from checkrunner.model.errors import BecomeError
from checkrunner.model.history import Evidence, KeptOutput, RunRecord, RunView
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import Report
from checkrunner.model.results import Execution, Reason, VerdictState

__all__ = ["harm_of", "record_of"]

_ABANDONED = "session_abandoned"
_FINE = frozenset({VerdictState.OK, VerdictState.SKIPPED})
_MOST_LINES = 2_000
"""So many lines of a healthy output say what its lines look like,"""
_MOST_LINES_OF_ALL = 20_000
"""and so many of all outputs: each costs some microseconds."""

_Key = tuple[str, str]


def record_of(
    outcomes: Sequence[HostOutcome],
    *,
    report: Report,
    report_text: str,
    view: RunView,
    kind: str,
    mask: Callable[[str], str],
    kept: Sequence[KeptOutput] = (),
    witnessed: Mapping[_Key, frozenset[str]] | None = None,
) -> RunRecord:
    """The record of a run. `mask` masks reasons; slices and outputs come masked. `witnessed` are the shapes of lines
    that were seen where checks are fine."""
    mask = _remembering(mask)
    checks = [check for host in outcomes for check in host.checks]
    return RunRecord(
        report=report,
        report_text=report_text,
        view=view,
        kind=kind,
        evidence={
            (check.host, check.planned.key): _evidence(check, mask)
            for check in checks
            if check.verdict.state not in _FINE or check.verdict.noted
        },
        harmed={at: mask(reason) for host in outcomes for at, reason in harm_of(host)},
        shapes={**(witnessed or {}), **_shapes(checks, kept)},
        baselined={(check.host, check.planned.key): check.output for check in checks if check.output is not None},
        kept=kept,
    )


def harm_of(host: HostOutcome) -> Iterator[tuple[_Key, str]]:
    """The checks that did harm on a host, and what happened: what could not be ended, and what ran when its session or
    the link was lost, if nothing else did (then one cannot tell)."""
    lost: dict[tuple[str, bool], dict[tuple[str, str | None], CheckOutcome]] = {}
    for check in host.checks:
        result = check.result
        if result is None:
            continue
        if result.execution is Execution.STUCK or _ABANDONED in result.notes:
            yield (check.host, check.planned.key), _what(check)
        elif result.execution is Execution.LOST:
            # Commands are sent ahead, and run in order: only the first of a session that was lost had begun.
            session = (result.session, check.planned.check.become.user)
            lost.setdefault(_what_went(check), {}).setdefault(session, check)
    for running in lost.values():
        if len(running) == 1:
            (check,) = running.values()
            yield (check.host, check.planned.key), _what(check)


def _what_went(check: CheckOutcome) -> tuple[str, bool]:
    """What the command was lost with: the session of its host or of another one, or that of one account there."""
    return check.on, isinstance(check.error, BecomeError)


def _what(check: CheckOutcome) -> str:
    """What happened, in the words of the verdict where it says so."""
    said = next((reason.message for reason in check.verdict.reasons if reason.subject == "execution"), "")
    assert check.result is not None
    return said or check.result.state or "it could not be ended"


def _evidence(check: CheckOutcome, mask: Callable[[str], str]) -> Evidence:
    return Evidence(reasons=tuple(_masked(reason, mask) for reason in check.verdict.reasons), slices=check.slices)


def _masked(reason: Reason, mask: Callable[[str], str]) -> Reason:
    return replace(reason, expected=mask(reason.expected), actual=mask(reason.actual), message=mask(reason.message))


def _remembering(mask: Callable[[str], str]) -> Callable[[str], str]:
    """The same; hosts of a fleet say the same again and again."""
    known: dict[str, str] = {}

    def masked(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = known[text] = mask(text)
        return found

    return masked


def _shapes(checks: Sequence[CheckOutcome], kept: Sequence[KeptOutput]) -> dict[_Key, frozenset[str]]:
    """The shapes of lines of outputs that were kept, of checks that are ok."""
    fine = (
        {(check.host, check.planned.key) for check in checks if check.verdict.state is VerdictState.OK} if kept else ()
    )
    found: dict[_Key, set[str]] = {}
    left = _MOST_LINES_OF_ALL
    for output in kept:
        at = (output.host, output.check)
        if at not in fine or left <= 0:
            continue
        from checkrunner.findings.salience import shape_of  # only where outputs of healthy checks are kept

        lines = output.data.decode("utf-8", "replace").splitlines()[: min(_MOST_LINES, left)]
        left -= len(lines)
        found.setdefault(at, set()).update(map(shape_of, lines))
    return {at: frozenset(shapes) for at, shapes in found.items()}
