"""What the README and the manual tell people to type must exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from house_tree import ROOT, documents
from typer.main import get_command

from checkrunner.cli.main import app

MAKEFILE = ROOT / "Makefile"


def shell_lines(path: Path) -> list[str]:
    """The lines of the document's shell blocks that are commands: a prompt is taken off, comments too."""
    blocks = re.findall(
        r"^```(?:sh|bash|console|shell)\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [re.sub(r"\s+# .*", "", line.removeprefix("$ ")).strip() for line in lines]


def commands(program: str) -> list[tuple[str, list[str]]]:
    """(document, words) of each place where a document runs the program."""
    found = []
    for document in documents():
        for line in shell_lines(document):
            words = line.split()
            if words and words[0].removeprefix(".venv/bin/") == program:
                found.append((str(document.relative_to(ROOT)), words[1:]))
    return found


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE))


def test_make_targets_that_documents_name_exist() -> None:
    named = {(document, words[0]) for document, words in commands("make") if words}

    assert named, "no document says how to start"
    assert {target for _, target in named} - make_targets() == set()


def test_the_four_targets_are_there() -> None:
    assert {"demo", "test", "check", "help"} <= make_targets()


def test_make_help_names_every_target() -> None:
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)

    assert set(re.findall(r"^make (\S+)", done.stdout, re.MULTILINE)) == make_targets()


def test_verbs_and_options_that_documents_use_exist() -> None:
    wrong = []
    for document, words in commands("checkrunner"):
        verb, known = "", {"--version", "--help", "-h"}
        level: Any = get_command(app)
        for word in words:  # verbs have verbs below them
            if word.startswith("-") or not hasattr(level, "commands"):
                break
            level, verb = level.commands.get(word), f"{verb} {word}".strip()
            known |= {option for parameter in getattr(level, "params", ()) for option in parameter.opts}
        if level is None:
            wrong.append(f"{document}: checkrunner {verb}")
            continue
        wrong += [
            f"{document}: checkrunner {verb} {word}"
            for word in words
            if re.match(r"--?[a-zA-Z]", word) and word.split("=")[0] not in known
        ]

    assert commands("checkrunner"), "no document shows the command"
    assert wrong == []


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").iterdir()), ids=lambda p: p.name)
def test_scripts_stop_at_the_first_error_and_stay_short(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    if script.suffix == ".py":
        return
    first, *rest = text.splitlines()
    syntax = subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True, timeout=30)

    assert first == "#!/bin/sh"
    assert "set -eu" in rest
    assert len(rest) < 45
    assert os.access(script, os.X_OK)
    assert syntax.stderr == ""


def test_the_example_of_the_readme_can_be_typed_in_and_finds_what_is_shown() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "readme_report.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
