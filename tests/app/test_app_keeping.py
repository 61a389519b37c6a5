"""Which outputs are kept, and how much of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from checkrunner.app.keeping import Keeping
from checkrunner.findings.redact import PatternRedactor
from checkrunner.model.history import KeptOutput
from checkrunner.model.inventory import Host
from checkrunner.model.options import KeepOptions
from checkrunner.model.plan import CheckOutcome, Command, HostOutcome, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import (
    Execution,
    HostState,
    Output,
    RawLine,
    RawSlice,
    Result,
    Verdict,
    VerdictState,
)
from checkrunner.model.sources import Secret, Template
from checkrunner.model.tasks import Module, Task
from checkrunner.model.values import Consensus

OK, CRIT = Verdict(state=VerdictState.OK), Verdict(state=VerdictState.CRIT)


class Run:
    """Checks that were run on hosts, each with one line again and again, and what is kept of them."""

    def __init__(self, **options: object) -> None:
        self.keeping = Keeping(KeepOptions(**options))  # type: ignore[arg-type]  # by name
        self.outcomes: list[HostOutcome] = []
        self.asked = 0

    def check(
        self,
        key: str,
        verdict: Verdict = CRIT,
        *,
        host: str = "web01",
        data: bytes = b"password=hunter2\n",
        comes: bool = True,
        final: Verdict | None = None,
        env: dict[str, str | Secret] | None = None,
        **words: object,
    ) -> None:
        check = replace(Check(id=key, name=key, run=Template(text="x")), **words)  # type: ignore[arg-type]  # by name
        planned = PlannedCheck(key=key, play="p", check=check)
        step = Step(planned=planned, command=Command(shell="x", env=env or {}))
        lines = data.count(b"\n")
        output = Output(lines=lines, bytes=len(data), captured_bytes=len(data), binary=b"\0" in data)
        result = Result(seq=1, session="main", execution=Execution.DONE, rc=1, stdout=output)
        queries = self.keeping.wanted(host, step, result, verdict)
        self.asked += len(queries)
        parts = [
            RawSlice(
                query=query,
                lines=(RawLine(number=data[: query.first].count(b"\n") + 1, data=data[query.first : query.last]),),
                total_lines=lines,
            )
            for query in queries
        ]
        if queries:
            self.keeping.take(host, step, result, parts if comes else [])
        outcome = CheckOutcome(host=host, planned=planned, verdict=final or verdict, result=result)
        self.outcomes.append(HostOutcome(host=Host(name=host, address="h"), state=HostState.REACHED, checks=(outcome,)))

    def kept(self) -> Sequence[KeptOutput]:
        return self.keeping.outputs(self.outcomes, PatternRedactor())

    @property
    def names(self) -> list[str]:
        return [f"{one.host}/{one.check}" for one in self.kept()]


@pytest.mark.parametrize(
    ("which", "names"),
    [("failed", ["web01/bad", "web01/noted"]), ("all", ["web01/bad", "web01/fine", "web01/noted"]), ("none", [])],
)
def test_which_are_kept(which: str, names: list[str]) -> None:
    run = Run(which=which)
    run.check("bad")
    run.check("fine", OK)
    run.check("noted", replace(OK, noted=True))
    run.check("silent", data=b"")
    run.check("hidden", task=Task(module=Module.COMMAND, no_log=True))
    assert sorted(run.names) == names
    assert run.asked == len(names)


def test_secrets_are_masked_before_anything_is_stored() -> None:
    run = Run()
    run.check("one", data=b"password=hunter2 and open-sesame-77\n", env={"X": Secret("open-sesame-77")})
    (kept,) = run.kept()
    assert kept.data == b"password=<secret> and <secret>\n"


def test_what_is_judged_among_hosts_is_kept_where_it_came_to_trouble() -> None:
    run = Run()
    run.check("version", OK, host="web01", consensus=Consensus(), final=OK)
    run.check("version", OK, host="web02", consensus=Consensus(), final=CRIT)
    assert run.names == ["web02/version"]


def test_the_fuller_the_room_the_less_each_gets_and_nobody_is_left_out_silently() -> None:
    run = Run(output_bytes=1 << 20, total_bytes=1 << 20)
    data = b"line of text\n" * 60_000
    for number in range(80):
        run.check("log", host=f"web{number:02}", data=data)
    run.check("small", data=b"one line\n")
    kept = {f"{one.host}/{one.check}": one for one in run.kept()}
    sizes = [len(one.data + one.tail) for one in kept.values() if one.check == "log"]
    assert len(kept) == 81
    assert sum(sizes) <= 1 << 20
    assert 60_000 < max(sizes) <= 1 << 16
    late = kept["web79/log"]
    assert (late.data, late.total_lines) == (b"", 60_000)
    assert late.note == "the run's room for outputs (keep_total, 1,048,576 bytes) was used up"


def test_room_that_was_not_used_is_free_again() -> None:
    run = Run(total_bytes=100_000)
    for number in range(50):
        run.check("log", host=f"web{number:02}", data=b"x" * 9_999 + b"\n", comes=False)
    run.check("last", data=b"x" * 5_999 + b"\n")
    kept = {f"{one.host}/{one.check}": one for one in run.kept()}
    assert len(kept["web01/last"].data) == 6_000
    assert kept["web49/log"].note == "0 of its 10,000 bytes could be fetched"


def test_what_is_no_text_is_not_fetched() -> None:
    run = Run()
    run.check("dump", data=b"\0\1\2" * 1000)
    (kept,) = run.kept()
    assert (run.asked, kept.data, kept.total_bytes, kept.note) == (0, b"", 3000, "it is not text")


def test_there_is_no_waiting_for_the_masking() -> None:
    run = Run()
    run.check("log")
    ticks = iter([0.0, 11.0])
    (kept,) = run.keeping.outputs(run.outcomes, PatternRedactor(), clock=lambda: next(ticks))
    assert (kept.data, kept.note) == (b"", "there was no time to mask it")
