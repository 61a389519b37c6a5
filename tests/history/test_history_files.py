"""The file of the store: who may read it, which version it has, what is said when it cannot be used."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from run_factory import PLAYBOOK, at, record

from checkrunner.history import database, schema
from checkrunner.history.store import Store
from checkrunner.model.errors import HistoryError
from checkrunner.model.results import VerdictState

FIRST = (Path(__file__).parent / "schema_1.sql").read_text(encoding="utf-8")
"""The tables of version 1 with a run in them, as that version wrote them."""


def told(path: Path, *, create: bool = False) -> HistoryError:
    with pytest.raises(HistoryError) as caught, Store.open(path, create=create) as store:
        store.runs()
    assert caught.value.exit_code == 64
    return caught.value


def _no_files_beside(path: Path) -> None:
    """As on a file system that is read-only: the index of SQLite's log cannot be made, by root either."""
    index = Path(f"{path}-shm")
    index.symlink_to(index)


def test_the_file_and_its_folder_are_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "checkrunner" / "history.db"

    with Store.open(path, create=True) as store:
        store.save(record(), now=at(0))
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}

    assert modes == {"history.db": 0o600, "history.db-wal": 0o600, "history.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["history.db"]


def test_nothing_is_made_for_who_only_asks(tmp_path: Path) -> None:
    error = told(tmp_path / "no" / "history.db")

    assert "there is no such file" in error.message
    assert "The first run makes it" in error.hint
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    Store.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()

    error = told(path, create=True)

    assert f"a newer checkrunner made it (version 99 of the tables; this one knows {schema.VERSION})" in error.message
    assert "Update checkrunner" in error.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [False, True])
def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, create: bool) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("Remember the milk. " * 100)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE milk (litres)")
    before = {path: path.read_bytes() for path in (text, other)}

    assert (
        "the file is no store of runs, or it is damaged (file is not a database)" in told(text, create=create).message
    )
    assert "the file is a database of something else" in told(other, create=create).message
    assert {path: path.read_bytes() for path in before} == before


def test_a_damaged_file_is_told_and_never_deleted(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with Store.open(path, create=True) as store:
        store.save(record(hosts={f"web{at}": "disk:c load:o" for at in range(500)}), now=at(0))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(data)

    error = told(path, create=True)

    assert "it is damaged (database disk image is malformed)" in error.message
    assert f"Move it away, and the next run makes a new one; `sqlite3 {path} .recover`" in error.hint
    assert path.read_bytes() == data


def test_a_file_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("no folder")

    assert "it cannot be used: " in told(folder / "history.db", create=True).message
    assert "it cannot be opened for writing" in told(tmp_path).message


def test_what_is_stored_can_be_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "h ? # %41.db"
    with Store.open(path, create=True) as store:
        store.save(record(), now=at(0))
    before = path.read_bytes()
    _no_files_beside(path)

    with Store.open(path) as store:
        assert store.count() == 1
        with pytest.raises(HistoryError, match="it cannot be opened for writing"):
            store.save(record(), now=at(1))
        assert store.count() == 1
    assert "it cannot be opened for writing" in told(path, create=True).message
    assert path.read_bytes() == before


def test_what_is_not_all_in_the_file_is_not_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with Store.open(path, create=True) as store:
        store.save(record(), now=at(0))
    _no_files_beside(path)
    Path(f"{path}-wal").write_bytes(b"a run that is not in the file yet")

    assert "it cannot be opened for writing" in told(path).message


def test_a_locked_store_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    path = tmp_path / "h.db"
    with Store.open(path, create=True) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(HistoryError, match="it is locked"):
            store.save(record(), now=at(0))

        other.execute("ROLLBACK")
        assert store.save(record(), now=at(0)) == 1


def test_a_full_disk_takes_back_all_of_a_run(tmp_path: Path) -> None:
    with Store.open(tmp_path / "h.db", create=True) as store:
        store.save(record(1), now=at(1))
        pages = store._database.number("PRAGMA page_count")
        store._database.script(f"PRAGMA max_page_count = {pages + 2}")

        with pytest.raises(HistoryError, match="there is no room left on the disk"):
            store.save(record(2, {f"web{at}": "disk:o load:o" for at in range(900)}), now=at(2))

        store._database.script("PRAGMA max_page_count = 100000")
        assert store.count() == 1
        assert store.save(record(2), now=at(2)) == 2


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "h.db", create=True)
    store.close()
    store.close()

    with pytest.raises(HistoryError, match="it is closed"):
        store.runs()


def made_by_version_1(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST)


def test_a_store_of_version_1_is_read(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    made_by_version_1(path)

    with Store.open(path) as store:
        (run,) = store.runs()
        view = store.view(run.number)
        assert (run.id, run.playbook, run.verdicts[VerdictState.CRIT]) == ("20260102T000000Z-000000", PLAYBOOK, 1)
        assert {at: cell.verdict for at, cell in view.cells.items()} == {
            ("web1", "disk"): VerdictState.OK,
            ("web1", "load"): VerdictState.CRIT,
        }
        assert store.evidence(run.number, "web1", "load").reasons[0].message == "rc was 1"
        assert store.report_text(run.number) == '{"run":"20260102T000000Z-000000"}'
        assert store.save(record(5), now=at(5)) == 2
        assert store._database.number("PRAGMA user_version") == schema.VERSION


def test_version_1_is_what_it_was_when_it_was_released(tmp_path: Path) -> None:
    def tables(path: Path) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            return [(name, " ".join(sql.split())) for name, sql in found]

    old, new = tmp_path / "old.db", tmp_path / "new.db"
    made_by_version_1(old)
    with closing(sqlite3.connect(new)) as connection:
        connection.executescript(schema.STEPS[0])

    assert tables(old) == tables(new)


def test_steps_are_made_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "h.db"
    made_by_version_1(path)
    first = "ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'; CREATE INDEX run_mood ON run (mood)"
    monkeypatch.setattr(database, "STEPS", (*schema.STEPS, first, "UPDATE run SET mood = 'better'; CREATE nonsense"))
    monkeypatch.setattr(database, "VERSION", len(schema.STEPS) + 2)

    assert "it cannot be used" in told(path).message
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert "mood" not in str(connection.execute("SELECT sql FROM sqlite_master").fetchall())

    monkeypatch.setattr(database, "STEPS", (*schema.STEPS, first, "UPDATE run SET mood = 'better'"))
    with Store.open(path) as store:
        assert store._database.one("SELECT id, mood FROM run") == ("20260102T000000Z-000000", "better")
        assert store._database.number("PRAGMA user_version") == len(schema.STEPS) + 2
