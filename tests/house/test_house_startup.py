"""Start-up time is part of the product. Times are measured in `bench/`; here it is held that nothing heavy is imported.

A verb may import what it needs and nothing that another one needs; a plain check nothing that others need.
"""

from __future__ import annotations

import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from house_tree import ROOT

HEAVY = {
    "ClusterShell",
    "asyncio",
    "asyncssh",
    "cryptography",
    "jinja2",
    "psutil",
    "pydantic",
    "rich",
    "sqlite3",
    "yaml",
}
START = """
import gc, sys
def collections():
    return sum(generation["collections"] for generation in gc.get_stats())
before = collections()
sys.argv = ["checkrunner", *sys.argv[1:]]
try:
    from checkrunner.__main__ import main
    main()
except SystemExit:
    pass
print("loaded:", *sorted(sys.modules), file=sys.stderr)
print("collections:", collections() - before, file=sys.stderr)
"""

# What only some playbooks need, as modules or as starts of their names that end in "*".
PUT_OFF = [
    "app.linting",
    "judge.consensus",
    "judge.extracts",
    "judge.fleet",
    "judge.jc_parsers",
    "judge.levels",
    "judge.parsing",
    "judge.quorum",
    "judge.tables",
    "judge.values",
    "link.become_*",
    "link.transports.exec*",
    "link.transports.ssh*",
    "load.params",
    "load.refinements",
    "load.schema",
    "load.schema_tasks",
    "load.task_[!i]*",
    "load.tasks",
    "model.params",
    "model.quantities",
    "plainyaml",
    "plan.facts*",
    "plan.flow",
    "plan.lint",
    "plan.loops",
    "plan.task_commands",
    "plan.task_names",
    "plan.task_results",
    "plan.tasks",
    "render.perfdata",
    "render.values",
]


def started(*arguments: str, cwd: Path) -> dict[str, list[str]]:
    """What the command had come to at its end: modules `loaded`, `collections` of garbage."""
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Traceback" not in done.stderr
    lines = [line.split() for line in done.stderr.splitlines()[-2:]]
    assert [line[0] for line in lines] == ["loaded:", "collections:"]
    return {line[0].removesuffix(":"): line[1:] for line in lines}


def loaded(*arguments: str, cwd: Path) -> set[str]:
    """Top-level packages in memory after the command."""
    return {name.split(".")[0] for name in started(*arguments, cwd=cwd)["loaded"]}


@pytest.fixture
def trivial(tmp_path: Path) -> str:
    """A playbook of one check."""
    text = "- name: trivial\n  hosts: all\n  checks:\n    - {id: trivial, run: 'true'}\n"
    (tmp_path / "trivial.yml").write_text(text, encoding="utf-8")
    return "trivial.yml"


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_the_command_line_itself_is_light(arguments: tuple[str, ...], tmp_path: Path) -> None:
    # typer's help is drawn by rich.
    allowed = {"rich"} if arguments == ("--help",) else set()

    assert loaded(*arguments, cwd=tmp_path) & HEAVY - allowed == set()


def test_a_list_of_checks_needs_no_connection(tmp_path: Path) -> None:
    assert loaded("checks", "linux-health", cwd=tmp_path) & {"asyncssh", "cryptography", "psutil"} == set()


def test_a_run_on_this_machine_needs_no_ssh(trivial: str, tmp_path: Path) -> None:
    assert loaded("run", trivial, cwd=tmp_path) & {"asyncssh", "cryptography", "rich"} == set()


@pytest.mark.parametrize("verb", ["run", "checks"])
def test_a_plain_check_loads_nothing_that_it_does_not_use(verb: str, trivial: str, tmp_path: Path) -> None:
    names = {name.removeprefix("checkrunner.") for name in started(verb, trivial, cwd=tmp_path)["loaded"]}

    assert "load.schema_checks" in names
    assert sorted(name for name in names if any(fnmatch(name, put_off) for put_off in PUT_OFF)) == []


def test_what_need_not_be_loaded_is_there() -> None:
    modules = {
        ".".join(path.relative_to(ROOT / "checkrunner").with_suffix("").parts)
        for path in (ROOT / "checkrunner").rglob("*.py")
    }

    assert [put_off for put_off in PUT_OFF if not any(fnmatch(name, put_off) for name in modules)] == []


def test_a_short_run_does_not_look_for_garbage(trivial: str, tmp_path: Path) -> None:
    (collections,) = started("run", trivial, cwd=tmp_path)["collections"]

    assert int(collections) <= 2
