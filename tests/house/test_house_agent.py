"""What is sent to hosts must start on every Python that hosts have, from the standard library alone."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from house_tree import ROOT

from checkrunner.link.payload import LATER

AGENT = ROOT / "remote" / "agent.py"
PARTS = [AGENT, *[ROOT / "remote" / f"{name}.py" for name in (*LATER, "plain")]]
TERMINAL = ROOT / "remote" / "terminal.py"
WRAPPER = ROOT / "remote" / "wrapper.sh"

# Start-up is most of what a host pays: json alone costs as much as Python itself, so each import is a decision.
ALLOWED = {
    "base64", "binascii", "codecs", "ctypes", "errno", "fcntl", "functools", "hashlib", "io", "json", "marshal", "math", "os",
    "pty", "pwd", "re", "resource", "select", "signal", "stat", "struct", "sys", "termios", "time", "tty", "zlib",
    # C modules below the ones above: cheaper than their faces.
    "_codecs", "_collections", "_ctypes", "_hashlib", "_json", "_signal", "_sha2", "_sha256", "_socket", "_sre", "_struct", "posix",
}  # fmt: skip


def interpreters() -> list[str]:
    """This interpreter, and those of Python 3.6 to 3.13 that a version manager has beside it."""
    found = {sys.executable}
    for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")):
        version = path.parts[-3].split(".")
        if version[1].isdigit() and 6 <= int(version[1]) <= 13:
            found.add(str(path))
    return sorted(found)


def test_every_part_of_the_agent_is_looked_at() -> None:
    assert sorted([*PARTS, TERMINAL]) == sorted((ROOT / "remote").glob("*.py"))


@pytest.mark.parametrize("part", [*PARTS, TERMINAL], ids=lambda path: path.name)
def test_the_agent_imports_only_what_is_allowed(part: Path) -> None:
    tree = ast.parse(part.read_text(encoding="utf-8"))
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    } | {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    # A later part takes from the agent what it needs of it, and from no other part: any of them may be missing.
    assert imported - ALLOWED - ({"agent"} if part != AGENT else set()) == set()


@pytest.mark.parametrize("part", PARTS[1:], ids=lambda path: path.name)
def test_a_later_part_takes_from_the_agent_what_is_there(part: Path) -> None:
    names = {name for node in ast.parse(AGENT.read_text(encoding="utf-8")).body for name in defined(node)}
    tree = ast.parse(part.read_text(encoding="utf-8"))
    taken = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "agent"
        for alias in node.names
    }

    assert taken
    assert taken - names == set()
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import) and node.names[0].name == "agent"]


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement of a module gives a meaning to."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return []


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.name)
@pytest.mark.parametrize("python", interpreters())
def test_the_agent_compiles(python: str, part: Path) -> None:
    # Warnings are errors: a future interpreter must not print into the stream.
    done = subprocess.run(
        [python, "-IS", "-W", "error", "-c", "import sys; compile(sys.stdin.buffer.read(), 'part', 'exec')"],
        input=part.read_bytes(),
        capture_output=True,
        timeout=30,
    )

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_the_wrapper_for_other_shells_is_posix(shell: str) -> None:
    found = shutil.which(shell)
    assert found
    done = subprocess.run([found, "-n", str(ROOT / "remote" / "plain.sh")], capture_output=True, text=True, timeout=30)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_wrapper_is_bash() -> None:
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-n", str(WRAPPER)], capture_output=True, text=True, timeout=30)

    assert (done.returncode, done.stderr) == (0, "")
