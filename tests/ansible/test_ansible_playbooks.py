"""Diagnostic playbooks as operators write them, run by checkrunner and by the real ansible-playbook over one sshd: the
same verdict of every task on every host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playbook_oracle import PLAYBOOKS, Answer, Verdict, ask_ansible
from sshd import SshdFixture
from task_runner import Ran, run_tasks

from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import VerdictState
from checkrunner.model.tasks import Module, TaskState

ON_TWO = ("asserts", "blocks", "delegation", "sections")
"""Those in which it matters that there are several hosts. The others are run on one, for the sake of time."""

EXIT = {0: 0, 2: 2, 4: 3}
"""Exit codes of ansible-playbook, and ours for the same: all well, failures, hosts that cannot be reached."""

_WORST = ("failed", "ignored", "ok")
_STATES = {
    TaskState.OK: "ok",
    TaskState.CHANGED: "ok",
    TaskState.FAILED: "failed",
    TaskState.RESCUED: "failed",
    TaskState.IGNORED: "ignored",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a short name: sockets of ssh connections lie in it."""
    made = tmp_path_factory.mktemp("a")
    yield made
    shutil.rmtree(made, ignore_errors=True)


def playbooks() -> list[str]:
    return sorted(path.stem for path in PLAYBOOKS.glob("*.yml"))


def _state(outcome: CheckOutcome) -> Verdict | None:
    """What Ansible calls it; None for a task that it does not get to."""
    if outcome.verdict.state is VerdictState.SKIPPED:
        reached = not outcome.verdict.reasons or outcome.verdict.reasons[0].subject != "tasks"
        return Verdict("skipped") if reached else None
    assert outcome.task is not None, outcome
    return Verdict(_STATES[outcome.task], bool(outcome.registered.get("changed")))


def _by_task(ran: Ran) -> dict[tuple[str, str], list[Verdict]]:
    """A loop as one, as Ansible counts it. Each task of each host, in the order in which they ran."""
    loops: dict[tuple[str, str], list[Verdict]] = {}
    names: dict[tuple[str, str], tuple[str, str]] = {}
    for outcome in ran.outcomes:
        planned = outcome.planned
        if planned.check.task is not None and planned.check.task.module is Module.META:
            continue
        verdict = _state(outcome)
        key = (outcome.host, planned.loop or planned.key)
        name = planned.check.name
        if planned.check.task is not None and planned.check.task.module is Module.INCLUDE_TASKS:
            # Of a loop over a file, each round is a task of its own here.
            key = (outcome.host, f"{planned.check.task.includes} {planned.check.source}")
            name = name.partition(":")[0] if name.startswith("include_tasks:") else name
        names[key] = (outcome.host, name)
        loops.setdefault(key, [])
        if verdict is not None:
            loops[key].append(verdict)
    found: dict[tuple[str, str], list[Verdict]] = {}
    for key, verdicts in loops.items():
        if verdicts:
            found.setdefault(names[key], []).append(_together(verdicts))
    return found


def _together(verdicts: list[Verdict]) -> Verdict:
    states = {verdict.state for verdict in verdicts}
    state = next((state for state in _WORST if state in states), "skipped")
    return Verdict(state, any(verdict.changed for verdict in verdicts))


def _theirs(answer: Answer, ran: Ran) -> dict[tuple[str, str], list[Verdict]]:
    """Their verdicts by our names of tasks. Gathering of facts that no text reads is left out here."""
    ours = {outcome.planned.check.name for outcome in ran.outcomes}
    found = {}
    for (host, name), verdicts in answer.verdicts.items():
        if name == "Gathering Facts" and name not in ours:
            continue
        found[host, name] = [Verdict(verdict.state, verdict.changed) for verdict in verdicts]
    return found


def _rescued(ran: Ran, host: str) -> int:
    return sum(1 for one in ran.outcomes if one.host == host and one.task is TaskState.RESCUED)


def test_there_are_enough_of_them() -> None:
    assert len(playbooks()) >= 20


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", playbooks())
def test_the_verdicts_are_those_of_ansible(name: str, sshd: SshdFixture, folder: Path) -> None:
    hosts = 2 if name in ON_TWO else 1
    inventory = sshd.write_inventory(folder / f"{name}.ini", hosts)
    works = [folder / f"{name}-{who}" for who in ("ours", "theirs")]
    for work in works:
        work.mkdir()

    ran = run_tasks(PLAYBOOKS / f"{name}.yml", inventory, folder, extra_vars=[f"work={works[0]}"])
    answer = ask_ansible(PLAYBOOKS / f"{name}.yml", inventory, folder, {}, "-e", f"work={works[1]}")

    assert _by_task(ran) == _theirs(answer, ran), answer.output[-3000:]
    assert ran.report.run.exit_code == EXIT[answer.rc], answer.output[-3000:]
    for host, summary in answer.summaries.items():
        assert _rescued(ran, host) == summary["rescued"], host
