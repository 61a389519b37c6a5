from __future__ import annotations

import datetime as dt
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.documents import parse
from checkrunner.load.files import read_file
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, plain
from checkrunner.model.errors import InventoryError, LoadError


def value_of(text: str) -> Any:
    return plain(parse(text, "f.yml").root)


def failure(text: str) -> LoadError:
    with pytest.raises(LoadError) as caught:
        parse(text, "f.yml")
    return caught.value


def walk(node: Node, *steps: str | int) -> YamlScalar:
    at: Any = node
    for step in steps:
        at = at[step]
    assert isinstance(at, YamlScalar)
    return at


def test_values_have_their_yaml_types() -> None:
    text = "a: 1\nb: [yes, off, null, ~, 1.5, 0644, 0x1f, 1_000, -3]\nc: 2024-01-02\nd: '1'\ne: text\nf:\n"

    assert value_of(text) == {
        "a": 1,
        "b": [True, False, None, None, 1.5, 420, 31, 1000, -3],
        "c": dt.date(2024, 1, 2),
        "d": "1",
        "e": "text",
        "f": None,
    }


def test_json_is_yaml() -> None:
    data = {"a": [1, 2.5, None, True, "x: y\n\u00e9"], "b": {"c": {}}, "d": []}

    assert value_of(json.dumps(data)) == data
    assert value_of(json.dumps(data, indent=2)) == data


def test_the_raw_text_survives_its_type() -> None:
    root = parse("a: 0644\nb: yes\nc: 1.10\n", "f.yml").root

    assert [walk(root, key).raw for key in "abc"] == ["0644", "yes", "1.10"]  # type: ignore[arg-type]  # root is a map


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: plain", 1, 4),
        ("a: 'single'", 1, 5),
        ('a: "double"', 1, 5),
        ("a:\n   plain", 2, 4),
        ("a: |\n  block\n", 2, 3),
        ("a: |\n\n    block\n", 2, 5),
        ("a: |2\n    block\n", 2, 3),
        ("a: >-  # why\n   folded\n", 2, 4),
        ("x: é\n'a': v", 2, 6),
    ],
)
def test_a_scalar_is_where_its_text_starts(text: str, line: int, column: int) -> None:
    node = walk(parse(text, "f.yml").root, "a")  # type: ignore[arg-type]  # a mapping

    assert (node.line, node.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "offset", "line", "column"),
    [
        ("a: plain", 3, 1, 7),
        ("a: 'it''s x'", 5, 1, 11),
        ('a: "double"', 3, 1, 8),
        ("a: |\n  one\n  two\n", 5, 3, 4),
        ('a: "x\\ty z"', 4, 1, 5),  # after an escape: the start of the text is the best that is known
        ("a: >\n  one\n  two\n", 5, 2, 3),
    ],
)
def test_places_inside_of_a_scalar(text: str, offset: int, line: int, column: int) -> None:
    ref = walk(parse(text, "f.yml").root, "a").place(offset)  # type: ignore[arg-type]  # a mapping

    assert (ref.line, ref.column) == (line, column)


def test_keys_know_their_place() -> None:
    root = parse("- a: 1\n  'b c': 2\n", "f.yml").root
    assert isinstance(root, YamlList)
    mapping = root[0]
    assert isinstance(mapping, YamlMap)

    assert [(key.raw, key.line, key.column) for key in mapping.keys_at.values()] == [("a", 1, 3), ("b c", 2, 4)]


