"""Values of parameters: what each type takes, what it makes of it, and what it says of the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.model.params import ParamError, param_value, show_param, type_of
from checkrunner.model.playbook import Param, ParamType


def value(kind: str, written: object, *choices: Any) -> Any:
    return param_value(Param(name="p", type=ParamType(kind), choices=choices), written)


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [
        ("string", "a b", "a b"),
        ("string", 3, "3"),
        ("string", True, "true"),
        ("integer", "20", 20),
        ("integer", -3, -3),
        ("number", "2.5", 2.5),
        ("number", 2, 2),
        ("boolean", "yes", True),
        ("boolean", "0", False),
        ("boolean", True, True),
        ("duration", "5m", 300),
        ("duration", "1d", 86400),
        ("duration", 90, 90),
        ("duration", "500ms", 0.5),
        ("size", "5GiB", 5 << 30),
        ("size", "10", 10),
        ("size", "2kB", 2000),
        ("percent", "90%", 90),
        ("percent", 12.5, 12.5),
        ("list", "a, b,,c", ["a", "b", "c"]),
        ("list", ["a", 1], ["a", 1]),
        ("list", 3, [3]),
        ("list", "[1, 2]", ["1", "2"]),
        ("list", """["a", 'b c']""", ["a", "b c"]),
        ("list", "[]", []),
    ],
)
def test_what_a_type_makes_of_a_value(kind: str, written: object, expected: object) -> None:
    found = value(kind, written)

    assert found == expected
    assert type(found) is type(expected), "a whole number is written without a point"


@pytest.mark.parametrize(
    ("kind", "written", "needle"),
    [
        ("integer", "2.5", "not an integer"),
        ("integer", True, "not an integer"),
        ("integer", "1" * 5000, "not an integer"),
        ("number", "nan", "not a number"),
        ("number", "1e999", "not a number"),
        ("boolean", "maybe", "not a boolean"),
        ("duration", "soon", "not a duration"),
        ("size", "5 apples", "not a size"),
        ("percent", "3h", "not a percent"),
        ("percent", None, "not a percent"),
        ("string", ["a"], "not a string"),
        ("list", {"a": 1}, "not a list"),
        ("list", "[[1], 2]", "not a list"),
        ("list", "{a: 1}", "not a list"),
        ("list", "[a", "not a list"),
        ("duration", "-5s", "not a duration"),
        ("size", -1, "not a size"),
        ("integer", "\u0661\u0662", "not an integer"),
    ],
)
def test_what_does_not_fit_says_what_would(kind: str, written: object, needle: str) -> None:
    with pytest.raises(ParamError, match=needle) as caught:
        value(kind, written)
    assert caught.value.hint.startswith("Write ")


def test_a_value_is_one_of_the_choices() -> None:
    assert value("string", "full", "quick", "full") == "full"
    assert value("list", "a,b", "a", "b", "c") == ["a", "b"]
    with pytest.raises(ParamError, match="none of its choices") as caught:
        value("string", "fulll", "quick", "full")
    assert caught.value.hint == "Did you mean 'full'?"
    with pytest.raises(ParamError) as caught:
        value("percent", "7%", 80, 90)
    assert caught.value.hint == "It may be 80%, 90%."


@pytest.mark.parametrize(
    ("written", "kind"),
    [(True, "boolean"), (3, "integer"), (2.5, "number"), ("x", "string"), ([1], "list")],
)
def test_the_type_of_a_default(written: object, kind: str) -> None:
    assert type_of(written) == kind


@given(st.sampled_from(list(ParamType)), st.one_of(st.text(max_size=12), st.integers(), st.floats(), st.booleans()))
def test_any_value_is_read_or_refused_and_a_shown_one_is_read_again(kind: ParamType, written: object) -> None:
    param = Param(name="p", type=kind)
    try:
        found = param_value(param, written)
    except ParamError:
        return
    if kind is not ParamType.LIST and abs(found if isinstance(found, int | float) else 0) < 1e6 and found != "":
        again = param_value(param, show_param(kind, found))
        assert again == (found if isinstance(found, str | bool) else pytest.approx(found, rel=1e-4))
