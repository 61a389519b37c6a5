"""What docs/protocol.md promises of `mode=packed`, whatever the agent is written in."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

from agent_process import Answer
from contract_agents import Contestant

from checkrunner.link.payload import load_part


def ready(agent: Contestant) -> Contestant:
    """The agent with the part that this needs; the one in shell has it."""
    if not agent.kind.startswith("shell"):
        agent.send_part("keeping", load_part("keeping"))
    return agent


def unpacked(answer: Answer) -> bytes:
    assert answer["t"] == "slice", answer
    data: bytes = answer["data"]
    if "unpacked" in answer:
        data = zlib.decompress(data, zlib.MAX_WBITS | 32)
        assert len(data) == answer["unpacked"]
    assert [row[1:] for row in answer["lines"]] == [[len(data), 0]]
    assert answer.get("more", 0) == 0
    return data


def test_any_part_of_an_output_comes_as_it_is_and_says_in_which_line_it_begins(
    agent: Contestant, tmp_path: Path
) -> None:
    ready(agent)
    draw = random.Random(1)
    lines = [f"{n} {'x' * draw.randrange(200)} of {n % 7}" for n in range(4000)]
    data = "\n".join(lines).encode() + b"\n"
    (tmp_path / "log").write_bytes(data)
    of = agent.run(f"cat {tmp_path / 'log'}")["id"]
    for first in (0, 1, 70_000, len(data) - 30_000, len(data) - 5, len(data), len(data) + 10):
        answer = agent.slice(of, "packed", first=first, last=first + 50_000, max_bytes=50_000)
        assert unpacked(answer) == data[first : first + 50_000]
        assert answer["total"] == 4000
        if first <= len(data):
            assert answer["lines"][0][0] == data[:first].count(b"\n") + 1
    large = agent.slice(of, "packed", first=0, last=len(data), max_bytes=200_000)
    assert unpacked(large) == data[:200_000]
    assert large["payload"] < 100_000


def test_bytes_that_are_no_text_and_such_that_do_not_shrink(agent: Contestant, tmp_path: Path) -> None:
    ready(agent)
    data = random.Random(2).randbytes(3000)
    (tmp_path / "noise").write_bytes(data)
    of = agent.run(f"cat {tmp_path / 'noise'}; echo one >&2")["id"]
    assert unpacked(agent.slice(of, "packed", first=0, last=9000, max_bytes=9000)) == data
    assert unpacked(agent.slice(of, "packed", stream="stderr", first=0, last=9000, max_bytes=9000)) == b"one\n"
    of = agent.run("true")["id"]
    assert unpacked(agent.slice(of, "packed", first=0, last=9000, max_bytes=9000)) == b""
