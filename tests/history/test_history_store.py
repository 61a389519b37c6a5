"""The store: what is put into it comes back, and what is asked of it that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from run_factory import PLAYBOOK, at, cell, record

from checkrunner.history.codes import EXECUTIONS, HOST_STATES, VERDICTS
from checkrunner.history.past import StoredPast
from checkrunner.history.store import Store
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import Evidence, HostCell, KeptOutput, RunView, Selection
from checkrunner.model.options import HistoryOptions
from checkrunner.model.results import (
    Execution,
    HostState,
    Reason,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)
from checkrunner.testing.past import check_past


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "history.db", create=True) as opened:
        yield opened


def test_every_word_has_its_place_in_the_store() -> None:
    assert (set(VERDICTS), set(EXECUTIONS), set(HOST_STATES)) == (set(VerdictState), set(Execution), set(HostState))


def test_a_run_comes_back_as_it_was_saved(store: Store) -> None:
    cells = {
        ("web2", "disk[/var]"): cell(
            "c", execution=Execution.STUCK, reasons="abc", finding="F1", since=at(-5), trail=2**32 - 1
        ),
        ("web1", "disk[/var]"): cell("u", blind=True, was=VerdictState.WARN, since=None, execution=Execution.NOT_RUN),
        ("web1", "load"): cell("o", finding="F2"),
    }
    hosts = {
        "web2": HostCell(state=HostState.REACHED, since=at(-9), trail=5),
        "web1": HostCell(state=HostState.NOT_TRIED),
    }
    selection = Selection(limit="web*", tags=("a", "b"), skip_tags=("ü",), params="x", inventory=("/i",))
    saved = record(
        1,
        {"web1": "load:o disk[/var]:o"},
        view={"cells": cells, "hosts": hosts, "selection": selection, "ended": "deadline", "complete": False},
    )

    number = store.save(saved, now=at(2))

    back = store.view(number)
    assert back == RunView(**{**{name: getattr(saved.view, name) for name in RunView.__slots__}, "number": number})
    assert (list(back.hosts), list(back.checks)) == (["web2", "web1"], ["load", "disk[/var]"])
    assert store.report_text(number) == saved.report_text
    summary = store.summary(number)
    assert (summary.number, summary.id, summary.elapsed_s, summary.hosts) == (1, saved.view.id, 2.5, 2)
    assert {state: count for state, count in summary.verdicts.items() if count} == {
        VerdictState.OK: 1,
        VerdictState.CRIT: 1,
        VerdictState.UNKNOWN: 1,
    }
    detail = store.detail(number)
    assert (detail.hosts, detail.checks, detail.rows) == (("web2", "web1"), ("load", "disk[/var]"), (".c", "nu"))
    assert detail.names == ("Check load", "Check disk[/var]")


def test_a_run_has_the_numbers_of_its_report_in_the_list(store: Store) -> None:
    saved = record(1, {"web1": "each:u each[a]:u each[b]:u"})  # the items are known of earlier runs, and count nowhere
    totals = replace(saved.report.totals, verdict={VerdictState.UNKNOWN: 1})

    number = store.save(replace(saved, report=replace(saved.report, totals=totals)), now=at(2))

    summary = store.summary(number)
    assert {state: count for state, count in summary.verdicts.items() if count} == {VerdictState.UNKNOWN: 1}


def a_slice(host: str, *texts: str) -> Slice:
    lines = tuple(SliceLine(number=at, text=text, cut_bytes=3, count=2, last=9) for at, text in enumerate(texts, 5))
    return Slice(
        stream=Stream.STDERR,
        query=SliceQuery(mode=SliceMode.MATCH, pattern="x|ü", stream=Stream.STDERR),
        lines=lines,
        total_lines=99,
        more_lines=4,
        evidence=f"{host}/disk%2Fx/stderr:5-6",
    )


def blobs(store: Store) -> int:
    return store._database.number("SELECT count(*) FROM blob")


def test_equal_evidence_and_outputs_are_kept_once_and_name_their_own_host(store: Store) -> None:
    evidence = {
        (host, "disk/x"): Evidence(
            reasons=(Reason(subject="rc", expected="0", actual="1", message="rc is 1"),),
            slices=(a_slice(host, "one \ud800", "two"),),
            notes=("a note",),
        )
        for host in ("web1", "web2")
    }
    kept = [
        KeptOutput(
            host=host,
            check="disk/x",
            stream=Stream.STDOUT,
            data=b"a\n" * 500,
            tail=b"z\n",
            total_bytes=9_000,
            total_lines=4_000,
            truncated=True,
            note=host,
        )
        for host in ("web1", "web2")
    ]

    number = store.save(record(hosts={"web1": "disk/x:c", "web2": "disk/x:c"}, evidence=evidence, kept=kept), now=at(0))

    assert {host: store.evidence(number, host, "disk/x") for host, _ in evidence} == {
        host: piece for (host, _), piece in evidence.items()
    }
    assert store.evidence(number, "web3", "disk/x") == Evidence()
    assert store.outputs(number) == kept
    assert store.output(number, "web2", "disk/x", Stream.STDOUT) == kept[1]
    assert store.output(number, "web2", "disk/x", Stream.STDERR) is None
    assert store.kept_streams(number) == {("web1", "disk/x"): [Stream.STDOUT], ("web2", "disk/x"): [Stream.STDOUT]}
    assert blobs(store) == 4  # checks, evidence, an output and its end


def test_a_run_is_stored_also_where_no_room_can_be_given_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: object) -> None:
        raise HistoryError("it is locked", "history.db")

    monkeypatch.setattr("checkrunner.history.store.free_pages", busy)
    assert store.save(record(), now=at(0)) == store.find("last")


def test_names_that_no_text_can_hold_stay_apart(store: Store) -> None:
    number = store.save(record(hosts={"web1": "disk[\udcfe]:o disk[\udcff]:c"}), now=at(0))
    assert sorted(key for _, key in store.view(number).cells) == ["disk[\\udcfe]", "disk[\\udcff]"]


def test_texts_that_are_no_unicode_can_be_stored_and_asked_for(store: Store) -> None:
    odd = "/srv/\udcff.yml"
    saved = record(hosts={"web\udcff": "disk:c"}, playbook=odd, harmed={("web\udcff", "disk"): "bad \ud800"})

    number = store.save(saved, now=at(0))

    assert list(store.view(number).hosts) == ["web\\udcff"]
    assert store.last(odd, Selection()) == number
    assert store.strikes(odd)[0][3] == 1


@pytest.mark.parametrize(
    ("word", "number"),
    [("1", 1), ("last", 3), ("-1", 3), ("-3", 1), (" 2 ", 2), ("20260102T000007Z-000007", 3), ("20260102T000007", 3)],
)
def test_a_run_is_called_by_number_id_or_place(store: Store, word: str, number: int) -> None:
    for minute in (5, 6, 7):
        store.save(record(minute), now=at(minute))

    assert store.find(word) == number


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("7", "no run is called '7'", "The newest are 2 (20260102T000006Z-000006), 1 (20260102T000005Z-000005)"),
        ("-3", "-3 is not there: it has 2 runs", "The newest are 2"),
        ("20260102T00000", "2 runs begin with '20260102T00000'", "They are 20260102T000006Z-000006, 20260102T000005Z"),
        ("%", "no run is called '%'", "The newest"),
        ("", "no run is called ''", "The newest"),
    ],
)
def test_what_is_no_run_is_told_with_those_that_are(store: Store, word: str, message: str, hint: str) -> None:
    for minute in (5, 6):
        store.save(record(minute), now=at(minute))

    with pytest.raises(HistoryError) as caught:
        store.find(word)

    assert caught.value.message == f"history {store.path}: {message}"
    assert caught.value.hint.startswith(hint)
    for ask in (store.view, store.report_text, store.detail, store.outputs, store.summary):
        with pytest.raises(HistoryError, match="it has no run 9"):
            ask(9)


def test_runs_of_the_same_playbook_and_selection_are_a_series(store: Store) -> None:
    runs: list[dict[str, Any]] = [{}, {"ended": "interrupted"}, {"limit": "web1"}, {"playbook": "other"}, {}]
    for minute, fields in enumerate(runs, start=1):
        store.save(record(minute, **fields), now=at(minute))

    assert store.last(PLAYBOOK, Selection()) == 5
    assert store.last(PLAYBOOK, Selection(), before=5) == 1
    assert store.last(PLAYBOOK, Selection(), before=5, ended="") == 2
    assert store.last(PLAYBOOK, Selection(limit="web1")) == 3
    assert store.last("missing", Selection()) is None
    assert [run.number for run in store.runs(playbook="other")] == [4]
    assert [run.number for run in store.runs(limit=2)] == [5, 4]
    assert (store.count(), store.count(playbook=PLAYBOOK)) == (5, 4)


def test_a_run_is_stored_once(store: Store) -> None:
    store.save(record(1), now=at(1))

    with pytest.raises(HistoryError, match="it has run 20260102T000001Z-000001 already"):
        store.save(record(1), now=at(1))

    assert store.count() == 1
    assert store.save(record(2), now=at(2)) == 2


def test_accepted_outputs_are_kept_though_their_run_is_gone(tmp_path: Path) -> None:
    options = HistoryOptions(runs=1)
    lines = ("a", "b \udcff")
    with Store.open(tmp_path / "h.db", create=True, options=options) as store:
        saved = record(1, {"web1": "conf:o", "web2": "conf:o"}, baselined={("web1", "conf"): lines})
        number = store.save(saved, now=at(1))
        assert store.baselined_cells(number) == [("web1", "conf")]
        assert store.baselined(number, "web1", "conf") == lines
        assert store.baselined(number, "web2", "conf") is None

        accepted = store.accept_baselines(
            number, [("web1", "conf"), ("web2", "conf")], now=at(2), by="anna", why="as agreed"
        )
        store.save(record(3), now=at(3))

        assert [(one.host, one.check, one.lines, one.run, one.playbook) for one in accepted] == [
            ("web1", "conf", lines, saved.view.id, PLAYBOOK)
        ]
        assert store.count() == 1
        assert store.baselines(PLAYBOOK) == store.baselines() == accepted
        past = StoredPast(store, PLAYBOOK, Selection(), at(4))
        assert past.baseline("web1", "conf") == accepted[0]
        assert store.drop_baselines(PLAYBOOK, [("web1", "conf"), ("web9", "conf")]) == 1
        assert store.baselines() == []
        with pytest.raises(HistoryError, match="it has no run 1"):
            store.accept_baselines(number, [("web1", "conf")], now=at(5))


def test_a_silence_holds_until_it_ends_or_is_taken_back(store: Store) -> None:
    first = store.silence("web*", "disk", until=at(60), why="new disk", by="anna", now=at(0))
    longer = store.silence("web1", "*", until=at(90), why="moved", by="ben", now=at(1))

    assert store.silences(at(59)) == [first, longer]
    assert store.silences(at(60)) == [longer]
    past = StoredPast(store, PLAYBOOK, Selection(), at(59))
    assert past.silence("web1", "disk") == longer
    assert past.silence("web2", "disk") == first
    assert past.silence("web2", "load") is None
    assert store.end_silence(longer.number, now=at(61)) == replace(longer, ended_at=at(61))
    assert store.silences(at(62)) == []
    store.save(record(89), now=at(89))
    later = StoredPast(store, PLAYBOOK, Selection(), at(100))
    assert not later.was_silenced("web1", "disk")
    store.save(record(60, view={"id": "r60", "started_at": at(60)}), now=at(90))
    later = StoredPast(store, PLAYBOOK, Selection(), at(100))
    assert (later.was_silenced("web1", "load"), later.was_silenced("web2", "load")) == (True, False)
    assert later.silence("web1", "load") is None
    assert store.end_silence(first.number, now=at(99)) == first
    assert store.silences() == [first, replace(longer, ended_at=at(61))]
    with pytest.raises(HistoryError, match="it has no silence 7"):
        store.end_silence(7, now=at(0))


def test_a_check_that_does_harm_again_and_again_is_not_run_for_a_while(store: Store) -> None:
    harmed = {("web1", "disk"): "could not be ended"}
    for minute in (1, 2):
        store.save(record(minute, harmed=harmed), now=at(minute))
    assert store.suppressions(at(2)) == []
    assert store.strikes(PLAYBOOK) == [(PLAYBOOK, "web1", "disk", 2, "could not be ended")]

    store.save(record(3, harmed=harmed), now=at(3))

    (found,) = store.suppressions(at(3), PLAYBOOK)
    assert (found.host, found.check, found.strikes, found.since, found.until) == (
        *("web1", "disk", 3),
        *(at(1), at(3) + timedelta(seconds=2.5, days=1)),
    )
    assert StoredPast(store, PLAYBOOK, Selection(), at(4)).suppression("web1", "disk") == found
    assert StoredPast(store, "other", Selection(), at(4)).suppression("web1", "disk") is None
    # It is not run meanwhile, which says nothing; once it is run again, one more time is enough.
    not_run = {("web1", "disk"): cell("u", execution=Execution.NOT_RUN)}
    store.save(record(4, view={"cells": not_run}), now=at(4))
    assert store.suppressions(found.until) == []
    store.save(record(5, harmed=harmed), now=at(5))
    assert [one.strikes for one in store.suppressions(at(6))] == [4]
    assert store.resume([(PLAYBOOK, "web1", "disk"), (PLAYBOOK, "web1", "load")]) == 1
    assert (store.suppressions(at(6)), store.strikes()) == ([], [])


def test_harm_that_did_not_come_again_is_forgotten(store: Store) -> None:
    store.save(record(1, harmed={("web1", "disk"): "x"}), now=at(1))
    lost = {("web1", "disk"): cell("u", execution=Execution.LOST)}

    store.save(record(2, view={"cells": lost}), now=at(2))
    assert len(store.strikes()) == 1
    store.save(record(3), now=at(3))

    assert store.strikes() == []


def test_the_past_of_a_run_is_what_the_last_comparable_one_showed(store: Store) -> None:
    cells = {("web1", "disk"): cell("c", finding="F1"), ("web1", "load"): cell("o")}
    store.save(record(1, view={"cells": cells}, shapes={("web1", "load"): frozenset({"up # days"})}), now=at(1))
    store.save(record(2, ended="interrupted"), now=at(2))
    empty = StoredPast(store, "other", Selection(), at(3))
    past = StoredPast(store, PLAYBOOK, Selection(), at(3))

    store.save(record(4, shapes={("web1", "load"): frozenset({"other"})}), now=at(4))

    for one in (empty, past):
        check_past(one)
    assert (empty.findings(), empty.view(), empty.shapes("web1", "load")) == (None, None, None)
    assert past.findings() == {"F1"}
    assert past.shapes("web1", "load") == {"up # days"}
    assert past.shapes("web1", "disk") is None
    view = past.view()
    assert view
    assert view.number == 1
    assert StoredPast(store, PLAYBOOK, Selection(), at(5)).shapes("web1", "load") == {"other"}
