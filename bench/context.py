#!/usr/bin/env python3
"""What a reader is given: the outputs of a health check of eight commands as they are, and the report of the same.

    .venv/bin/python bench/context.py [--lab DIR] [--budgets 500,1000] [--show]

A private sshd on loopback and a log of 4,300 lines, 1.1 MB: one line in seventy is an ERROR, in words that are never
the same twice. `read` looks for the errors in it; `dump` prints the whole of it and expects no error in that; `blind`
prints the whole of it and expects no more than that it is short, as one does who does not yet know what to look for.
Bytes and tokens are of what is handed over: all outputs, or the JSON report. An error counts as shown where the report
has its number, its unit and its words. Their words mean nothing, so one error of each unit is what there is to know,
and how many there are.

The log is that of the lab (`workload.py` in the folder --lab, else ../shared/lab beside this project) where there is
one, else one of the same kind.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from loopback import Sshd, start_sshd  # noqa: E402 - found where the line above points

from checkrunner.findings.tokens import TokenEstimate  # noqa: E402

MOST_BYTES = 2048
COMMANDS = [
    "hostname",
    "df -hP /",
    "free -m",
    "uptime",
    "cat /proc/loadavg /proc/meminfo",
    "ps -eo pid,ppid,stat,rss,comm",
]
READ = ["grep ERROR {log}", "grep -c WARN {log}"]
DUMP = ["grep -E 'INFO|WARN|ERROR' {log}", "dmesg | tail -20 || true"]
# What the first command that reads the log is expected to show; of the others, that they end well.
WORKLOADS: dict[str, tuple[list[str], dict[str, object]]] = {
    "read": (READ, {"name": "No errors in the log", "expect": {"stdout": {"empty": True}, "rc": [0, 1]}}),
    "dump": (DUMP, {"name": "No errors in the log", "expect": {"stdout": {"not_matches": " ERROR "}}}),
    "blind": (DUMP, {"name": "The log is short", "warn_if": "stdout_lines > 1000"}),
}


def lab_log(folder: Path) -> bytes | None:
    """The lab's log, the same bytes each time; None where there is no lab."""
    path = folder / "workload.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("lab_workload", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return bytes(module.log_bytes())


def own_log() -> bytes:
    """A log of the same kind: units, three levels, and words that mean nothing."""
    rng = random.Random("context")
    units = ("kernel", "sshd", "systemd", "containerd", "exporter", "agent", "scheduler")
    words = ("device", "link", "state", "changed", "queue", "timeout", "lane", "count", "page", "cache", "remote")
    rows = []
    for number in range(4300):
        level = rng.choices(("ERROR", "WARN", "INFO"), (14, 186, 800))[0]
        stamp = (
            f"2026-02-{1 + number // 2000:02d}T{number // 180 % 24:02d}:{number // 3 % 60:02d}:{number * 20 % 60:02d}Z"
        )
        start = f"{stamp} {level} {rng.choice(units)}[{rng.randrange(300, 65000)}]:"
        rows.append(" ".join([start, *rng.choices(words, k=40)])[:255])
    return ("\n".join(rows) + "\n").encode()


def playbook(workload: str, log: Path) -> str:
    commands, expected = WORKLOADS[workload]
    checks: list[dict[str, object]] = [
        {"id": f"c{number}", "run": command.format(log=log)} | (expected if command == commands[0] else {})
        for number, command in enumerate(COMMANDS + commands, 1)
    ]
    return json.dumps([{"name": "Health", "hosts": "all", "checks": checks}])


def raw(sshd: Sshd, commands: Sequence[str], log: Path) -> bytes:
    options = ["-o", f"UserKnownHostsFile={sshd.folder / f'known_hosts.{sshd.port}'}", "-o", "IdentitiesOnly=yes"]
    ssh = ["ssh", "-F", "none", *options, "-i", str(sshd.key), "-p", str(sshd.port), "127.0.0.1"]
    outputs = [
        subprocess.run([*ssh, command.format(log=log)], capture_output=True, check=False, stdin=subprocess.DEVNULL)
        for command in commands
    ]
    return b"".join(done.stdout + done.stderr for done in outputs)


