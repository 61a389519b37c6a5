"""Which check of an earlier run is which of a later one: by its key, and by what it runs where it was renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from checkrunner.model.history import Cell, CheckVersion, RunView

__all__ = ["OnceCells", "Pairing", "label_of", "trunk_of", "version_of"]


def trunk_of(key: str) -> str:
    """The key without the item of a loop: ``disk`` of ``disk[/var]``."""
    return key.partition("[")[0]


def label_of(key: str) -> str:
    """What the item is called: ``/var``, ``/var, 3``; "" where there is none."""
    return key[len(trunk_of(key)) + 1 : -1].replace("][", ", ")


def version_of(key: str, checks: Mapping[str, CheckVersion]) -> CheckVersion | None:
    """The check with this key; of an item that is not there by itself that of its loop."""
    found = checks.get(key)
    if found is None and "[" in key and (loop := checks.get(trunk_of(key))) is not None:
        return replace(loop, key=key)
    return found


@dataclass(slots=True)
class Pairing:
    """The checks of two runs. `earlier` has the key of the earlier run by that of the later one, loops without their
    items, where the two differ; `later` is the other way round. `new` and `gone` are those that only one has."""

    before: Mapping[str, CheckVersion]
    after: Mapping[str, CheckVersion]
    earlier: dict[str, str] = field(default_factory=dict)
    later: dict[str, str] = field(default_factory=dict)
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @classmethod
    def of(cls, before: Mapping[str, CheckVersion], after: Mapping[str, CheckVersion]) -> Pairing:
        """A check is the one of its key, where that runs the same; else one that runs the same and that no other could
        be; else that of its key all the same. Cost: linear in the checks."""
        made = cls(before, after)
        old, new = dict.fromkeys(map(trunk_of, before)), dict.fromkeys(map(trunk_of, after))
        open_old = [key for key in old if key not in new or not _same_command(key, before, after)]
        open_new = [key for key in new if key not in old or not _same_command(key, before, after)]
        for later, earlier in _by_command(open_old, open_new, before, after):
            made.earlier[later] = earlier
            made.later[earlier] = later
        # What the renamed ones leave of their names is not the same check any more.
        made.new = tuple(key for key in new if key not in made.earlier and (key not in old or key in made.later))
        made.gone = tuple(key for key in old if key not in made.later and (key not in new or key in made.earlier))
        return made

    def key_before(self, key: str) -> str:
        """What the later run's check is called in the earlier one, items with it; "" where it is new."""
        if not self.earlier and not self.later:
            return key
        trunk = trunk_of(key)
        earlier = self.earlier.get(trunk)
        if earlier is None:
            return "" if trunk in self.later else key
        return earlier + key[len(trunk) :]

    def key_after(self, key: str) -> str:
        """What the earlier run's check is called in the later one; "" where it is gone."""
        if not self.earlier and not self.later:
            return key
        trunk = trunk_of(key)
        later = self.later.get(trunk)
        if later is None:
            return "" if trunk in self.earlier else key
        return later + key[len(trunk) :]

    def difference(self, key: str) -> tuple[bool, bool]:
        """Whether the later run's check (without its item) runs something else than the earlier one's, and whether it
        expects something else. Nothing is different about a new one."""
        earlier, later = version_of(self.key_before(key), self.before), version_of(key, self.after)
        if earlier is None or later is None:
            return False, False
        return earlier.command != later.command, earlier.rules != later.rules


class OnceCells:
    """Cells of checks that run once for all hosts, on whichever it was: by key, of a run. Where there is more than one
    of a key, its host tells them apart as always."""

    def __init__(self, view: RunView, keys: Iterable[str]) -> None:
        wanted = set(keys)
        found: dict[str, list[tuple[str, Cell]]] = {}
        if wanted:
            for (host, key), cell in view.cells.items():
                if key in wanted or trunk_of(key) in wanted:
                    found.setdefault(key, []).append((host, cell))
        self._only = {key: some[0] for key, some in found.items() if len(some) == 1}

    def get(self, key: str) -> tuple[str, Cell] | None:
        """The one host and its cell."""
        return self._only.get(key)


def _same_command(key: str, before: Mapping[str, CheckVersion], after: Mapping[str, CheckVersion]) -> bool:
    earlier, later = version_of(key, before), version_of(key, after)
    return earlier is not None and later is not None and earlier.command == later.command


def _by_command(
    old: Iterable[str], new: Iterable[str], before: Mapping[str, CheckVersion], after: Mapping[str, CheckVersion]
) -> Iterable[tuple[str, str]]:
    """Pairs of keys, the later first, of checks that run the same: where two could be it, what they expect tells."""
    for exact in (True, False):
        taken_old, taken_new = set(), set()
        by_command = [_commands(keys, checks, exact=exact) for keys, checks in ((old, before), (new, after))]
        for command, later in by_command[1].items():
            earlier = by_command[0].get(command, [])
            if len(earlier) == len(later) == 1:
                taken_old.add(earlier[0])
                taken_new.add(later[0])
                yield later[0], earlier[0]
        old, new = [key for key in old if key not in taken_old], [key for key in new if key not in taken_new]


def _commands(
    keys: Iterable[str], checks: Mapping[str, CheckVersion], *, exact: bool
) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for key in keys:
        version = checks.get(key)
        if version is not None and version.command:
            name = (version.command, version.rules, version.play) if exact else (version.command,)
            found.setdefault(name, []).append(key)
    return found
