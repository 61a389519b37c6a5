"""Outputs that travel packed, and captures that stay: the client's half, with the agent of this machine."""

from __future__ import annotations

import gzip
import os
import random
import secrets
import signal
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from async_helpers import run_async
from sshd import wait_until
from test_link_resuming import OPTIONS, Cuttable, lasting, step

from checkrunner.link.answers import MOST_UNPACKED, SliceAnswer, read_answer
from checkrunner.link.fields import MalformedError
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.link.transports.process import ProcessChannel
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.playbook import Check
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.model.sources import Template
from checkrunner.model.tasks import Module, Task

HERE = Host(name="web 01/ü", address="localhost")
PART = SliceQuery(mode=SliceMode.PACKED, first=1000, last=101_000, max_lines=1, max_bytes=100_000)


class Counting(LocalTransport):
    """Counts the bytes that agents send."""

    def __init__(self) -> None:
        super().__init__(LocalOptions())
        self.received = 0

    async def open(self, host: Host, command: str, *, timeout_s: float) -> ProcessChannel:
        channel = await super().open(host, command, timeout_s=timeout_s)
        receive = channel.receive

        async def counted() -> bytes:
            data = await receive()
            self.received += len(data)
            return data

        channel.receive = counted  # type: ignore[method-assign]
        return channel


async def a_session(transport: LocalTransport, options: SessionOptions, host: Host = HERE) -> FramedSession:
    return await open_session(transport, host, options=options, timeout_s=5)


def test_a_log_travels_compressed() -> None:
    async def main() -> None:
        transport = Counting()
        session = await a_session(transport, SessionOptions())
        result, _ = await session.run(step("seq -f 'job %06.0f is done' 50000"))
        data = "".join(f"job {n:06} is done\n" for n in range(1, 50_001)).encode()
        before = transport.received
        part = await session.fetch(result, PART)
        (line,) = part.lines
        assert line.data == data[1000:101_000]
        assert line.number == data[:1000].count(b"\n") + 1
        assert transport.received - before < 40_000
        await session.aclose()
        await transport.aclose()

    run_async(main())


def test_what_was_asked_of_an_agent_that_was_lost_is_asked_of_the_next() -> None:
    async def main() -> None:
        transport = Cuttable()
        session = await lasting(transport)
        result, _ = await session.run(step("seq 50000"))
        await session.fetch(result, PART)
        await transport.cut()
        part = await session.fetch(result, PART)
        assert part.lines[0].data == "".join(f"{n}\n" for n in range(1, 50_001)).encode()[1000:101_000]
        await session.aclose()
        await transport.aclose()

    run_async(main())


def slice_answer(payload: bytes, told: int, size: int | None = None) -> SliceAnswer:
    fields = {"t": "slice", "id": 1, "total": 1, "lines": [[1, told if size is None else size, 0]], "unpacked": told}
    answer = read_answer(fields, payload)
    assert isinstance(answer, SliceAnswer)
    return answer


def test_both_ways_to_compress_are_known() -> None:
    data = b"line\n" * 1000
    for packed in (zlib.compress(data), gzip.compress(data)):
        assert slice_answer(packed, len(data)).lines[0].data == data


@pytest.mark.parametrize("pack", [zlib.compress, gzip.compress])
def test_what_unpacks_to_more_than_was_said_is_refused(pack: object) -> None:
    bomb = pack(bytes(50 << 20))  # type: ignore[operator]  # either of two
    assert len(bomb) < 100_000
    draw = random.Random(1)
    for payload, told, size in (
        (bomb, 100_000, None),
        (bomb, 50 << 20, None),
        (bomb, MOST_UNPACKED, None),
        (bomb, 10, 20),
        (bomb + b"x", 50, None),
        (pack(b"abc") + b"more", 3, None),  # type: ignore[operator]
        (pack(b"abc")[:-2], 3, None),  # type: ignore[operator]
        (draw.randbytes(40), 40, None),
        (b"", 5, None),
    ):
        with pytest.raises(MalformedError):
            slice_answer(payload, told, size)


# ---- captures that stay


@pytest.fixture
def run() -> Iterator[str]:
    name = f"test{secrets.token_hex(6)}"
    yield name
    for path in places(name):
        for guard in guards(path):
            os.kill(guard, signal.SIGTERM)
    wait_until(lambda: not places(name), deadline_s=60)


def places(run: str) -> list[Path]:
    return list(Path("/var/tmp").glob(f"checkrunner-{os.getuid()}-kept-{run}-*"))


def guards(place: Path) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if bytes(place) in words:
            found.append(int(path.parent.name))
    return found


def staying(run: str) -> SessionOptions:
    return replace(OPTIONS, stay_s=600.0, stay_name=run)


def test_captures_stay_under_the_names_of_their_checks(run: str) -> None:
    def named(key: str, shell: str, *, no_log: bool = False) -> object:
        made = step(shell)
        task = Task(module=Module.SHELL, no_log=no_log)
        check = Check(id="c", name="c", run=Template(text=shell), task=task)
        return replace(made, planned=replace(made.planned, key=key, check=check))

    async def main() -> None:
        transport = LocalTransport(LocalOptions())
        session = await a_session(transport, staying(run))
        await session.run(named("disk", "echo first >&2"))  # type: ignore[arg-type]
        await session.run(named("disk", "echo again"))  # type: ignore[arg-type]
        await session.run(named("disk[/var]", "echo var"))  # type: ignore[arg-type]
        await session.run(named("disk[:var]", "echo other"))  # type: ignore[arg-type]
        await session.run(named("secret", "echo hidden", no_log=True))  # type: ignore[arg-type]
        await session.aclose()
        await transport.aclose()

    run_async(main())
    wait_until(lambda: any(guards(path) for path in places(run)), deadline_s=60)
    (place,) = places(run)
    assert place.name.endswith("-web_01_")
    found = {path.name: path.read_text() for path in place.iterdir() if path.name != "lock"}
    assert found.pop("disk.stdout") == "again\n"
    assert sorted(found.values()) == ["other\n", "var\n"]


def test_what_was_taken_over_after_a_lost_link_stays_as_well(run: str) -> None:
    async def main() -> None:
        transport = Cuttable()
        session = await lasting(transport, staying(run))
        await session.run(step("seq 30000"))
        await transport.cut()
        other = step("echo later", session="other")
        await session.run(replace(other, planned=replace(other.planned, key="later")))
        assert [note.split(" after ")[0] for note in session.notes] == ["reconnected"]
        await session.aclose()
        await transport.aclose()

    run_async(main())
    wait_until(lambda: any(guards(path) for path in places(run)), deadline_s=60)
    (place,) = places(run)
    assert (place / "c.stdout").read_text().split()[-1] == "30000"
    assert (place / "later.stdout").read_text() == "later\n"
