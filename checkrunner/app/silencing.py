"""The use cases of `silence`: what nobody wants to be told of for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from checkrunner.history.store import Store
from checkrunner.load.moments import until_of
from checkrunner.model.errors import UsageError, nearest
from checkrunner.model.history import RunView, Selection, Silence, check_fits, name_fits
from checkrunner.model.people import Silencing

__all__ = ["AskedSilence", "asked_silence", "make_silence"]

_LOOKED_AT = 200
_MOST_VIEWS = 8
"""Of so many series the newest run is looked at, to see what a silence is about."""
_LONGEST_WORD, _LONGEST_WHY = 200, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSilence:
    """What a user asks to be silenced."""

    host: str
    check: str
    until: datetime
    why: str


def asked_silence(
    host: str, check: str, *, until: str, why: str, now: datetime, in_zone: Callable[[datetime], datetime]
) -> AskedSilence:
    """What the words of a user mean (`until`: see `load.moments`). Raises UsageError for words that cannot be names,
    for a time that is none or past, and where nobody says why."""
    _check_word("HOST", host)
    _check_word("CHECK", check)
    why = " ".join(why.split())
    if not why:
        hint = "Say why, for those who read reports: --why 'disk is on order'"
        raise UsageError("a silence needs a reason", hint=hint)
    if len(why) > _LONGEST_WHY:
        raise UsageError(f"a reason has at most {_LONGEST_WHY} characters, this one {len(why):,}")
    return AskedSilence(host=host, check=check, until=until_of(until, now, in_zone), why=why)


def make_silence(store: Store, asked: AskedSilence, *, by: str, now: datetime, mask: Callable[[str], str]) -> Silencing:
    """Silence checks on hosts, by names or patterns with ``*``. What no recent run knows is silenced too, with a
    warning: it may come yet, or be misspelt. The reason is masked."""
    silence = store.silence(asked.host, asked.check, until=asked.until, why=mask(asked.why), by=by, now=now)
    views = list(_newest(store))
    covered = {cell for view in views for cell in view.cells if silence.covers(*cell)}
    return Silencing(
        silence=silence,
        checks=len(covered),
        hosts=len({name for name, _ in covered}),
        warnings=() if covered else list(_unknown(silence, views)),
    )


def _check_word(what: str, word: str) -> None:
    if not word.strip() or word != word.strip() or not word.isprintable():
        raise UsageError(f"{what} {word!r} is no name", hint="Write a name, or a pattern such as 'web*'; '*' is all")
    if len(word) > _LONGEST_WORD:
        raise UsageError(f"{what} has at most {_LONGEST_WORD} characters, this one {len(word):,}")


def _newest(store: Store) -> Iterator[RunView]:
    """The newest run of each of the series that were run last."""
    seen: set[tuple[str, Selection]] = set()
    for run in store.runs(limit=_LOOKED_AT):
        if (run.playbook, run.selection) not in seen and len(seen) < _MOST_VIEWS:
            seen.add((run.playbook, run.selection))
            yield store.view(run.number)


def _unknown(silence: Silence, views: Sequence[RunView]) -> Iterator[str]:
    """Why nothing that was run lately is silenced by it."""
    if not views:
        yield "no run is stored yet: whether there is such a host or check is not known"
        return
    hosts = {host for view in views for host in view.hosts}
    checks = {check for view in views for check in view.checks}
    lacks_host = not any(name_fits(silence.host, name) for name in hosts)
    lacks_check = not any(check_fits(silence.check, name) for name in checks)
    if lacks_host:
        yield _no("host", silence.host, hosts)
    if lacks_check:
        yield _no("check", silence.check, checks)
    if not lacks_host and not lacks_check:
        yield f"no recent run has the check {silence.check} on {silence.host}"


def _no(what: str, word: str, known: Iterable[str]) -> str:
    close = nearest(word, known)
    return f"no recent run has a {what} {word!r}" + (f"; did you mean {close!r}?" if close else "")
