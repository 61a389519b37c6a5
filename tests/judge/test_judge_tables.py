"""Tables as programs print them: real ones, and made ones of every alignment."""

from __future__ import annotations

import contextlib
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.judge.parsed import NothingError, UnreadError
from checkrunner.judge.tables import read_table


def table(text: str) -> str:
    return textwrap.dedent(text).strip("\n") + "\n"


DF = table("""
    Filesystem                1K-blocks     Used Available Use% Mounted on
    tmpfs                       1632864     2068   1630796   1% /run
    /dev/mapper/vg-root        98304036 52428800  40835588  57% /
    //nas/backup 1           2147483648 10485760 999999999 100% /mnt/back up
    """)
LSBLK = table("""
    NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS
    sda      8:0    0  100G  0 disk
    sda1     8:1    0    1G  0 part /boot
    sda2     8:2    0   99G  0 part /
    sr0     11:0    1 1024M  0 rom
    """)
FREE = table("""
                   total        used        free      shared  buff/cache   available
    Mem:        16374876     4251032     2101020      512340    10022824    11300612
    Swap:        2097148           0     2097148
    """)
PS = table("""
    USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
    root           1  0.0  0.1 168140 11652 ?        Ss   May01   1:02 /sbin/init splash
    systemd+     702  0.0  0.1  90900  6500 ?        Ssl  May01   0:09 /lib/systemd/systemd-timesyncd
    postgres 1234567 12.5 10.2 12345678 1234567 ?    Ssl  May01 123:45 postgres: writer process
    """)
NETSTAT = table("""
    Proto Recv-Q Send-Q Local Address           Foreign Address         State
    tcp        0      0 0.0.0.0:22              0.0.0.0:*               LISTEN
    tcp6       0    128 :::80                   :::*                    LISTEN
    """)


def column(text: str, name: str) -> list[object]:
    return [row[name] for row in read_table(text).rows]


def test_df() -> None:
    assert list(read_table(DF).columns) == ["Filesystem", "1K-blocks", "Used", "Available", "Use%", "Mounted on"]
    assert column(DF, "Use%") == ["1%", "57%", "100%"]
    assert column(DF, "Mounted on") == ["/run", "/", "/mnt/back up"]
    assert column(DF, "Filesystem")[2] == "//nas/backup 1"


def test_docker_ps_has_empty_cells_and_cells_of_several_words() -> None:
    text = table("""
        CONTAINER ID   IMAGE          COMMAND                  CREATED        STATUS                  PORTS      NAMES
        4c01db0b339c   ubuntu:22.04   "bash -c 'sleep 10'"     17 hours ago   Up 17 hours                        web
        d7886598dbe2   redis:7        "redis-server --dae..."  2 days ago     Exited (1) 2 days ago   6379/tcp   redis
        """)

    assert column(text, "CONTAINER ID") == ["4c01db0b339c", "d7886598dbe2"]
    assert column(text, "PORTS") == ["", "6379/tcp"]
    assert column(text, "STATUS") == ["Up 17 hours", "Exited (1) 2 days ago"]
    assert column(text, "NAMES") == ["web", "redis"]


def test_docker_stats_has_names_of_several_words() -> None:
    text = table("""
        CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %
        4c01db0b339c   web    0.05%   12.5MiB / 1.9GiB    0.64%
        """)

    assert column(text, "MEM USAGE / LIMIT") == ["12.5MiB / 1.9GiB"]
    assert column(text, "CPU %") == ["0.05%"]


def test_lsblk() -> None:
    assert column(LSBLK, "SIZE") == ["100G", "1G", "99G", "1024M"]
    assert column(LSBLK, "MOUNTPOINTS") == ["", "/boot", "/", ""]
    assert column(LSBLK, "TYPE") == ["disk", "part", "part", "rom"]


def test_a_column_without_a_name() -> None:
    assert column(FREE, "") == ["Mem:", "Swap:"]
    assert column(FREE, "available") == ["11300612", ""]


def test_lines_that_run_out_of_their_columns() -> None:
    assert column(PS, "RSS") == ["11652", "6500", "1234567"]
    assert column(PS, "COMMAND")[2] == "postgres: writer process"


def test_netstat() -> None:
    assert column(NETSTAT, "Local Address") == ["0.0.0.0:22", ":::80"]
    assert column(NETSTAT, "State") == ["LISTEN", "LISTEN"]


