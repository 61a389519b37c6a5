"""Start-up time is part of the product. Times are measured in `bench/`; here it is held that nothing heavy is imported.

A verb may import what it needs and nothing that another one needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from house_tree import ROOT

HEAVY = {"ClusterShell", "asyncio", "asyncssh", "cryptography", "jinja2", "psutil", "pydantic", "rich", "yaml"}
START = """
import sys
sys.argv = ["checkrunner", *sys.argv[1:]]
try:
    from checkrunner.__main__ import main
    main()
except SystemExit:
    pass
print("loaded:", *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(*arguments: str, cwd: Path) -> set[str]:
    """Top-level packages in memory after the command."""
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("loaded: ")]
    assert "Traceback" not in done.stderr
    return set(line.split()[1:])


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_the_command_line_itself_is_light(arguments: tuple[str, ...], tmp_path: Path) -> None:
    # typer's help is drawn by rich.
    allowed = {"rich"} if arguments == ("--help",) else set()

    assert loaded(*arguments, cwd=tmp_path) & HEAVY - allowed == set()


def test_a_list_of_checks_needs_no_connection(tmp_path: Path) -> None:
    assert loaded("checks", "linux-health", cwd=tmp_path) & {"asyncssh", "cryptography", "psutil"} == set()


def test_a_run_on_this_machine_needs_no_ssh(tmp_path: Path) -> None:
    (tmp_path / "trivial.yml").write_text(
        "- name: trivial\n  hosts: all\n  checks:\n    - {id: trivial, run: 'true'}\n", encoding="utf-8"
    )

    assert loaded("run", "trivial.yml", cwd=tmp_path) & {"asyncssh", "cryptography", "rich"} == set()
