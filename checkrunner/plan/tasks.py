"""What tasks come to, as Ansible has it: assert, debug, fail and set_fact, and the results of commands.

A failed task is critical. It is noted only where its errors are ignored, and unknown where the command could not be
looked at; what else of its host's play is run then is decided elsewhere, by `TaskState`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import truth
from checkrunner.model.plan import Judgement, PlannedCheck, Settled, Skip, Step
from checkrunner.model.results import Execution, RawSlice, Reason, Result, Stream, Verdict, VerdictState
from checkrunner.model.sources import Template
from checkrunner.model.tasks import Module, Task, TaskState
from checkrunner.plan.facts import parse_facts
from checkrunner.plan.task_commands import NOT_BEGUN, NOT_NEEDED, task_command
from checkrunner.plan.task_results import TaskResult, command_result, with_item
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Hidden, RemoteText
from checkrunner.plan.variables import Names

__all__ = ["Finished", "Tasks", "task_reason"]

_HIDDEN = "what it says is not shown (no_log)"
_ASSERTED = "All assertions passed"
_DEFAULT_MESSAGE = "Assertion failed"
_NOT_BEGUN = {
    1: "Unable to change directory before execution.",
    2: "Error executing command: there is no such program",
    13: "Error executing command: permission denied",
}
_LINES_BEFORE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A task as far as it has come: its result, why it failed, what it leaves and what it has to say."""

    result: TaskResult
    reason: Reason | None = None
    facts: Mapping[str, Any] | None = None
    message: str = ""
    unclear: bool = False

    @property
    def failed(self) -> bool:
        """Whether it has failed. What `failed_when` says counts more than that `until` was never met."""
        return bool(self.result.get("failed_when_result", self.result.get("failed")))


def task_reason(subject: str, message: str, *, expected: str = "", actual: str = "") -> Reason:
    """Why a task failed."""
    return Reason(subject=subject, expected=expected, actual=actual, message=message)


