"""Hosts that could not be looked at, or not to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from checkrunner.findings.fold import fold
from checkrunner.findings.grouping import not_looked_at
from checkrunner.findings.masks import Masker, mask_names, own_names
from checkrunner.findings.silences import silenced
from checkrunner.model.history import Silence
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Incomplete
from checkrunner.model.results import HostState

__all__ = ["fold_incomplete"]

_REASONS = {
    HostState.REACHED: "some checks were not run",
    HostState.LOST: "the connection was lost",
}


@dataclass(slots=True)
class _Entry:
    state: HostState
    phase: str
    hint: str
    raw: list[str] = field(default_factory=list)
    masked: str = ""
    names: list[str] = field(default_factory=list)
    checks: int = 0
    silence: Silence | None = None


def fold_incomplete(
    outcomes: Iterable[HostOutcome], silence: Callable[[str, str], Silence | None] = lambda _host, _check: None
) -> list[Incomplete]:
    """The incomplete hosts folded by state, phase and reason (the host's own name aside), most hosts first. Behind them
    come those that nobody wants to be told of.

    A reached host is here when the run ended before its checks did.
    """
    masker = Masker()
    found: dict[tuple[object, ...], _Entry] = {}
    for host in outcomes:
        left = sum(1 for check in host.checks if not_looked_at(host, check))
        if host.state is HostState.REACHED and not left:
            continue
        reason = _reason(host)
        names = own_names(host.host)
        phase = host.error.phase if host.error else "run"
        hint = mask_names(host.error.hint, names) if host.error else ""
        held = silence(host.host.name, "")
        key = (host.state, phase, masker.mask(reason, names), masker.mask(hint), held)
        entry = found.get(key)
        if entry is None:
            entry = found[key] = _Entry(host.state, phase, host.error.hint if host.error else "")
            entry.silence = held
            entry.masked = mask_names(reason, names)
        elif reason != entry.raw[0]:
            entry.hint = hint
        entry.raw.append(reason)
        entry.names.append(host.host.name)
        entry.checks += left
    order = sorted(found.values(), key=lambda entry: (entry.silence is not None, -len(entry.names)))
    return [_finished(entry) for entry in order]


def _reason(host: HostOutcome) -> str:
    if host.error is not None:
        return host.error.message.removeprefix(f"{host.host.name}: ")
    for check in host.checks:
        if not_looked_at(host, check):
            for reason in check.verdict.reasons:
                return reason.message.removeprefix("was ").removeprefix("not run: ")
    return _REASONS.get(host.state, str(host.state).replace("_", " "))


def _finished(entry: _Entry) -> Incomplete:
    reason = entry.raw[0] if len(set(entry.raw)) == 1 else entry.masked
    if entry.checks and entry.state in {HostState.REACHED, HostState.LOST}:
        noun = "check was" if entry.checks == 1 else "checks were"
        reason = f"{reason} ({entry.checks} {noun} not finished)"
    return Incomplete(
        hosts=fold(entry.names),
        names=tuple(entry.names),
        state=entry.state,
        phase=entry.phase,
        reason=reason,
        hint=entry.hint,
        silenced=silenced(entry.silence),
    )
