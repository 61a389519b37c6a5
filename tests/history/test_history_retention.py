"""What the store lets go of, and that nothing of it is left."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from run_factory import PLAYBOOK, at, record

from checkrunner.history.store import Store
from checkrunner.model.history import Evidence, KeptOutput, RunRecord
from checkrunner.model.options import HistoryOptions
from checkrunner.model.results import Reason, Stream

_TABLES = (
    *("run", "report", "host_cell", "state", "cell", "evidence", "output", "baselined", "shape", "blob", "name"),
    "series",
)


def full(minute: int, host: str = "web1", **fields: Any) -> RunRecord:
    """A run that has something in every table."""
    chance = random.Random(minute)
    why = Reason(subject="rc", expected="0", actual="1", message=f"minute {minute}")
    data = chance.randbytes(20_000)
    kept = KeptOutput(host=host, check="disk", stream=Stream.STDOUT, data=data, total_bytes=1, total_lines=1)
    at_check = (host, "disk")
    return record(
        minute,
        {host: "disk:c"},
        evidence={at_check: Evidence(reasons=(why,))},
        kept=[kept],
        baselined={at_check: (str(minute),)},
        shapes={at_check: frozenset({str(minute)})},
        **fields,
    )


def counts(store: Store) -> dict[str, int]:
    return {table: store._database.number(f"SELECT count(*) FROM {table}") for table in _TABLES}


def numbers(store: Store) -> list[int]:
    return [run.number for run in store.runs(limit=-1)]


def test_the_oldest_runs_of_each_series_go_and_all_that_is_only_theirs(tmp_path: Path) -> None:
    options = HistoryOptions(runs=2)
    with Store.open(tmp_path / "one.db", create=True, options=options) as store:
        store.save(full(1, "weekly", playbook="weekly"), now=at(1))
        for minute in range(2, 8):
            store.save(full(minute), now=at(minute))
        assert numbers(store) == [7, 6, 1]
        after_many = counts(store)
    with Store.open(tmp_path / "two.db", create=True) as other:
        for one in (full(1, "weekly", playbook="weekly"), full(6), full(7)):
            other.save(one, now=at(9))
        assert after_many == counts(other)


def test_runs_go_by_age_and_names_with_the_last_run_that_has_them(tmp_path: Path) -> None:
    options = HistoryOptions(keep_s=3600.0)
    with Store.open(tmp_path / "h.db", create=True, options=options) as store:
        store.save(full(0, "gone", playbook="gone"), now=at(0))
        store.save(full(50), now=at(50))
        assert numbers(store) == [2, 1]

        store.save(full(61), now=at(61))

        assert numbers(store) == [3, 2]
        names = {name for (name,) in store._database.rows("SELECT text FROM name")}
        assert names == {"web1", "disk"}
        assert store._database.rows("SELECT host FROM shape") == [("web1",)]
        assert store._database.rows("SELECT playbook FROM series") == [(PLAYBOOK,)]
        assert store.find("last") == 3  # numbers are not given twice

        assert store.prune(at(10_000)) == 2
        # What a healthy output looks like says nothing of hosts that no run has.
        assert set(counts(store).values()) == {0}
        assert store.save(full(10_001), now=at(10_001)) == 4


def test_a_file_stays_as_large_as_it_may_be(tmp_path: Path) -> None:
    options = HistoryOptions(most_bytes=600_000)
    path = tmp_path / "h.db"
    with Store.open(path, create=True, options=options) as store:
        store.save(full(1, "other", playbook="other"), now=at(1))
        sizes = []
        for minute in range(2, 60):
            store.save(full(minute), now=at(minute))
            sizes.append(path.stat().st_size)
        # The last run of a series stays, however old it is.
        assert numbers(store)[-1] == 1
        assert 5 < store.count() < 30
    assert max(sizes) < 900_000


def test_a_file_shrinks_when_less_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with Store.open(path, create=True) as store:
        for minute in range(40):
            store.save(full(minute), now=at(minute))
    before = path.stat().st_size

    with Store.open(path, options=HistoryOptions(runs=1)) as store:
        store.save(full(40), now=at(40))
        left = store.count()  # a save stays cheap: the others go with the next ones
        assert store.prune(at(41)) == left - 1
        assert numbers(store) == [41]
        assert store._database.one("PRAGMA integrity_check") == ("ok",)

    assert left == 21
    assert path.stat().st_size < before / 4
