"""The parts of a report, each fit to be shown: masked, bounded, and what was left out told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypedDict

from checkrunner.findings.fold import fold
from checkrunner.findings.grouping import Group
from checkrunner.findings.heldback import HeldBack
from checkrunner.findings.hostnotes import fold_notes
from checkrunner.findings.items import because, labels, place, trunk
from checkrunner.findings.near import Differing
from checkrunner.findings.numbers import shared_reasons, shared_result, shared_seen
from checkrunner.findings.report_limits import ReportLimits, Texts, Titles, as_written
from checkrunner.findings.said import said
from checkrunner.findings.secret_tags import outside_tags
from checkrunner.findings.silences import silenced
from checkrunner.findings.slices import is_binary
from checkrunner.findings.totals import capture_of, execution_of
from checkrunner.findings.values import shared_metrics, shared_values
from checkrunner.model.drift import Drift
from checkrunner.model.errors import TemplateError
from checkrunner.model.history import Cell, HostCell
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import (
    CheckValues,
    Finding,
    Incomplete,
    Message,
    Omission,
    Silenced,
    Suppressed,
    Variant,
    Wait,
)
from checkrunner.model.results import CaptureState, Execution, HostState, Reason, SliceMode, Stream, VerdictState
from checkrunner.model.seams import Redactor

__all__ = ["Making"]

_VALUE_CHARS = 100


class _Past(TypedDict):
    since: datetime | None
    changes: int


class Making:
    """One report in the making: what it may show, and what it had to leave out so far. `cells` and `hosts` say since
    when things are so, where earlier runs are known."""

    def __init__(self, redactor: Redactor, texts: Texts, titles: Titles, limits: ReportLimits, held: HeldBack) -> None:
        self.limits = limits
        self.omissions: list[Omission] = []
        self._redactor = redactor
        self._texts = texts
        self._titles = titles
        self._held = held
        self._folded: dict[tuple[str, ...], str] = {}
        self.cells: Mapping[tuple[str, str], Cell] = {}
        self.hosts: Mapping[str, HostCell] = {}

    def text(self, text: str) -> str:
        """A text fit for the report: masked, and not longer than the limit, which it then says."""
        text = self._redactor.redact(text) if text else text
        over = len(text) - self.limits.text_chars
        if over <= 0:
            return text
        end = outside_tags(text, self.limits.text_chars)
        return f"{text[:end]}... ({len(text) - end} characters more)"

    def finding(self, entry: Group) -> Finding:
        """The finding of outcomes that say the same."""
        first = entry.first
        check = first.planned.check
        names = tuple(dict.fromkeys(outcome.host for outcome in entry.outcomes))
        items = labels(entry.outcomes)
        many = len(items) > 1
        reasons, differ = shared_reasons(entry.outcomes)
        ran = execution_of(first) is not Execution.NOT_RUN
        why, fix = self._why_and_fix(first)
        self._omit_slices(entry)
        return Finding(
            id=entry.id,
            check=trunk(first.planned) if many else first.planned.key,
            name=self._title(entry.outcomes),
            play=first.planned.play,
            severity=check.severity,
            verdict=first.verdict.state,
            execution=execution_of(first),
            hosts=self._hosts(names, f"finding {entry.id}"),
            names=names,
            reasons=tuple(self._reason(reason) for reason in reasons),
            result=self._texts_in(shared_result(entry.outcomes) if ran else {}),
            seen=self._texts_in(shared_seen(entry.outcomes)),
            values=shared_values(entry.outcomes, self._short),
            because=because(entry.outcomes),
            items=self._items(items, entry) if many else (),
            item_count=len(items) if many else 0,
            slices=first.slices,
            variants=tuple(self._variant(one, entry) for one in entry.differing),
            folded_by=_folded_by(entry, differ=differ),
            explained_by=entry.cause,
            novelty=entry.novelty,
            silenced=self._silenced(silenced(entry.silence)),
            **self._past(entry),
            notes=self._notes(entry),
            why=self.text(why),
            fix=self.text(fix),
        )

    def _past(self, entry: Group) -> _Past:
        """Since when it is so, and how unsteady: of its hosts the one that began first, and the most unsteady one."""
        cells = [self.cells[at] for one in entry.outcomes if (at := (one.host, one.planned.key)) in self.cells]
        began = [cell.since for cell in cells if cell.since]
        return _Past(
            since=min(began, default=None), changes=max((cell.changes for cell in cells if cell.is_flapping), default=0)
        )

    def _away_since(self, entry: Incomplete) -> datetime | None:
        began = [self.hosts[name].since for name in entry.names if name in self.hosts]
        known = [moment for moment in began if moment and entry.state is not HostState.REACHED]
        return min(known, default=None)

    def drift(self, drift: Drift) -> Drift:
        """What changed, in texts fit to be shown."""
        return replace(
            drift,
            unlike=tuple(map(self.text, drift.unlike)),
            changes=tuple(
                replace(change, name=self.text(change.name), note=self.text(change.note)) for change in drift.changes
            ),
        )

    def _variant(self, one: Differing, entry: Group) -> Variant:
        names = tuple(outcome.host for outcome in one.outcomes)
        return Variant(hosts=self._hosts(names, f"finding {entry.id}"), names=names, slices=one.slices)

    def _items(self, items: tuple[str, ...], entry: Group) -> tuple[str, ...]:
        """As many as there is room for."""
        room = self.limits.item_chars
        shown: list[str] = []
        for item in items:
            room -= len(item) + 2
            if shown and room < 0:
                break
            shown.append(item)
        if left := len(items) - len(shown):
            why = "the list of items is too long"
            self.omissions.append(Omission(what="item", count=left, why=why, where=f"finding {entry.id}"))
        return tuple(shown)

    def _title(self, outcomes: Sequence[CheckOutcome]) -> str:
        """What the check is called on all of its hosts; as it is written where they differ in it."""
        written = outcomes[0].planned.check.name
        if "{" in written:
            first = self._titles(outcomes[0])
            if all(self._titles(one) == first for one in outcomes[1:]):
                return self.text(first)
        return self.text(written)

    def _why_and_fix(self, outcome: CheckOutcome) -> tuple[str, str]:
        """A check that never had its variables still has a finding: its texts then stand as written."""
        try:
            return self._texts(outcome)
        except TemplateError:
            return as_written(outcome)

    def incomplete(self, entry: Incomplete) -> Incomplete:
        """Hosts that could not be looked at, in texts fit to be shown."""
        return replace(
            entry,
            hosts=self._hosts(entry.names, f"incomplete hosts, {entry.state}", folded=entry.hosts),
            reason=self.text(entry.reason),
            hint=self.text(entry.hint),
            since=self._away_since(entry),
            silenced=self._silenced(entry.silenced),
        )

    def _silenced(self, entry: Silenced | None) -> Silenced | None:
        return entry and replace(entry, why=self.text(entry.why), by=self.text(entry.by))

    def suppressed(self, entry: Suppressed) -> Suppressed:
        """A check that was not run on hosts because it does harm there."""
        hosts = self._hosts(entry.names, f"suppressed check {entry.check}")
        return replace(entry, hosts=hosts, reason=self.text(entry.reason))

    def captures(self, outcomes: Iterable[HostOutcome]) -> None:
        """Output that a command wrote and that was not kept on its host, by check."""
        found: dict[tuple[str, CaptureState], list[CheckOutcome]] = {}
        for host in outcomes:
            for check in host.checks:
                result = check.result
                if result is None or (
                    result.stdout.state is CaptureState.COMPLETE and result.stderr.state is CaptureState.COMPLETE
                ):
                    continue
                found.setdefault((trunk(check.planned), capture_of(result)), []).append(check)
        for (key, state), checks in found.items():
            why = "beyond the capture limit" if state is CaptureState.TRUNCATED else "the capture failed on the host"
            names, items = tuple(dict.fromkeys(check.host for check in checks)), labels(checks)
            key = checks[0].planned.key if len(items) == 1 else key
            which = f"{key} ({len(items)} items)" if len(items) > 1 else key
            where = f"{which} on {self._hosts(names, f'omission of {key}')}"
            self.omissions.append(Omission(what="output", count=len(checks), why=why, where=where))

    def metrics(self, outcomes: Iterable[HostOutcome]) -> tuple[CheckValues, ...]:
        """The values of each check over all hosts; no more values than the limits say."""
        kept: list[CheckValues] = []
        left, dropped = self.limits.metrics, 0
        for entry in shared_metrics(outcomes, self._short):
            values = entry.values[:left]
            left -= len(values)
            dropped += len(entry.values) - len(values)
            kept += [replace(entry, values=values)] if values else []
        if dropped:
            why = f"only {self.limits.metrics} values over all hosts are shown"
            self.omissions.append(Omission(what="value", count=dropped, why=why))
        return tuple(kept)

    def messages(self, outcomes: Iterable[HostOutcome]) -> tuple[Message, ...]:
        """What tasks had to say; no more than the limits say."""
        every = list(said(outcomes, self.text))
        most = self.limits.messages
        if every[most:]:
            why = f"only {most} different messages are shown"
            self.omissions.append(Omission(what="message", count=len(every) - most, why=why))
        return tuple(
            Message(
                check=one.check,
                name=self.text(one.name),
                text=one.text,
                hosts=self._hosts(one.hosts, f"message of {one.check}"),
                names=one.hosts,
            )
            for one in every[:most]
        )

    def _short(self, text: str) -> str:
        """A text that is a value: masked first, since half of a secret would not be known."""
        text = " ".join(self._redactor.redact(text).split())
        return text if len(text) <= _VALUE_CHARS else f"{text[: outside_tags(text, _VALUE_CHARS)]}..."

    def waits(self, waits: Sequence[Wait]) -> tuple[Wait, ...]:
        """Where hosts waited, the longest first; no more than the limits say."""
        ranked = sorted(waits, key=lambda wait: -wait.longest_s)
        most = self.limits.waits
        if ranked[most:]:
            self.omissions.append(
                Omission(what="wait", count=len(ranked) - most, why=f"only the {most} longest waits are shown")
            )
        return tuple(replace(wait, place=self.text(wait.place)) for wait in ranked[:most])

    def warnings(self, warnings: Iterable[str], outcomes: Iterable[HostOutcome]) -> tuple[str, ...]:
        """The warnings about the run, each once, then what was odd about hosts, folded; no more than the limits say."""
        general = list(dict.fromkeys(warnings))
        notes = fold_notes((outcome.host, outcome.notes) for outcome in outcomes)
        most = self.limits.warnings
        if general[most:]:
            why = f"only {most} warnings are shown"
            self.omissions.append(Omission(what="warning", count=len(general) - most, why=why))
        most = self.limits.notes
        if notes[most:]:
            dropped = sum(len(note.names) for note in notes[most:])
            why = f"only {most} different notes are shown"
            self.omissions.append(Omission(what="host note", count=dropped, why=why))
        return (
            *(self.text(warning) for warning in general[: self.limits.warnings]),
            *(self.text(f"{self._hosts(tuple(note.names), 'host note')}: {note.text}") for note in notes[:most]),
        )

    def _reason(self, reason: Reason) -> Reason:
        return Reason(
            subject=reason.subject,
            expected=self.text(reason.expected),
            actual=self.text(reason.actual),
            message=self.text(reason.message),
        )

    def _texts_in(self, values: Mapping[str, object]) -> dict[str, object]:
        return {name: self.text(value) if isinstance(value, str) else value for name, value in values.items()}

    def _hosts(self, names: tuple[str, ...], where: str, *, folded: str | None = None) -> str:
        """The folded names; where they are too long, those of the first hosts."""
        text = self._fold(names) if folded is None else folded
        if len(text) <= self.limits.host_chars:
            return text
        keep = len(names)
        while keep > 1 and len(text) > self.limits.host_chars:
            keep = max(1, min(keep - 1, keep * self.limits.host_chars // len(text)))
            text = fold(names[:keep])
        self.omissions.append(
            Omission(what="host name", count=len(names) - keep, why="the list of hosts is too long", where=where)
        )
        return text

    def _fold(self, names: tuple[str, ...]) -> str:
        """Checks often fail on the same hosts, and folding thousands of names takes a while."""
        if names not in self._folded:
            self._folded[names] = fold(names)
        return self._folded[names]

    def _omit_slices(self, entry: Group) -> None:
        for piece in entry.first.slices:
            # Of lines that were chosen, the slice itself says how many others there are.
            if piece.more_lines and piece.query.mode is not SliceMode.SALIENT:
                self.omissions.append(
                    Omission(what="line", count=piece.more_lines, why="beyond the slice's limit", where=piece.evidence)
                )
        if entry.untold:
            why, where = "only what several hosts show is told", f"finding {entry.id}"
            self.omissions.append(Omission(what="variant of the output", count=entry.untold, why=why, where=where))
        if entry.merged:
            self.omissions.append(
                Omission(
                    what="variant of the output",
                    count=entry.merged - 1,
                    why=f"only {self.limits.variants} variants of a finding are shown",
                    where=f"finding {entry.id}",
                )
            )

    def _notes(self, entry: Group) -> tuple[str, ...]:
        notes = dict.fromkeys(
            note for outcome in entry.outcomes if outcome.result is not None for note in outcome.result.notes
        )
        out = [self.text(note) for note in notes]
        if held := self._held.note(entry.outcomes):
            out.append(self.text(held))
        first = entry.first
        elsewhere = tuple(dict.fromkeys(outcome.on for outcome in entry.outcomes if outcome.on and outcome.result))
        if elsewhere:
            out.append(f"ran on {self._hosts(elsewhere, f'finding {entry.id}')} (delegate_to)")
        if first.result is not None and first.verdict.state is not VerdictState.OK:
            for stream in (Stream.STDOUT, Stream.STDERR):
                output = first.result.output(stream)
                if is_binary(output):
                    out.append(f"{stream} is binary, {output.bytes:,} bytes")
        where = place(first, of_many=any(outcome.planned.key != first.planned.key for outcome in entry.outcomes))
        if entry.uneven:
            out.append("each of the hosts has some of these items, not all of them")
        if entry.merged:
            out.append(f"{entry.merged} different outputs are folded here; the one shown is of {where}")
        return tuple(out)


def _folded_by(entry: Group, *, differ: bool) -> str:
    """What made its outcomes count as the same, in the words of `Finding.folded_by`. `differ`: their reasons are not
    the same to the letter."""
    if len(entry.outcomes) < 2 or entry.merged:
        return ""
    if entry.near:
        return "near"
    texts = [piece.text for piece in entry.first.slices]
    if differ or any([piece.text for piece in outcome.slices] != texts for outcome in entry.outcomes):
        return "masked"
    return "equal"
