"""A black box around the agent: a real process, a pair of pipes, real bash."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from checkrunner.link.payload import ALLOCATOR, LATER, START, VARIABLE, load_part, load_payload, pack_payload
from checkrunner.link.pieces import cut_module
from checkrunner.link.pieces import packed as packed_pieces
from checkrunner.link.shrink import shrink_python
from checkrunner.link.wire import STARTING

REMOTE = Path(__file__).resolve().parents[2] / "remote"

PART_ID = 1_000_000_000  # of the first request that sends a later part of the agent, on demand
Answer = dict[str, Any]
Times = tuple[tuple[str, str], ...]
"""Constants of remote/*.py that say how long something takes, each `MODULE.NAME` with a value in their place."""

SOON: Times = (
    ("agent.NEED_S", "0.05"),
    ("agent.QUIET_S", "0.2"),
    ("agent.CONFIRM_S", "0.05"),
    ("agent.LOOK_S", "0.2"),
    ("states.REPEAT_S", "0.5"),
)
"""What lasts is looked at sooner and more often: for tests of what is seen, which would mostly wait for the first look."""

SOON_GIVEN_UP: Times = (*SOON, ("endings.STEPS_S", "(0.1, 0.1, 0.1, 0.3)"), ("endings.HELD_S", "0.3"))
"""And what does not end is given up sooner. Only for what can never end: whatever can may need its time."""

PATIENT: Times = (*SOON, ("endings.STEPS_S", "(0.3, 0.3, 0.2, 30.0)"))
"""What does end has all the time of a busy machine for it; INT and TERM, which some of it ignores, are given up sooner."""


def interpreters() -> list[str]:
    """Every Python from 3.6 on that this machine has, one path each."""
    found = [str(p) for p in sorted(Path("/root/.pyenv/versions").glob("3.*/bin/python"))]
    return [*found, *[p for p in ("/usr/bin/python3",) if os.access(p, os.X_OK)]] or [sys.executable]


def few_interpreters() -> list[str]:
    """Of these the oldest, the one that the package itself needs, and the newest: for what a Python's age can change, but
    hardly in between. The contract, and what starts an agent, is for all."""
    aged = sorted((int(path.partition("/3.")[2].partition(".")[0]), path) for path in interpreters() if "/3." in path)
    floor = [one for one in aged if one[0] == 11]
    return [path for _, path in sorted({*aged[:1], *floor[:1], *aged[-1:]})] or interpreters()


@functools.cache
def _timed(module: str, times: Times) -> bytes:
    """The source of a module of remote/ with these constants."""
    source = (REMOTE / f"{module}.py").read_text(encoding="utf-8")
    for name, value in times:
        of, _, constant = name.partition(".")
        if of == module:
            source, count = re.subn(rf"(?m)^{constant} = [^#\n]*", f"{constant} = {value}  ", source)
            assert count or f"    {constant},\n" in source, name
            if not count:  # it is imported there
                source += f"{constant} = {value}\n"
    return source.encode()


@functools.cache
def timed_payload(times: Times) -> str:
    """The packed agent with these constants."""
    wrapper = (REMOTE / "wrapper.sh").read_bytes()
    return pack_payload(_timed("agent", times), wrapper, [_timed(name, times) for name in LATER]).packed


@functools.cache
def timed_part(name: str, times: Times) -> bytes:
    """A later part with these constants, as an agent takes it."""
    if not any(constant.startswith(f"{name}.") for constant, _ in times):
        return load_part(name)
    rest, pieces = cut_module(_timed(name, times))
    return zlib.compress(b"\0".join([shrink_python(rest), *packed_pieces(pieces)]))


def load_modules(part: str) -> tuple[ModuleType, ModuleType]:
    """The agent and one of its later parts as modules of this process."""
    agent, later = ModuleType("agent"), ModuleType(part)
    sys.modules["agent"] = agent
    try:
        for module in (agent, later):
            source = (REMOTE / f"{module.__name__}.py").read_bytes()
            exec(compile(source, module.__name__, "exec"), module.__dict__)
    finally:
        del sys.modules["agent"]
    return agent, later


