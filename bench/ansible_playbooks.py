#!/usr/bin/env python3
"""How long playbooks of Ansible take, with ansible-playbook and with checkrunner. Their exit codes are compared.

    .venv/bin/python bench/ansible_playbooks.py [--hosts 1] [--playbooks disk,memory] [--runs 1]

The playbooks are those of tests/ansible/playbooks; the hosts are this machine, over an sshd of its own on loopback,
where nothing is far away: over a real network every round trip counts. Both programs start anew for each playbook.
Ansible keeps its connections and pipes its modules (`pipelining`), which is the fastest that it has. scripts/oracle
installs it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAYBOOKS = ROOT / "tests" / "ansible" / "playbooks"
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / name) for name in ("", "ansible", "load"))]

from playbook_oracle import ask_ansible  # noqa: E402 - found by the path that is set above
from sshd import SshdFixture  # noqa: E402 - as above

SAME = {0: 0, 2: 2, 4: 3}


def timed(run: Callable[[], int], runs: int) -> tuple[float, int]:
    """The median of the wall times, and the last exit code."""
    times, code = [], 0
    for _ in range(runs):
        began = time.monotonic()
        code = run()
        times.append(time.monotonic() - began)
    return statistics.median(times), code


def ours(playbook: Path, inventory: Path, folder: Path, work: str) -> int:
    env = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    command = ["run", str(playbook), "-i", str(inventory), "-q", "-e", f"work={work}"]
    done = subprocess.run(
        [sys.executable, "-m", "checkrunner", *command], env=env, cwd=folder, capture_output=True, check=False
    )
    return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--playbooks", default=",".join(sorted(path.stem for path in PLAYBOOKS.glob("*.yml"))))
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    print(f"{'playbook':<16} {'ansible s':>10} {'here s':>8} {'ratio':>6}  verdict")
    sums = [0.0, 0.0]
    with tempfile.TemporaryDirectory(prefix="b") as name, SshdFixture(Path(name) / "sshd") as sshd:
        folder = Path(name)
        inventory = sshd.write_inventory(folder / "hosts.ini", options.hosts)
        for playbook in options.playbooks.split(","):
            path = PLAYBOOKS / f"{playbook}.yml"

            def fresh() -> str:
                return tempfile.mkdtemp(dir=folder)

            def theirs(path: Path = path) -> int:
                return ask_ansible(path, inventory, folder, {}, "-e", f"work={fresh()}").rc

            def mine(path: Path = path) -> int:
                return ours(path, inventory, folder, fresh())

            slow, rc = timed(theirs, options.runs)
            fast, code = timed(mine, options.runs)
            sums = [sums[0] + slow, sums[1] + fast]
            same = "the same" if SAME.get(rc) == code else f"DIFFERENT: {rc} there, {code} here"
            print(f"{playbook:<16} {slow:>10.2f} {fast:>8.2f} {slow / fast:>6.1f}  {same}", flush=True)
    print(f"{'all':<16} {sums[0]:>10.2f} {sums[1]:>8.2f} {sums[0] / sums[1]:>6.1f}")


if __name__ == "__main__":
    main()
