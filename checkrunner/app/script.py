"""One host's script: the joint of plan, judge and slices that the engine drives."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from checkrunner.app.keeping import Keeping
from checkrunner.findings.novelty import Witnesses
from checkrunner.findings.past import NoPast
from checkrunner.findings.slices import early_queries, queries, shapes, show, witness_queries
from checkrunner.findings.suppressions import is_suppressed, suppressed_verdict
from checkrunner.judge.execution import not_looked
from checkrunner.judge.judge import Judge
from checkrunner.judge.refusals import REFUSALS, refused
from checkrunner.model.errors import TemplateError
from checkrunner.model.history import Suppression
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, Items, Judgement, PlannedCheck, Settled, Skip, Step
from checkrunner.model.results import Execution, RawSlice, Result, Slice, SliceMode, SliceQuery, Verdict, VerdictState
from checkrunner.model.seams import Past, Redactor
from checkrunner.model.sources import Template
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Registered
from checkrunner.plan.variables import Names

__all__ = ["HostScript"]


class HostScript:
    """Implements `model.seams.Script`. `judge`, `templates` and `redactor` are shared by all hosts of a run."""

    __slots__ = (
        "_judge",
        "_keeping",
        "_names",
        "_past",
        "_plan",
        "_rcs",
        "_redactor",
        "_templates",
        "_witnesses",
        "_witnessing",
        "checks",
        "host",
    )

    def __init__(
        self,
        plan: HostPlan,
        *,
        judge: Judge,
        templates: Templates,
        redactor: Redactor,
        witnesses: Witnesses | None = None,
        past: Past | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        self.host: Host = plan.host
        self.checks: Sequence[PlannedCheck] = plan.checks
        self._plan = plan
        self._judge = judge
        self._templates = templates
        self._redactor = redactor
        plan.masked_by(redactor.redact)
        # A check's names are fixed when it is resolved: the same ones render its probes, judge it, choose its slices.
        self._names: dict[str, Mapping[str, object]] = {}
        self._rcs: dict[str, int] = {}  # of the checks whose command failed
        self._witnesses = witnesses or Witnesses()
        self._past = past or NoPast()
        self._keeping = keeping
        self._witnessing: set[str] = set()  # checks that are fine here and whose lines are fetched for others

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip | Items | Settled:
        """Render the check, with the probes that its expectations need and the slices it always wants."""
        resolved = self._plan.resolve(planned, outcomes)
        if not isinstance(resolved, Step):
            return resolved
        names = self._names[planned.key] = self._plan.names(planned, outcomes)
        suppression = self._past.suppression(self.host.name, planned.key)
        if suppression is not None:
            return self._suppressed(resolved, suppression, names)
        probes = self._judge.probes(planned.check, names)
        if resolved.command.exact is not None:
            probes = (*probes, *REFUSALS)
        early = early_queries(planned.check, self._renderer(names)) if planned.check.slices else ()
        if planned.check.consensus is not None:
            from checkrunner.judge.consensus import answer_query

            early = tuple(dict.fromkeys((*early, *answer_query(planned.check))))
        reads = self._judge.reads(planned.check, names)
        if planned.check.baseline is not None:
            from checkrunner.judge.baseline import baseline_query

            reads = tuple(dict.fromkeys((*reads, baseline_query())))
        if planned.check.task is not None:
            from checkrunner.plan.task_commands import needed_probes

            probes = (*probes, *needed_probes(planned.check))
            reads = self._plan.outputs(planned)
        early = (*early, *reads)
        return replace(resolved, probes=probes, early=early, reads=len(reads)) if probes or early else resolved

    def _suppressed(self, step: Step, suppression: Suppression, names: Mapping[str, object]) -> Settled:
        """The check is not run here, since it does harm. For a task that is a failure: what comes after it may build on
        what it does."""
        verdict = suppressed_verdict(suppression)
        if step.planned.check.task is None:
            return Settled(planned=step.planned, verdict=verdict)
        result = Result(seq=0, session=step.command.session, execution=Execution.NOT_RUN)
        judged = self._plan.judge_task(step, result, names, (), verdict, 1)
        return Settled(planned=step.planned, verdict=judged.verdict, registered=judged.registered, task=judged.task)

    def judge(
        self,
        step: Step,
        result: Result,
        outcomes: Mapping[str, CheckOutcome],  # noqa: ARG002 - the seam's
        reads: Sequence[RawSlice | None] = (),
        attempt: int = 1,
    ) -> Judgement:
        """The verdict on a result, and the values in it."""
        if step.planned.check.task is not None:
            unable = not_looked(step.command, result) or refused(step.command, result)
            return self._plan.judge_task(step, result, self._names[step.planned.key], reads, unable, attempt)
        judgement = self._judge.judgement(step, result, self._own(step, result), reads, attempt)
        if step.planned.check.baseline is None:
            return judgement
        from checkrunner.app.baseline import against_baseline

        render = self._renderer(self._names[step.planned.key])
        return against_baseline(self.host.name, step, result, judgement, reads, self._past, self._redactor, render)

    def again(self, step: Step, result: Result, judgement: Judgement, attempt: int) -> float | None:
        """In how many seconds the command is to be run once more."""
        if step.planned.check.task is not None:
            return self._plan.again(step.planned, judgement, self._names[step.planned.key], attempt)
        return self._judge.again(step, result, judgement, self._own(step, result), attempt)

    def _own(self, step: Step, result: Result) -> Mapping[str, object]:
        """The check's names; where it may be run again, with its own result under the name that it is registered as."""
        planned = step.planned
        names, register = self._names[planned.key], planned.check.register
        if planned.check.until is None or register is None:
            return names
        state = VerdictState.OK if result.rc == 0 else VerdictState.CRIT
        own = CheckOutcome(host=self.host.name, planned=planned, verdict=Verdict(state=state), result=result)
        return Names({register: Registered(own)}, names)

    def whole(self, planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
        """What a loop as a whole came to."""
        from checkrunner.plan.loops import whole_of

        return whole_of(planned, items)

    def follow(self, outcome: CheckOutcome) -> Sequence[PlannedCheck]:
        """The checks that are to run because of this outcome. Of one that was not run for the harm that it does nothing
        is known, and they would look at the same thing."""
        if is_suppressed(outcome):
            return ()
        return self._plan.follow(outcome)

    def ask(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """The slices to fetch after the verdict."""
        if step.planned.check.task is not None and step.planned.check.task.no_log:
            return ()
        key = step.planned.key
        if step.planned.check.baseline is not None:
            from checkrunner.app.baseline import is_told

            if is_told(step.planned.check, verdict):
                return ()
        if verdict.state is VerdictState.OK and not step.planned.check.slices:
            return self._witness(step, result, verdict)
        if result.rc:
            self._rcs[key] = result.rc
        asked = queries(step.planned.check, step, result, verdict, self._renderer(self._names[key]))
        if asked and not step.planned.check.slices:
            self._witnesses.trouble(self.host.name, key, self._groups)
        return asked

    def _witness(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """What to ask where nothing is wrong, for the sake of hosts where something is."""
        key = step.planned.key
        asked = witness_queries(step.planned.check, result, verdict)
        if not asked or not self._witnesses.wanted(key, self._groups):
            return ()
        self._witnessing.add(key)
        return asked

    def keep(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """What is to be kept of the outputs after the run."""
        return self._keeping.wanted(self.host.name, step, result, verdict) if self._keeping else ()

    def kept(self, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        """Take what `keep` asked for."""
        if self._keeping:
            self._keeping.take(self.host.name, step, result, parts)

    def show(self, step: Step, raw: RawSlice) -> Slice:
        """Text view, redaction and evidence id of what the host sent. Of a host that is fine nothing is shown."""
        key = step.planned.key
        if key in self._witnessing and raw.query.mode is SliceMode.SALIENT:
            self._witnesses.saw(key, self._groups, shapes(step, raw, self._redactor), self.host.name)
            return Slice(stream=raw.query.stream, query=raw.query, lines=(), total_lines=raw.total_lines)
        return show(self.host.name, step.planned.key, step, raw, self._redactor, self._rcs.get(step.planned.key))

    def texts(self, outcome: CheckOutcome) -> tuple[str, str]:
        """The check's `why` and `fix` as they read on this host."""
        check, render = outcome.planned.check, self._renderer(self._names_of(outcome))
        return (render(check.why) if check.why else "", render(check.fix) if check.fix else "")

    def title(self, outcome: CheckOutcome) -> str:
        """The check's name as it reads on this host, on one line; as it is written where it cannot be read so."""
        written = outcome.planned.check.name
        try:
            return " ".join(self._templates.render(Template(text=written), self._names_of(outcome)).split())
        except TemplateError:
            return written

    def _names_of(self, outcome: CheckOutcome) -> Mapping[str, object]:
        """The names of the check's texts; where it was never resolved, those that are known without the run."""
        names = self._names.get(outcome.planned.key)
        return self._plan.names(outcome.planned, {outcome.planned.key: outcome}) if names is None else names

    @property
    def _groups(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.host.groups) - {"all", "ungrouped"}))

    def peers(self, outcome: CheckOutcome, by: str) -> Hashable:
        """What this host has in common with those that it is compared with. Raises TemplateError."""
        if by == "all":
            return ""
        if by == "group":
            return self._groups
        names = self._names_of(outcome)
        if by not in names:
            raise TemplateError(
                f"variable {by!r} is not defined on this host", hint="Set it for each host, or a default"
            )
        return repr(names[by])

    def _renderer(self, names: Mapping[str, object]) -> functools.partial[str]:
        return functools.partial(_render, self._templates, names)


def _render(templates: Templates, names: Mapping[str, object], template: Template) -> str:
    return templates.render(template, names)
