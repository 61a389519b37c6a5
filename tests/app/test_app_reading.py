"""Whose output is meant, which part of it, and why there may be nothing to read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from checkrunner.app.reading import Place, parse_want, place_of, read_output
from checkrunner.model.errors import HistoryError, UsageError
from checkrunner.model.history import Cell, CheckVersion, HostCell, KeptOutput, RunView
from checkrunner.model.readings import Want
from checkrunner.model.results import HostState, Stream, VerdictState

KEYS = ["log", "disk[/]", "disk[/var]", "fine", "off", "large", "mute"]
CELLS = {key: Cell(verdict=VerdictState.CRIT) for key in KEYS}
CELLS |= {"fine": Cell(verdict=VerdictState.OK), "off": Cell(verdict=VerdictState.SKIPPED)}
VIEW = RunView(
    id="20261130T101500Z-3f9a21",
    started_at=datetime(2026, 11, 30, tzinfo=UTC),
    playbook="p.yml",
    playbook_digest="d",
    hosts={"web01": HostCell(state=HostState.REACHED), "db01": HostCell(state=HostState.UNREACHABLE)},
    checks={
        key: CheckVersion(key=key, name="The log" if key == "log" else key, play="p", command="c", rules="r")
        for key in KEYS
    },
    cells={
        **{("web01", key): cell for key, cell in CELLS.items()},
        **{("db01", key): Cell(verdict=VerdictState.UNKNOWN) for key in KEYS},
    },
)


def kept(check: str, stream: Stream = Stream.STDOUT, data: bytes = b"one\ntwo\nthree\n", note: str = "") -> KeptOutput:
    return KeptOutput(host="web01", check=check, stream=stream, data=data, total_bytes=14, total_lines=3, note=note)


class Held:
    """A store with one run."""

    def __init__(self) -> None:
        found = [kept("log"), kept("disk[/var]", Stream.STDERR), kept("large", data=b"", note="no room")]
        self.kept: Mapping[tuple[str, str, Stream], KeptOutput] = {
            (one.host, one.check, one.stream): one for one in found
        }

    def find(self, word: str) -> int:
        if word != "last":
            raise HistoryError(f"there is no run {word}", "x.db")
        return 1

    def view(self, number: int) -> RunView:
        assert number == 1
        return VIEW

    def output(self, number: int, host: str, check: str, stream: Stream) -> KeptOutput | None:
        assert number == 1
        return self.kept.get((host, check, stream))


def read(host: str, check: str | None = None, stream: str | None = None, **want: object) -> list[str]:
    wanted = parse_want(**want)  # type: ignore[arg-type]  # by name
    reading = read_output(Held(), "last", place_of(host, check, stream), wanted)
    assert reading.run == VIEW.id
    return [row.text for row in reading.rows]


def test_an_output_is_named_by_host_and_check_or_by_what_a_report_cites() -> None:
    assert read("web01", "log") == ["one", "two", "three"]
    assert read("web01", "The log") == ["one", "two", "three"]
    assert read("web01", "log", lines="2:") == ["two", "three"]
    assert read("web01/log/stdout:1,3") == ["one", "three"]
    assert read("web01/log/stdout:1,3", tail=1) == ["three"]
    assert read("web01/disk[%2Fvar]/stderr:2") == ["two"]
    assert read("web01", "disk[/var]") == ["one", "two", "three"], "where nothing is on stdout, stderr is meant"


@pytest.mark.parametrize(
    ("host", "check", "stream", "said"),
    [
        ("wbe01", "log", None, "no host of that run is called 'wbe01'. Did you mean 'web01'"),
        ("web01", "lgo", None, "no check on that host is called 'lgo'. Did you mean 'log'"),
        ("web01", "log", "stdotu", "no stream is called 'stdotu'. Did you mean 'stdout'"),
        ("web01", "disk", None, r"disk is a loop: name one of its items. They are disk\[/\], disk\[/var\]"),
        ("web01", None, None, "'web01' is no evidence id"),
        ("web01/log/stdout:1", None, "stderr", "is of stdout, and --stream says stderr"),
        ("web01", "fine", None, "it was ok there. `run --keep all`"),
        ("web01", "off", None, "it was skipped there"),
        ("web01", "mute", None, "it wrote nothing, or"),
        ("web01", "log", "stderr", "of stderr of log on web01 nothing was kept"),
        ("web01", "large", None, r"no room \(14 bytes\)"),
        ("db01", "log", None, "the host is unreachable"),
    ],
)
def test_what_cannot_be_read_says_why(host: str, check: str | None, stream: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(host, check, stream)


def test_a_run_that_is_not_there_is_the_stores_to_tell() -> None:
    with pytest.raises(HistoryError, match="there is no run lst"):
        read_output(Held(), "lst", Place("web01", "log"), Want())


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({}, Want()),
        ({"lines": "10:20"}, Want(ranges=((10, 20),))),
        ({"lines": "5, 10-20,30:,:2"}, Want(ranges=((5, 5), (10, 20), (30, 0), (1, 2)))),
        ({"span": "0:100"}, Want(span=(0, 100))),
        ({"span": "-5:"}, Want(span=(-5, None))),
        ({"match": "x", "context": 2}, Want(match="x", context=2)),
    ],
)
def test_parts_as_they_are_written(given: Mapping[str, object], want: Want) -> None:
    assert parse_want(**given) == want  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    "given",
    [
        *({"lines": text} for text in ("", "a", "1:2:3", ":", "20:10", "-", "9" * 60)),
        *({"span": text} for text in ("", "5", "a:b", "1-2")),
        {"head": 1, "tail": 1},
        {"context": 1},
        {"head": -1},
        {"match": "x", "context": -1},
    ],
)
def test_parts_that_cannot_be(given: Mapping[str, object]) -> None:
    with pytest.raises(UsageError):
        parse_want(**given)  # type: ignore[arg-type]  # by name
