"""`checkrunner inventory` prints what `ansible-inventory` prints, byte for byte, of every inventory in inventories/."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path

import golden_inventories as golden
import pytest
from command_line import Done, call_here
from oracle import Call, Oracle

from checkrunner.app.inventory_output import Wanted, inventory_text
from checkrunner.load.secrets import SecretReader

CASES = golden.cases()


def wanted(sources: Sequence[str], words: Sequence[str]) -> Wanted:
    """The same arguments for us."""
    after = dict(itertools.pairwise(words))
    return Wanted(
        sources=sources,
        action=next(word for word in words if word in {"--list", "--graph", "--host"}).removeprefix("--"),
        start=after.get("--host", "all"),
        limit=after.get("-l"),
        as_yaml="--yaml" in words,
        with_vars="--vars" in words,
        export="--export" in words,
        extra_vars=[after["-e"]] if "-e" in words else [],
        playbook_dir=".",
        allow_empty=True,
    )


def comparable(text: str) -> str:
    """Without what is another on purpose: masks, and texts of several lines in a tree."""
    text = re.sub(r"(pass(?:word)?\"?(?:: | = ))[^\n,}]+", r"\1*", text)
    text = re.sub(r"\{\s*\"__ansible_unsafe\": (\".*?\")\s*\}", r"\1", text)
    if text.startswith("@"):
        return re.sub(r"\n(?!(?:  \|)*--)", " ", text).replace("\t", " ").rstrip()
    return text.rstrip("\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_list_is_that_of_ansible(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)

    text, _ = inventory_text(wanted(golden.sources(case), ["--list"]), SecretReader())

    assert comparable(text) == comparable(golden.expected_text(case))


FORMS = (
    ["--list", "--yaml"],
    ["--list", "--export"],
    ["--list", "--export", "--yaml"],
    ["--graph"],
    ["--graph", "--vars"],
    ["--graph", "--vars", "--export"],
    ["--list", "-l", "all[0:1]"],
    ["--host", "all[-1]", "-e", "one=1 playbook_dir=x"],
)


@pytest.mark.parametrize("number", range(len(FORMS)), ids=lambda number: " ".join(FORMS[number]))
def test_everything_is_printed_as_by_ansible(oracle: Oracle, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = FORMS[number]
    cases = CASES[number % 4 :: 4]  # a quarter for each: all of them take minutes
    calls = []
    for case in cases:
        named = [word for source in golden.sources(case) for word in ("-i", source)]
        calls.append(Call([*named, *words], cwd=case))

    answers = oracle.batch(calls)

    different = {}
    for case, answer in zip(cases, answers, strict=True):
        monkeypatch.chdir(case)
        text, _ = inventory_text(wanted(golden.sources(case), words), SecretReader())
        if answer.rc == 0 and comparable(text) != comparable(answer.stdout):
            different[case.name] = (comparable(text), comparable(answer.stdout))
    assert different == {}
    assert sum(answer.rc == 0 for answer in answers) >= len(cases) - 1  # it cannot write some dates as YAML


INI = """\
[web]
w1 ansible_password=hunter2 note="a b"
w2
[db]
d1
"""


class Cli:
    """The verb in a directory that has an inventory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "hosts").write_text(INI, encoding="utf-8")

    def __call__(self, *args: str) -> Done:
        return call_here(["inventory", *args], folder=self.folder)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["--list", "-l", "web"],
        ["--graph", "web", "--vars"],
        ["--host", "w2"],
        ["--list", "--yaml"],
        ["--list", "-y", "-l", "d1"],
    ],
)
def test_the_verb_takes_the_arguments_of_the_command(oracle: Oracle, cli: Cli, words: list[str]) -> None:
    args = ["-i", "hosts", *words]
    said = oracle.really(Call(args, cwd=cli.folder))

    done = cli(*args)

    assert done.stdout == said.stdout.replace("hunter2", "'********'" if "y" in "".join(words[1:2]) else "********")
    assert (done.returncode, said.rc) == (0, 0)


