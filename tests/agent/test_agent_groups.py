"""groups.py: one reading of an output in bounded memory, beside which everything else goes on."""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agent_process import AgentProcess, Answer, load_modules
from hypothesis import given
from hypothesis import strategies as st

_, GROUPS = load_modules("groups")


class Held:
    """A capture in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, at: int, size: int) -> bytes:
        return self.data[at : at + size]


class Idle:
    canceling: tuple[int, ...] = ()


def scanned(data: bytes, **query: int) -> tuple[dict[str, Any], bytes]:
    asked = {"max_lines": 100_000, "max_bytes": 100 << 20, "line_bytes": 300, **query}
    *_, (answer,) = GROUPS.scan(Idle(), Held(data), asked)
    words, payload = answer
    return words, zlib.decompress(payload) if "unpacked" in words else payload


def lines_of(data: bytes) -> list[bytes]:
    return data.split(b"\n")[: data.count(b"\n") + (not data.endswith(b"\n") and bool(data))]


WORDS = st.sampled_from(
    ["up", "down", "error", "sda", "sdb", "7", "0x1f", "/var/log", "zażółć", "?", '"', "=", "a" * 400]
)
LINES = st.lists(WORDS, max_size=6).map(" ".join)


@given(
    st.lists(LINES, max_size=60).map("\n".join).map(str.encode) | st.binary(max_size=400),
    st.integers(1, 200),
    st.integers(1, 30),
)
def test_every_line_is_counted_once(data: bytes, block: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GROUPS, "BLOCK", block)
        patch.setattr(GROUPS, "LONG", 600)
        patch.setattr(GROUPS, "GROUPS_MAX", most)
        patch.setattr(GROUPS, "CACHE_MAX", 500)
        words, payload = scanned(data)
    lines = lines_of(data)
    assert sum(row[4] for row in words["lines"]) + words["more"] == len(lines)
    assert len(words["lines"]) <= 2 * most + len(lines) // max(block, 1) + block
    if lines and not words["more"]:
        assert words["lines"][0][0] == 1
        assert max(row[5] for row in words["lines"]) == len(lines)
    at = 0
    for number, length, cut, tail, count, last in words["lines"]:
        assert number + count - 1 <= last
        line = lines[number - 1]
        assert len(line) == length + cut + tail
        assert line[:length] + line[len(line) - tail :] == payload[at : at + length + tail]
        at += length + tail
    assert at == len(payload)


@given(st.lists(st.sampled_from(["disk full", "disk gone", "link up", "link down", "", "a b c", "FATAL"]), max_size=80))
def test_each_shape_has_its_first_and_its_last_line(names: list[str]) -> None:
    text = [f"{n:03} {name}" for n, name in enumerate(names)]
    words, _ = scanned("\n".join(text).encode())
    places = {name: [n for n, other in enumerate(names, 1) if other == name] for name in names}
    assert sorted((row[0], row[4], row[5]) for row in words["lines"]) == sorted(
        (found[0], len(found), found[-1]) for found in places.values()
    )


def letters(draw: random.Random) -> str:
    return "".join(draw.choices("bcdghjklmnpqrstvwxz", k=8))


@pytest.mark.parametrize("place", [10, 3_000, 39_000])
def test_a_line_unlike_all_others_keeps_its_group(place: int) -> None:
    draw = random.Random(place)
    lines = [f"{n} session {letters(draw)} of user {letters(draw)} closed after {n} s" for n in range(40_000)]
    lines[place] = "volume shared-three went away while it was in use"
    words, payload = scanned("\n".join(lines).encode(), max_lines=80, max_bytes=24_000)
    assert lines[place].encode() in payload
    assert len(payload) <= 24_000
    assert max(row[4] for row in words["lines"]) > 39_000


def test_a_word_of_trouble_is_found_where_nothing_comes_twice() -> None:
    draw = random.Random(1)
    lines = [" ".join(letters(draw) for _ in range(draw.randrange(3, 12))) for _ in range(30_000)]
    lines[29_000] = f"{letters(draw)} {letters(draw)} QuotaException {letters(draw)}"
    lines[20_000] = f"FATAL {letters(draw)} {letters(draw)}"
    numbers = [row[0] for row in scanned("\n".join(lines).encode(), max_lines=80, max_bytes=24_000)[0]["lines"]]
    assert {20_001, 29_001} <= set(numbers)


def test_an_answer_of_a_server_that_failed_is_no_other_answer() -> None:
    line = '10.0.0.{} - - [30/Nov/2026:21:00:{}] "GET /shop/cart HTTP/1.1" {} 512'
    lines = [line.format(n % 200, n % 60, 200) for n in range(5000)]
    lines[1234] = line.format(3, 4, 503)
    rows = scanned("\n".join(lines).encode())[0]["lines"]
    assert Counter({row[0]: row[4] for row in rows}) == {1: 4999, 1235: 1}


def memory_kib(pid: int, what: str) -> int:
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


MANY = "yes 'worker 17 of web01: request 0x7f3a failed over to backend 3' | head -c 200M; echo FATAL: out of memory"


def test_a_large_output_beside_other_commands(agent: AgentProcess) -> None:
    of = agent.run(MANY, cap=1 << 30, timeout_s=60)["id"]
    wanted = agent.ask("slice", {"of": of, "mode": "salient", "max_lines": 64, "max_bytes": 16384})
    other = agent.start("echo beside", session="other", probes={"p.contains.stdout": b"beside"})
    first = agent.wait_for(other)
    assert first["probes"]["p"]["count"] == 1
    assert not any(answer.get("id") == wanted for answer in agent.kept)
    answer = agent.wait_for(wanted, 60)
    assert [row[4] for row in answer["lines"]][-1] == 1
    assert answer["total"] == sum(row[4] for row in answer["lines"])
    assert answer["payload"] < 1000
    assert memory_kib(agent.process.pid, "VmHWM") < 64 << 10


def test_a_cancel_ends_it(agent: AgentProcess) -> None:
    of = agent.run(MANY, cap=1 << 30, timeout_s=60)["id"]
    wanted = [
        agent.ask("slice", {"of": of, "mode": "salient", "stream": name}) for name in ("stdout", "stderr", "stdout")
    ]
    assert agent.wait_for(agent.start("true", session="other"))["rc"] == 0
    cancel = agent.ask("cancel")
    assert agent.wait_for(cancel)["t"] == "ok"
    kinds = [answer.get("kind") for ident in wanted for answer in agent.kept if answer.get("id") == ident]
    assert kinds[0] == "cancelled"
    assert len(kinds) == 3
    assert agent.output("echo alive") == "alive\n"


def total(answer: Answer) -> int:
    assert answer["t"] == "slice", answer
    return sum(row[4] for row in answer["lines"])


def test_the_part_is_asked_for_once_and_only_where_it_is_needed(few_agent: AgentProcess) -> None:
    of = few_agent.run("seq 100; seq 50 >&2")["id"]
    few_agent.slice(of, "head")
    assert "groups" not in few_agent.needs
    both = [few_agent.ask("slice", {"of": of, "mode": "salient", "stream": name}) for name in ("stdout", "stderr")]
    assert [total(few_agent.wait_for(ident)) for ident in both] == [100, 50]
    assert total(few_agent.slice(of, "salient")) == 100
    assert few_agent.needs.count("groups") == 1


def test_without_the_part_everything_else_goes_on(agent: AgentProcess) -> None:
    agent.withheld.add("groups")
    of = agent.run("seq 100")["id"]
    wanted = agent.ask("slice", {"of": of, "mode": "salient"})
    assert agent.slice(of, "tail", max_lines=1)["data"] == b"100"
    assert not any(answer.get("id") == wanted for answer in agent.kept)


def test_old_outputs_have_shapes_too(few_agent: AgentProcess, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("".join(f"line {n} of it\n" for n in range(20_000)) + "the end\n")
    small = few_agent.run("echo a 1; echo a 2")["id"]
    large = few_agent.run(f"cat {tmp_path}/log")["id"]
    *_, last = [few_agent.start("true") for _ in range(140)]
    few_agent.wait_for(last, 60)
    assert "archive" in few_agent.needs
    few_agent.run("true")
    assert total(few_agent.slice(small, "salient")) == 2
    answer = few_agent.slice(large, "salient")
    assert [(row[0], row[4], row[5]) for row in answer["lines"]] == [(1, 20_000, 20_000), (20_001, 1, 20_001)]


def test_an_output_that_is_not_there_any_more(agent: AgentProcess) -> None:
    of = agent.run(f"seq 20000; sleep 0.2; for f in {agent.directory}/c*; do : >$f; done")["id"]
    assert agent.slice(of, "salient")["kind"] == "storage"
    assert total(agent.slice(agent.run("seq 9")["id"], "salient")) == 9
