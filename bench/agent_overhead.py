#!/usr/bin/env python3
"""What one more command costs in a warm session, on the host: 50 times `true`, each sent when the one before has ended.

    .venv/bin/python bench/agent_overhead.py [--commands 50] [--rounds 10] [--command true] [--most 3.0] [PYTHON...]

For each interpreter (default: this one): from a request's first byte to its result's last, as a client on the same host
sees it; what the agent itself says that the command took; the same with all requests sent at once; and processor time
of the agent and of bash. Milliseconds; ends with 1 where the median of the first is above `--most`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "agent"))

from agent_process import AgentProcess


def cpu_ms(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def measure(python: str, command: str, commands: int, rounds: int) -> dict[str, float]:
    agent = AgentProcess(python=python)
    try:
        shell = int(agent.output("echo $$"))
        for _ in range(20):
            agent.run(command)
        before = cpu_ms(agent.process.pid), cpu_ms(shell)
        taken, said, batches = [], [], []
        for _ in range(rounds):
            for _ in range(commands):
                started = time.perf_counter()
                result = agent.run(command)
                taken.append((time.perf_counter() - started) * 1e3)
                said.append(result["elapsed_s"] * 1e3)
            started = time.perf_counter()
            for ident in [agent.start(command) for _ in range(commands)]:
                agent.wait_for(ident)
            batches.append((time.perf_counter() - started) * 1e3 / commands)
        many = 2 * rounds * commands
        return {
            "median": statistics.median(taken),
            "95 %": statistics.quantiles(taken, n=20)[-1],
            "elapsed_s": statistics.median(said),
            "at once": statistics.median(batches),
            "agent CPU": (cpu_ms(agent.process.pid) - before[0]) / many,
            "bash CPU": (cpu_ms(shell) - before[1]) / many,
        }
    finally:
        agent.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--command", default="true")
    parser.add_argument("--most", type=float, default=3.0)
    parser.add_argument("python", nargs="*", default=[sys.executable])
    options = parser.parse_args()

    worst = 0.0
    for number, python in enumerate(options.python):
        row = measure(python, options.command, options.commands, options.rounds)
        if not number:
            print(" ".join(f"{name:>10}" for name in row))
        print(" ".join(f"{value:10.3f}" for value in row.values()) + f"  {python}", flush=True)
        worst = max(worst, row["median"])
    return int(worst > options.most)


if __name__ == "__main__":
    raise SystemExit(main())
