#!/usr/bin/env python3
"""How long checkrunner takes to start: `--version`, and a run of one trivial check on this machine.

    .venv/bin/python bench/startup.py [--runs 15]

Prints wall times in milliseconds beside `python -c pass` of the same interpreter; the median is what to look at.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAYBOOK = "- name: trivial\n  hosts: all\n  checks:\n    - {id: trivial, run: 'true'}\n"


def once(argv: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        playbook = Path(folder) / "trivial.yml"
        playbook.write_text(PLAYBOOK, encoding="utf-8")
        command = [sys.executable, "-m", "checkrunner"]
        what = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "checkrunner --version": [*command, "--version"],
            "checkrunner checks": [*command, "checks", str(playbook)],
            "checkrunner run, one check": [*command, "run", str(playbook), "-q"],
        }
        # Round robin, so that a slow spell of the machine does not fall on one of them; the first round warms caches.
        times: dict[str, list[float]] = {name: [] for name in what}
        for round_number in range(options.runs + 1):
            for name, argv in what.items():
                elapsed = once(argv)
                if round_number:
                    times[name].append(elapsed)

    base = statistics.median(times["python -c pass"])
    print(f"{'':28} {'median':>8} {'best':>8} {'more than python':>18}  (ms, {options.runs} runs)")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:28} {median * 1e3:8.0f} {min(values) * 1e3:8.0f} {(median - base) * 1e3:18.0f}")


if __name__ == "__main__":
    main()
