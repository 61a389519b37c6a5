#!/usr/bin/env python3
"""What a 1.1 MB log costs on the wire: read by a check that passes, by one that shows five lines, and by plain ssh.

    .venv/bin/python bench/slices_wire.py

A private sshd on loopback, and a relay before it that counts bytes (encryption included). "More than `true`" is
what reading the log adds to a run whose only check is `true`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from loopback import counted, start_sshd

LINES, WIDTH, ERRORS = 4300, 255, range(70, 4300, 70)
CHECKS = {
    "a check: true": "{id: t, run: 'true'}",
    "cat log, passes": "{id: t, run: 'cat LOG'}",
    "cat log, text expected": "{id: t, run: 'cat LOG', expect: {stdout: {contains: ' ERROR '}}}",
    "cat log, 5 lines shown": "{id: t, run: 'cat LOG', slice: {match: ' ERROR ', max_lines: 5, when: always}}",
}


def write_log(path: Path) -> None:
    text = "".join(
        f"{number:05d} {'ERROR' if number in ERRORS else 'INFO'} unit[{number * 7 % 9973}]: ".ljust(WIDTH - 1, "x")
        + "\n"
        for number in range(LINES)
    )
    path.write_text(text, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "app.log"
        write_log(log)
        print(f"log: {log.stat().st_size} bytes, {LINES} lines, {len(ERRORS)} with ERROR\n")
        print(f"{'':26} {'from host':>10} {'to host':>10} {'more than true':>15}  (bytes)")
        with start_sshd(folder) as sshd:
            base = 0
            for title, check in CHECKS.items():
                with counted(sshd.port) as (port, counter):
                    inventory = folder / "inventory.ini"
                    inventory.write_text(sshd.inventory({"host": "127.0.0.1"}, port=port), encoding="utf-8")
                    playbook = folder / "play.yml"
                    text = f"- name: wire\n  hosts: all\n  checks:\n    - {check.replace('LOG', str(log))}\n"
                    playbook.write_text(text, encoding="utf-8")
                    command = [
                        "run",
                        str(playbook),
                        "-i",
                        str(inventory),
                        "--format",
                        "json",
                        "-q",
                        "--ssh-config",
                        "none",
                    ]
                    done = subprocess.run(
                        [sys.executable, "-m", "checkrunner", *command], capture_output=True, text=True, check=False
                    )
                if done.returncode:
                    sys.exit(f"{title}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
                base = base or counter.from_host
                print(f"{title:26} {counter.from_host:10} {counter.to_host:10} {counter.from_host - base:15}")
            with counted(sshd.port) as (port, counter):
                options = [
                    "-o",
                    "StrictHostKeyChecking=no",
                    "-o",
                    "UserKnownHostsFile=/dev/null",
                    "-o",
                    "LogLevel=ERROR",
                ]
                ssh = ["ssh", "-F", "none", *options, "-i", str(sshd.key), "-p", str(port), "127.0.0.1", f"cat {log}"]
                subprocess.run(ssh, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            print(f"{'ssh host cat log':26} {counter.from_host:10} {counter.to_host:10} {counter.from_host - base:15}")


if __name__ == "__main__":
    main()