def test_tabs_and_rules_and_empty_lines() -> None:
    assert column("\nNAME\tSIZE\n----\t----\nsda\t10G\n\nsdb\t5G\n", "SIZE") == ["10G", "5G"]


def test_a_name_that_is_looked_for_helps() -> None:
    # By itself nothing says whether "disk type" is one name.
    text = "ID disk type\n1  ssd\n"

    assert read_table(text, ["disk type"]).rows == [{"ID": "1", "disk type": "ssd"}]
    assert list(read_table(text, ["disk"]).columns) == ["ID", "disk", "type"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A B A\n1 2 3\n", "columns 1 and 3 are both called 'A'"),
        ("A  B  C\n1  2\nx   y  z  w\nlonger-than 1 2\n", "line 2 does not fit under the names"),
        ("NAME    SIZE\nlong-name-of-it\n", "line 2 does not fit"),
    ],
)
def test_what_cannot_be_told_is_an_error(text: str, says: str) -> None:
    with pytest.raises(UnreadError, match=says):
        read_table(text)


def test_no_lines_and_no_rows() -> None:
    with pytest.raises(NothingError):
        read_table(" \n\n")
    assert list(read_table("NAME SIZE\n").rows) == []


names = st.lists(st.from_regex(r"[A-Z][A-Z%0-9]{0,8}", fullmatch=True), min_size=2, max_size=6, unique=True)
words = st.from_regex(r"[a-z0-9./:%-]{1,12}", fullmatch=True)


@st.composite
def made(draw: st.DrawFn) -> tuple[list[str], list[list[str]], str]:
    """A table with one word a cell, each column to the left or the right, and the text of it."""
    header = draw(names)
    rows = draw(st.lists(st.lists(words, min_size=len(header), max_size=len(header)), min_size=1, max_size=6))
    gap = draw(st.integers(min_value=1, max_value=4))
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    right = [draw(st.booleans()) for _ in header]

    def line(cells: list[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return (" " * gap).join(padded).rstrip()

    return header, rows, "\n".join(line(row) for row in [header, *rows]) + "\n"


@given(made())
def test_every_aligned_table_is_read_as_it_was_made_or_refused(case: tuple[list[str], list[list[str]], str]) -> None:
    header, rows, text = case

    assert [list(row.values()) for row in read_table(text, header).rows] == rows
    try:
        found = read_table(text)
    except UnreadError:
        return
    for name in set(found.columns) & set(header):
        assert [row[name] for row in found.rows] == [row[header.index(name)] for row in rows]


spaced = st.from_regex(r"[a-z0-9]{1,6}( [a-z0-9]{1,6}){0,3}", fullmatch=True)


@given(st.data(), names)
def test_columns_that_stand_apart_may_hold_anything(data: st.DataObject, header: list[str]) -> None:
    cells = st.one_of(st.just(""), spaced)
    rows = data.draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), min_size=1, max_size=5))
    rows = [["x", *row[1:]] for row in rows]
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    lines = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [header, *rows]]

    found = read_table("\n".join(lines))

    assert [list(row.values()) for row in found.rows] == rows


@given(st.text(alphabet=st.sampled_from(list("aB1 \t\n%-")), max_size=120))
def test_any_text_is_a_table_or_refused(text: str) -> None:
    try:
        found = read_table(text)
    except UnreadError:
        return
    assert all(set(row) == set(found.columns) for row in found.rows)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a   " * 32_000 + "\n" + "a\n" * 64_000, id="names-apart"),
        pytest.param("a " * 64_000 + "\n" + "a\n" * 64_000, id="names-close"),
        pytest.param(" ".join(f"n{n}" for n in range(3_000)) + "\n" + ("a " * 3_000 + "\n") * 39, id="many-columns"),
        pytest.param("a" + " " * 90_000 + "b\n" + "a\n" * 30_000 + "x" * 100_000 + "\n", id="a-wide-gap"),
    ],
)
def test_no_table_that_fits_into_an_output_takes_long(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(UnreadError):
        read_table(text)
    assert time.process_time() - began < 5


def test_more_cells_than_any_output_has_are_no_table() -> None:
    text = " ".join(f"n{n}" for n in range(1_000)) + "\n" + "a\n" * 500
    with pytest.raises(UnreadError, match=r"it is no table: 1,000 names in the first line, and 500 lines below it"):
        read_table(text)