class AgentProcess:
    """An agent that was started, and said hello to unless `hello` is None."""

    def __init__(
        self,
        *,
        python: str = sys.executable,
        hello: str | None = "v=1 nonce=n0",
        env: Mapping[str, str] | None = None,
        start: str = START,
        stderr: int | None = None,
        prefix: Sequence[str] = (),
        argv: Sequence[str] = (),
        head: bytes = b"",
        packed: str = "",
        times: Times = (),
    ) -> None:
        """`argv` is started in place of an interpreter with the packed agent, and gets `head` first. `packed` is the agent, if not
        the usual one, or the usual one with these `times`."""
        self.times = times
        packed = packed or (timed_payload(times) if times else load_payload().packed)
        self.process = subprocess.Popen(
            [*prefix, *(argv or [python, "-IS", "-c", start])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={
                **(os.environ if env is None else env),
                VARIABLE: packed,
                ALLOCATOR: "131072",
            },
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.buffer = b""
        self.last = 0
        self.parts = 0
        self.needs: list[str] = []  # parts that it asked for
        self.withheld: set[str] = set()  # those that it does not get
        self.kept: list[Answer] = []
        self.hello: Answer = {}
        try:
            self._start(head, hello)
        except BaseException:
            self.process.kill()
            self.process.wait()
            self.stdin.close()
            self.stdout.close()
            raise

    def _start(self, head: bytes, hello: str | None) -> None:
        if head:
            self.send(head)
            while b"\n" not in self.buffer:
                self.fill(60.0)
            starting, self.buffer = self.buffer.split(b"\n", 1)
            assert starting == STARTING
        if hello is not None:
            self.send(f"hello 0 {hello}\n".encode())
            self.hello = self.read()

    # -- bytes

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.stdin.fileno(), view) :]

    def fill(self, seconds: float) -> None:
        ready = select.select([self.stdout], [], [], max(0.0, seconds))[0]
        if not ready:
            raise TimeoutError("the agent does not answer")
        data = os.read(self.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError(self.buffer)
        self.buffer += data

    def read(self, seconds: float = 60.0) -> Answer:
        """The next answer, with its payload as `data`."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            self.fill(end - time.monotonic())
        line, self.buffer = self.buffer.split(b"\n", 1)
        answer: Answer = json.loads(line)
        assert line.startswith(b'{"t":')
        if "payload" in answer:
            while len(self.buffer) < answer["payload"]:
                self.fill(end - time.monotonic())
            answer["data"], self.buffer = self.buffer[: answer["payload"]], self.buffer[answer["payload"] :]
        if answer["t"] == "need":
            self.needs.append(answer["part"])
            if answer["part"] not in self.withheld:
                self.send_part(answer["part"], timed_part(answer["part"], self.times))
        if answer["t"] == "need" or PART_ID < answer.get("id", 0) <= PART_ID + self.parts:
            return self.read(end - time.monotonic())
        return answer

    def send_part(self, name: str, code: bytes) -> int:
        self.parts += 1
        ident = PART_ID + self.parts
        self.send(f"part {ident} name={name} code:{len(code)}\n".encode() + code)
        return ident

    def wait_for(self, ident: int, seconds: float = 60.0) -> Answer:
        """The answer to the request, others (but `running`) are kept for later."""
        for number, answer in enumerate(self.kept):
            if answer.get("id") == ident:
                return self.kept.pop(number)
        end = time.monotonic() + seconds
        while True:
            answer = self.read(end - time.monotonic())
            if answer.get("id") == ident and answer["t"] != "running":
                return answer
            assert answer.get("id") != 0, answer  # the agent as a whole gives up
            if answer["t"] != "running":
                self.kept.append(answer)

    # -- requests

    def ask(self, verb: str, keys: Mapping[str, object] = {}, sections: Mapping[str, bytes] = {}) -> int:
        self.last += 1
        words = [verb, str(self.last)]
        words += [f"{name}={value}" for name, value in keys.items()]
        words += [f"{name}:{len(value)}" for name, value in sections.items()]
        self.send(" ".join(words).encode() + b"\n" + b"".join(sections.values()))
        return self.last

    def start(
        self,
        command: str | bytes,
        *,
        session: str = "main",
        timeout_s: float = 100.0,
        cap: int = 64 << 20,
        env: Mapping[str, bytes | str] = {},
        probes: Mapping[str, bytes] = {},
        prompts: Sequence[tuple[str, str]] = (),
        keys: Mapping[str, object] = {},
        **sections: bytes | str,
    ) -> int:
        named: dict[str, bytes | str] = {"command": command, **sections}
        named.update({f"env.{name}": value for name, value in env.items()})
        named.update({f"probe.{name}": value for name, value in probes.items()})
        for number, pair in enumerate(prompts):
            named.update(
                {f"prompt.{number}.{half}": text for half, text in zip(("match", "answer"), pair, strict=True)}
            )
        raw = {name: value.encode() if isinstance(value, str) else value for name, value in named.items()}
        words = {"session": session, "timeout_ms": int(timeout_s * 1000), "cap": cap, **keys}
        return self.ask("run", words, raw)

    def run(self, command: str | bytes, **options: Any) -> Answer:
        return self.wait_for(self.start(command, **options))

    def watch(self, command: str | bytes, seen: Callable[[Answer], object], **options: Any) -> Answer:
        """The result of a command that is cancelled as soon as what was seen of it is what is waited for."""
        ident = self.start(command, **options)
        while True:
            frame = self.read()
            assert frame["t"] == "running", frame
            if frame["id"] == ident and seen(frame["seen"]):
                break
        return self.cancelled(ident)

    def cancelled(self, ident: int) -> Answer:
        """The result of a command, after everything was cancelled."""
        assert self.wait_for(self.ask("cancel"))["t"] == "ok"
        return self.wait_for(ident)

    def slice(self, of: int, mode: str = "head", *, pattern: bytes | None = None, **keys: object) -> Answer:
        sections = {} if pattern is None else {"pattern": pattern}
        return self.wait_for(self.ask("slice", {"of": of, "mode": mode, **keys}, sections))

    def data(self, of: int, stream: str = "stdout") -> bytes:
        answer = self.slice(of, "bytes", stream=stream, first=0, last=1 << 30, max_bytes=1 << 30)
        assert answer["t"] == "slice", answer
        data: bytes = answer["data"]
        return data

    def output(self, command: str | bytes, **options: Any) -> str:
        """What the command prints, as text."""
        return self.data(self.run(command, **options)["id"]).decode("utf-8", "replace")

    # -- ends

    def bye(self) -> Answer:
        answer = self.wait_for(self.ask("bye"))
        assert self.process.wait(60) == 0
        return answer

    def close(self) -> None:
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    @property
    def directory(self) -> Path:
        return Path(self.hello["dir"])


def eventually(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether the condition comes true within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def kill_quietly(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
