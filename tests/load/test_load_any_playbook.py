"""Whatever a playbook holds, reading it gives a playbook or a PlaybookError with a place and a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from checkrunner.load.playbook import load_playbook
from checkrunner.load.schema import BlockModel, CheckModel, IncludeModel, PlayModel
from checkrunner.model.errors import PlaybookError

FOLDER = Path(__file__).parent.parent / "golden" / "playbooks"
BROKEN = sorted(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml"))
PIECES = st.sampled_from(
    [
        *(
            "- ",
            "  ",
            "\n",
            ": ",
            "{",
            "}",
            "[",
            "]",
            "'",
            '"',
            "|\n",
            "&a ",
            "*a",
            "<<: ",
            "!vault ",
            "\t",
            "~",
            "yes",
        ),
        *(
            "{{ x }}",
            "#",
            "é",
            "\u2028",
            "\x00",
            "\ud800",
            "block: ",
            "loop: ",
            "on_fail: ",
            "needs: ",
            "params: ",
            "1e999",
        ),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["a", "90%", "10:", "json", "jc:df", "csv", "{{ a }}", "rc == 0", "tail 5", "5m", "files/x.yml", "all"]
    ),
)


def keys_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


NESTED = [
    "as",
    "pattern",
    "delimiter",
    "column",
    "jmespath",
    "regex",
    "where",
    "agg",
    "warn",
    "crit",
    "by",
    "on",
    "min",
]
NESTED += [
    "loop_var",
    "index_var",
    "label",
    "pause",
    "type",
    "default",
    "choices",
    "required",
    "match",
    "head",
    "every",
]
KEYS = st.sampled_from([*keys_of(CheckModel), *keys_of(BlockModel), *keys_of(IncludeModel), *NESTED]) | st.text(
    max_size=4
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
CHECKS = st.fixed_dictionaries(
    {"run": st.just("id") | VALUES}, optional={key: VALUES for key in keys_of(CheckModel) if key != "run"}
)
PLAYS = st.fixed_dictionaries(
    {"hosts": st.just("all") | SCALARS, "checks": st.lists(CHECKS | VALUES, max_size=3)},
    optional={key: VALUES for key in keys_of(PlayModel) if key not in {"hosts", "checks"}},
)


def read(text: str) -> None:
    try:
        load_playbook("p.yml", text)
    except PlaybookError as failure:
        for error in failure.errors:
            assert error.message
            assert error.source.path


@given(st.lists(PLAYS | VALUES, max_size=3))
def test_any_structure_is_read_or_refused(plays: list[Any]) -> None:
    read(json.dumps(plays, ensure_ascii=False))


@given(st.sampled_from(BROKEN), st.lists(PIECES, max_size=6).map("".join), st.integers(0, 200), st.integers(0, 12))
def test_any_change_to_a_broken_playbook_is_read_or_refused(text: str, change: str, at: int, without: int) -> None:
    read(text[:at] + change + text[at + without :])


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    read(text)


@pytest.mark.parametrize("depth", [20, 60, 95, 200])
@pytest.mark.parametrize("form", ["{{block: [{}]}}", "{{run: id, on_fail: {}}}", "{{run: id, vars: {{a: {}}}}}"])
def test_nesting_has_an_end(form: str, depth: int) -> None:
    inner = "{run: id}"
    for _ in range(depth):
        inner = form.format(inner)
    read(f"- hosts: all\n  checks: [{inner}]\n")


def test_aliases_do_not_nest_without_end() -> None:
    levels = "".join(f"    a{n}: &a{n} {'[' * 90}*a{n - 1}{']' * 90}\n" for n in range(1, 60))

    with pytest.raises(PlaybookError, match="nested deeper than 100 levels"):
        load_playbook("p.yml", f"- hosts: all\n  vars:\n    a0: &a0 [1]\n{levels}  checks: [{{run: id}}]\n")
