#!/usr/bin/env python3
"""Run the README's example for real and put what it reports into the README. Run it after changing the example.

    .venv/bin/python scripts/readme_report.py [--check]

Playbook and data are the README's own blocks. `--check` changes nothing and ends with 1 if the example does not run.
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
MARKS = re.compile(r"(?<=<!-- report -->\n```text\n).*?(?=```\n<!-- /report -->)", re.DOTALL)


def block(mark: str, language: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    return found.group(1) if found else sys.exit(f"README.md has no block after the mark {mark}")


def report() -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "web.yml").write_text(block("playbook", "yaml"), encoding="utf-8")
        subprocess.run(["/bin/sh", "-euc", block("data", "sh")], cwd=folder, check=True)
        command = ["run", "web.yml", "-i", "inventory.ini", "-q", "--color", "never"]
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
