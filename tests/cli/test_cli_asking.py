"""Asking a person at a terminal: a real pseudo-terminal, whose other end is typed at and read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import select
import signal
import termios
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from checkrunner.cli.asking import TerminalDriver
from checkrunner.model.plan import PlannedCheck, PromptText
from checkrunner.model.playbook import Check
from checkrunner.model.sources import Secret
from checkrunner.render.progress import SilentProgress
from checkrunner.testing import check_driver

PLANNED = PlannedCheck(key="login", play="p", check=Check(id="login", name="login"))
NAME = PromptText(text="Name:")
PASSWORD = PromptText(text="Password:", secret=True)


class Progress(SilentProgress):
    """Writes down when it has to leave the terminal alone."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def pause(self) -> None:
        self.events.append("pause")

    def resume(self) -> None:
        self.events.append("resume")


class Desk:
    """A person's end of a terminal, and a driver at the other."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.out = open(os.dup(self.slave), "w", encoding="utf-8")  # noqa: SIM115 - closed by the fixture
        self.progress = Progress()
        self.driver = TerminalDriver(
            self.progress, mask=lambda text: text.replace("s3cret", "[x]"), fd=self.slave, out=self.out
        )
        self.before = self.settings()
        self.shown = ""

    def settings(self) -> list[object]:
        return list(termios.tcgetattr(self.slave))

    def ask(self, host: str = "h1", prompt: PromptText = NAME) -> asyncio.Task[Secret | None]:
        return asyncio.ensure_future(self.driver.answer(host, PLANNED, prompt))

    async def see(self, text: str) -> None:
        """Wait until this is shown."""
        end = time.monotonic() + 10
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            await asyncio.sleep(0.005)
            self.read()

    def read(self) -> str:
        while select.select([self.master], [], [], 0)[0]:
            self.shown += os.read(self.master, 4096).decode()
        return self.shown

    def type(self, data: bytes) -> None:
        os.write(self.master, data)


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    assert made.settings() == made.before, "the terminal is as it was"
    made.out.close()
    os.close(made.master)
    os.close(made.slave)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await main()

    asyncio.run(limited())


@pytest.mark.parametrize(
    ("prompt", "typed", "answer"),
    [
        (NAME, b"blue\n", "blue"),
        (NAME, b"blue\r", "blue"),
        (NAME, b"\n", ""),
        (NAME, "größe\n".encode(), "größe"),
        (NAME, b"blux\x7fe\n", "blue"),
        (PASSWORD, b"open sesame \n", "open sesame "),
        (NAME, b"\x03", None),
        (NAME, b"half\x03", None),
        (NAME, b"\x04", None),
        (PASSWORD, b"half\x03", None),
    ],
)
def test_what_is_typed_is_the_answer(desk: Desk, prompt: PromptText, typed: bytes, answer: str | None) -> None:
    async def main() -> None:
        asked = desk.ask(prompt=prompt)
        await desk.see("refuses): ")
        desk.type(typed)
        given = await asked
        assert (given.reveal() if given else None) == answer
        assert ("refused" in desk.read()) is (answer is None)

    run(main)
    assert desk.progress.events == ["pause", "resume"]
    assert f"h1: check login asks:\r\n    {prompt.text}\r\n  your answer (" in desk.shown


def test_a_secret_is_not_shown(desk: Desk) -> None:
    async def main() -> None:
        asked = desk.ask(prompt=PASSWORD)
        await desk.see("(not shown; Ctrl-C refuses): ")
        desk.type(b"hunter2\n")
        assert await asked == Secret("hunter2")

    run(main)
    assert "hunter2" not in desk.read()


def test_what_a_host_asks_is_made_harmless(desk: Desk) -> None:
    async def main() -> None:
        asked = desk.ask(host="h\x1b[2J", prompt=PromptText(text="\x1b[31mYour s3cret \u202e?"))
        await desk.see("refuses): ")
        desk.type(b"\x03")
        await asked

    run(main)
    assert "\x1b" not in desk.shown
    assert "s3cret" not in desk.shown


def test_what_was_typed_before_the_question_is_no_answer(desk: Desk) -> None:
    async def main() -> None:
        desk.type(b"impatient\n")
        assert select.select([desk.slave], [], [], 10)[0], "it has come"
        asked = desk.ask(prompt=PASSWORD)
        await desk.see("refuses): ")
        await asyncio.sleep(0.05)
        assert not asked.done()
        desk.type(b"real\n")
        assert await asked == Secret("real")

    run(main)


def test_several_hosts_are_asked_one_after_another(desk: Desk) -> None:
    async def main() -> None:
        asked = [desk.ask(host=f"h{number}") for number in range(3)]
        for number in range(3):
            await desk.see(f"h{number}: check login asks")
            assert f"h{number + 1}: check" not in desk.shown
            await desk.see("refuses): ")
            desk.shown = ""
            desk.type(b"answer %d\n" % number)
            assert await asked[number] == Secret(f"answer {number}")

    run(main)
    assert desk.progress.events == ["pause", "pause", "pause", "resume"]


def test_it_says_how_many_wait(desk: Desk) -> None:
    async def main() -> None:
        asked = [desk.ask(host=f"h{number}") for number in range(3)]
        await desk.see("h0: check login asks")
        for task in asked[1:]:
            task.cancel()
        await asyncio.wait(asked[1:])
        desk.type(b"x\n")
        await asked[0]
        assert "h1" not in desk.read()

    run(main)
    assert desk.progress.events[-1] == "resume"


def test_a_question_that_is_withdrawn_leaves_the_terminal(desk: Desk) -> None:
    async def main() -> None:
        asked = desk.ask(prompt=PASSWORD)
        await desk.see("refuses): ")
        desk.type(b"half a pass")
        asked.cancel()
        await asyncio.wait({asked})
        await desk.see("no longer asked")
        assert desk.settings() == desk.before
        again = desk.ask(prompt=NAME)
        desk.shown = ""
        await desk.see("refuses): ")
        desk.type(b"word\n")
        assert await again == Secret("word"), "what was typed at the other question is not part of it"

    run(main)


def test_ctrl_c_twice_ends_the_run(desk: Desk) -> None:
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))

    async def main() -> None:
        for _ in range(2):
            asked = desk.ask()
            await desk.see("refuses): ")
            desk.shown = ""
            desk.type(b"\x03")
            assert await asked is None

    try:
        run(main)
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupts == [signal.SIGINT]


def test_a_terminal_that_is_gone_refuses() -> None:
    desk = Desk()

    async def main() -> None:
        asked = desk.ask()
        await desk.see("refuses): ")
        os.close(desk.master)
        assert await asked is None

    run(main)
    with contextlib.suppress(OSError):
        desk.out.close()
    os.close(desk.slave)


def test_it_keeps_the_contract_of_a_driver(desk: Desk) -> None:
    async def refusing() -> None:
        while True:
            await desk.see("refuses): ")
            desk.shown = ""
            desk.type(b"\x04")

    async def main() -> None:
        person = asyncio.ensure_future(refusing())
        await check_driver(lambda: desk.driver, NAME)
        person.cancel()

    run(main)
