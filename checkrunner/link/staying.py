"""Captures that stay on the host for a while after the run: which they are, and what the agent is told of them."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from checkrunner.link.payload import load_part
from checkrunner.link.requests import part_request, stay_request
from checkrunner.link.wire import encode_request
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import Step

if TYPE_CHECKING:  # which imports this
    from checkrunner.link.starting import Link

__all__ = ["KEEPING_PART", "Stay"]

KEEPING_PART = "keeping"
"""The part of the agent that packs outputs and leaves captures behind. It does not ask for it: it is sent before it is
first needed."""

_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 100
_FAREWELL_S = 2.0
_STAY_S = 10.0


class Stay:
    """What of one session's captures is to stay, where any is. `options.stay_s` says for how long."""

    def __init__(self, options: SessionOptions, host: Host) -> None:
        self._seconds = round(options.stay_s)
        self._name = f"{options.stay_name or 'run'}-{_word(host.name)}"
        self._captures: dict[str, int] = {}

    @property
    def is_wanted(self) -> bool:
        """Whether there are captures that are to stay."""
        return bool(self._captures)

    @property
    def farewell_s(self) -> float:
        """How long the end waits for the agent's last answer, where that matters. It comes when everything there has
        ended; what reaches an agent only after its answers find nobody may be lost."""
        return _STAY_S if self._captures else _FAREWELL_S

    def ran(self, ident: int, step: Step) -> None:
        """A command was sent. Of one that runs again the last captures stay; of what may not be logged none do."""
        task = step.planned.check.task
        if self._seconds and not (task is not None and task.no_log):
            self._captures[step.planned.key] = ident

    def notes(self, link: Link) -> Sequence[str]:
        """What is to be said where nothing can stay."""
        if not self._seconds or (not link.way.in_shell and link.hello is not None and link.hello.directory):
            return ()
        why = "its agent in shell cannot do that" if link.way.in_shell else "they are in memory there"
        return (f"stay: no captures stay on this host after the run: {why}",)

    def farewell(self, link: Link, parts: Container[str], last_id: int) -> list[bytes]:
        """The last requests over the link. `parts` are those that its agent has not got."""
        frames: list[bytes] = []
        if self._captures and not self.notes(link):
            if KEEPING_PART in parts:
                last_id += 1
                frames.append(part_request(last_id, KEEPING_PART, load_part(KEEPING_PART)))
            last_id += 1
            frames.append(stay_request(last_id, self._seconds, self._name, _named(self._captures)))
        return [*frames, encode_request("bye", last_id + 1)]


def _word(text: str) -> str:
    return _OTHER.sub("_", text)[:_LONGEST].strip(".") or "_"


def _named(captures: dict[str, int]) -> dict[int, str]:
    """A file name for each run: that of its check, as far as files can have it."""
    taken: set[str] = set()
    named = {}
    for key, ident in captures.items():
        word = _word(key)
        if word in taken:
            word = f"{word}.{ident}"
        taken.add(word)
        named[ident] = word
    return named
