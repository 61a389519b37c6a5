"""What changed, for a person: loud about what got worse, a line about what got better, silent about the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.render.layout import count_of, wrapped
from checkrunner.render.safe import safe
from checkrunner.render.since import age, moment
from checkrunner.render.style import Style

__all__ = [
    "became_text",
    "change_lines",
    "change_text",
    "drift_lines",
    "drift_title",
    "kind_text",
    "mind_lines",
    "place_text",
    "quiet_texts",
]

_MOST_LOUD, _MOST_QUIET, _FEW_ITEMS = 12, 5, 3
_LABELS = {
    ChangeKind.REGRESSION: ("worse", "red"),
    ChangeKind.UNSEEN: ("no longer seen", "magenta"),
    ChangeKind.CHANGED: ("changed", "yellow"),
    ChangeKind.FLAPPING: ("flapping from now on", "yellow"),
    ChangeKind.RECOVERY: ("better", "green"),
    ChangeKind.SEEN: ("seen again", "green"),
    ChangeKind.DROPPED: ("no longer looked at", "dim"),
}


def drift_title(drift: Drift) -> str:
    """``Since the run of 2026-11-30 14:05 UTC: 2 things got worse``."""
    what = f"{count_of(drift.worse, 'thing')} got worse" if drift.worse else "nothing got worse"
    return f"Since the run of {moment(drift.against_started_at)}: {what}"


def place_text(change: Change) -> str:
    """``disk on web[1-2] (2 hosts)``, ``mount (/srv, /var) on web1``; of a host its name."""
    hosts = change.hosts.replace("],", "], ")
    if change.host_count != 1:
        hosts += f" ({count_of(change.host_count, 'host')})"
    if not change.check:
        return hosts
    if not change.item_count:
        return f"{change.check} on {hosts}"
    named = ", ".join(change.items) if len(change.items) == change.item_count <= _FEW_ITEMS else ""
    return f"{change.check} ({named or count_of(change.item_count, 'item')}) on {hosts}"


def change_text(change: Change, now: datetime) -> str:
    """``worse: disk on web1: ok for 3 days, now crit``. `now` is when the later run began. A plain text, not yet made
    harmless for where it goes."""
    return f"{kind_text(change)}: {place_text(change)}: {became_text(change, now)}"


def kind_text(change: Change) -> str:
    """``worse``, ``seen again``."""
    return _LABELS[change.kind][0]


def quiet_texts(drift: Drift) -> Iterator[str]:
    """What nobody has to be told of: a line for each kind of it."""
    rest = [change for change in drift.changes if not change.is_worse]
    better = [one for one in rest if one.kind in {ChangeKind.RECOVERY, ChangeKind.SEEN}]
    dropped = [one for one in rest if one.kind is ChangeKind.DROPPED]
    worse = [one for one in rest if one.kind.is_worse]
    for label, some in (
        ("better", better),
        ("no longer looked at", dropped),
        ("flapping", [one for one in worse if one.flapping]),
        ("worse, and silenced", [one for one in worse if not one.flapping]),
    ):
        if some:
            yield f"{label}: {_few(some)}"


def drift_lines(
    drift: Drift | None, now: datetime, style: Style, width: int, *, most: int = _MOST_LOUD
) -> Iterator[str]:
    """The section of a page; nothing without a drift. At most `most` changes have a line of their own."""
    if drift is None:
        return
    yield style("bold" if drift.worse else "dim", drift_title(drift))
    loud = [change for change in drift.changes if change.is_worse]
    for change in loud[:most]:
        yield from change_lines(change, now, style, width)
    if left := drift.worse - len(loud[:most]):
        yield f"  - {left:,} more"
    for text in quiet_texts(drift):
        yield from wrapped(text, width, first="  - ", rest="    ")
    if drift.unchanged:
        text = f"as before: {count_of(drift.unchanged, 'thing')} in trouble"
        yield from wrapped(text, width, first="  - ", rest="    ")
    yield from mind_lines(drift, style, width)


def change_lines(change: Change, now: datetime, style: Style, width: int) -> Iterator[str]:
    """An entry of a list."""
    label, color = _LABELS[change.kind]
    for at, line in enumerate(wrapped(change_text(change, now), width, first="  - ", rest="    ")):
        yield line if at else line.replace(label, style(color, label), 1)


def mind_lines(drift: Drift, style: Style, width: int) -> Iterator[str]:
    """In what the two runs cannot be compared."""
    for sentence in drift.unlike:
        yield from (style("cyan", line) for line in wrapped(f"mind: {sentence}", width, first="  - ", rest="    "))


def became_text(change: Change, now: datetime) -> str:
    """``ok for 3 days, now crit``."""
    before, after = (text.replace("_", " ") for text in (change.before, change.after))
    since = _for(change.before_since, now)
    if change.kind is ChangeKind.CHANGED and before == after:
        text = f"{after}{since}, now for other reasons"
    elif before == after:
        text = f"{after}{since}"
    else:
        text = f"{before or 'not there'}{since if before else ''}, now {after or 'not there'}"
    return f"{text} ({change.note})" if change.note else text


def _for(since: datetime | None, now: datetime) -> str:
    seconds = (now - since).total_seconds() if since else 0
    return f" for {age(seconds)}" if seconds > 0 else ""


def _few(changes: Sequence[Change]) -> str:
    shown = ", ".join(safe(place_text(change)) for change in changes[:_MOST_QUIET])
    more = len(changes) - _MOST_QUIET
    return f"{shown} and {more:,} more" if more > 0 else shown