def report(folder: Path, workload: str, budget: int) -> bytes:
    path = folder / "play.yml"
    path.write_text(playbook(workload, folder / "app.log"), encoding="utf-8")
    words = ["run", str(path), "-i", str(folder / "inventory.ini"), "--format", "json", "-q", "--ssh-config", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "checkrunner", *words, "--budget-tokens", str(budget)],
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode not in {0, 1, 2}:
        sys.exit(f"exit code {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout


def slices(node: Any) -> Iterator[list[Any]]:
    """The lines of all slices: number, text, and more where there is more to say."""
    if isinstance(node, dict):
        for each in node.get("slices", ()):
            yield from each["lines"]
        for value in node.values():
            yield from slices(value)
    elif isinstance(node, list):
        for value in node:
            yield from slices(value)


def shown(document: bytes, output: Sequence[str]) -> set[str]:
    """Which lines of the log the report shows: by their number, with the unit and the words after it in their order."""
    found = set()
    for number, text, *_ in slices(json.loads(document)):
        line = output[number - 1] if 0 < number <= len(output) else ""
        words = iter(_words(line))
        # A line that is cut may begin and end within a word.
        parts = [_words(part) for part in re.split(r" ?\.\.\. ?", str(text))]
        inner = [word for part in parts for word in part[1:-1]]
        if len(inner) >= 4 and unit(line) in str(text) and all(word in words for word in inner):
            found.add(line)
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[a-zA-Z_]+", text)


def unit(line: str) -> str:
    return line.split()[2].partition("[")[0] if line else "no unit"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=Path, default=ROOT.parent / "shared" / "lab")
    parser.add_argument("--budgets", default="500,550,600,1000,4000", help="tokens a report may take")
    parser.add_argument("--show", action="store_true", help="print the smallest reports")
    options = parser.parse_args()
    budgets = [int(word) for word in options.budgets.split(",")]
    counter = TokenEstimate()
    data = lab_log(options.lab)
    if data is None:
        print(f"no lab in {options.lab}: with a log of the same kind instead\n")
        data = own_log()
    lines = data.decode().splitlines()
    errors = [line for line in lines if " ERROR " in line]
    units = {unit(line) for line in errors}
    print(f"log: {len(lines)} lines, {len(data)} bytes, {len(errors)} errors of {len(units)} units\n")
    print(f"{'':6} {'handed over':22} {'bytes':>9} {'tokens':>8} {'errors shown':>13} {'units':>6}")
    small = 0
    with tempfile.TemporaryDirectory() as name, start_sshd(Path(name)) as sshd:
        folder = Path(name)
        (folder / "app.log").write_bytes(data)
        (folder / "inventory.ini").write_text(sshd.inventory({"node1": "127.0.0.1"}), encoding="utf-8")
        for workload, (commands, _) in WORKLOADS.items():
            output = errors if commands is READ else lines
            everything = raw(sshd, COMMANDS + commands, folder / "app.log")
            tokens = counter.count(everything.decode("utf-8", "replace"))
            print(f"{workload:6} {'all outputs':22} {len(everything):9} {tokens:8} {len(errors):13} {len(units):6}")
            for budget in budgets:
                document = report(folder, workload, budget)
                told = shown(document, output) & set(errors)
                there = len({unit(line) for line in told})
                tokens = counter.count(document.decode())
                label = f"report of {budget} tokens"
                print(f"{workload:6} {label:22} {len(document):9} {tokens:8} {len(told):13} {there:6}", flush=True)
                small += len(document) <= MOST_BYTES and there == len(units)
                if options.show and budget == budgets[0]:
                    print(document.decode())
    print(f"\nreports of at most {MOST_BYTES} bytes with an error of each unit: {small}")


if __name__ == "__main__":
    main()
