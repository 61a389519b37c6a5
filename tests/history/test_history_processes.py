"""Several processes at one store, and processes that are killed while they write."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from run_factory import at, record

from checkrunner.history.database import Database, Value
from checkrunner.history.store import Store

HERE = Path(__file__).parent
DEADLINE_S = 60

# Saves runs of 300 cells until it has made so many, and says the number of each once it is stored.
WRITES = """
import sys
from run_factory import at, record
from checkrunner.history.store import Store
from checkrunner.model.options import HistoryOptions
path, name, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
hosts = {f"{name}-{host}": "disk:o load:c swap:o" for host in range(100)}
for minute in range(many):
    with Store.open(path, create=True, options=HistoryOptions(runs=50)) as store:
        run = record(minute, hosts, view={"id": f"{name}-{minute}"}, playbook=name)
        print(store.save(run, now=at(minute)), flush=True)
"""

# Writes a run and does not get as far as the end of its transaction.
STOPS = """
import sys
from run_factory import at, record
from checkrunner.history.saving import prepare, write
from checkrunner.history.store import Store
from checkrunner.model.options import HistoryOptions
store = Store.open(sys.argv[1], create=True)
prepared = prepare(record(99, {f"web{at}": "disk:c" for at in range(3000)}))
with store._database.change() as connection:
    write(connection, prepared, HistoryOptions(), at(99))
    connection.execute("PRAGMA cache_spill = 1")
    print("written", flush=True)
    sys.stdin.read()
"""


@contextmanager
def process(code: str, *args: str) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONPATH": f"{HERE.parents[1]}:{HERE}"}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, *args], env=env, stdin=pipe, stdout=pipe, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def check(path: Path) -> dict[str, int]:
    """The runs that are there, by id: all of each. The file is sound, and nothing in it is nobody's."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        runs = {name: number for number, name in connection.execute("SELECT number, id FROM run").fetchall()}
        for table in ("cell", "host_cell", "state", "report", "evidence"):
            assert {run for (run,) in connection.execute(f"SELECT DISTINCT run FROM {table}")} <= set(runs.values())
        cells = dict(connection.execute("SELECT run, count(*) FROM cell GROUP BY run").fetchall())
    assert set(cells) == set(runs.values())
    assert set(cells.values()) <= {300}
    return runs


def test_two_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "h.db"
    with process(WRITES, str(path), "one", "12") as one, process(WRITES, str(path), "two", "12") as two:
        said = {
            name: list(map(int, p.communicate(timeout=DEADLINE_S)[0].split()))
            for name, p in (("one", one), ("two", two))
        }
        assert (one.returncode, two.returncode) == (0, 0)

    runs = check(path)
    assert sorted(said["one"] + said["two"]) == list(range(1, 25))
    assert runs == {f"{name}-{at}": number for name in said for at, number in enumerate(said[name])}


@pytest.mark.parametrize("after", [1, 3, 6])
def test_who_is_killed_leaves_all_of_a_run_or_nothing(tmp_path: Path, after: int) -> None:
    path = tmp_path / "h.db"
    with process(WRITES, str(path), "one", "100000") as one, process(WRITES, str(path), "two", "100000") as two:
        assert one.stdout
        assert two.stdout
        for _ in range(after):
            assert one.stdout.readline()
            assert two.stdout.readline()
        for p in (one, two):
            p.send_signal(signal.SIGKILL)
        said = {
            f"{name}-{at}": int(number)
            for name, p in (("one", one), ("two", two))
            if p.stdout  # what was read of it so far is in its buffer
            for at, number in enumerate(p.stdout.read().split(), start=after)
        }

    runs = check(path)
    assert said.items() <= runs.items()
    assert len(runs) >= 2 * after
    with Store.open(path) as store:
        assert store.save(record(7), now=at(7)) > max(runs.values())


def test_a_run_that_is_half_written_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with Store.open(path, create=True) as store:
        store.save(record(1), now=at(1))
        with process(STOPS, str(path)) as stopping:
            assert stopping.stdout
            assert stopping.stdout.readline() == "written\n"
            assert store.count() == 1  # who reads waits for nobody
            stopping.send_signal(signal.SIGKILL)
            stopping.wait(timeout=DEADLINE_S)

        assert store.count() == 1
        assert store.save(record(2), now=at(2)) == 2
        assert list(store.view(2).hosts) == ["web1"]


def test_a_store_that_another_process_makes_at_the_same_time_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h.db"
    looked: list[int] = []
    number = Database.number

    def slowly(database: Database, sql: str, *values: Value) -> int:
        found = number(database, sql, *values)
        if sql == "PRAGMA application_id" and not looked:
            looked.append(found)
            Store.open(path, create=True).close()
        return found

    monkeypatch.setattr(Database, "number", slowly)

    with Store.open(path, create=True) as store:
        assert looked == [0]
        assert store.save(record(), now=at(1)) == 1
