"""Answers to questions are secrets: those of the playbook, and those that are given during the run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.secret_names import SHORTEST
from checkrunner.model.errors import TemplateError
from checkrunner.model.plan import PlannedCheck, PromptText
from checkrunner.model.seams import Driver
from checkrunner.model.sources import Secret
from checkrunner.plan.answers import render_answer
from checkrunner.plan.build import Plan, same_everywhere

__all__ = ["Learning", "answer_values"]


def answer_values(plan: Plan) -> Iterator[Secret]:
    """The answers of all checks on all hosts, as far as they can be known before the run. Short ones are among them
    only where they are made of a secret: `yes` may stand in a report."""
    done: set[int] = set()
    for host in plan.hosts:
        for entry in host.track.entries:
            if not entry.shape.check.prompts or id(entry) in done:
                continue
            if same_everywhere(entry, plan.setup):
                done.add(id(entry))
            names = host.variables(entry)
            for prompt in entry.shape.check.prompts:
                with contextlib.suppress(TemplateError):  # it reads a result: whoever reads it gets to know
                    value = render_answer(prompt, names, plan.templates)
                    if isinstance(value, Secret) and _worth_hiding(value, by_itself=isinstance(prompt.answer, Secret)):
                        yield value


class Learning:
    """A driver whose answers are masked in everything that is shown from then on."""

    def __init__(self, driver: Driver, redactor: PatternRedactor) -> None:
        self._driver = driver
        self._redactor = redactor

    async def answer(self, host: str, planned: PlannedCheck, prompt: PromptText) -> Secret | None:
        """See the seam."""
        answer = await self._driver.answer(host, planned, prompt)
        if answer is not None and _worth_hiding(answer, by_itself=prompt.secret):
            self._redactor.learn(answer)
        return answer


def _worth_hiding(answer: Secret, *, by_itself: bool) -> bool:
    return by_itself or len(answer.reveal()) >= SHORTEST
