from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_factory import at, cell, record

from checkrunner.history.codes import EXECUTIONS, HOST_STATES, VERDICTS
from checkrunner.history.store import Store
from checkrunner.model.history import Evidence, HostCell, RunView, Selection
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
        ("web1", "load"): cell("o"),
    }
    hosts = {
        "web2": HostCell(state=HostState.REACHED, since=at(-9), trail=5),
        "web1": HostCell(state=HostState.NOT_TRIED),
    }
    selection = Selection(limit="web*", tags=("a", "b"), skip_tags=("ü",), params="x")
    saved = record(
        1,
        {"web1": "load:o disk[/var]:o"},
        view={"cells": cells, "hosts": hosts, "selection": selection, "ended": "deadline", "complete": False},
    )

    number = store.save(saved, now=at(2))

    back = store.view(number)
    assert back == RunView(**{**{name: getattr(saved.view, name) for name in RunView.__slots__}, "number": number})
    assert list(back.hosts) == ["web2", "web1"]
    assert list(back.checks) == ["load", "disk[/var]"]
    assert store.report_text(number) == saved.report_text
    summary = store.summary(number)
    assert (summary.number, summary.id, summary.elapsed_s, summary.hosts) == (1, saved.view.id, 2.5, 2)
    assert {state: count for state, count in summary.verdicts.items() if count} == {
        VerdictState.OK: 1,
        VerdictState.CRIT: 1,
        VerdictState.UNKNOWN: 1,
    }


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


def test_evidence_names_its_own_host_though_equal_evidence_is_kept_once(store: Store, tmp_path: Path) -> None:
    evidence = {
        (host, "disk/x"): Evidence(
            reasons=(Reason(subject="rc", expected="0", actual="1", message="rc is 1"),),
            slices=(a_slice(host, "one \ud800", "two"),),
            notes=("a note",),
        )
        for host in ("web1", "web2")
    }

    number = store.save(record(hosts={"web1": "disk/x:c", "web2": "disk/x:c"}, evidence=evidence), now=at(0))

    assert {host: store.evidence(number, host, "disk/x") for host, _ in evidence} == {
        host: piece for (host, _), piece in evidence.items()
    }
    assert store.evidence(number, "web3", "disk/x") == Evidence()
