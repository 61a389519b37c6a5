"""A finding in portions: what is shown of it first, and what only where there is room.

Each portion has a level, and the budget goes from low levels to high ones.

The level of the finding in place n is n. Each detail has the level of the finding times a factor of its own: with a
factor of 8, it is worth as much as the finding in place 8 n. So where findings are few all of them have their details;
where they are many, the first ones do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checkrunner.findings.fold import CUT, fold
from checkrunner.findings.scale import Scale
from checkrunner.model.folded import OnHosts
from checkrunner.model.report import Finding, Silenced
from checkrunner.model.results import Reason, Slice, SliceLine, SliceMode, evidence_id

__all__ = ["Detail", "Portions", "briefly", "clipped", "few_hosts", "with_lines", "within"]

_CORE_TOKENS = 110
_CORE_CHARS = 160
_NAME_CHARS = 60
_HOST_CHARS = 40
_LEAST_CHARS = 10
_REMEMBERED = 4096
_FIRST_LINE, _SECOND_LINE, _NEXT_LINE = 2.5, 5.0, 2.0
_WHOLE_LINE = 6.0
"""A long line is shown in short first. The rest of it comes at so many times its level, since more lines tell more."""
_SHORT_CHARS = 72
_VARIANT = 12.0
_FACTORS: Mapping[str, float] = {
    "name": 4.0,
    "since": 4.0,
    "message": 3.0,
    "seen": 5.0,
    "fix": 7.0,
    "hosts": 8.0,
    "values": 9.0,
    "items": 9.0,
    "why": 10.0,
    "reason": 10.0,
    "note": 12.0,
    "metadata": 14.0,
}
_LINE_FRAME, _NUMBERS = 4, 5
_CLIPPED_END = " characters more)"
_CLIPPED = re.compile(r"\.\.\. \(([0-9]{1,12}) characters more\)\Z")
_CLIPPED_CHARS = 40
_CHARS_A_TOKEN, _CLIP_TOKENS = 4, 9
_SLICE_FRAME = 40
_FOLDED_BY = 7
_EXTRA_RANGE = 3


@dataclass(slots=True, eq=False)
class Detail:
    """One thing that may be shown of a finding: `kind` in the words of omissions, `count` how many things it is. Not
    shown without what it `needs`."""

    level: float
    kind: str
    tag: tuple[object, ...]
    count: int = 1
    needs: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class Portions:
    """One finding as far as it is shown. `chosen` are the tags of its details; `core` is what is shown in any case."""

    finding: Finding
    place: int
    scale: Scale
    core: Finding
    cost: int
    chosen: set[tuple[object, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, finding: Finding, place: int, scale: Scale) -> Portions:
        """The finding that stands in this place (1 is the first). The core's size is bounded, whatever the texts."""
        chars = _CORE_CHARS
        core = _core(finding, chars)
        while (cost := scale.finding(core)) > _CORE_TOKENS and chars > _LEAST_CHARS:
            chars //= 2
            core = _core(finding, chars)
        return cls(finding=finding, place=place, scale=scale, core=core, cost=cost)

    def details(self) -> Iterator[Detail]:
        """What may be shown besides the core."""
        finding, core = self.finding, self.core
        for kind, differs in (
            ("name", finding.name not in {"", finding.check}),
            ("since", finding.since is not None or finding.changes > 0),
            ("message", _first_message(finding) != _first_message(core)),
            ("seen", bool(finding.seen)),
            ("fix", bool(finding.fix)),
            ("hosts", finding.hosts != core.hosts),
            ("values", bool(finding.values)),
            ("items", finding.items != core.items),
            ("why", bool(finding.why)),
            ("reason", finding.reasons != core.reasons),
            ("note", bool(finding.notes)),
            ("metadata", bool(finding.result)),
        ):
            if differs:
                count = max(1, len(finding.notes)) if kind == "note" else 1
                yield Detail(_FACTORS[kind] * self.place, kind, (kind,), count)
        for at, (piece, line) in enumerate(_in_order(finding.slices)):
            factor = _SECOND_LINE + _NEXT_LINE * (at - 1) if at else _FIRST_LINE
            yield Detail(factor * self.place, "line", ("line", piece, line))
            if _is_long(finding.slices[piece].lines[line]):
                level = factor * _WHOLE_LINE * self.place
                yield Detail(level, "detail", ("whole", piece, line), needs=("line", piece, line))
        for number, variant in enumerate(finding.variants):
            level = _VARIANT * self.place * (number + 1)
            yield Detail(level, "variant", ("variant", number))
            for at, (piece, line) in enumerate(_in_order(variant.slices)):
                tag = ("variant", number, piece, line)
                yield Detail(level + _NEXT_LINE * self.place * at, "line", tag, needs=("variant", number))

    def weigh(self, detail: Detail) -> int:
        """What the detail adds, given what has been chosen so far."""
        finding, scale = self.finding, self.scale
        match detail.tag:
            case ("whole", int(piece), int(line)):
                text = finding.slices[piece].lines[line].text
                return scale.text(text) - scale.text(_short_text(text)) + 1
            case ("line", int(piece), int(line)):
                return self._line(finding.slices[piece], line, ("line", piece))
            case ("variant", int(number), int(piece), int(line)):
                return self._line(finding.variants[number].slices[piece], line, ("variant", number, piece))
            case ("variant", int(number)):
                return scale.text(few_hosts(finding.variants[number], _HOST_CHARS)) + 12 + _FOLDED_BY
            case ("name",):
                return scale.text(finding.name) + 3
            case ("message",):
                return scale.text(_first_message(finding)) - scale.text(_first_message(self.core)) + 2
            case ("fix",) | ("why",):
                return scale.text(finding.fix if detail.tag == ("fix",) else finding.why) + 3
            case ("hosts",):
                return scale.text(finding.hosts) - scale.text(self.core.hosts) + 2
        bare = _bare(self.core)
        more, less = (replace(bare, **_fields(one, detail.kind)) for one in (finding, self.core))
        return max(1, scale.finding(more) - scale.finding(less) + 1) + _FOLDED_BY

    def _line(self, piece: Slice, line: int, where: tuple[object, ...]) -> int:
        started = any(tag[: len(where)] == where for tag in self.chosen if len(tag) > len(where))
        frame = _EXTRA_RANGE if started else self._frame(piece)
        one = piece.lines[line]
        numbers = _NUMBERS if one.count > 1 or one.cut_bytes or _is_long(one) else 0
        return self.scale.text(_short_text(one.text)) + _LINE_FRAME + numbers + frame

    def _frame(self, piece: Slice) -> int:
        """What a slice takes beside its lines."""
        return self.scale.text(piece.evidence.rpartition(":")[0] + piece.why + piece.prefix) + _SLICE_FRAME

    def shown(self) -> Finding:
        """The finding with what has been chosen, and nothing else."""
        finding, core, chosen = self.finding, self.core, self.chosen
        changes: dict[str, Any] = {}
        for kind in ("name", "since", "seen", "fix", "hosts", "values", "items", "why", "note", "metadata"):
            if (kind,) in chosen:
                changes |= _fields(finding, kind)
        if ("reason",) in chosen:
            changes["reasons"] = finding.reasons
        elif ("message",) in chosen and core.reasons:
            changes["reasons"] = (replace(core.reasons[0], message=_first_message(finding)),)
        changes["slices"] = _chosen_slices(finding.slices, ("line",), chosen)
        changes["variants"] = tuple(
            replace(
                variant,
                hosts=few_hosts(variant, _HOST_CHARS),
                slices=_chosen_slices(variant.slices, ("variant", number), chosen),
            )
            for number, variant in enumerate(finding.variants)
            if ("variant", number) in chosen
        )
        texts = ("seen", "note", "reason", "values")
        if changes["slices"] or changes["variants"] or any((kind,) in chosen for kind in texts):
            changes["folded_by"] = finding.folded_by
        return replace(core, **changes)


