"""The ids of a play's checks: each is there once, and what is needed is there and comes to an end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from checkrunner.load.entries import Built
from checkrunner.load.fileset import FileSet
from checkrunner.model.errors import PlaybookError, nearest

__all__ = ["wrong_ids"]


def wrong_ids(
    built: Sequence[Built], first: int, earlier: Collection[str], files: FileSet, *, lost: bool
) -> list[PlaybookError]:
    """What is wrong with ids in a play. The `first` of its checks are pre-checks; `earlier` are the ids of the plays
    before it; `lost` says that checks are missing, so that an unknown id may be one of theirs."""
    everyone = [one for top in built for one in top.tree()]
    errors = list(_repeated(everyone, files))
    ids = {one.check.id for one in built}
    followers = {one.check.id: top for top in built for one in top.tree() if one is not top}
    for one in everyone:
        errors += _unknown(one, ids, followers, earlier, files, lost)
    errors += _too_late(built[:first], {one.check.id for one in built[first:]}, files)
    return [*errors, *_cycles(built, files)]


def _repeated(everyone: Sequence[Built], files: FileSet) -> Iterator[PlaybookError]:
    first: dict[str, Built] = {}
    for one in everyone:
        before = first.setdefault(one.check.id, one)
        place, source = before.check.source, one.check.source
        if before is one:
            continue
        if place == source:
            # The two inclusions that part them; of the same one, which was itself included twice, the last.
            parted = [via for via, other in zip(one.via, before.via, strict=False) if via != other]
            message = f"check id {one.check.id!r} is here twice: {source.path} is included twice"
            hint = "Give the inclusions a `prefix` each, or loop over what differs."
            yield files.fail(parted[0] if parted else one.via[-1] if one.via else source, message, hint)
            continue
        where = f"in line {place.line}" if place.path == source.path else f"in {place.path}:{place.line}"
        message = f"check id {one.check.id!r} is taken by the check {where}"
        yield files.fail(source, message, "Give one of the two an `id` of its own.")


def _unknown(
    one: Built,
    ids: Collection[str],
    followers: Mapping[str, Built],
    earlier: Collection[str],
    files: FileSet,
    lost: bool,
) -> Iterator[PlaybookError]:
    for name, ref in one.needs.items():
        if name == one.check.id:
            yield files.fail(ref, f"check {name!r} needs itself", "Drop it from `needs`.")
        elif name in ids or name in earlier:
            continue
        elif name in followers:
            message = f"check {name!r} runs only where {followers[name].check.id!r} is not ok; no other can need it"
            hint = f"Put this check into its `on_fail`, or write `needs: {followers[name].check.id}`."
            yield files.fail(ref, message, hint)
        elif not lost:
            known = sorted({*ids, *earlier} - {one.check.id})
            close = nearest(name, known)
            shown = f"Known: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}." if known else "Drop it."
            yield files.fail(ref, f"no check has the id {name!r}", f"Did you mean {close!r}?" if close else shown)


def _too_late(pre_checks: Sequence[Built], later: Collection[str], files: FileSet) -> Iterator[PlaybookError]:
    for top in pre_checks:
        for one in top.tree():
            for name in one.needs.keys() & later:
                hint = "Put what it needs into `pre_checks` too."
                yield files.fail(one.needs[name], f"check {name!r} comes after the pre-checks", hint)


def _cycles(built: Sequence[Built], files: FileSet) -> Iterator[PlaybookError]:
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
                names = list(path)
                around = " -> ".join([*names[names.index(need) :], need])
                yield files.fail(by_id[name].needs[need], f"checks need each other: {around}", "Take one of them out.")
            elif need in by_id and need not in done and need != name:
                path[need] = iter(by_id[need].needs)
