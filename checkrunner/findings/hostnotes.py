"""What was odd about hosts: the same note of many hosts is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from checkrunner.findings.masks import Masker, mask_names, own_names
from checkrunner.model.inventory import Host

__all__ = ["HostNote", "fold_notes"]


@dataclass(slots=True, eq=False)
class HostNote:
    """A note and its hosts. `first` is what the first of them said; `masked` the same with ``<host>`` for its names."""

    first: str
    masked: str
    names: list[str] = field(default_factory=list)
    differ: bool = False
    numbers: bool = False

    @property
    def text(self) -> str:
        """The note as it stands for all its hosts."""
        text = self.masked if self.differ else self.first
        return f"{text} (on {self.names[0]}; numbers or times differ)" if self.numbers else text

    def add(self, name: str, text: str, masked: str) -> None:
        """One more host that says so."""
        if name not in self.names[-1:]:
            self.names.append(name)
        self.differ |= text != self.first
        self.numbers |= masked != self.masked


def fold_notes(notes_of: Iterable[tuple[Host, Sequence[str]]]) -> list[HostNote]:
    """The notes of all hosts, those that differ only in the host's name, in times and in numbers folded into one; the
    most widespread first. A note may begin with its host's name and a colon: that is left out."""
    masker = Masker()
    found: dict[str, HostNote] = {}
    for host, notes in notes_of:
        own = own_names(host) if notes else ()
        for note in notes:
            text = note.removeprefix(f"{host.name}: ")
            key = masker.mask(text, own)
            entry = found.get(key)
            masked = mask_names(text, own)
            if entry is None:
                entry = found[key] = HostNote(text, masked)
            entry.add(host.name, text, masked)
    return sorted(found.values(), key=lambda entry: -len(entry.names))
