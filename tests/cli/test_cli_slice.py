"""`checkrunner slice` on real files and streams."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkrunner.app.slicing import MOST_DIRECT
from checkrunner.findings.tokens import TokenEstimate

ROOT = Path(__file__).parents[2]
COUNTER = TokenEstimate()
LOG = "".join(
    f"2026-11-30T21:{i // 60:02}:{i % 60:02}Z {'ERROR disk 7 died: I/O error' if i == 500 else f'INFO pass {i} is over'}\n"
    for i in range(1000)
)


def run_slice(*arguments: str, data: bytes | str = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "checkrunner", "slice", *arguments],
        input=data.encode() if isinstance(data, str) else data,
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
        **more,
    )


def rows(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_text_is_line_count_and_text_and_says_what_was_left_out() -> None:
    done = run_slice("-", "--budget-tokens", "40", data=LOG)

    assert done.stdout.decode().splitlines() == [
        "1 x999 INFO pass 0 is over",
        "501 ERROR disk 7 died: I/O error",
        "# 2 rows of 1,000 lines; no shape of line left out; without time",
    ]
    assert done.stderr == b""


def test_what_a_budget_leaves_out_is_counted() -> None:
    text = "".join(f"error: {name} is not there\n" for name in ("apple", "pear", "plum", "fig", "kiwi", "lemon"))

    *shown, last = run_slice("-", "--budget-tokens", "20", data=text).stdout.decode().splitlines()

    left = 6 - len(shown)
    assert 0 < left < 6
    assert last.startswith(f"# {len(shown)} row")
    assert f"left out: {left} shapes ({left} lines, about " in last


def test_json_lines_have_line_text_and_count(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_text(LOG, encoding="utf-8")

    found = rows(run_slice(str(path), "--format", "jsonl"))

    assert found == [
        {"line": 1, "text": "x999 INFO pass 0 is over", "count": 999},
        {"line": 501, "text": "ERROR disk 7 died: I/O error", "count": 1},
    ]


def test_beside_json_lines_stands_what_was_left_out_of_them() -> None:
    done = run_slice("-", "--format", "jsonl", "--budget-tokens", "9", data="error: a is not there\n\nwarning: b\n")

    assert len(rows(done)) == 1
    assert done.stderr.decode().startswith("# 1 row of 3 lines; left out: 1 shape (2 lines, about ")


def test_a_single_line_says_nothing() -> None:
    assert run_slice("-", data="\n").stdout == b"# 0 rows of 1 line; left out: 1 line that says nothing\n"


@pytest.mark.parametrize("budget", [1, 7, 50, 300])
def test_the_budget_is_kept(budget: int) -> None:
    text = "".join(f"error {i} of {name}: cannot open /srv/{name}\n" for i in range(9) for name in dir(str))

    found = rows(run_slice("-", "--format", "jsonl", "--budget-tokens", str(budget), data=text))
    printed = run_slice("-", "--budget-tokens", str(budget), data=text).stdout.decode().splitlines()

    assert sum(COUNTER.count(row["text"]) + 1 for row in found) <= budget
    assert sum(COUNTER.count(line) + 1 for line in printed[:-1]) <= budget


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"one failed", ["one failed"]),
        (b"one failed\r\ntwo died\r\n", ["one failed", "two died"]),
        (b" 10%\r 50%\r100% failed\n", ["100% failed"]),
        (b"\x1b[31merror\x1b[0m: red\n", ["error: red"]),
        (b"caf\xe9 failed\n", ["caf\ufffd failed"]),
        ("é ist kaputt: failed\n".encode(), ["é ist kaputt: failed"]),
        (b"a\x00\x00\x00b failed after a crash\n", ["a␀␀␀b failed after a crash"]),
    ],
)
def test_odd_input(data: bytes, texts: list[str]) -> None:
    assert [row["text"] for row in rows(run_slice("-", "--format", "jsonl", data=data))] == texts


def test_binary_input_is_said_to_be() -> None:
    done = run_slice("-", data=bytes(range(256)) * 40)

    assert done.returncode == 0
    assert done.stdout == b"# binary input: nothing that could be read as lines\n"


def test_secrets_are_masked() -> None:
    done = run_slice("-", data="error: login failed, password=hunter2 token=ghp_0123456789abcdefghij0123456789abcdef\n")

    assert b"login failed" in done.stdout
    assert b"hunter2" not in done.stdout
    assert b"ghp_0123" not in done.stdout


def test_secrets_have_tags_and_patterns_of_ones_own_count() -> None:
    data = "error: ACME-12345 failed, password=hunter2\nfatal: password=hunter2 is wrong\n"

    shown = run_slice("-", "--redact", "ACME-[0-9]+", data=data).stdout.decode()

    first, second, third = re.findall(r"<secret:[0-9a-z]{4}>", shown)
    assert "error: <secret:" in shown
    assert first != second == third
    refused = run_slice("-", "--redact", "ACME-[0-9", data=data)
    assert refused.returncode == 64
    assert b"unterminated character set, at position 6: ACME- >>> [0-9" in refused.stderr


@pytest.mark.parametrize("megabytes", [1, 5])
def test_a_line_without_an_end_is_cut(megabytes: int) -> None:
    data = b"error: begins " + b"x" * (megabytes << 20) + b" and ends"

    (row,) = rows(run_slice("-", "--format", "jsonl", data=data))

    assert row["text"].startswith("error: begins x")
    assert row["text"].endswith(" and ends")
    assert len(row["text"]) <= 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("/nowhere/to/be/found",), b"No such file"),
        ((".",), b"is a directory"),
        (("-", "--budget-tokens", "0"), b"cannot be '0'"),
        (("-", "--budget-tokens", "-5"), b"cannot be '-5'"),
        (("-", "--budget-tokens", "many"), b"whole number"),
        (("-", "--format", "json"), b"json"),
        ((), b"FILE"),
    ],
)
def test_wrong_use_is_said_and_ends_with_64(arguments: tuple[str, ...], said: bytes) -> None:
    done = run_slice(*arguments)

    assert done.returncode == 64
    assert said in done.stderr
    assert done.stdout == b""


def test_a_large_input_is_grouped_in_one_pass(tmp_path: Path) -> None:
    line = "2026-11-30T21:00:00Z INFO request {n} of 10.0.0.{m} took {m} ms and was answered by the second shard\n"
    text = "".join(line.format(n=n, m=n % 250) for n in range(60_000))
    assert len(text) > MOST_DIRECT
    text += "2026-11-30T21:00:00Z FATAL the second shard lost its volume: I/O error\n" + line.format(n=0, m=0)
    path = tmp_path / "large.log"
    path.write_text(text, encoding="utf-8")

    from_file = rows(run_slice(str(path), "--format", "jsonl"))
    from_stdin = rows(run_slice("-", "--format", "jsonl", data=text))

    assert from_file == from_stdin
    assert [(row["line"], row["count"]) for row in from_file] == [(1, 60_001), (60_001, 1)]
    assert from_file[1]["text"] == "FATAL the second shard lost its volume: I/O error"


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "closed.log"
    path.write_text("x\n", encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this account may read everything")

    done = run_slice(str(path))

    assert (done.returncode, b"closed.log" in done.stderr) == (64, True)


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "checkrunner", "slice", "-"],
            input=LOG.encode(),
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            timeout=60,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, b"")


def test_help_teaches_with_examples() -> None:
    done = run_slice("--help")

    assert b"journalctl -b | checkrunner slice -" in done.stdout
    assert b"[default: 1000]" in done.stdout


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys; sys.argv[1:] = ['slice', '-']\n"
        "from checkrunner.cli.main import run_command_line\n"
        "run_command_line(sys.argv[1:])\n"
        "print(sorted({'asyncio', 'asyncssh', 'jinja2', 'psutil', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="error\n", capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"
