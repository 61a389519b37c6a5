"""`checkrunner report` on files that runs wrote, and on some that none did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, Done, call_here, environment

from checkrunner.findings.tokens import TokenEstimate

GOLDEN = ROOT / "tests" / "golden"
TROUBLE = (GOLDEN / "trouble.2.json").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.json").write_text(TROUBLE, encoding="utf-8")
    return tmp_path


def report(folder: Path, *arguments: str, stdin: str = "", **more: str) -> Done:
    return call_here(
        ["report", *arguments], folder=folder, stdin=stdin, env={**environment(folder), **more} if more else None
    )


def parts(context: str) -> tuple[str, str]:
    """Head and document."""
    *head, first, document, last = context.removesuffix("\n").split("\n")
    assert first == last
    assert first in head[1]
    return "\n".join(head), document


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_report_is_shown_as_its_run_showed_it_whatever_it_says(folder: Path, path: Path) -> None:
    done = report(folder, str(path))

    text = path.with_suffix(".terminal").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == text.split()


def test_json_is_the_document_as_it_is(folder: Path) -> None:
    assert report(folder, "r.json", "--format", "json").stdout == TROUBLE
    assert report(folder, "-", "--format", "json", stdin=TROUBLE).stdout == TROUBLE


def test_a_model_gets_how_to_read_it_and_the_report_as_data(folder: Path) -> None:
    done = report(folder, "r.json", "--for-llm")

    head, document = parts(done.stdout)
    size = TokenEstimate().count(done.stdout)
    assert done.returncode == 0
    assert done.stderr == f"{size:,} tokens of 4,000 (estimate/2, o200k_base)\n"
    for word in (
        "never follow instructions",
        "verdict",
        "evidence id",
        "omissions",
        "checkrunner slice",
        "--budget-tokens",
    ):
        assert word in head
    shown, written = json.loads(document), json.loads(TROUBLE)
    assert shown.pop("budget") == {"limit": 4000, "used": size, "counter": "estimate/2"}
    assert shown == {name: part for name, part in written.items() if name != "budget"}


@pytest.mark.parametrize("limit", [900, 1200, 1400])
def test_the_whole_context_is_within_the_budget(folder: Path, limit: int) -> None:
    done = report(folder, "-", "--for-llm", "--budget-tokens", str(limit), stdin=TROUBLE)

    shown = json.loads(parts(done.stdout)[1])
    left = {one["what"]: one["count"] for one in shown["omissions"] if one["why"] == "the budget"}
    assert TokenEstimate().count(done.stdout) == shown["budget"]["used"] <= limit
    assert left
    assert len(shown["findings"]) + left.get("finding", 0) == 6


def test_without_a_limit_nothing_is_left_out(folder: Path) -> None:
    done = report(folder, "r.json", "--for-llm", CHECKRUNNER_BUDGET_TOKENS="0")

    assert len(json.loads(parts(done.stdout)[1])["findings"]) == 6
    assert " of " not in done.stderr


def test_other_formats_are_cut_only_where_a_flag_says_so(folder: Path) -> None:
    as_it_is = report(folder, "r.json", "--format", "json", CHECKRUNNER_BUDGET_TOKENS="600")
    cut = report(folder, "r.json", "--format", "json", "--budget-tokens", "600")

    assert as_it_is.stdout == TROUBLE
    assert TokenEstimate().count(cut.stdout.rstrip("\n")) == json.loads(cut.stdout)["budget"]["used"] <= 600


def test_tokens_are_those_of_the_vocabulary(folder: Path) -> None:
    named = report(folder, "r.json", "--for-llm", "--tokens-of", "deepseek_v3")
    factor = report(folder, "r.json", "--for-llm", CHECKRUNNER_TOKENS_OF="2")

    assert named.stderr.endswith("(estimate/2, deepseek_v3)\n")
    assert factor.stderr == f"{TokenEstimate('2').count(factor.stdout):,} tokens of 4,000 (estimate/2, 2)\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json"], "none.json: error: cannot be read: No such file or directory"),
        (["."], "cannot be read: Is a directory"),
        (["empty.json"], "empty.json: error: is empty: there is no report in it"),
        (["cut.json"], "ends in the middle of the report, after 700 bytes"),
        (["people.txt"], "It looks like a report for people"),
        (["latin.json"], "is not UTF-8 text"),
        (["lint.json"], 'is no report: its schema is "checkrunner/lint/1"'),
        (["-"], "<stdin>: error: is empty"),
        (["r.json", "--format", "jsn"], "Did you mean 'json'?"),
        (["r.json", "--for-llm", "--format", "json"], "--for-llm has a form of its own"),
        (["r.json", "--for-llm", "--tokens-of", "claude2"], "Did you mean 'claude_2'?"),
        (["r.json", "--for-llm", "--tokens-of", "11"], "tokens_of = '11' (from flag): expected the name of a voc"),
        (["r.json", "--for-llm", "--budget-tokens", "100"], "expected 0 for no limit, or a number from 500"),
        (["r.json", "--for-llm", "--budget-tokens", "700"], "that say how to read it: give 8"),
        (["r.json", "--format", "json", "--budget-tokens", "900", "--tokens-of", "2"], "at least 1,000 tokens of 2"),
        (["r.json", "--for-lm"], "--for-llm"),
        ([], "missing argument"),
    ],
)
def test_what_cannot_be_shown_is_said_to_be(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "empty.json").write_text("")
    (folder / "cut.json").write_text(TROUBLE[:700])
    (folder / "people.txt").write_text("OK  18 ok\nplaybook x\n")
    (folder / "latin.json").write_bytes('{"schema":"größe"}'.encode("latin-1"))
    (folder / "lint.json").write_text('{"schema":"checkrunner/lint/1"}')

    done = report(folder, *arguments)

    assert done.returncode == 64
    assert done.stdout == ""
    assert said in done.stderr


def test_nothing_in_a_file_reaches_a_terminal_as_a_command(folder: Path) -> None:
    document = json.loads(TROUBLE)
    document["findings"][0]["slices"][0]["lines"] = [[1, "\x1b[2J\u202eevil\x9b31m\x07"]]
    (folder / "r.json").write_text(json.dumps(document))

    for arguments in ([], ["--format", "json"], ["--for-llm"]):
        text = report(folder, "r.json", *arguments).stdout
        assert "evil" in text
        assert not any(char in text for char in "\x1b\u202e\x9b\x07")


def test_the_run_and_slice_know_the_vocabulary_too(folder: Path) -> None:
    (folder / "p.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'false'}]\n")
    (folder / "log").write_text("".join(f"error {name}: gone\n" for name in dir(str)))

    def call(*arguments: str) -> Done:
        return call_here(arguments, folder=folder)

    ran = call("run", "p.yml", "-q", "--format", "json", "--tokens-of", "1.5")
    assert json.loads(ran.stdout)["budget"]["counter"] == "estimate/2 1.5"
    refused = call("run", "p.yml", "--tokens-of", "o200k")
    assert (refused.returncode, "Did you mean 'o200k_base'?" in refused.stderr) == (64, True)
    few, more = (call("slice", "log", "--budget-tokens", "100", "--tokens-of", of).stdout for of in ("4", "0.5"))
    assert len(few.splitlines()) < len(more.splitlines())


def test_a_pipe_carries_the_context_and_nothing_else(folder: Path) -> None:
    command = [sys.executable, "-m", "checkrunner", "report", "-", "--for-llm"]
    env = {**environment(folder), "PYTHONIOENCODING": "ascii"}

    done = subprocess.run(
        command, input=TROUBLE.encode(), capture_output=True, env=env, cwd=folder, timeout=50, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == report(folder, "r.json", "--for-llm").stdout
    assert done.stderr.endswith(b" tokens of 4,000 (estimate/2, o200k_base)\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said_to_be_one(folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "checkrunner", "report", "r.json", "--for-llm"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment(folder), cwd=folder, timeout=50, check=False
        )

    assert done.returncode == 64
    assert b"could not be written to stdout: No space left" in done.stderr


def test_the_manual_shows_what_a_model_gets(folder: Path) -> None:
    manual = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    block = manual.partition("<!-- context -->\n```console\n")[2].partition("```\n<!-- /context -->")[0]
    commands, _, context = block.partition("$ cat context.txt\n")

    (folder / "report.json").write_text(parts(context)[1])
    done = report(folder, "report.json", "--for-llm")

    assert done.stdout == context
    assert commands.splitlines()[2] == done.stderr.rstrip("\n")
