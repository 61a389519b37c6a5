"""What a look at a process may touch: kernels before 5.11 make who looks wait for a process that is in execve."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from agent_process import eventually, load_modules


class Files:
    """Reads files as the agent does, and knows which."""

    def __init__(self, module: ModuleType) -> None:
        self._read: Callable[..., bytes] = module.__dict__["slurp"]
        self.names: list[str] = []
        module.__dict__["slurp"] = self

    def __call__(self, path: str, *size: int) -> bytes:
        self.names.append(Path(path).name)
        return self._read(path, *size)


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "300"]) as process:
        assert eventually(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n")
        assert eventually(lambda: "nanosleep" in Path(f"/proc/{process.pid}/wchan").read_text())
        yield process.pid
        process.kill()


@pytest.mark.parametrize("safe", [True, False])
def test_a_process_that_must_not_be_asked_is_not_asked(sleeper: int, safe: bool) -> None:
    agent, states = load_modules("states")
    vars(states).update(is_ordinary=lambda _wchan: False, ends_in_time=lambda _action: safe)
    files = Files(states)
    host = SimpleNamespace(looked={}, call_table=None, snapshot={})
    session = SimpleNamespace(agent=host, shell=sleeper, tty=-1, tty_name="", known={}, progress={})
    sight = states.Look(session, {sleeper: agent.process(sleeper)}).find()
    assert ("io" in files.names) is safe
    if safe:
        assert sight.kind == "idle"
    else:
        assert (sight.kind, sight.call, sight.on) == ("unknown", "", "looking at its system call blocks")


def test_a_shell_is_asked_for_its_system_call_only_while_it_waits_for_a_pipe(sleeper: int) -> None:
    _agent, endings = load_modules("endings")
    files = Files(endings)
    ours, script = os.pipe()
    session = SimpleNamespace(to_write=b"", long_text=None, script=ours, shell=sleeper)
    assert not endings.is_deaf(session)
    assert "syscall" not in files.names
    with subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.DEVNULL) as reader:
        session.shell = reader.pid
        assert eventually(lambda: endings.is_deaf(session))
        assert "syscall" in files.names
        os.close(ours)
        os.close(script)


def test_a_look_that_hangs_holds_no_descriptor_of_ours(tmp_path: Path) -> None:
    _agent, states = load_modules("states")
    vars(states)["GUARD_S"] = 60.0
    seen = tmp_path / "seen"

    def look() -> None:
        seen.write_text(str(len(os.listdir("/proc/self/fd"))))

    assert states.ends_in_time(look)
    assert seen.read_text() == "1", "the one with which it lists them"