def test_secrets_are_masked(cli: Cli) -> None:
    for words in (["--list"], ["--list", "-y"], ["--list", "--export"], ["--graph", "--vars"], ["--host", "w1"]):
        done = cli("-i", "hosts", *words)
        assert "ansible_password" in done.stdout
        assert "hunter2" not in done.stdout + done.stderr


def test_the_verb_writes_to_a_file(oracle: Oracle, cli: Cli) -> None:
    oracle.really(Call(["-i", "hosts", "--list", "-l", "d1", "--output", "theirs"], cwd=cli.folder))

    done = cli("-i", "hosts", "--list", "-l", "d1", "--output", "ours")

    assert (done.stdout, done.returncode) == ("", 0)
    assert (cli.folder / "ours").read_bytes() == (cli.folder / "theirs").read_bytes()
    failed = cli("-i", "hosts", "--list", "--output", "no/where")
    assert failed.returncode == 64
    assert "cannot be written" in failed.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 64, "no action is given"),
        (["--list", "--graph"], 64, "--list and --graph are given"),
        (["--graph", "wbe"], 64, "Did you mean 'web'?"),
        (["--host", "wbe"], 4, "Did you mean 'web'?"),
        (["--host", "web"], 64, "'web' is not one host, but 2"),
        (["--list", "-l", "w9"], 4, "nothing in the inventory is called 'w9'"),
        (["--list", "--toml"], 64, "there is no option --toml"),
    ],
)
def test_what_the_verb_refuses(cli: Cli, words: list[str], code: int, said: str) -> None:
    done = cli("-i", "hosts", *words)

    assert said in done.stderr
    assert (done.returncode, done.stdout) == (code, "")


def test_a_limit_may_select_nobody_if_that_is_allowed(cli: Cli) -> None:
    assert '"hostvars": {}' in cli("-i", "hosts", "--list", "-l", "w9", "--allow-empty").stdout


def test_this_machine_is_shown_without_being_in_the_inventory(oracle: Oracle, cli: Cli) -> None:
    (cli.folder / "host_vars").mkdir()
    (cli.folder / "host_vars/localhost").write_text("mine: 1\n", encoding="utf-8")
    (cli.folder / "group_vars").mkdir()
    (cli.folder / "group_vars/all").write_text("ours: 2\n", encoding="utf-8")
    said = oracle.really(Call(["-i", "hosts", "--host", "localhost"], cwd=cli.folder)).json()

    done = cli("-i", "hosts", "--host", "localhost")

    del said["ansible_python_interpreter"]  # found by other means here
    assert json.loads(done.stdout) == said
    assert done.stderr == ""


def test_nothing_that_a_terminal_would_act_on_is_printed(cli: Cli) -> None:
    (cli.folder / "odd.yml").write_text('all: {hosts: {h: {x: "\\e[2J\u202e\\n"}}}\n', encoding="utf-8")

    for words in (["--list"], ["--graph", "--vars"]):
        shown = cli("-i", "odd.yml", *words).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert json.loads(cli("-i", "odd.yml", "--host", "h").stdout) == {"x": "\x1b[2J\u202e\n"}


def test_masks_within_lists_of_a_tree_are_like_other_texts(cli: Cli) -> None:
    (cli.folder / "hosts.yml").write_text("all: {hosts: {h: {tokens: [!env TOKEN, {a: !env TOKEN}]}}}\n")

    done = cli("-i", "hosts.yml", "--graph", "--vars")

    assert "{tokens = ['********', {'a': '********'}]}" in done.stdout


def test_lists_of_several_hosts_are_no_aliases(oracle: Oracle, cli: Cli) -> None:
    (cli.folder / "hosts.yml").write_text("g: {hosts: {'h[1:2]': {x: &a {k: [v]}, y: *a}}, vars: {z: [1]}}\n")
    words = ["-i", "hosts.yml", "--list", "--yaml"]

    assert cli(*words).stdout == oracle.really(Call(words, cwd=cli.folder)).stdout
