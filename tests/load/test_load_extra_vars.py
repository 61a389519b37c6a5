from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.model.errors import LoadError, UsageError


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], {}),
        (["k=v"], {"k": "v"}),
        (["k=v k2='v 2' k3="], {"k": "v", "k2": "v 2", "k3": ""}),
        (["k=1 k2=true k3=007"], {"k": "1", "k2": "true", "k3": "007"}),
        (["k=a=b"], {"k": "a=b"}),
        (["k=a#b"], {"k": "a#b"}),
        (['{"a": 1, "b": [true, null]}'], {"a": 1, "b": [True, None]}),
        (["{a: 1, b: yes}"], {"a": 1, "b": True}),
        (["k=1", '{"k": 2}'], {"k": 2}),
        (['{"k": 2}', "k=1"], {"k": "1"}),
        (["{}"], {}),
    ],
)
def test_variables(items: list[str], expected: dict[str, object]) -> None:
    assert parse_extra_vars(items) == expected


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "more vars.yml"
    path.write_text("a: 1\nb: {c: [x]}\n", encoding="utf-8")
    (tmp_path / "v.json").write_text('{"a": 2}', encoding="utf-8")
    (tmp_path / "empty.yml").write_text("", encoding="utf-8")

    assert parse_extra_vars([f"@{path}"]) == {"a": 1, "b": {"c": ["x"]}}
    assert parse_extra_vars([f"@{path}", f"@{tmp_path / 'v.json'}", f"@{tmp_path / 'empty.yml'}"])["a"] == 2


@pytest.mark.parametrize(
    ("item", "message", "hint"),
    [
        ("", "'' are empty", "name=value"),
        ("k", "'k': name=value is expected, this is 'k'", "@FILE"),
        ("k=a b", "'k=a b': name=value is expected, this is 'b'", 'k="a b"'),
        ("k='a", "quotes do not match", ""),
        ("a-b=1", "'a-b' is not a variable name", "ASCII"),
        ("=1", "'' is not a variable name", ""),
        ("rc=1", "'rc' has a meaning in expressions already", ""),
        ("@", "name no file", "@vars.yml"),
        ("[1]", "a mapping (name: value), this is a list", ""),
        ("{a: 1", "YAML", ""),
        ('{"a": 1, "a": 2}', "'a' is here twice", ""),
        ('{"a b": 1}', "'a b' is not a variable name", ""),
        ("@/nonexistent.yml", "cannot be read", ""),
    ],
)
def test_errors_name_the_argument(item: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_extra_vars([item])

    assert message in str(caught.value)
    assert hint in caught.value.hint
    if item.startswith("{"):
        assert f"-e {item}:1:" in str(caught.value)


def test_a_file_without_its_at_sign_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.yml"
    path.write_text("a: 1\n", encoding="utf-8")

    with pytest.raises(UsageError, match=f"write -e @{path}"):
        parse_extra_vars([str(path)])


def test_errors_in_files_have_their_place(tmp_path: Path) -> None:
    path = tmp_path / "v.yml"
    path.write_text("a: 1\nb c: 2\n", encoding="utf-8")

    with pytest.raises(LoadError) as caught:
        parse_extra_vars([f"@{path}"])
    assert (caught.value.source.path, caught.value.source.line, caught.value.source.column) == (str(path), 2, 1)
