"""One host's script: the joint of plan, judge and slices that the engine drives."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from checkrunner.findings.slices import early_queries, queries, show
from checkrunner.judge.judge import Judge
from checkrunner.judge.refusals import REFUSALS
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, PlannedCheck, Skip, Step
from checkrunner.model.results import RawSlice, Result, Slice, SliceQuery, Verdict
from checkrunner.model.seams import Redactor
from checkrunner.model.sources import Template
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.texts import Templates

__all__ = ["HostScript"]


class HostScript:
    """Implements `model.seams.Script`. `judge`, `templates` and `redactor` are shared by all hosts of a run."""

    __slots__ = ("_judge", "_names", "_plan", "_redactor", "_templates", "checks", "host")

    def __init__(self, plan: HostPlan, *, judge: Judge, templates: Templates, redactor: Redactor) -> None:
        self.host: Host = plan.host
        self.checks: Sequence[PlannedCheck] = plan.checks
        self._plan = plan
        self._judge = judge
        self._templates = templates
        self._redactor = redactor
        # A check's names are fixed when it is resolved: the same ones render its probes, judge it, choose its slices.
        self._names: dict[str, Mapping[str, object]] = {}

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip:
        """Render the check, with the probes that its expectations need and the slices it always wants."""
        resolved = self._plan.resolve(planned, outcomes)
        if isinstance(resolved, Skip):
            return resolved
        names = self._names[planned.key] = self._plan.names(planned, outcomes)
        probes = self._judge.probes(planned.check, names)
        if resolved.command.exact is not None:
            probes = (*probes, *REFUSALS)
        early = early_queries(planned.check, self._renderer(names)) if planned.check.slices else ()
        return replace(resolved, probes=probes, early=early) if probes or early else resolved

    def judge(self, step: Step, result: Result, outcomes: Mapping[str, CheckOutcome]) -> Verdict:  # noqa: ARG002 - the seam's
        """The verdict on a result."""
        return self._judge.verdict(step.planned.check, step, result, self._names[step.planned.key])

    def ask(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """The slices to fetch after the verdict."""
        render = self._renderer(self._names[step.planned.key])
        return queries(step.planned.check, step, result, verdict, render)

    def show(self, step: Step, raw: RawSlice) -> Slice:
        """Text view, redaction and evidence id of what the host sent."""
        return show(self.host.name, step.planned.key, step, raw, self._redactor)

    def texts(self, outcome: CheckOutcome) -> tuple[str, str]:
        """The check's `why` and `fix` as they read on this host."""
        check = outcome.planned.check
        names = self._names.get(outcome.planned.key)
        if names is None:
            names = self._plan.names(outcome.planned, {outcome.planned.key: outcome})
        render = self._renderer(names)
        return (render(check.why) if check.why else "", render(check.fix) if check.fix else "")

    def _renderer(self, names: Mapping[str, object]) -> functools.partial[str]:
        return functools.partial(_render, self._templates, names)


def _render(templates: Templates, names: Mapping[str, object], template: Template) -> str:
    return templates.render(template, names)
