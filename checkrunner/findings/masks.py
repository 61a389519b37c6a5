"""What makes texts of two hosts different without making them different findings: names, times, pids, ids, numbers,
the tags of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checkrunner.model.inventory import Host

__all__ = ["HOST", "Masker", "mask_names", "mask_numbers", "own_names"]

HOST = "<host>"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# Numbers that belong to a word stay (sda1, eth0, /mnt/data2): they name things. The host's name after a syslog time
# goes with the time: it need not be the inventory's name.
_VARYING = re.compile(
    r"<secret(?::[0-9a-z]{4,12})?>|"
    rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?{_MONTH} {{1,2}}\d{{1,2}},? \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{{4}}\b)?"
    r"(?: [\w.-]+ (?=[^\s:]+:))?"
    r"|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)"
    r"|\b0x[0-9a-fA-F]+"
    r"|\b(?=[a-f]{0,40}[0-9])[0-9a-f]{8,64}(?:-[0-9a-f]{4,12}){0,4}\b"
    r"|\b(?=[A-F]{0,40}[0-9])[0-9A-F]{8,64}\b"
    r"|(?<!\w)\d+(?:[.,:]\d+)*(?:[KMGTPEkmg]i?[Bb]?|[mun\u00b5]?s|h|d)?(?!\w)"
)
_SPACES = re.compile(r"^ +| +(?= )", re.MULTILINE)


def mask_numbers(text: str) -> str:
    """The text with every time, hexadecimal id and free-standing number as ``#``, and runs of spaces as one or
    none: the columns of a table move with the width of its numbers."""
    text = _VARYING.sub("#", text)
    aligned = "  " in text or "\n " in text or text.startswith(" ")
    return _SPACES.sub("", text) if aligned else text


def own_names(host: Host) -> tuple[str, ...]:
    """What a host may call itself in its output, longest first."""
    names = {host.name, host.address}
    short = host.name.split(".", 1)[0]
    if not short.isdigit():
        names.add(short)
    return tuple(sorted((name for name in names if name), key=lambda name: (-len(name), name)))


class Masker:
    """Masks texts and remembers them: on many hosts the same text comes up again and again."""

    def __init__(self, *, remember: int = 20_000) -> None:
        self._seen: dict[str, str] = {}
        self._remember = remember

    def mask(self, text: str, names: Iterable[str] = (), items: Iterable[str] = ()) -> str:
        """`text` without what varies between hosts, and items of a loop; equal results mean equal evidence. `items` are
        the words for the item: they count as numbers do, since many are some."""
        text = mask_names(mask_names(text, items, by="#"), names)
        masked = self._seen.get(text)
        if masked is None:
            masked = mask_numbers(text)
            if len(self._seen) < self._remember:
                self._seen[text] = masked
        return masked


def mask_names(text: str, names: Iterable[str], *, by: str = HOST) -> str:
    """The text with each of `names`, where it stands as a word, as ``<host>``."""
    for name in names:
        if name in text:
            text = _replace_word(text, name, by)
    return text


def _replace_word(text: str, name: str, by: str) -> str:
    out: list[str] = []
    done = at = 0
    while (at := text.find(name, at)) >= 0:
        end = at + len(name)
        if _is_edge(text[at - 1 : at]) and _is_edge(text[end : end + 1]):
            out.append(text[done:at] + by)
            done = end
        at = end
    return "".join(out) + text[done:]


def _is_edge(char: str) -> bool:
    return not (char.isalnum() or char in {"_", "-"})
