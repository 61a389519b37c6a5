"""Checks that do harm again and again: what counts, what forgives, and for how long they are not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcome_factory import host, planned, reason, result
from run_factory import PLAYBOOK, at, cell, record

from checkrunner.app.breaker import resume_checks, suppressed_checks
from checkrunner.app.records import harm_of
from checkrunner.history.store import Store
from checkrunner.model.errors import BecomeError, BecomeFailure, SessionLostError, UsageError
from checkrunner.model.history import RunRecord
from checkrunner.model.options import HistoryOptions
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import LINK_LOST, Execution, Verdict, VerdictState

AT = ("web1", "disk")
ENDS = {
    "harm": Execution.STUCK,
    "lost": Execution.LOST,
    "done": Execution.DONE,
    "timeout": Execution.TIMED_OUT,
    "killed": Execution.KILLED,
    "away": Execution.NOT_RUN,
}


def a_run(minute: int, end: str) -> RunRecord:
    made = record(minute, {"web1": "disk:u"})
    view = replace(made.view, cells={AT: cell("u", execution=ENDS[end])})
    return replace(made, view=view, harmed={AT: "could not be ended"} if end in {"harm", "lost"} else {})


def strikes_of(ends: Sequence[str]) -> int:
    """How many of the last runs did harm, one after the other."""
    strikes = 0
    for end in ends:
        strikes = strikes + 1 if end in {"harm", "lost"} else 0 if end in {"done", "timeout"} else strikes
    return strikes


@given(st.lists(st.sampled_from(list(ENDS)), max_size=9), st.integers(1, 4))
@settings(deadline=None, max_examples=25)
def test_fewer_strikes_never_suppress_and_a_success_forgives_all(ends: list[str], after: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "h.db"
        with Store.open(path, options=HistoryOptions(suppress_after=after), create=True) as store:
            for minute, end in enumerate(ends):
                store.save(a_run(minute, end), now=at(minute))
                strikes = strikes_of(ends[: minute + 1])
                held = store.suppressions(at(minute + 1))
                assert bool(held) == (strikes >= after)
                assert [one.strikes for one in held] == [strikes] * len(held)
                assert [row[3] for row in store.strikes()] == ([strikes] if strikes else [])


def test_after_a_day_it_is_tried_once(tmp_path: Path) -> None:
    day = timedelta(days=1)
    with Store.open(tmp_path / "h.db", create=True) as store:
        for minute in range(3):
            store.save(a_run(minute, "harm"), now=at(minute))
        (held,) = store.suppressions(at(4))
        assert (held.strikes, held.host, held.check, held.playbook) == (3, *AT, PLAYBOOK)
        assert store.suppressions(held.until - timedelta(seconds=1))
        assert not store.suppressions(held.until)

        store.save(a_run(1442, "harm"), now=at(1442))
        (again,) = store.suppressions(at(1443))
        assert again.strikes == 4
        assert again.until - held.until >= day

        store.save(a_run(2900, "done"), now=at(2900))
        assert not store.strikes()


def test_it_is_listed_and_resumed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "h.db", create=True) as store:
        for minute in range(3):
            made = a_run(minute, "harm")
            more = {("web1", "net"): "its session was lost"} if minute == 2 else {}
            store.save(replace(made, harmed={**made.harmed, **more}), now=at(minute))
        held, others = suppressed_checks(store, at(4))
        assert [(one.host, one.check) for one in held] == [AT]
        assert [(one.check, one.strikes, one.reason) for one in others] == [("net", 1, "its session was lost")]
        with pytest.raises(UsageError, match="'disc'") as caught:
            resume_checks(store, "web1", "disc")
        assert "'disk'" in caught.value.hint

        assert resume_checks(store, "web*", "disk") == [(PLAYBOOK, *AT)]
        assert not store.suppressions(at(4))
        assert resume_checks(store, "*", "*") == [(PLAYBOOK, "web1", "net")]
        with pytest.raises(UsageError, match="no check has done harm"):
            resume_checks(store, "*", "*")


def ended(key: str, execution: Execution, session: str = "main", **fields: Any) -> CheckOutcome:
    error, on = fields.pop("error", None), fields.pop("on", "")
    verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(reason(f"{key} went", subject="execution"),))
    made = result(execution=execution, rc=None, session=session, **fields)
    return CheckOutcome(host="web1", planned=planned(key), verdict=verdict, result=made, error=error, on=on)


def harm(*checks: CheckOutcome) -> list[tuple[str, str]]:
    return [(key, why) for (_, key), why in harm_of(host("web1", *checks))]


def test_what_could_not_be_ended_did_harm() -> None:
    assert harm(ended("a", Execution.STUCK), ended("b", Execution.TIMED_OUT)) == [("a", "a went")]
    assert harm(ended("a", Execution.DONE, notes=("session_abandoned",))) == [("a", "a went")]


def test_of_commands_that_were_sent_ahead_the_first_one_cost_the_session() -> None:
    gone = SessionLostError("broken pipe")

    lost = [ended(key, Execution.LOST, error=gone) for key in ("b", "c", "d")]

    assert harm(ended("a", Execution.DONE), *lost) == [("b", "b went")]


def test_of_two_that_were_running_nobody_can_tell() -> None:
    gone = SessionLostError("broken pipe")
    cut: dict[str, Any] = {"notes": (LINK_LOST,)}

    assert harm(ended("a", Execution.LOST, error=gone), ended("b", Execution.LOST, "other", error=gone)) == []
    assert harm(ended("a", Execution.LOST, **cut), ended("b", Execution.LOST, "other", **cut)) == []
    assert harm(ended("a", Execution.LOST, **cut), ended("b", Execution.DONE, "other")) == [("a", "a went")]


def test_another_account_and_another_host_are_lost_by_themselves() -> None:
    account = BecomeError(BecomeFailure.LOST, "the agent of root ended")

    found = harm(
        ended("a", Execution.LOST, "one", error=account),
        ended("b", Execution.LOST, "two", on="web2", error=SessionLostError("x")),
        ended("c", Execution.STUCK, "three"),
    )

    assert sorted(found) == [("a", "a went"), ("b", "b went"), ("c", "c went")]


def test_what_was_not_run_did_none() -> None:
    unreached = CheckOutcome(host="web1", planned=planned("a"), verdict=Verdict(state=VerdictState.UNKNOWN))

    assert harm(unreached, ended("b", Execution.NOT_RUN), ended("c", Execution.KILLED)) == []
