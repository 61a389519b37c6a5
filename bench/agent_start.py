#!/usr/bin/env python3
"""What the agent costs a host: from the exec request to hello, a run of 8 plain commands, and one command more.

    .venv/bin/python bench/agent_start.py [--runs 20] [--commands 8] [--beside DIR]... [PYTHON...]

For each interpreter (default: this one, /usr/bin/python3 and those of pyenv) the exec request is given to /bin/sh as a
login shell would get it, and all requests are sent at once. Wall and CPU times in milliseconds, minimum and median; CPU
is that of the whole tree, bash and the commands included. `--beside DIR` measures another checkout in turn with this
one, so that a slow spell of the machine falls on both.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans come to us, so that their CPU time is counted
MORE = 100  # commands of the long run, from which the cost of one is taken


def interpreters() -> list[str]:
    found = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"), key=lambda p: int(p.parts[-3].split(".")[1]))
    return [path for path in ["/usr/bin/python3", *map(str, found)] if os.access(path, os.X_OK)] or [sys.executable]


def exec_line(checkout: Path) -> str:
    code = "from checkrunner.link.payload import load_payload as load; print(load().exec_line)"
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, check=True, capture_output=True, text=True)
    return done.stdout.rstrip("\n")


def requests(commands: int) -> bytes:
    runs = [b"run %d session=main command:4\ntrue" % number for number in range(1, commands + 1)]
    return b"hello 0 v=1 nonce=n\n" + b"".join(runs)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(line: str, folder: str, commands: int) -> dict[str, float]:
    """One life of the agent."""
    before, start = cpu(), time.perf_counter()
    process = subprocess.Popen(
        ["/bin/sh", "-c", line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": f"{folder}:/usr/bin:/bin", "USER": "bench", "HOME": "/"},
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(requests(commands))
    times: dict[str, float] = {}
    results = 0
    for answer in process.stdout:
        if answer.startswith(b'{"t":"hello"'):
            times["hello"] = time.perf_counter() - start
        elif answer.startswith(b'{"t":"result"') and b'"rc":0' in answer:
            results += 1
            if results == commands:
                times["results"] = time.perf_counter() - start
                process.stdin.write(b"bye %d\n" % (commands + 1))
        elif answer.startswith(b'{"t":"error"'):
            raise SystemExit(answer.decode())
    process.wait()
    process.stdin.close()
    process.stdout.close()
    while True:  # the shells that the agent left to be collected
        try:
            os.wait()
        except ChildProcessError:
            break
    times["end"] = time.perf_counter() - start
    times["CPU"] = cpu() - before
    assert results == commands, f"{results} results"
    return times


def show(name: str, few: list[dict[str, float]], many: list[dict[str, float]], more: int) -> None:
    cells = []
    for what in ("hello", "results", "end", "CPU"):
        values = [times[what] * 1e3 for times in few]
        cells.append(f"{min(values):6.1f} {statistics.median(values):6.1f}")
    for what in ("results", "CPU"):
        least = (min(times[what] for times in many) - min(times[what] for times in few)) * 1e3 / more
        middle = statistics.median(times[what] for times in many) - statistics.median(times[what] for times in few)
        cells.append(f"{least:6.2f} {middle * 1e3 / more:6.2f}")
    print(f"{name:28} " + " ".join(f"{cell:>14}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--commands", type=int, default=8)
    parser.add_argument("--beside", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("python", nargs="*", default=interpreters())
    options = parser.parse_args()

    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    lines = {str(checkout): exec_line(checkout) for checkout in [*options.beside, ROOT]}
    heads = ("hello", "last result", "end", "CPU", "a command", "its CPU")
    print(f"{'ms: minimum, median':28} " + " ".join(f"{head:>14}" for head in heads))
    for python in options.python:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "python3").symlink_to(python)
            few: dict[str, list[dict[str, float]]] = {name: [] for name in lines}
            many: dict[str, list[dict[str, float]]] = {name: [] for name in lines}
            for number in range(options.runs + 1):
                for name, line in lines.items():
                    times = once(line, folder, options.commands), once(line, folder, options.commands + MORE)
                    if number:  # the first round warms the caches
                        few[name].append(times[0])
                        many[name].append(times[1])
        version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
        for name in lines:
            place = Path(name).name if len(lines) > 1 else Path(python).parts[1]
            show(f"{version} {place}", few[name], many[name], MORE)


if __name__ == "__main__":
    main()
