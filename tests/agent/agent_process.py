"""A black box around the agent: a real process, a pair of pipes, real bash."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from checkrunner.link.payload import ALLOCATOR, START, VARIABLE, load_part, load_payload
from checkrunner.link.wire import STARTING

REMOTE = Path(__file__).resolve().parents[2] / "remote"

PART_ID = 1_000_000_000  # of the first request that sends a later part of the agent, on demand
Answer = dict[str, Any]


def interpreters() -> list[str]:
    """Every Python from 3.6 on that this machine has, one path each."""
    found = [str(p) for p in sorted(Path("/root/.pyenv/versions").glob("3.*/bin/python"))]
    return [*found, *[p for p in ("/usr/bin/python3",) if os.access(p, os.X_OK)]] or [sys.executable]


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
    ) -> None:
        """`argv` is started in place of an interpreter with the packed agent, and gets `head` first. `packed` is the agent, if not
        the usual one."""
        self.process = subprocess.Popen(
            [*prefix, *(argv or [python, "-IS", "-c", start])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={
                **(os.environ if env is None else env),
                VARIABLE: packed or load_payload().packed,
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
                self.fill(20.0)
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

    def read(self, seconds: float = 20.0) -> Answer:
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
                self.send_part(answer["part"], load_part(answer["part"]))
        if answer["t"] == "need" or PART_ID < answer.get("id", 0) <= PART_ID + self.parts:
            return self.read(end - time.monotonic())
        return answer

    def send_part(self, name: str, code: bytes) -> int:
        self.parts += 1
        ident = PART_ID + self.parts
        self.send(f"part {ident} name={name} code:{len(code)}\n".encode() + code)
        return ident

    def wait_for(self, ident: int, seconds: float = 20.0) -> Answer:
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
        timeout_s: float = 20.0,
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
        return self.wait_for(self.start(command, **options), 40.0)

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
        assert self.process.wait(10) == 0
        return answer

    def close(self) -> None:
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    @property
    def directory(self) -> Path:
        return Path(self.hello["dir"])


def eventually(condition: Callable[[], object], seconds: float = 10.0) -> bool:
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