class Tasks:
    """Answers tasks. One for all hosts of a run."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    # ---- tasks without a command

    def settle(self, planned: PlannedCheck, names: Mapping[str, Any], *, rescued: bool = False) -> Settled | Skip:
        """What a task comes to that needs no host. Total: what cannot be evaluated has failed, as in Ansible."""
        task = planned.check.task
        assert task is not None
        if task.module is Module.DEBUG and task.args.get("verbosity", 0):
            return Skip(planned=planned, reason=f"debug: its verbosity is {task.args['verbosity']}, that of the run 0")
        try:
            finished = self._answer(task, names)
        except TemplateError as error:
            finished = self.trouble(error)
        finished = self.decide(planned, finished, names)
        finished = self._until(planned, finished, names, 1, last=True)  # it would come to the same again
        verdict, state = self.verdict(planned, finished, names, rescued=rescued)
        return Settled(
            planned=planned,
            verdict=verdict,
            facts=finished.facts or {},
            message="" if task.no_log else finished.message,
            registered=with_item(planned, finished.result),
            task=state,
        )

    def _answer(self, task: Task, names: Mapping[str, Any]) -> Finished:
        match task.module:
            case Module.ASSERT:
                return self._assert(task, names)
            case Module.DEBUG:
                return self._debug(task, names)
            case Module.FAIL:
                said = self._value(task.args.get("msg", "Failed as requested from task"), names)
                return _failed("fail", _text(said), message=said)
            case Module.SET_FACT:
                facts = {name: self._value(value, names) for name, value in task.args["facts"].items()}
                result = TaskResult({"changed": False, "failed": False, "ansible_facts": facts})
                return Finished(result=result, facts=facts)
            case Module.INCLUDE_TASKS:
                values = {"changed": False, "failed": False, "include": task.args["file"].text}
                return Finished(result=TaskResult(values))
        return Finished(result=TaskResult({"changed": False, "failed": False}))

    def _assert(self, task: Task, names: Mapping[str, Any]) -> Finished:
        for condition in task.args["that"]:
            if truth(self._templates.evaluate(condition, names)):
                continue
            said = self._value(task.args.get("fail_msg", _DEFAULT_MESSAGE), names)
            text = _text(said)
            shown = text if text != _DEFAULT_MESSAGE else f"{_DEFAULT_MESSAGE}: {_line(condition.text)}"
            values = {"assertion": condition.text, "evaluated_to": False, "msg": said, "changed": False}
            reason = task_reason("assert", shown, expected=_line(condition.text), actual="false")
            return Finished(result=TaskResult({**values, "failed": True}), reason=reason)
        said = self._value(task.args.get("success_msg", _ASSERTED), names)
        message = _text(said) if "success_msg" in task.args and not task.args.get("quiet") else ""
        return Finished(result=TaskResult({"changed": False, "failed": False, "msg": said}), message=message)

    def _debug(self, task: Task, names: Mapping[str, Any]) -> Finished:
        done = {"changed": False, "failed": False}
        if "var" not in task.args:
            said = self._value(task.args.get("msg", "Hello world!"), names)
            return Finished(result=TaskResult({**done, "msg": said}), message=_text(said))
        wanted: Template = task.args["var"]
        try:
            value = self._templates.evaluate(wanted, names)
        except TemplateError as error:
            if "undefined" not in error.message and "not defined" not in error.message:
                raise
            value = "VARIABLE IS NOT DEFINED!"
        return Finished(result=TaskResult({**done, wanted.text: value}), message=f"{wanted.text}: {_text(value)}")

    # ---- tasks with a command

    def judge(
        self,
        step: Step,
        result: Result,
        names: Mapping[str, Any],
        reads: Sequence[RawSlice | None],
        unable: Verdict | None,
        *,
        attempt: int = 1,
        rescued: bool = False,
    ) -> Judgement:
        """What a command came to. `reads` answer the last queries of the step; `unable` says that it was not run to its
        end. Total."""
        planned, task = step.planned, step.planned.check.task
        assert task is not None
        texts = {
            query.stream: raw for query, raw in zip(step.early[len(step.early) - len(reads) :], reads, strict=True)
        }
        try:
            if unable is not None:
                finished = self._unable(step, result, unable)
            elif task.module is Module.SETUP:
                finished = _gathered(command_result(result, [], texts))
            else:
                finished = self._ended(step, result, names, texts)
                finished = self.decide(planned, finished, names)
                finished = self._until(planned, finished, names, attempt)
        except TemplateError as error:
            finished = self.trouble(error)
        verdict, state = self.verdict(planned, finished, names, rescued=rescued)
        if finished.result.get("skipped"):
            reason = task_reason("task", str(finished.result["msg"]), expected="run", actual="not needed")
            verdict, state = Verdict(state=VerdictState.SKIPPED, reasons=(reason,)), TaskState.OK
        return Judgement(
            verdict=verdict, facts=finished.facts or {}, registered=with_item(planned, finished.result), task=state
        )

    def _ended(
        self, step: Step, result: Result, names: Mapping[str, Any], texts: Mapping[Stream, RawSlice | None]
    ) -> Finished:
        """A command that ran to its end: its return code says whether it failed."""
        task = step.planned.check.task
        assert task is not None
        command = task_command(step.planned.check, names, self._templates)
        found = command_result(result, command.cmd, texts)
        answer = result.probes.get(NOT_NEEDED.name)
        if command.conditional and result.rc == 0 and result.stdout.lines == 1 and answer and answer.count:
            found = found.with_values(changed=False, msg="Did not run: what it makes is there, or what it takes is not")
            return Finished(result=found.with_values(skipped=True) if task.module is Module.SCRIPT else found)
        if result.rc == 0:
            return Finished(result=found)
        begun = result.probes.get(NOT_BEGUN.name)
        if begun and begun.count and result.stderr.lines <= _LINES_BEFORE and result.rc in _NOT_BEGUN:
            message = _NOT_BEGUN[result.rc]
            reason = task_reason("command", message, expected="0", actual=str(found["rc"]))
            return Finished(result=found.with_values(failed=True, changed=False, msg=message), reason=reason)
        reason = task_reason("rc", f"rc was {found['rc']}, expected 0", expected="0", actual=str(found["rc"]))
        return Finished(result=found.with_values(failed=True, msg="non-zero return code"), reason=reason)

    @staticmethod
    def _unable(step: Step, result: Result, unable: Verdict) -> Finished:
        """A command that could not be looked at. Where the task itself says how long it may take, that it took longer
        is a failure like others."""
        reason = unable.reasons[0] if unable.reasons else task_reason("execution", "was not run to its end")
        own = step.planned.check.timeout_s is not None and result.execution is Execution.TIMED_OUT
        values = {"changed": False, "failed": True, "rc": None, "msg": RemoteText(reason.message)}
        return Finished(result=TaskResult(values), reason=reason, unclear=not own)

    def failed(
        self, planned: PlannedCheck, error: TemplateError, names: Mapping[str, Any], *, rescued: bool = False
    ) -> Settled:
        """A task that could not even be begun with: a condition, its items or its command cannot be evaluated."""
        finished = self.trouble(error)
        verdict, state = self.verdict(planned, finished, names, rescued=rescued)
        return Settled(planned=planned, verdict=verdict, registered=with_item(planned, finished.result), task=state)

    # ---- what decides

    def decide(self, planned: PlannedCheck, finished: Finished, names: Mapping[str, Any]) -> Finished:
        """What `changed_when` and `failed_when` make of it. They read the result under the name of its `register`."""
        task, register = planned.check.task, planned.check.register
        assert task is not None
        result = finished.result
        if result.get("skipped") or not (task.changed_when or task.failed_when):
            return finished
        for key, conditions in (("changed", task.changed_when), ("failed", task.failed_when)):
            if conditions is None:
                continue
            top = {register: result} if register else {}
            try:
                holds, condition = self._all(conditions, Names(top, names))
            except TemplateError as error:
                reason = task_reason(f"{key}_when", f"{key}_when: {error.message}", actual=error.message)
                return replace(finished, result=result.with_values(failed=True), reason=reason)
            result = result.with_values(**{key: holds})
            if key == "failed":
                result = result.with_values(failed_when_result=holds)
                said = f"failed_when: {condition}"
                reason = task_reason("failed_when", said, expected=f"not {condition}", actual="true")
                finished = replace(finished, reason=reason if holds else None, unclear=False)
        return replace(finished, result=result)

    def _all(self, conditions: Sequence[Template], names: Mapping[str, Any]) -> tuple[bool, str]:
        for condition in conditions:
            if not truth(self._templates.evaluate(condition, names)):
                return False, _line(condition.text)
        return True, " and ".join(_line(condition.text) for condition in conditions)

    def _until(
        self, planned: PlannedCheck, finished: Finished, names: Mapping[str, Any], attempt: int, *, last: bool = False
    ) -> Finished:
        """With what `until` makes of this run of the task: one that was the last has failed where it is not met."""
        until = planned.check.until
        if until is None:
            return finished
        finished = replace(finished, result=finished.result.with_values(attempts=attempt))
        try:
            if self.met(planned, finished.result, names):
                return finished
        except TemplateError as error:
            reason = task_reason("until", f"until: {error.message}", actual=error.message)
            return replace(
                finished, result=finished.result.with_values(failed=True, failed_when_result=True), reason=reason
            )
        if attempt <= until.retries and not last:
            return finished
        result = finished.result.with_values(attempts=max(1, until.retries), failed=True)
        wanted = " and ".join(_line(condition.text) for condition in until.conditions) or "success"
        times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
        reason = task_reason("until", f"until: {wanted} did not hold in {times}", expected=wanted)
        return replace(finished, result=result, reason=finished.reason or reason)

    def met(self, planned: PlannedCheck, result: Mapping[str, Any], names: Mapping[str, Any]) -> bool:
        """Whether `until` holds. Without conditions of its own, that is when the task has not failed."""
        until, register = planned.check.until, planned.check.register
        assert until is not None
        if not until.conditions:
            return not result.get("failed")
        top = {register: result} if register else {}
        return self._all(until.conditions, Names(top, names))[0]

    def again(
        self, planned: PlannedCheck, registered: Mapping[str, Any], names: Mapping[str, Any], attempt: int
    ) -> float | None:
        """In how many seconds the task is to be run once more, None when this run counts."""
        until = planned.check.until
        if until is None or attempt > until.retries:
            return None
        try:
            return None if self.met(planned, registered, names) else until.delay_s
        except TemplateError:
            return None

    def verdict(
        self, planned: PlannedCheck, finished: Finished, names: Mapping[str, Any], *, rescued: bool = False
    ) -> tuple[Verdict, TaskState]:
        """The verdict, and what it means for the rest of the play."""
        task = planned.check.task
        assert task is not None
        reason = finished.reason or task_reason("task", "failed")
        if task.no_log:
            reason = task_reason(reason.subject, f"failed; {_HIDDEN}")
        if not finished.failed:
            state = TaskState.CHANGED if finished.result.get("changed") else TaskState.OK
            if not finished.result.get("failed"):
                return Verdict(state=VerdictState.OK), state
            noted = replace(reason, message=f"{reason.message} (failed_when does not hold)")
            return Verdict(state=VerdictState.OK, reasons=(noted,), noted=True), state
        ignored = self._ignored(task, names)
        if not ignored and not rescued:
            found = VerdictState.UNKNOWN if finished.unclear else VerdictState.CRIT
            return Verdict(state=found, reasons=(reason,)), TaskState.FAILED
        state = TaskState.IGNORED if ignored else TaskState.RESCUED
        noted = replace(reason, message=f"{reason.message} ({state})")
        if finished.unclear:  # what could not be looked at is not well, whatever is done about it
            return Verdict(state=VerdictState.UNKNOWN, reasons=(noted,)), state
        return Verdict(state=VerdictState.OK, reasons=(noted,), noted=True), state

    def _ignored(self, task: Task, names: Mapping[str, Any]) -> bool:
        if not isinstance(task.ignore_errors, Template):
            return task.ignore_errors
        try:
            return truth(self._templates.evaluate(task.ignore_errors, names))
        except TemplateError:
            return False

    # ---- helpers

    def trouble(self, error: TemplateError) -> Finished:
        """A text of the task could not be evaluated: it has failed."""
        return _failed("template", str(error), message=RemoteText(error.message))  # it may quote what a host said

    def _value(self, value: Any, names: Mapping[str, Any]) -> Any:
        """A value with its templates filled in. A secret stays one."""
        if isinstance(value, Template):
            found = self._templates.value_of(value, names, "value")
            return found.secret() if isinstance(found, Hidden) else found
        if isinstance(value, Mapping):
            return {key: self._value(item, names) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(item, names) for item in value]
        return value


def _gathered(found: TaskResult) -> Finished:
    """The facts in what the host has printed, each under its own name as well. Raises TemplateError."""
    try:
        facts = parse_facts(found["stdout"])
    except ValueError as error:
        raise TemplateError(str(error)) from error
    if not facts:
        message = f"the host has told no facts (rc {found['rc']})"
        return replace(_failed("facts", message, message=message), unclear=True)
    result = TaskResult({"changed": False, "failed": False, "ansible_facts": facts})
    return Finished(
        result=result, facts={"ansible_facts": facts, **{f"ansible_{name}": fact for name, fact in facts.items()}}
    )


def _failed(subject: str, shown: str, *, message: Any) -> Finished:
    result = TaskResult({"changed": False, "failed": True, "msg": message})
    return Finished(result=result, reason=task_reason(subject, shown))


def _text(value: Any) -> str:
    """A value as a message shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str, sort_keys=False)
    except (TypeError, ValueError):
        return str(value)


def _line(text: str) -> str:
    return " ".join(text.split())
