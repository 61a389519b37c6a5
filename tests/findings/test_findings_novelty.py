"""Lines that are no news: peers show them where all is well, or the host itself did when it last was."""

from __future__ import annotations

from dataclasses import replace

from outcome_factory import check, output, result

from checkrunner.findings.novelty import MOST_WITNESSES, Witnesses, put_news_first
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.salience import shape_of
from checkrunner.findings.slices import shapes, show, witness_queries
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, Command, HostOutcome, PlannedCheck, Step
from checkrunner.model.playbook import SliceRule
from checkrunner.model.results import (
    HostState,
    RawLine,
    RawSlice,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.testing.past import MemoryPast

SALIENT = SliceQuery(mode=SliceMode.SALIENT, max_lines=64, max_bytes=16384, line_bytes=300)
PLANNED = PlannedCheck(key="log", play="p", check=check("log"))
STEP = Step(planned=PLANNED, command=Command(shell="true"))
CRIT = Verdict(state=VerdictState.CRIT)
OLD = "ERROR: sensor 4 does not answer"
NEW = "WARN: lease of volume 9 was not renewed"


def raw(*lines: str) -> RawSlice:
    rows = tuple(RawLine(number=n, data=line.encode(), last=n) for n, line in enumerate(lines, 1))
    return RawSlice(query=SALIENT, lines=rows, total_lines=len(lines))


def outcomes(*lines: str, host: str = "a") -> list[HostOutcome]:
    piece = show(host, "log", STEP, raw(*lines), PatternRedactor())
    found = CheckOutcome(host=host, planned=PLANNED, verdict=CRIT, result=result(stdout=output()), slices=(piece,))
    return [HostOutcome(host=Host(name=host, address=host), state=HostState.REACHED, checks=(found,))]


def order(found: HostOutcome) -> list[str]:
    return [line.text for line in sorted(found.checks[0].slices[0].lines, key=lambda line: line.rank)]


def told(witnesses: Witnesses, peers: str = "web") -> list[str]:
    (made,) = put_news_first(outcomes(OLD, NEW, "served request 1"), None, witnesses)
    lines = made.checks[0].slices[0].lines
    assert [line.number for line in lines] == [1, 2, 3]
    assert sorted(line.rank for line in lines) == [1, 2, 3]
    return order(made)


def test_what_peers_show_where_all_is_well_is_told_last() -> None:
    assert told(Witnesses())[0] == OLD
    witnesses = Witnesses()
    witnesses.trouble("a", "log", "web")
    witnesses.saw("log", "web", shapes(STEP, raw("ERROR: sensor 17 does not answer"), PatternRedactor()))
    assert told(witnesses) == [NEW, "served request 1", OLD]


def test_other_groups_and_other_checks_are_no_peers() -> None:
    seen = {shape_of(OLD)}
    for check_key, peers in (("log", "db"), ("disk", "web")):
        witnesses = Witnesses()
        witnesses.trouble("a", "log", "web")
        witnesses.saw(check_key, peers, seen)
        assert told(witnesses)[0] == OLD


def test_what_the_host_showed_when_it_was_fine_is_told_last() -> None:
    past = MemoryPast(shapes={("a", "log"): {shape_of(OLD)}})
    (made,) = put_news_first(outcomes(OLD, NEW), past, None)
    assert order(made) == [NEW, OLD]
    found = outcomes(OLD, NEW, host="b")
    assert put_news_first(found, past, Witnesses())[0] is found[0]


def test_a_few_hosts_are_asked_and_none_where_all_are_fine() -> None:
    witnesses = Witnesses()
    assert not witnesses.wanted("log", "web")
    witnesses.trouble("a", "log", "web")
    witnesses.trouble("b", "log", "web")
    assert [witnesses.wanted("log", "web") for _ in range(MOST_WITNESSES + 2)] == [True] * MOST_WITNESSES + [False] * 2
    assert not witnesses.wanted("log", "db")
    assert not witnesses.wanted("disk", "web")


def test_what_a_witness_is_asked() -> None:
    fine = Verdict(state=VerdictState.OK)
    full = result(stdout=output(), stderr=output())
    assert witness_queries(check(), full, fine) == (replace(SALIENT, stream=Stream.STDERR), SALIENT)
    assert witness_queries(check(), result(stdout=output()), fine) == (SALIENT,)
    assert witness_queries(check(), result(stdout=output(binary=True, bytes=4096)), fine) == ()
    assert witness_queries(check(), result(stdout=output(captured_bytes=1 << 30)), fine) == ()
    assert witness_queries(check(), full, replace(fine, noted=True)) == ()
    assert witness_queries(check(slices=(SliceRule(mode=SliceMode.HEAD),)), full, fine) == ()
