"""Hosts that should answer alike: whose answer differs from that of most of its peers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from checkrunner.judge.expectations import clip
from checkrunner.judge.severities import combined, unmet
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.playbook import Check
from checkrunner.model.quantities import plain_number
from checkrunner.model.results import (
    CaptureState,
    Execution,
    Reason,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.model.values import Consensus

__all__ = ["ANSWER_LINES", "answer_query", "with_consensus", "without_answer"]

ANSWER_LINES = 5
_ANSWER_BYTES = 512
_SHOWN = 80
_FEWEST = 3
"""So many must answer before one of them can be the odd one out: of two that differ, either may be."""

_Answer = tuple[str, object]


def answer_query(check: Check) -> tuple[SliceQuery, ...]:
    """The part of the output that shows what a host's answer was: asked for with the command, since nobody knows yet
    who will be the odd one out."""
    if check.consensus is None or check.consensus.on != "stdout":
        return ()
    return (SliceQuery(mode=SliceMode.HEAD, max_lines=ANSWER_LINES, max_bytes=_ANSWER_BYTES),)


def with_consensus(peers: Sequence[CheckOutcome], consensus: Consensus) -> list[CheckOutcome]:
    """The outcomes of peers, in the same order, those with another answer than most of them with a verdict that says
    so. Who could not be looked at, or whose command failed, has no answer and no vote."""
    answers = [_answer(outcome, consensus.on) for outcome in peers]
    votes = Counter(answer for answer in answers if answer is not None)
    voters = votes.total()
    if not voters:
        return list(peers)
    if voters == 1:
        return [_alone(one) if answer else one for one, answer in zip(peers, answers, strict=True)]
    common, most = votes.most_common(1)[0]
    shown = _shown(peers, answers, consensus.on)
    if most < voters and (voters < _FEWEST or most / voters < consensus.minimum):
        told = ", ".join(f"{count} x {shown[answer]}" for answer, count in votes.most_common(3))
        more = f", {len(votes) - 3} other answers" if len(votes) > 3 else ""
        return [
            _open(one, f"no consensus: {told}{more}") if answer else one
            for one, answer in zip(peers, answers, strict=True)
        ]
    expected = f"{shown[common]} ({most} of {voters} hosts)"
    return [
        one if answer is None or answer == common else _odd(one, consensus.on, expected, shown[answer])
        for one, answer in zip(peers, answers, strict=True)
    ]


def without_answer(outcome: CheckOutcome) -> CheckOutcome:
    """A check that is ok is not in the report for the sake of its answer, which was fetched for the odd ones."""
    if outcome.verdict.state is not VerdictState.OK or outcome.verdict.noted or not outcome.slices:
        return outcome
    asked = answer_query(outcome.planned.check)
    return replace(outcome, slices=tuple(piece for piece in outcome.slices if piece.query not in asked))


def _answer(outcome: CheckOutcome, on: str) -> _Answer | None:
    result = outcome.result
    if result is None or result.execution is not Execution.DONE or outcome.verdict.state in _NO_VOTE:
        return None
    if on == "rc":
        return None if result.rc is None else ("rc", result.rc)
    if any(reason.subject == "rc" for reason in outcome.verdict.reasons):
        return None
    if on == "stdout":
        whole = result.stdout.state is CaptureState.COMPLETE and (result.stdout.digest or not result.stdout.bytes)
        return ("stdout", result.stdout.digest) if whole else None
    value = next((value for value in outcome.values if value.name == on), None)
    return None if value is None or value.value is None else (value.unit, value.value)


_NO_VOTE = frozenset({VerdictState.UNKNOWN, VerdictState.SKIPPED})


def _shown(peers: Sequence[CheckOutcome], answers: Sequence[_Answer | None], on: str) -> Mapping[_Answer, str]:
    """Each answer as a short text; two outputs that look the same get a mark that tells them apart."""
    texts: dict[_Answer, str] = {}
    for outcome, answer in zip(peers, answers, strict=True):
        if answer is not None and answer not in texts:
            texts[answer] = _text(outcome, answer, on)
    same = Counter(texts.values())
    return {
        answer: f"{text} [{str(answer[1])[:8]}]" if same[text] > 1 and on == "stdout" else text
        for answer, text in texts.items()
    }


def _text(outcome: CheckOutcome, answer: _Answer, on: str) -> str:
    unit, value = answer
    if on == "rc":
        return f"rc {value}"
    if on != "stdout":
        return f"{plain_number(value)}{unit}" if isinstance(value, float) else clip(value, _SHOWN) + unit
    result = outcome.result
    if result is None or not result.stdout.bytes:
        return "nothing"
    piece = next((s for s in outcome.slices if s.stream is Stream.STDOUT and s.query.mode is SliceMode.HEAD), None)
    if piece is None or not piece.lines:
        return f"{result.stdout.lines} lines"
    more = piece.total_lines - 1
    return clip(piece.lines[0].text, _SHOWN) + (f" and {more} more lines" if more > 0 else "")


def _odd(outcome: CheckOutcome, on: str, expected: str, actual: str) -> CheckOutcome:
    message = f"consensus: {on} is {actual}, expected {expected}"
    reason = Reason(subject="consensus", expected=expected, actual=actual, message=message)
    return replace(outcome, verdict=combined(outcome.verdict, unmet(outcome.planned.check.severity), reason))


def _open(outcome: CheckOutcome, message: str) -> CheckOutcome:
    reason = Reason(subject="consensus", expected="most hosts agree", actual="they do not", message=message)
    return replace(outcome, verdict=combined(outcome.verdict, VerdictState.UNKNOWN, reason))


def _alone(outcome: CheckOutcome) -> CheckOutcome:
    """One host has nobody to be compared with: where nothing else is wrong there, nothing is known."""
    if outcome.verdict.state is not VerdictState.OK:
        return outcome
    message = "consensus: no other host gave an answer to compare with"
    reason = Reason(subject="consensus", expected="peers", actual="none", message=message)
    return replace(outcome, verdict=Verdict(state=VerdictState.SKIPPED, reasons=(*outcome.verdict.reasons, reason)))
