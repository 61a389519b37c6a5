#!/usr/bin/env python3
"""Run the README's playbook for real and put what it reports into the README. Run it after changing either.

    .venv/bin/python scripts/readme_report.py [--check]

Three hosts are three loopback addresses of a private sshd; each has an application log of its own. `--check` changes
nothing and ends with 1 if the README's playbook does not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
sys.path.insert(0, str(ROOT / "bench"))

from loopback import start_sshd  # noqa: E402  (lies beside the benchmarks)

HOSTS = {"web01": "127.0.0.1", "web02": "127.0.0.2", "web03": "127.0.0.3"}
ERROR = "2026-03-02T04:05:0{n}Z ERROR pool[311]: timeout after 30 s waiting for db01:5432 (query {n})\n"
MARKS = re.compile(r"(?<=<!-- report -->\n```text\n).*?(?=```\n<!-- /report -->)", re.DOTALL)


def readme_playbook() -> str:
    match = re.search(r"<!-- playbook -->\n```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return match.group(1) if match else sys.exit("README.md has no playbook between its marks")


def make_log(path: Path, errors: int) -> None:
    path.parent.mkdir()
    usual = "".join(
        f"2026-03-02T04:04:{n % 60:02d}Z INFO  http[311]: GET /orders/{n} 200 {n % 37} ms\n" for n in range(20000)
    )
    path.write_text(usual + "".join(ERROR.format(n=n) for n in range(1, errors + 1)), encoding="utf-8")


def report() -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "web.yml").write_text(readme_playbook(), encoding="utf-8")
        with start_sshd(folder, addresses=len(HOSTS)) as sshd:
            inventory = sshd.inventory(HOSTS, group="web")
            for host, errors in zip(HOSTS, (0, 7, 7), strict=True):
                make_log(folder / host / "app.log", errors)
                inventory = inventory.replace(f"{host} ", f"{host} app_log={folder}/{host}/app.log ", 1)
            (folder / "inventory.ini").write_text(inventory, encoding="utf-8")
            options = ["-q", "--color", "never", "--ssh-config", "none"]
            command = ["run", "web.yml", "-i", "inventory.ini", *options]
            done = subprocess.run(
                [sys.executable, "-m", "checkrunner", *command],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
            )
    if done.returncode != 2:  # web02 and web03 have errors in their logs
        sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return "$ checkrunner run web.yml -i inventory.ini\n" + done.stdout.strip() + "\n"


def main() -> None:
    text = report()
    if "--check" in sys.argv:
        return
    readme, count = MARKS.subn(lambda _: text, README.read_text(encoding="utf-8"))
    if count != 1:
        sys.exit("README.md has no report between its marks")
    README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
