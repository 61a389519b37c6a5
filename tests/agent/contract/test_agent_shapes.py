"""What docs/protocol.md promises of `mode=salient`, whatever the agent is written in."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from agent_process import Answer
from contract_agents import Contestant

Shape = tuple[int, bytes, int, bytes, int, int]


def shapes(answer: Answer) -> list[Shape]:
    """(number, head, cut, tail, count, last) of each."""
    assert answer["t"] == "slice", answer
    data = zlib.decompress(answer["data"]) if "unpacked" in answer else answer["data"]
    out, at = [], 0
    for number, length, cut, tail, count, last in answer["lines"]:
        middle = at + length
        out.append((number, data[at:middle], cut, data[middle : middle + tail], count, last))
        at = middle + tail
    assert at == len(data) == answer.get("unpacked", answer["payload"])
    assert answer.get("more", 0) + sum(shape[4] for shape in out) == answer["total"]
    assert answer.get("shapes", 0) <= answer.get("more", 0)
    assert [shape[0] for shape in out] == sorted({shape[0] for shape in out})
    return out


def grouped(agent: Contestant, path: Path, data: bytes, **keys: object) -> list[Shape]:
    """The shapes of a file's lines; those that are sent stand where they are said to stand."""
    path.write_bytes(data)
    given: dict[str, Any] = {"max_lines": 50, "max_bytes": 30_000, "line_bytes": 300, **keys}
    found = shapes(agent.slice(agent.run(f"cat {path}")["id"], "salient", **given))
    lines = data.split(b"\n")
    for number, head, cut, tail, count, last in found:
        line = lines[number - 1]
        assert line.startswith(head)
        assert line.endswith(tail)
        assert len(head) + cut + len(tail) == len(line)
        assert count - 1 <= last - number <= len(lines) - 1
        assert (count == 1) is (last == number)
    return found


def test_lines_that_differ_in_numbers_are_one(agent: Contestant, tmp_path: Path) -> None:
    jobs = [f"job {n} took {n * 7} ms" for n in range(500)]
    jobs[300:300] = ["disk sda is going away", "job 7 gave up"]
    data = "\n".join([*jobs, "done"]).encode()
    assert grouped(agent, tmp_path / "log", data) == [
        (1, b"job 0 took 0 ms", 0, b"", 500, 502),
        (301, b"disk sda is going away", 0, b"", 1, 301),
        (302, b"job 7 gave up", 0, b"", 1, 302),
        (503, b"done", 0, b"", 1, 503),
    ]


def test_an_answer_of_a_server_that_failed_is_no_other_answer(agent: Contestant, tmp_path: Path) -> None:
    line = '10.0.0.{} - - [30/Nov/2026:21:00:{}] "GET /shop/cart HTTP/1.1" {} 512'
    lines = [line.format(n % 200, n % 60, 200) for n in range(500)]
    lines[123], lines[321] = line.format(3, 4, 503), line.format(3, 4, 404)
    found = grouped(agent, tmp_path / "log", "\n".join(lines).encode())
    assert [(number, count) for number, _, _, _, count, _ in found] == [(1, 498), (124, 1), (322, 1)]


def test_of_nothing_there_are_no_shapes(agent: Contestant, tmp_path: Path) -> None:
    assert grouped(agent, tmp_path / "log", b"") == []
    assert [shape[4] for shape in grouped(agent, tmp_path / "log", b"\n\n\n")] == [3]


def test_the_other_output_and_one_that_is_not_there_yet(agent: Contestant) -> None:
    of = agent.start("sleep 0.2; echo out; echo err 1 >&2; echo err 2 >&2")
    answer = agent.wait_for(agent.ask("slice", {"of": of, "mode": "salient", "stream": "stderr"}))
    assert [(shape[1], shape[4]) for shape in shapes(answer)] == [(b"err 1", 2)]


def test_of_a_long_line_both_ends_are_sent(agent: Contestant, tmp_path: Path) -> None:
    line = b"begin " + b"x" * 100_000 + b" the end"
    (shape,) = grouped(agent, tmp_path / "log", line, line_bytes=60)
    assert (shape[1], shape[3]) == (line[:40], line[-20:])


def test_no_more_is_sent_than_was_asked_for(agent: Contestant, tmp_path: Path) -> None:
    words = ("alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett")
    data = "\n".join(f"{a} meets {b} here" for a in words for b in words).encode()
    assert len(grouped(agent, tmp_path / "log", data, max_lines=7)) == 7
    found = grouped(agent, tmp_path / "log", data, max_bytes=200)
    assert 0 < sum(len(shape[1]) + len(shape[3]) for shape in found) <= 200
    assert grouped(agent, tmp_path / "log", data, max_lines=0) == []


def flood(lines: int) -> list[str]:
    draw = random.Random(3)

    def word() -> str:
        return "".join(draw.choices("bcdghklmnprstvwz", k=7))

    return [f"{n:08} object {word()} moved to bucket {word()} by rebalancing" for n in range(lines)]


@pytest.mark.parametrize("rare", ["FATAL: out of shared memory", "x ConnectionFailedException", "no quorum (2 of 5)"])
def test_the_one_line_survives_a_flood_of_others(agent: Contestant, tmp_path: Path, rare: str) -> None:
    """None of which is like another but for the words around what differs."""
    lines = flood(6000)
    lines[4321] = rare
    assert (4322, rare.encode()) in [shape[:2] for shape in grouped(agent, tmp_path / "log", "\n".join(lines).encode())]


def test_any_bytes(agent: Contestant, tmp_path: Path) -> None:
    grouped(agent, tmp_path / "log", random.Random(5).randbytes(200_000) + b"end")
    grouped(agent, tmp_path / "log", "zażółć 1\r\nzażółć 2\r\n".encode())


def test_what_cannot_be_asked(agent: Contestant) -> None:
    of = agent.run("echo x")["id"]
    refused = agent.wait_for(agent.ask("slice", {"of": of, "mode": "salient"}, {"pattern": b"x"}))
    assert (refused["t"], refused["kind"]) == ("error", "bad_request")
