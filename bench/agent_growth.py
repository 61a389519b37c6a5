#!/usr/bin/env python3
"""Whether one session stays small: many tiny commands, and what grows with them.

    .venv/bin/python bench/agent_growth.py [--commands 100000] [--points 10] [--window 50] [COMMAND]...

The commands (default: a mixture of builtins, processes, outputs on both streams and background jobs) are run in turn in
one session, `window` requests ahead of their answers. At each of the points: the agent's resident and peak memory,
bash's, descriptors of both, threads, files in the capture directory and their bytes; and whether a slice of the first
and of a random run still says what that run printed. The last line is the growth from the first point to the last.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "agent"))

from agent_process import AgentProcess

COMMANDS = ["true", "echo $((n += 1))", "/bin/true", "echo err >&2; false", "x=$n; printf 'a\\nb'", "sleep 0 & :"]
HEADS = ("commands", "agent KiB", "peak", "bash KiB", "fds", "bash fds", "threads", "files", "file KiB", "us each")


def status(pid: int, key: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise KeyError(key)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def point(agent: AgentProcess, done: int, seconds: float) -> list[int]:
    """One row of the table."""
    pid = agent.process.pid
    shell = children(pid)[0]
    sizes = [path.stat().st_size for path in agent.directory.rglob("*")] if agent.hello["dir"] else []
    return [
        done,
        status(pid, "VmRSS"),
        status(pid, "VmHWM"),
        status(shell, "VmRSS"),
        len(os.listdir(f"/proc/{pid}/fd")),
        len(os.listdir(f"/proc/{shell}/fd")),
        status(pid, "Threads"),
        len(sizes),
        sum(sizes) >> 10,
        int(seconds * 1e6),
    ]


class Crowd:
    """Runs commands ahead of their answers, and knows what each of them printed."""

    def __init__(self, agent: AgentProcess, commands: list[str], window: int) -> None:
        self.agent, self.commands, self.window = agent, commands, window
        self.first: dict[int, dict[str, Any]] = {}
        self.waiting: list[int] = []

    def run(self, count: int) -> None:
        for number in range(count):
            self.waiting.append(self.agent.start(self.commands[number % len(self.commands)]))
            if len(self.waiting) >= self.window:
                self.collect()
        while self.waiting:
            self.collect()

    def collect(self) -> None:
        result = self.agent.wait_for(self.waiting.pop(0))
        assert result["execution"] == "done", result
        self.first[result["id"]] = {name: result[name]["bytes"] for name in ("stdout", "stderr") if name in result}

    def look_back(self) -> None:
        """The first run, and others, as slices: all that they printed."""
        for ident in {min(self.first), max(self.first), *random.sample(sorted(self.first), 20)}:
            for name in ("stdout", "stderr"):
                assert len(self.agent.data(ident, name)) == self.first[ident].get(name, 0), (ident, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--window", type=int, default=50)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("command", nargs="*", default=COMMANDS)
    options = parser.parse_args()

    agent = AgentProcess(python=options.python)
    crowd = Crowd(agent, options.command, options.window)
    print(" ".join(f"{head:>10}" for head in HEADS))
    rows: list[list[int]] = []
    part = options.commands // options.points
    crowd.run(200)  # what is compiled at the first use is there
    crowd.look_back()
    try:
        rows.append(point(agent, 200, 0))
        for number in range(options.points):
            started = time.monotonic()
            crowd.run(part)
            each = (time.monotonic() - started) / part
            crowd.look_back()
            rows.append(point(agent, 200 + part * (number + 1), each))
            print(" ".join(f"{value:>10}" for value in rows[-1]), flush=True)
        print(" ".join(f"{last - first:>+10}" for first, last in zip(rows[0], rows[-1], strict=True)))
    finally:
        agent.close()


if __name__ == "__main__":
    main()
