#!/usr/bin/env python3
"""How large the JSON report is: ten checks on 1, 10, 100 hosts that are well, and on hosts of which a tenth is not.

    .venv/bin/python bench/report_size.py [--hosts 1,10,100]

The hosts are this machine under other names, over the local transport.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = [
    "hostname",
    "df -hP /",
    "uptime",
    "cat /proc/loadavg /proc/meminfo",
    "ls /proc",
    "cat /proc/cpuinfo",
    "env",
    "cat /proc/mounts",
    "seq 10000",
    "cat /proc/sys/kernel/osrelease /proc/uptime",
]
ILL = {
    "id": "ill",
    "run": "seq 1000; echo disk 7 is broken >&2; exit {{ 1 if ill is defined else 0 }}",
    "slice": {"stream": "stderr", "tail": 3},
    "why": "Something is broken.",
}


def run(folder: Path, hosts: int, ill: int) -> tuple[int, int, int]:
    """Bytes of the report, its findings, and the exit code."""
    checks: list[dict[str, object]] = [{"id": f"c{n}", "run": command} for n, command in enumerate(COMMANDS)]
    checks[-1] = ILL if ill else checks[-1]
    playbook, inventory = folder / "play.yml", folder / "inventory.ini"
    playbook.write_text(json.dumps([{"name": "size", "hosts": "all", "checks": checks}]), encoding="utf-8")
    lines = [f"web{n:03d} ansible_connection=local" + (" ill=1" if n <= ill else "") for n in range(1, hosts + 1)]
    inventory.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["run", str(playbook), "-i", str(inventory), "--format", "json", "-q", "-f", "10"]
    done = subprocess.run([sys.executable, "-m", "checkrunner", *command], capture_output=True, check=False)
    if done.returncode not in {0, 2}:
        sys.exit(f"exit code {done.returncode}\n{done.stderr.decode()}")
    return len(done.stdout), len(json.loads(done.stdout)["findings"]), done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="1,10,100")
    options = parser.parse_args()
    print(f"{'hosts':>6} {'ill':>5} {'bytes':>8} {'findings':>9} {'exit code':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for hosts in map(int, options.hosts.split(",")):
            for ill in sorted({0, (hosts + 9) // 10}):
                size, findings, code = run(Path(folder), hosts, ill)
                print(f"{hosts:6} {ill:5} {size:8} {findings:9} {code:10}")


if __name__ == "__main__":
    main()