def clipped(text: str, chars: int) -> str:
    """The text, or its beginning and how much more there is. One that was cut already is cut further."""
    if len(text) <= chars:
        return text
    size = len(text)
    if text.endswith(_CLIPPED_END) and (before := _CLIPPED.search(text, max(0, size - _CLIPPED_CHARS))):
        size = before.start() + int(before[1])
    return f"{text[:chars]}... ({size - chars} characters more)" if size > chars else text


def briefly(silenced: Silenced | None, chars: int) -> Silenced | None:
    """That it is silenced is always told, why in short."""
    return silenced and replace(silenced, why=clipped(silenced.why, chars), by=clipped(silenced.by, chars // 2))


def within(text: str, tokens: int, scale: Scale) -> str:
    """The text, or as much of its beginning as takes so many tokens, about: texts may be all escapes."""
    chars = tokens * _CHARS_A_TOKEN
    shown = clipped(text, chars)
    while scale.text(shown) > tokens + _CLIP_TOKENS and chars:
        chars //= 2
        shown = clipped(text, chars)
    return shown


def few_hosts(on: OnHosts, chars: int) -> str:
    """The folded names as they are if they are short, else those of the first hosts and dots."""
    names, folded = on.names, on.hosts
    if folded and (len(folded) <= chars or not names):
        return clipped(folded, chars)
    keep = min(len(names), 64)
    text = fold(names[:keep])
    while keep > 1 and len(text) > chars:
        keep //= 2
        text = fold(names[:keep])
    text = clipped(text, chars)
    return text if keep == on.host_count else text + CUT


def with_lines(piece: Slice, keep: Sequence[int]) -> Slice:
    """The slice with only these of its lines (places, ascending). The others are counted as more, and the evidence id
    speaks of what is shown."""
    lines = tuple(piece.lines[at] for at in keep)
    left = [line for at, line in enumerate(piece.lines) if at not in set(keep)]
    if not left:
        return piece
    chosen = piece.query.mode is SliceMode.SALIENT or any(line.rank for line in piece.lines)
    made = replace(
        piece,
        lines=lines,
        more_lines=piece.more_lines + sum(line.count for line in left),
        more_shapes=piece.more_shapes + len(left) if chosen else piece.more_shapes,
        why=piece.why if chosen or piece.query.mode is SliceMode.MATCH else "",
    )
    host, _, rest = piece.evidence.partition("/")
    check, _, _ = rest.rpartition("/")
    return replace(made, evidence=evidence_id(host, check, piece.stream, made.ranges)) if piece.evidence else made


def _chosen_slices(
    slices: Sequence[Slice], tag: tuple[object, ...], chosen: set[tuple[object, ...]]
) -> tuple[Slice, ...]:
    out = []
    for number, piece in enumerate(slices):
        keep = [at for at in range(len(piece.lines)) if (*tag, number, at) in chosen]
        if keep:
            cut = [
                line if ("whole", number, at) in chosen and tag == ("line",) else _in_short(line)
                for at, line in enumerate(piece.lines)
            ]
            out.append(with_lines(replace(piece, lines=tuple(cut)), keep))
    return tuple(out)


def _is_long(line: SliceLine) -> bool:
    return len(line.text) > _SHORT_CHARS


def _in_short(line: SliceLine) -> SliceLine:
    """The line without some of its middle, which counts as cut."""
    if not _is_long(line):
        return line
    text = _short_text(line.text)
    missing = _size(line.text) - _size(text)
    return replace(line, text=text, cut_bytes=line.cut_bytes + max(1, missing))


@functools.lru_cache(_REMEMBERED)
def _short_text(text: str) -> str:
    """At most 72 characters: both ends, and the word of trouble."""
    if len(text) <= _SHORT_CHARS:
        return text
    # Few runs come here, and the start of all would pay for it.
    from checkrunner.findings.salience import clip_to

    return clip_to(text, _SHORT_CHARS)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _in_order(slices: Sequence[Slice]) -> list[tuple[int, int]]:
    """The lines of all slices, the most telling first: place of the slice, place of the line in it."""
    ranked = [
        (_rank(piece, line, at), number, at)
        for number, piece in enumerate(slices)
        for at, line in enumerate(piece.lines)
    ]
    return [(number, at) for _, number, at in sorted(ranked)]


def _rank(piece: Slice, line: SliceLine, at: int) -> int:
    """Its rank; where lines have none, the first ones tell more, and of the end of an output the last ones."""
    return line.rank or (len(piece.lines) - at if piece.query.mode is SliceMode.TAIL else at + 1)


def _bare(core: Finding) -> Finding:
    """Nothing but a finding, to hold one of its fields."""
    return Finding(
        id="",
        check="",
        name="",
        play="",
        severity=core.severity,
        verdict=core.verdict,
        execution=core.execution,
        hosts="",
        names=("",),
    )


def _core(finding: Finding, chars: int) -> Finding:
    """What is always told: which check, which verdict, where, and the first reason in short."""
    reasons: tuple[Reason, ...] = ()
    if finding.reasons:
        reasons = (
            Reason(
                subject="",
                expected="",
                actual="",
                message=clipped(_first_message(finding), chars),
            ),
        )
    return Finding(
        id=finding.id,
        check=clipped(finding.check, min(chars, _NAME_CHARS)),
        name="",
        play=finding.play,
        because=clipped(finding.because, min(chars, _NAME_CHARS)),
        severity=finding.severity,
        verdict=finding.verdict,
        execution=finding.execution,
        hosts=few_hosts(finding, min(chars, _HOST_CHARS)),
        names=finding.names,
        unnamed=finding.unnamed,
        reasons=reasons,
        items=finding.items if sum(map(len, finding.items)) <= min(chars, _NAME_CHARS) else (),
        item_count=finding.item_count,
        explained_by=finding.explained_by,
        novelty=finding.novelty,
        silenced=briefly(finding.silenced, min(chars, _NAME_CHARS)),
    )


def _first_message(finding: Finding) -> str:
    if not finding.reasons:
        return ""
    first = finding.reasons[0]
    return first.message or f"{first.subject}: expected {first.expected}, got {first.actual}"


def _fields(finding: Finding, kind: str) -> dict[str, Any]:
    match kind:
        case "since":
            return {"since": finding.since, "changes": finding.changes}
        case "note":
            return {"notes": finding.notes}
        case "metadata":
            return {"result": finding.result}
        case "reason":
            return {"reasons": finding.reasons}
        case "items":
            return {"items": finding.items, "item_count": finding.item_count}
    return {kind: getattr(finding, kind)}
