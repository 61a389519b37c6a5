"""Baselines, silences and checks that do harm, for a person at a terminal and as JSON. Text from hosts is made harmless
here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from checkrunner.model.history import Baseline, Silence, Suppression
from checkrunner.model.people import Offer, Shown, Silencing, Striking
from checkrunner.render.layout import count_of
from checkrunner.render.safe import safe, safe_json
from checkrunner.render.since import age, moment

__all__ = [
    "PEOPLE_SCHEMA",
    "baseline_lines",
    "baselines_json",
    "offer_lines",
    "silence_line",
    "silences_json",
    "silencing_lines",
    "suppressed_json",
    "suppressed_lines",
]

PEOPLE_SCHEMA = "checkrunner/{}/1"
_MOST_LINES = 200
_REASON = 200


def offer_lines(offers: Sequence[Offer], *, lines: bool) -> Iterator[str]:
    """What a run offers as baselines, an output each: what would change. `lines` shows which lines would."""
    for offer in offers:
        yield f"{safe(offer.check)} on {_on(offer)}: {_change(offer)}"
        if not lines or not offer.is_news:
            continue
        yield from (f"  - {safe(line)}" for line in offer.gone[:_MOST_LINES])
        numbers = range(1, len(offer.lines) + 1) if offer.before is None else offer.more
        yield from (f"  + {safe(offer.lines[number - 1])}" for number in numbers[:_MOST_LINES])
        left = max(0, len(offer.gone) - _MOST_LINES) + max(0, len(numbers) - _MOST_LINES)
        if left:
            yield f"    {count_of(left, 'more line')}"


def _change(offer: Offer) -> str:
    size = count_of(len(offer.lines), "line")
    if offer.before is None:
        return f"{size}, the first baseline"
    if not offer.is_news:
        return f"{size}, as accepted"
    changes = [f"{len(offer.more):,} new"] if offer.more else []
    changes += [f"{len(offer.gone):,} gone"] if offer.gone else []
    return f"{size}, {', '.join(changes)}"


def _on(entry: Offer | Shown) -> str:
    return safe(entry.hosts) + (f" ({entry.host_count:,} hosts)" if entry.host_count > 1 else "")


def baseline_lines(shown: Sequence[Shown], *, lines: bool) -> Iterator[str]:
    """Baselines that are accepted. `lines` shows what is in them."""
    playbooks = {one.first.playbook for one in shown}
    for at, one in enumerate(shown):
        first = one.first
        if at and lines:
            yield ""
        by = f" by {safe(first.by)}" if first.by else ""
        why = f": {safe(first.why)}" if first.why else ""
        of = f" [{safe(first.playbook)}]" if len(playbooks) > 1 else ""
        yield f"{safe(first.check)} on {_on(one)}: {count_of(len(first.lines), 'line')}{of}"
        yield f"  accepted {moment(first.accepted_at)}{by} from run {safe(first.run)}{why}"
        if lines:
            width = len(str(len(first.lines)))
            yield from (f"  {number:>{width}} | {safe(text)}" for number, text in enumerate(first.lines, 1))


def baselines_json(shown: Sequence[Shown]) -> str:
    """The same as a document, host by host."""
    return _document("baselines", "baselines", [_baseline(one.first, host) for one in shown for host in one.names])


def _baseline(first: Baseline, host: str) -> dict[str, Any]:
    return {
        "playbook": safe_json(first.playbook),
        "check": safe_json(first.check),
        "host": safe_json(host),
        "run": first.run,
        "accepted_at": _time(first.accepted_at),
        "by": safe_json(first.by),
        "why": safe_json(first.why),
        "lines": [safe_json(line) for line in first.lines],
    }


def silencing_lines(made: Silencing, now: datetime) -> Iterator[str]:
    """A silence that was made."""
    yield silence_line(made.silence, now)
    if made.checks:
        yield f"{count_of(made.checks, 'check')} on {count_of(made.hosts, 'host')}, as of the last runs"


def silence_line(silence: Silence, now: datetime) -> str:
    """``3  disk on web01 until 2026-12-24 08:00 UTC (in 3 days) by anna: disk is on order``."""
    left = (silence.until - now).total_seconds()
    if silence.ended_at is not None:
        state = f"ended {moment(silence.ended_at)}"
    elif left <= 0:
        state = f"over since {moment(silence.until)}"
    else:
        state = f"until {moment(silence.until)} (in {age(left)})"
    by = f" by {safe(silence.by)}" if silence.by else ""
    return f"{silence.number}  {safe(silence.check)} on {safe(silence.host)} {state}{by}: {safe(silence.why)}"


def silences_json(silences: Sequence[Silence], now: datetime) -> str:
    """Silences as a document."""
    return _document("silences", "silences", [_silence(silence, now) for silence in silences])


def _silence(silence: Silence, now: datetime) -> dict[str, Any]:
    return {
        "number": silence.number,
        "host": safe_json(silence.host),
        "check": safe_json(silence.check),
        "until": _time(silence.until),
        "why": safe_json(silence.why),
        "by": safe_json(silence.by),
        "made_at": _time(silence.made_at),
        **({"ended_at": _time(silence.ended_at)} if silence.ended_at else {}),
        "holds": silence.holds_at(now),
    }


def suppressed_lines(suppressed: Sequence[Suppression], others: Sequence[Striking], now: datetime) -> Iterator[str]:
    """Checks that are not run, then those that did harm and are run all the same."""
    playbooks = {one.playbook for one in suppressed} | {one.playbook for one in others}
    for one in suppressed:
        left = age((one.until - now).total_seconds())
        yield (
            f"{safe(one.check)} on {safe(one.host)}: not run until {moment(one.until)} (in {left}){_of(one, playbooks)}"
        )
        yield f"  harm {_times(one.strikes)}, last: {safe(one.reason[:_REASON])}"
    for other in others:
        yield f"{safe(other.check)} on {safe(other.host)}: is run{_of(other, playbooks)}"
        yield f"  harm {_times(other.strikes)}, last: {safe(other.reason[:_REASON])}"


def _of(one: Suppression | Striking, playbooks: set[str]) -> str:
    return f" [{safe(one.playbook)}]" if len(playbooks) > 1 else ""


def _times(strikes: int) -> str:
    return "once" if strikes == 1 else f"{strikes:,} times in a row"


def suppressed_json(suppressed: Sequence[Suppression], others: Sequence[Striking]) -> str:
    """The same as a document: those that are run have no `until`."""
    entries = [_struck(one) | {"since": _time(one.since), "until": _time(one.until)} for one in suppressed]
    return _document("suppressed", "checks", [*entries, *map(_struck, others)])


def _struck(one: Suppression | Striking) -> dict[str, Any]:
    return {
        "playbook": safe_json(one.playbook),
        "host": safe_json(one.host),
        "check": safe_json(one.check),
        "strikes": one.strikes,
        "reason": safe_json(one.reason),
    }


def _document(kind: str, name: str, entries: Sequence[dict[str, Any]]) -> str:
    document = {"schema": PEOPLE_SCHEMA.format(kind), name: entries}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
