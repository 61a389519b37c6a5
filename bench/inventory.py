#!/usr/bin/env python3
"""How long an inventory of many hosts takes: to load, and for `checkrunner hosts PATTERN` as a whole.

    .venv/bin/python bench/inventory.py [--hosts 10000] [--runs 3] [--update]

Makes inventories of as many hosts in 100 groups below 10 parents, with files in group_vars/ for `all` and for each
group, in three forms. Prints CPU seconds of loading in a process of its own, and wall and CPU seconds of the
command; the best of the runs is what to look at.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "inventory.md"
START, END = "<!-- bench/inventory.py --update -->", "<!-- end -->"
GROUPS = 100
PARENTS = 10
PATTERN = "site3:&group0*:!host-0035*"
LOAD = """
import sys, time
from checkrunner.load.inventory import load_inventory
start = time.process_time()
inventory = load_inventory([sys.argv[1]])
print(time.process_time() - start, len(inventory.hosts))
"""


def names(hosts: int, group: int) -> list[str]:
    each = hosts // GROUPS
    return [f"host-{number:05}" for number in range(group * each, (group + 1) * each)]


def variables(name: str, group: int) -> dict[str, str]:
    return {"ansible_host": f"192.0.2.{group}", "rack": f"r{name[-2:]}", "slot": name[-1]}


def ini(hosts: int, *, ranges: bool) -> str:
    lines = []
    for group in range(GROUPS):
        members = names(hosts, group)
        lines.append(f"[group{group:02}]")
        if ranges:
            lines.append(f"host-[{members[0][5:]}:{members[-1][5:]}]")
        else:
            lines += [" ".join([name, *(f"{k}={v}" for k, v in variables(name, group).items())]) for name in members]
        lines += [f"[group{group:02}:vars]", f"number={group}"]
    for parent in range(PARENTS):
        lines += [f"[site{parent}:children]", *(f"group{group:02}" for group in range(parent, GROUPS, PARENTS))]
    return "\n".join(lines) + "\n"


def yaml(hosts: int) -> str:
    lines = ["all:", "  children:"]
    for group in range(GROUPS):
        lines += [f"    group{group:02}:", "      hosts:"]
        for name in names(hosts, group):
            lines.append(f"        {name}:")
            lines += [f"          {key}: {value}" for key, value in variables(name, group).items()]
    for parent in range(PARENTS):
        lines += [f"    site{parent}:", "      children:"]
        lines += [f"        group{group:02}:" for group in range(parent, GROUPS, PARENTS)]
    return "\n".join(lines) + "\n"


def make(folder: Path, hosts: int) -> dict[str, Path]:
    """The inventories, by what they are."""
    (folder / "group_vars").mkdir()
    (folder / "group_vars" / "all.yml").write_text("ansible_user: ops\nlogs: [/var/log/a, /var/log/b]\n")
    for group in range(GROUPS):
        text = f"limit_mb: {group * 100}\nowner: team{group % 7}\nports:\n  - {{name: web, port: 80}}\n"
        (folder / "group_vars" / f"group{group:02}.yml").write_text(text)
    texts = {
        "INI, ranges": ("ranges", ini(hosts, ranges=True)),
        "INI, a line a host": ("lines", ini(hosts, ranges=False)),
        "YAML": ("hosts.yml", yaml(hosts)),
    }
    for name, text in texts.values():
        (folder / name).write_text(text)
    return {what: folder / name for what, (name, _) in texts.items()}


def load_once(path: Path) -> float:
    """CPU seconds."""
    load = [sys.executable, "-c", LOAD, str(path)]
    return float(subprocess.run(load, check=True, capture_output=True, text=True).stdout.split()[0])


def select_once(path: Path) -> tuple[float, float, int]:
    """Wall and CPU seconds, and how many hosts were selected."""
    command = [sys.executable, "-m", "checkrunner", "hosts", "-i", str(path), PATTERN]
    start, before = time.perf_counter(), os.times()
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[2:4]) - sum(before[2:4]), len(found)


def table(hosts: int, runs: int) -> str:
    """The figures, as a table in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        busy = f"load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
        lines = [
            (
                f"| {hosts:,} hosts, {GROUPS + PARENTS} groups | load, CPU s | `hosts PATTERN`, CPU s "
                f"| wall s ({busy}) | selected |"
            ),
            "|---|---|---|---|---|",
        ]
        for what, path in make(Path(folder), hosts).items():
            loads = [load_once(path) for _ in range(runs)]
            selects = [select_once(path) for _ in range(runs)]
            wall, cpu = min(one[0] for one in selects), min(one[1] for one in selects)
            lines.append(f"| {what} | {min(loads):.2f} | {cpu:.2f} | {wall:.2f} | {selects[0][2]} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--update", action="store_true", help="put the table into docs/inventory.md")
    options = parser.parse_args()

    made = table(options.hosts, options.runs)
    print(made)
    if options.update:
        text = PAGE.read_text(encoding="utf-8")
        before, start, rest = text.partition(START)
        _, end, after = rest.partition(END)
        assert end, f"{PAGE} has no place for the table"
        PAGE.write_text(f"{before}{start}\n{made}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
