"""docs/ansible.md against the code: its tables list what is there, in the same words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
import yaml
from playbook_oracle import PLAYBOOKS

from checkrunner.load.playbook import load_playbook, playbook_schema
from checkrunner.load.task_loops import WITH
from checkrunner.load.task_words import BLOCK_KEYS, MODULES, PLAY_KEYS, REFUSED_MODULES, TASK_KEYS, Word
from checkrunner.plan.facts import FACTS

PAGE = (Path(__file__).parents[2] / "docs" / "ansible.md").read_text()


def part(name: str) -> str:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return found[1].strip()


def rows(name: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part(name).splitlines()[2:]]


def sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


@pytest.mark.parametrize(("name", "words"), [("play", PLAY_KEYS), ("block", BLOCK_KEYS), ("task", TASK_KEYS)])
def test_keys(name: str, words: Mapping[str, Word]) -> None:
    wanted = [
        [f"`{key}`", word.how, word.says if word.how != "no" else sentence(word.says)]
        for key, word in sorted(words.items())
    ]
    assert rows(name) == wanted


def test_modules() -> None:
    wanted = [
        [f"`{name}`", ", ".join(f"`{arg}`" for arg in words.args) or "-", words.says]
        for name, words in sorted(MODULES.items())
    ]
    assert rows("modules") == wanted


def test_refused_modules() -> None:
    assert rows("refused") == [[f"`{name}`", sentence(why)] for name, why in sorted(REFUSED_MODULES.items())]
    assert not REFUSED_MODULES.keys() & MODULES.keys()


def test_loops() -> None:
    assert part("with") == ", ".join(f"`with_{name}`" for name in WITH)


def test_facts() -> None:
    wanted = [[", ".join(f"`{name}`" for name in names.split(", ")), what] for names, what in FACTS.items()]
    assert rows("facts") == wanted


@pytest.mark.parametrize("path", sorted(PLAYBOOKS.glob("*.yml")), ids=lambda path: path.stem)
def test_the_schema_for_editors_takes_the_playbooks(path: Path) -> None:
    written = yaml.safe_load(path.read_text())
    jsonschema.Draft202012Validator(playbook_schema()).validate(json.loads(json.dumps(written, default=str)))


def test_every_example_of_the_page_loads(tmp_path: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert examples
    for number, example in enumerate(examples):
        (tmp_path / f"{number}.yml").write_text(example)
        assert load_playbook(str(tmp_path / f"{number}.yml")).plays
