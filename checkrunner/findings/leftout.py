"""What limits left out, in few words: one omission for each kind of thing and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from checkrunner.findings.portions import clipped
from checkrunner.findings.scale import Scale
from checkrunner.model.report import Finding, Omission

__all__ = ["BUDGET", "few_kinds", "folded_omissions", "more_findings"]

BUDGET = "the budget"
"""Why something was left out for the sake of the report's size."""

_WHERE_CHARS = 120
_NAMED_PLACES = 2
_SAMPLE = 40
_NAME_CHARS = 60
_LINK_TOKENS = 3
_LINE = "line"


def folded_omissions(omissions: Iterable[Omission]) -> tuple[Omission, ...]:
    """Those of one kind and reason as one, in the order in which kinds come up. Of many places the first are named."""
    found: dict[tuple[str, str], list[Omission]] = {}
    for one in omissions:
        found.setdefault((one.what, one.why), []).append(one)
    return tuple(
        some[0]
        if len(some) == 1
        else Omission(
            what=what,
            why=why,
            count=sum(one.count for one in some),
            tokens=sum(one.tokens for one in some),
            where=_places([one.where for one in some if one.where]),
        )
        for (what, why), some in found.items()
    )


def _places(places: Sequence[str]) -> str:
    """``a; b; 38 more``: the first two, where they are short."""
    places = list(dict.fromkeys(places))
    shown = places[:_NAMED_PLACES] if sum(map(len, places[:_NAMED_PLACES])) <= _WHERE_CHARS else places[:0]
    left = len(places) - len(shown)
    return "; ".join([*shown, *([f"{left:,} more" if shown else f"{left:,} places"] if left else [])])


def few_kinds(counts: Mapping[str, int], tokens: Mapping[str, int], most: int, rest: str) -> list[Omission]:
    """An omission for each kind, lines first; those of the fewest tokens together as `rest` where there are more than
    `most` (two at least)."""
    ranked = sorted(
        (kind for kind in counts if counts[kind]), key=lambda kind: (kind == rest, kind != _LINE, -tokens[kind])
    )
    own = ranked if len(ranked) <= most else [kind for kind in ranked if kind != rest][: max(0, most - 1)]
    out = [Omission(what=kind, count=counts[kind], why=BUDGET, tokens=tokens[kind]) for kind in own]
    if left := [kind for kind in ranked if kind not in own]:
        count, size = sum(counts[kind] for kind in left), sum(tokens[kind] for kind in left)
        out.append(Omission(what=rest, count=count, why=BUDGET, tokens=size))
    return out


def more_findings(findings: Sequence[Finding], room: int, scale: Scale, before: Omission | None = None) -> Omission:
    """The findings that are not shown: how many, of which verdicts and checks as far as `room` tokens go, and about
    what they would have taken. `before` tells of those that a larger limit left out: they are counted with these."""
    step = max(1, len(findings) // _SAMPLE)
    sample = findings[::step]
    tokens = sum(map(scale.finding, sample)) * len(findings) // max(1, len(sample))
    where = _named(findings, room, scale) if findings else ""
    count = len(findings)
    if before is not None:
        joined = "; ".join(filter(None, (where, before.where)))
        where = joined if scale.text(joined) <= room else where
        count, tokens = count + before.count, tokens + before.tokens
    return Omission(what="finding", count=count, why=BUDGET, where=where, tokens=tokens)


def _named(findings: Sequence[Finding], room: int, scale: Scale) -> str:
    """``5 crit, 2 warn: disk, load x4, and 3 more checks``."""
    verdicts = Counter(str(finding.verdict) for finding in findings)
    text = ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items())
    checks = Counter(finding.check for finding in findings)
    more = f"and {len(checks):,} more checks"
    room -= scale.text(f"{text}: {more}") + _LINK_TOKENS
    if room < 0:
        return ""
    shown: list[str] = []
    for check, number in checks.items():
        name = clipped(check, _NAME_CHARS) + (f" x{number:,}" if number > 1 else "")
        room -= scale.text(name) + 1
        if room < 0:
            break
        shown.append(name)
    if left := len(checks) - len(shown):
        what = "check" if left == 1 else "checks"
        shown.append(f"and {left:,} more {what}" if shown else f"{left:,} {what}")
    return f"{text}: {', '.join(shown)}"