def test_merge_keys_and_anchors() -> None:
    text = "base: &b {x: 1, y: 2}\nother: &o {y: 9, z: 3}\nuse:\n  <<: [*b, *o]\n  x: 5\nsame: *b\n"

    assert value_of(text)["use"] == {"x": 5, "y": 2, "z": 3}
    assert value_of(text)["same"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' is here twice (first in line 1)", "Keep one"),
        ("a: {x: 1, x: 2}", 1, 11, "key 'x' is here twice (first in line 1)", ""),
        ("a:\n\tb: 1", 2, 1, "a tab", "spaces"),
        ("- a\n\t- b", 2, 1, "", "tab"),
        ("a: b: c", 1, 5, "mapping values are not allowed", "quoted"),
        ("a: @x", 1, 4, "a plain text cannot start with '@'", "quotes"),
        ("a: `x`", 1, 4, "a plain text cannot start with '`'", "quotes"),
        ("a: {{ x }}", 1, 4, "a plain text cannot start with '{{'", '"{{ name }}"'),
        ("a: *nope", 1, 4, "no anchor &nope", "quoted"),
        ("a: &a [*a]", 1, 8, "part of", ""),
        ("a: !valut x", 1, 4, "!valut", "!vault"),
        ("a: !foo x", 1, 4, "!foo", "quoted"),
        ("a: 'open\n", 1, 4, "", "not closed"),
        ("---\na: 1\n---\nb: 2\n", 3, 1, "second YAML document", "one document"),
        ("a: \x07b", 1, 4, "control character (U+0007)", "escape"),
        ("a: x\nb: \x00", 2, 4, "control character (U+0000)", ""),
        ("[a, b]: 1", 1, 1, "a key must be a text, this is a list", ""),
        ("<<: 3\na: 1", 1, 5, "`<<` takes a mapping", ""),
        ("a: !!int x", 1, 4, "'x' is not a valid int", "Quote"),
        ("a: !vault [b]", 1, 4, "!vault is for a text", ""),
        ("a: 0x" + "f" * 5000, 1, 4, "is not a valid int", "Quote it"),
        ("a: !!omap [b: 1]", 1, 4, "the YAML tag !!omap is not known", "quoted: '!!omap ...'"),
        ("a: 2024-13-45", 1, 4, "'2024-13-45' is not a valid timestamp", "Quote"),
        ("a: [1, 2", 1, 4, "did not find expected ',' or ']'", "not closed"),
    ],
)
def test_errors_name_place_and_remedy(text: str, line: int, column: int, message: str, hint: str) -> None:
    error = failure(text)

    assert (error.source.path, error.source.line, error.source.column) == ("f.yml", line, column)
    assert message in error.message
    assert hint in error.hint
    assert text.split("\n")[line - 1].rstrip() == error.line_text or line > len(text.split("\n"))


def test_lone_surrogates_are_an_error() -> None:
    assert failure("a: x\nb: \ud800").source.line == 2


def test_depth_is_bounded() -> None:
    assert "deep" in failure("[" * 500 + "]" * 500).message
    assert failure("[" * 100_000).source.line == 1
    assert value_of("[" * 90 + "]" * 90) is not None


def test_alias_bombs_are_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    assert "aliases" in failure("\n".join(lines)).message


def test_merge_bombs_are_refused() -> None:
    lines = ["a0: &a0 {k: [x, x, x, x, x, x, x, x, x]}"]
    lines += [f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}, r: *a{n - 1}}}" for n in range(1, 30)]

    assert "aliases" in failure("\n".join(lines)).message


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")

    assert plain(parse(read_file(str(path)), str(path)).root) == {"a": 1}


def test_a_file_without_end_is_an_error() -> None:
    with pytest.raises(InventoryError, match=r"/dev/zero: has more than 64 MiB"):
        read_file("/dev/zero", InventoryError)


def test_bytes_that_are_no_utf8_are_an_error_at_their_place(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(b"a: 1\nb: caf\xe9\n")

    with pytest.raises(InventoryError, match="0xe9") as caught:
        read_file(str(path), InventoryError)
    assert (caught.value.source.line, caught.value.source.column) == (2, 7)


def test_a_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nope\.yml: cannot be read: No such file"):
        read_file(str(tmp_path / "nope.yml"))


_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029"))
_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=20,
)


@given(_data)
def test_any_json_comes_back(data: Any) -> None:
    if isinstance(data, dict) and "<<" in data:
        del data["<<"]

    assert value_of(json.dumps(data, ensure_ascii=False)) == data


@given(st.lists(st.tuples(st.text(string.ascii_lowercase, min_size=1, max_size=6), _texts), unique_by=lambda p: p[0]))
def test_places_point_at_the_text_itself(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"k{key}:   {json.dumps(value, ensure_ascii=False)}\n" for key, value in pairs)
    root = parse(text, "f.yml").root
    lines = text.split("\n")

    for number, (key, value) in enumerate(pairs, 1):
        node = walk(root, f"k{key}")  # type: ignore[arg-type]  # a mapping whenever there are pairs
        assert node.line == number
        assert lines[number - 1][node.column - 1 :].startswith(json.dumps(value, ensure_ascii=False)[1:-1])


@given(st.lists(st.text("abc {}|#'\"\\:-", min_size=1).filter(lambda s: s.strip() and s[0] != " "), min_size=1))
def test_lines_of_a_literal_block_are_where_it_says(rows: list[str]) -> None:
    text = "x: 1\nrun: |\n" + "".join(f"    {row}\n" for row in rows)
    node = walk(parse(text, "f.yml").root, "run")  # type: ignore[arg-type]  # a mapping
    lines = text.split("\n")

    offset = 0
    for number, row in enumerate(rows):
        ref = node.place(offset)
        assert ref.line == node.line + number
        assert lines[ref.line - 1][ref.column - 1 :] == row
        offset += len(row) + 1
