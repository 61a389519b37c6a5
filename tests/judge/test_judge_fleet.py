"""Checks that are judged over all hosts: who is the odd one out, and whether enough are ok."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_factory import TRUNCATED, make_check, output

from checkrunner.judge.consensus import answer_query, with_consensus
from checkrunner.judge.fleet import judge_fleet
from checkrunner.judge.quorum import with_quorum
from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.results import (
    Execution,
    HostState,
    Reason,
    Result,
    Severity,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    Value,
    Verdict,
    VerdictState,
)
from checkrunner.model.values import Consensus, Quorum

OK, WARN, CRIT, UNKNOWN, SKIPPED = (VerdictState(word) for word in ("ok", "warn", "crit", "unknown", "skipped"))
CHECK = make_check(consensus=Consensus())


def answered(
    host: str,
    said: str,
    *,
    state: VerdictState = OK,
    check: Check = CHECK,
    rc: int = 0,
    values: tuple[Value, ...] = (),
    reasons: tuple[Reason, ...] = (),
    out: Mapping[str, Any] | None = None,
) -> CheckOutcome:
    """A host that printed a text (all on one line)."""
    stdout = replace(output(said, **(out or {})), digest=hashlib.sha256(said.encode()).hexdigest())
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=rc, stdout=stdout)
    (query,) = answer_query(CHECK)
    lines = tuple(SliceLine(number=n, text=line) for n, line in enumerate(said.splitlines(), 1))
    piece = Slice(stream=Stream.STDOUT, query=query, lines=lines, total_lines=len(lines))
    return CheckOutcome(
        host=host,
        planned=PlannedCheck(key="c", play="p", check=check),
        verdict=Verdict(state=state, reasons=reasons),
        result=result,
        slices=(piece,),
        values=values,
    )


def states(outcomes: Sequence[CheckOutcome]) -> list[VerdictState]:
    return [outcome.verdict.state for outcome in outcomes]


def said(outcome: CheckOutcome) -> str:
    return "; ".join(reason.message for reason in outcome.verdict.reasons)


def all_of(*texts: str) -> list[CheckOutcome]:
    return [answered(f"h{number}", one) for number, one in enumerate(texts)]


def test_the_odd_one_out_is_the_trouble_and_both_answers_are_told() -> None:
    judged = with_consensus(all_of("535.104\n", "535.104\n", "535.104\n", "535.104\n", "470.57\n"), Consensus())

    assert states(judged) == [OK, OK, OK, OK, CRIT]
    assert said(judged[-1]) == "consensus: stdout is '470.57', expected '535.104' (4 of 5 hosts)"


def test_the_severity_of_the_check_holds() -> None:
    for severity, state in ((Severity.WARNING, WARN), (Severity.INFO, OK)):
        check = make_check(consensus=Consensus(), severity=severity)
        judged = with_consensus([*all_of("a", "a", "a", "a"), answered("x", "b", check=check)], Consensus())
        assert states(judged)[-1] is state
        assert judged[-1].verdict.noted is (state is OK)


def test_without_enough_of_one_mind_nobody_is_singled_out() -> None:
    judged = with_consensus(all_of("a", "a", "a", "b", "c"), Consensus())

    assert set(states(judged)) == {UNKNOWN}
    assert said(judged[0]) == "no consensus: 3 x 'a', 1 x 'b', 1 x 'c'"


def test_two_hosts_that_differ_accuse_neither() -> None:
    assert states(with_consensus(all_of("a", "b"), Consensus())) == [UNKNOWN, UNKNOWN]
    assert states(with_consensus(all_of("a", "a"), Consensus())) == [OK, OK]


def test_a_host_alone_has_nobody_to_be_compared_with() -> None:
    (judged,) = with_consensus(all_of("a"), Consensus())
    assert judged.verdict.state is SKIPPED
    (judged,) = with_consensus([answered("h", "a", state=CRIT)], Consensus())
    assert judged.verdict.state is CRIT


def test_who_could_not_be_looked_at_has_no_vote() -> None:
    outcomes = [
        *all_of("a", "a", "a"),
        answered("u", "z", state=UNKNOWN),
        answered("s", "z", state=SKIPPED),
        answered("t", "z", out=TRUNCATED),
        answered(
            "f", "z", rc=1, state=CRIT, reasons=(Reason(subject="rc", expected="0", actual="1", message="rc is 1"),)
        ),
    ]
    judged = with_consensus(outcomes, Consensus())
    assert judged == outcomes


def test_what_was_wrong_before_stays_wrong_and_the_worse_comes_first() -> None:
    reason = Reason(subject="that", expected="", actual="", message="slow")
    odd = answered("x", "b", state=WARN, reasons=(reason,))
    judged = with_consensus([*all_of("a", "a", "a", "a"), odd], Consensus())
    assert states(judged)[-1] is CRIT
    assert said(judged[-1]).endswith("; slow")


@pytest.mark.parametrize(("texts", "shown"), [(("a\n1\n", "a\n2\n"), "'a' and 1 more lines ["), (("", "x"), "nothing")])
def test_answers_that_look_the_same_are_told_apart(texts: tuple[str, str], shown: str) -> None:
    judged = with_consensus(all_of(*[texts[0]] * 4, texts[1]), Consensus())
    assert shown in judged[-1].verdict.reasons[0].expected


def test_values_and_return_codes_are_compared_too() -> None:
    values = [
        answered(f"h{n}", str(n), values=(Value(name="used", value=used, unit="%"),))
        for n, used in enumerate((5.0, 5.0, 5.0, 5.0, 7.5))
    ]
    assert (
        said(with_consensus(values, Consensus(on="used"))[-1]) == "consensus: used is 7.5%, expected 5% (4 of 5 hosts)"
    )
    codes = [answered(f"h{n}", str(n), rc=rc) for n, rc in enumerate((1, 1, 1, 1, 0))]
    assert said(with_consensus(codes, Consensus(on="rc"))[-1]) == "consensus: rc is rc 0, expected rc 1 (4 of 5 hosts)"
    sizes = [
        answered(f"h{n}", "", values=(Value(name="size", value=size, unit="B"),))
        for n, size in enumerate((16_767_873_024.0, 16_767_873_024.0, 16_767_873_024.0, 16_767_873_025.0))
    ]
    assert said(with_consensus(sizes, Consensus(on="size", minimum=0.7))[-1]) == (
        "consensus: size is 16767873025B, expected 16767873024B (3 of 4 hosts)"
    )
    unread = replace(values[0], values=(Value(name="used", value=None, error="no such column"),))
    assert with_consensus([unread, *values[:4]], Consensus(on="used"))[0] is unread


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12), st.floats(0.51, 1.0))
def test_never_more_than_the_rest_is_odd(texts: list[str], minimum: float) -> None:
    outcomes = all_of(*texts)
    judged = with_consensus(outcomes, Consensus(minimum=minimum))

    assert [one.host for one in judged] == [one.host for one in outcomes]
    odd = [one for one in judged if one.verdict.state is CRIT]
    if odd:
        assert len(odd) <= len(texts) * (1 - minimum) + 1e-9
        common = {text for text, one in zip(texts, judged, strict=True) if one.verdict.state is OK}
        assert len(common) == 1
    if len(set(texts)) == 1 and len(texts) > 1:
        assert judged == outcomes


def with_states(*some: VerdictState) -> list[CheckOutcome]:
    return [answered(f"h{number}", "x", state=state) for number, state in enumerate(some)]


@pytest.mark.parametrize(
    ("before", "quorum", "after", "told"),
    [
        ((OK, OK, CRIT), Quorum(count=2), [OK, OK, OK], "quorum holds: 2 of 3 ok, 2 wanted"),
        ((OK, WARN, CRIT), Quorum(count=2), [OK, CRIT, CRIT], "quorum is missed: 1 of 3 ok, 2 wanted"),
        ((OK, UNKNOWN, CRIT), Quorum(count=2), [OK, UNKNOWN, UNKNOWN], "1 of 3 ok, 2 wanted, 1 could not be looked at"),
        ((OK, OK, UNKNOWN), Quorum(count=2), [OK, OK, UNKNOWN], ""),
        ((OK, SKIPPED, CRIT), Quorum(fraction=0.5), [OK, SKIPPED, OK], "quorum holds: 1 of 2 ok, 1 wanted"),
        ((OK, OK), Quorum(count=3), [UNKNOWN, UNKNOWN], "quorum cannot be told: 2 of 2 ok, 3 wanted"),
        ((CRIT,) * 2 + (OK,) * 8, Quorum(fraction=0.8), [OK] * 10, "quorum holds: 8 of 10 ok, 8 wanted"),
        ((SKIPPED, SKIPPED), Quorum(count=1), [SKIPPED, SKIPPED], ""),
    ],
)
def test_enough_of_them(before: tuple[VerdictState, ...], quorum: Quorum, after: list[VerdictState], told: str) -> None:
    judged = with_quorum(with_states(*before), quorum)
    assert states(judged) == after
    assert told in " ".join(said(one) for one in judged)


@given(st.lists(st.sampled_from([OK, WARN, CRIT, UNKNOWN, SKIPPED]), max_size=12), st.integers(1, 12))
def test_could_not_look_is_never_made_fine(before: list[VerdictState], count: int) -> None:
    judged = with_quorum(with_states(*before), Quorum(count=count))
    for was, one in zip(before, judged, strict=True):
        if was in (UNKNOWN, SKIPPED):
            assert one.verdict.state is was
        if one.verdict.state is OK and was is not OK:
            assert before.count(OK) >= count


def hosts_of(outcomes: Sequence[CheckOutcome]) -> list[HostOutcome]:
    return [
        HostOutcome(host=Host(name=one.host, address=one.host), state=HostState.REACHED, checks=(one,))
        for one in outcomes
    ]


def test_only_peers_are_compared() -> None:
    check = make_check(consensus=Consensus(by="rack"))
    outcomes = [answered(f"{rack}{n}", rack, check=check) for rack in "ab" for n in range(3)]
    outcomes += [answered("a3", "b", check=check), answered("a4", "a", check=check)]

    def rack(outcome: CheckOutcome, by: str) -> Hashable:
        assert by == "rack"
        return outcome.host[0]

    judged = [outcome.checks[0] for outcome in judge_fleet(hosts_of(outcomes), rack)]
    assert [one.host for one in judged if one.verdict.state is not OK] == ["a3"]


def test_a_host_without_the_variable_could_not_be_compared() -> None:
    check = make_check(consensus=Consensus(by="rack"))

    def rack(outcome: CheckOutcome, by: str) -> Hashable:
        if outcome.host == "h0":
            raise TemplateError(f"variable {by!r} is not defined on this host")
        return ""

    outcomes = [answered(f"h{n}", "a", check=check) for n in range(4)]
    judged = judge_fleet(hosts_of(outcomes), rack)
    assert states([outcome.checks[0] for outcome in judged]) == [UNKNOWN, OK, OK, OK]


def test_other_checks_are_left_alone() -> None:
    outcomes = hosts_of([answered("h", "a", check=make_check())])
    judged = judge_fleet(outcomes, lambda _outcome, _by: "")
    assert judged[0] is outcomes[0]


def test_consensus_comes_before_quorum() -> None:
    check = make_check(consensus=Consensus(minimum=0.6), quorum=Quorum(count=4))
    outcomes = [answered(f"h{n}", word, check=check) for n, word in enumerate("aaaab")]
    judged = [outcome.checks[0] for outcome in judge_fleet(hosts_of(outcomes), lambda _outcome, _by: "")]
    assert states(judged) == [OK] * 5
    assert judged[-1].verdict.noted


def test_the_answer_is_asked_for_with_the_command() -> None:
    assert answer_query(CHECK) == (SliceQuery(mode=SliceMode.HEAD, max_lines=5, max_bytes=512),)
    assert answer_query(make_check(consensus=Consensus(on="rc"))) == ()
