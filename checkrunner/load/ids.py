"""The ids of a play's checks: each is there once, and what a check needs comes before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from checkrunner.load.entries import Built
from checkrunner.load.fileset import FileSet
from checkrunner.model.errors import PlaybookError, nearest
from checkrunner.model.sources import SourceRef

__all__ = ["wrong_ids"]

_MOST_COMPARED = 20
"""Unknown ids of a play that are compared with all that it has."""


def wrong_ids(
    built: Sequence[Built], first: int, earlier: Collection[str], files: FileSet, *, lost: bool
) -> list[PlaybookError]:
    """What is wrong with ids in a play. The `first` of its checks are pre-checks; `earlier` are the ids of the plays
    before it; `lost` says that checks are missing, so that an unknown id may be one of theirs."""
    cycles = list(_cycles(built, files))
    needs = _Needs(
        files=files,
        pre_checks=frozenset(one.check.id for one in built[:first]),
        later=frozenset(one.check.id for one in built),
        followers={one.check.id: top.check.id for top in built for one in top.tree() if one is not top},
        known=tuple(sorted({*earlier, *(one.check.id for one in built)})),
        lost=lost,
        cyclic=frozenset(name for names, _ in cycles for name in names),
    )
    return [*_repeated(built, files), *needs.wrong(built, {*earlier}), *(error for _, error in cycles)]


def _repeated(built: Sequence[Built], files: FileSet) -> Iterator[PlaybookError]:
    first: dict[str, Built] = {}
    for one in (one for top in built for one in top.tree()):
        before = first.setdefault(one.check.id, one)
        place, source = before.check.source, one.check.source
        if before is one:
            continue
        if place == source and one.via:
            # The two inclusions that part them; of the same one, which was itself included twice, the last.
            parted = [via for via, other in zip(one.via, before.via, strict=False) if via != other]
            message = f"check id {one.check.id!r} is here twice: {source.path} is included twice"
            hint = "Give the inclusions a `prefix` each, or loop over what differs."
            yield files.fail(parted[0] if parted else one.via[-1], message, hint)
            continue
        where = f"in line {place.line}" if place.path == source.path else f"in {place.path}:{place.line}"
        message = f"check id {one.check.id!r} is taken by the check {where}"
        yield files.fail(source, message, "Give one of the two an `id` of its own.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needs:
    """Looks at what the checks of a play need."""

    files: FileSet
    pre_checks: frozenset[str]
    later: frozenset[str]
    followers: Mapping[str, str]
    known: tuple[str, ...]
    lost: bool
    cyclic: frozenset[str]
    compared: set[str] = field(default_factory=set)

    def wrong(self, built: Sequence[Built], before: set[str]) -> Iterator[PlaybookError]:
        """`before` are the ids that stand before these checks; it grows by theirs."""
        for one in built:
            for name, ref in one.needs.items():
                if name not in before:
                    yield from self._missing(one.check.id, name, ref)
            if one.follow:
                yield from self.wrong(one.follow, {*before, one.check.id})
            before.add(one.check.id)

    def _missing(self, by: str, name: str, ref: SourceRef) -> Iterator[PlaybookError]:
        if name == by:
            yield self.files.fail(ref, f"check {name!r} needs itself", "Drop it from `needs`.")
        elif name in self.later:
            if by in self.pre_checks and name not in self.pre_checks:
                hint = "Put what it needs into `pre_checks` too."
                yield self.files.fail(ref, f"check {name!r} comes after the pre-checks", hint)
            elif not {by, name} <= self.cyclic:  # that is said by itself
                hint = "Move that check before this one."
                yield self.files.fail(ref, f"check {name!r}, which this one needs, comes only later", hint)
        elif name in self.followers:
            parent = self.followers[name]
            message = f"check {name!r} runs only where {parent!r} is not ok; no other can need it"
            yield self.files.fail(ref, message, f"Put this check into the same `on_fail`, or write `needs: {parent}`.")
        elif not self.lost:
            known = [one for one in self.known if one != by]
            if len(self.compared) < _MOST_COMPARED:
                self.compared.add(name)
            close = nearest(name, known) if name in self.compared else None
            shown = f"Known: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}." if known else "Drop it."
            yield self.files.fail(ref, f"no check has the id {name!r}", f"Did you mean {close!r}?" if close else shown)


def _cycles(built: Sequence[Built], files: FileSet) -> Iterator[tuple[list[str], PlaybookError]]:
    by_id = {one.check.id: one for one in built}
    done: set[str] = set()
    for start in by_id:
        # Depth first, without recursion: a chain may be as long as a play.
        path: dict[str, Iterator[str]] = {} if start in done else {start: iter(by_id[start].needs)}
        while path:
            name = next(reversed(path))
            need = next(path[name], None)
            if need is None:
                del path[name]
                done.add(name)
            elif need in path and need != name:
                names = list(path)[list(path).index(need) :]
                message = f"checks need each other: {' -> '.join([*names, need])}"
                yield names, files.fail(by_id[name].needs[need], message, "Take one of them out.")
            elif need in by_id and need not in done and need != name:
                path[need] = iter(by_id[need].needs)
