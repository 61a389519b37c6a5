"""What a host compiles of the agent, and when."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest
from agent_process import REMOTE, AgentProcess, Times, interpreters

from checkrunner.link.payload import START

Start = Callable[..., AgentProcess]

# Writes the name of each function to standard error when it is compiled. Everything is compiled in the same process:
# what a forked child compiles before it becomes bash is among them.
TELL = f"""
import builtins, posix
real = compile
def tell(source, *rest):
    if b"def " in source[:16]:
        posix.write(2, source.split(b"def ", 1)[1].split(b"(")[0] + b"\\n")
    return real(source, *rest)
builtins.compile = tell
exec({START!r})
"""


class Told(AgentProcess):
    """An agent that tells what it compiles."""

    def __init__(self, *, python: str = sys.executable, times: Times = ()) -> None:
        reading, writing = os.pipe()
        self.reading = reading
        try:
            super().__init__(python=python, start=TELL, stderr=writing, times=times)
        finally:
            os.close(writing)

    def told(self) -> list[str]:
        """What was compiled, once the agent has ended."""
        self.bye()
        self.close()
        with open(self.reading, "rb") as stream:
            return stream.read().decode().split()


def test_a_plain_run_compiles_half_of_the_agent() -> None:
    # However busy the machine is, nothing lasts so long here that it would be looked at.
    agent = Told(times=(("agent.NEED_S", "600.0"), ("agent.QUIET_S", "600.0")))
    for _ in range(3):
        assert agent.run("echo out; echo err >&2; true | false")["rc"] == 1
    names = agent.told()
    assert {"open_directory", "serve_run", "on_report", "finish"} < set(names)
    late = {
        "scan_lines", "scan_probes", "scan_slice", "compile_pattern", "serve_slice", "start_slice", "work", "restore",
        "on_death", "note_death", "replace", "drop_shell", "prepare", "prepared", "look", "end", "end_further",
        "kill_family", "give_up", "cancel", "read_to_nowhere", "end_processes", "explain",
    }  # fmt: skip
    assert late.isdisjoint(names)
    assert len(names) < 110


@pytest.mark.parametrize("python", interpreters())
def test_each_function_is_compiled_once_and_works_the_first_time(python: str) -> None:
    """Functions, methods, static methods, properties and generators, on each interpreter, by what first needs them."""
    agent = Told(python=python)
    result = agent.run("seq 2000", probes={"p.contains.stdout": b"77", "q.matches.stdout": b"^1.5$"})
    assert {name: probe["count"] for name, probe in result["probes"].items()} == {"p": 38, "q": 10}
    assert agent.slice(result["id"], "match", pattern=b"^1999$")["data"] == b"1999"
    assert agent.run("kept=1; exit 3")["rc"] == 3
    assert agent.output("echo $kept; echo $X", env={"X": "env"}, cwd="/") == "1\nenv\n"
    assert agent.run("sleep 30", timeout_s=0.1)["execution"] == "timed_out"
    left = agent.run("sleep 30 & sleep 0.01")
    assert len(left["leftover"]) == 1
    error = agent.wait_for(agent.ask("slice", {"of": 999}))
    assert (error["t"], error["kind"]) == ("error", "no_such_run")
    names = agent.told()
    once = {"scan_contains", "scan_matches", "scan_slice", "restore", "prepared", "end_further", "end_processes"}
    assert {name: names.count(name) for name in once} == dict.fromkeys(once, 1)


def test_an_error_names_the_lines_of_the_file(start_agent: Start) -> None:
    """A function that was compiled alone still says where it stands in remote/agent.py."""
    agent = start_agent(hello=None, start=f"import posix; del posix.uname; exec({START!r})")
    agent.send(b"hello 0 v=1 nonce=n\n")
    fatal = agent.read()
    assert (fatal["t"], fatal["id"], fatal["kind"]) == ("error", 0, "internal")
    places = dict(word.strip("()").split(":") for word in fatal["message"].split() if word.strip("()")[-1:].isdigit())
    lines = (REMOTE / "agent.py").read_text(encoding="utf-8").split("\n")
    assert "os.uname()" in lines[int(places["greet"]) - 1]
    assert "stand_in" not in places
