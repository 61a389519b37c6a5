"""What is said of a run as a whole, and what its findings are called, whatever the format: plain texts, not yet made
harmless for where they go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from checkrunner.model.folded import OnHosts
from checkrunner.model.report import Finding, Incomplete, Report, RunInfo, Silenced, Wait
from checkrunner.model.results import CaptureState, Execution, HostState, VerdictState
from checkrunner.render.layout import count_of, duration
from checkrunner.render.since import moment

__all__ = [
    "Sorted",
    "besides",
    "counts_of",
    "ended_text",
    "facts_of_run",
    "label_of",
    "news_of",
    "title_of",
    "totals_text",
    "unseen_text",
    "word_of",
]

_ENDED = {
    "deadline": "The run's deadline passed before it was through.",
    "interrupted": "The run was interrupted: this is what was known by then.",
    "error": "The run ended with an error.",
}
_WORDS = {0: "OK", 1: "WARNING", 2: "CRITICAL", 3: "INCOMPLETE"}
_LABELS = {
    VerdictState.CRIT: "CRIT",
    VerdictState.WARN: "WARN",
    VerdictState.UNKNOWN: "UNKN",
    VerdictState.OK: "OK",
    VerdictState.SKIPPED: "SKIP",
}
_ITS_PLAY_OR_ITEM = re.compile(r"[~[]")


def word_of(report: Report) -> str:
    """The worst that is to be said of the run: OK, WARNING, CRITICAL, INCOMPLETE or ERROR. What is silenced does not
    count, as in the exit code."""
    run, verdicts = report.run, report.totals.verdict
    if run.ended == "error":
        return "ERROR"
    if run.exit_code in _WORDS:
        return _WORDS[run.exit_code]
    if verdicts.get(VerdictState.CRIT):
        return "CRITICAL"
    if not run.complete:
        return "INCOMPLETE"
    return "WARNING" if verdicts.get(VerdictState.WARN) else "OK"


def counts_of(report: Report) -> str:
    """``4 critical, 2 warnings, 18 ok; 3 of them silenced``."""
    verdicts = report.totals.verdict
    names = {
        VerdictState.CRIT: "critical",
        VerdictState.WARN: "warnings" if verdicts.get(VerdictState.WARN, 0) > 1 else "warning",
        VerdictState.UNKNOWN: "unknown",
        VerdictState.OK: "ok",
        VerdictState.SKIPPED: "skipped",
    }
    parts = [f"{verdicts[state]:,} {name}" for state, name in names.items() if verdicts.get(state)]
    text = ", ".join(parts) or "nothing was checked"
    # A finding of items is one on each host at least.
    silenced = sum(one.host_count * max(1, one.item_count) for one in report.findings if one.silenced)
    return f"{text}; {silenced:,} of them silenced" if silenced else text


def ended_text(report: Report) -> str:
    """A sentence on how the run ended, "" when it ended normally."""
    return _ENDED.get(report.run.ended, "")


def facts_of_run(report: Report) -> list[str]:
    """``playbook web.yml``, ``inventory hosts.yml``, ``limit web*``, ``5 hosts``, ``30 checks in 3.4 s``."""
    run, totals = report.run, report.totals
    facts = [f"playbook {run.playbook}"] if run.playbook else []
    if run.inventory:
        facts.append(f"inventory {', '.join(run.inventory)}")
    if run.limit:
        facts.append(f"limit {run.limit}")
    facts.append(count_of(totals.hosts, "host"))
    facts.append(f"{count_of(totals.planned, 'check')} in {duration(run.elapsed_s)}")
    return facts


def besides(run: RunInfo) -> Iterator[str]:
    """What was waited for, and where outputs stay; a line each."""
    yield from map(_waited, run.waits)
    if run.stay:
        yield f"outputs stay on the hosts until {moment(run.stay.until)}: {run.stay.directory}"


def _waited(wait: Wait) -> str:
    """``waited 12 s for jump host ops@bastion (100 hosts, ...)``."""
    facts = [count_of(wait.hosts, "host")] if wait.hosts else []
    if wait.dropped:
        facts.append(f"it dropped {count_of(wait.dropped, 'connection')}")
    if wait.channels:
        facts.append(f"{wait.channels:,} hosts a connection")
    if wait.connections > 1:
        facts.append(count_of(wait.connections, "connection"))
    return f"waited {duration(wait.waited_s)} for {wait.place}" + (f" ({', '.join(facts)})" if facts else "")


def totals_text(report: Report) -> str:
    """Counts that add up."""
    totals = report.totals
    odd_ends = ", ".join(
        f"{number:,} {str(state).replace('_', ' ')}"
        for state, number in totals.execution.items()
        if number and state not in {Execution.DONE, Execution.NOT_RUN}
    )
    text = (
        f"{count_of(totals.planned, 'check')} planned = {totals.done:,} run"
        f"{f' (of these {odd_ends})' if odd_ends else ''} + {totals.skipped:,} skipped"
        f" + {totals.not_run:,} not run"
    )
    reached = ", ".join(f"{number:,} {_state(state)}" for state, number in totals.host.items() if number)
    odd = {state: number for state, number in totals.capture.items() if number and state is not CaptureState.COMPLETE}
    captures = "".join(f"; {count_of(number, 'capture')} {state}" for state, number in odd.items())
    return f"{text}; hosts: {reached or 'none'}{captures}; exit code {report.run.exit_code}"


def _state(state: HostState) -> str:
    return str(state).replace("_", " ")


def unseen_text(entry: Incomplete) -> str:
    """``unreachable: connection refused``."""
    return entry.reason if entry.state is HostState.REACHED else f"{_state(entry.state)}: {entry.reason}"


def label_of(finding: Finding) -> str:
    """CRIT, WARN, UNKN, NOTE, OK or SKIP."""
    return "NOTE" if finding.verdict is VerdictState.OK and finding.reasons else _LABELS[finding.verdict]


def title_of(finding: Finding, *, plays: bool, began: datetime) -> str:
    """``disk: Space on local disks (new)``; `plays` says that its play is to be named, `began` is when the run did."""
    title = finding.check
    if finding.name and finding.name != _ITS_PLAY_OR_ITEM.split(finding.check)[0]:
        title += f": {finding.name}"
    if plays and finding.play:
        title += f" (play {finding.play})"
    news = news_of(finding, began)
    return f"{title} ({news})" if news else title


def news_of(finding: Finding, began: datetime) -> str:
    """``new``; ``changed`` where something else is told of what was in trouble before; "" for what is as it was."""
    if finding.novelty != "new":
        return ""
    return "changed" if finding.since is not None and finding.since < began else "new"


class Sorted:
    """What a report holds, by whether it is to be told at length: findings, hosts that could not be looked at, then
    both as far as they are silenced, and findings that only say why something was skipped."""

    def __init__(self, report: Report) -> None:
        told = [finding for finding in report.findings if finding.verdict is not VerdictState.SKIPPED]
        self.findings = [finding for finding in told if not finding.silenced]
        self.incomplete = [entry for entry in report.incomplete if not entry.silenced]
        self.skipped = [finding for finding in report.findings if finding.verdict is VerdictState.SKIPPED]
        self._quiet = [finding for finding in told if finding.silenced]
        self._quiet_hosts = [entry for entry in report.incomplete if entry.silenced]

    @property
    def silenced(self) -> Sequence[tuple[str, OnHosts, Silenced]]:
        """What it is, where, and the silence."""
        found: list[tuple[str, OnHosts, Silenced | None]] = [
            (f"{label_of(finding)} {finding.check}", finding, finding.silenced) for finding in self._quiet
        ]
        found += [(f"HOST {unseen_text(entry)}", entry, entry.silenced) for entry in self._quiet_hosts]
        return [(what, where, silenced) for what, where, silenced in found if silenced]
