from __future__ import annotations

from typing import Any

import pytest
from plan_factory import make_check, make_host, make_play, plan_plays

from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import Setting
from checkrunner.model.sources import Secret, SourceRef
from checkrunner.plan.connections import SettingNames, value_of_setting

AT = SourceRef(path="inv", line=7, column=3)


class Written(Secret):
    """A value of an encrypted file."""

    __slots__ = ()

    @property
    def is_written(self) -> bool:
        return True


def value(
    text: str | Secret | tuple[Any, ...],
    *play_vars: dict[str, Any],
    **variables: Any,
) -> Any:
    host = make_host(**variables)
    plays = [(make_play(make_check(f"c{n}"), vars=v), [host]) for n, v in enumerate(play_vars or ({},))]
    names = SettingNames(plan_plays(plays).hosts[0])
    return value_of_setting(Setting(name="ansible_user", value=text, source=AT, line_text="the line"), names)


def test_values_have_their_types() -> None:
    assert value("{{ 22 if x else 2222 }}", x=True) == 22
    assert value("{{ x }}.{{ inventory_hostname }}", x="a") == "a.h1"
    assert value("{{ none }}") is None


def test_other_names_win_and_plays_come_before_the_inventory() -> None:
    assert value("{{ groups.all[0] }}{{ x }}", {"x": "play"}, groups="host", x="host") == "h1play"


def test_what_a_secret_goes_into_is_one() -> None:
    assert value("{{ token }}", token=Secret("s")) == Secret("s")
    assert value("a-{{ token }}", token=Secret("s")) == Secret("a-s")
    assert value(Written("{{ a }}-b"), a="a") == Secret("a-b")
    plain = Written("no template")
    assert value(plain) is plain


def test_plays_that_disagree() -> None:
    assert value("{{ x }}", {"x": 1}, {"x": 1}) == 1
    with pytest.raises(TemplateError, match="the plays give it different values") as caught:
        value("{{ x }}", {"x": 1}, {"x": 2})
    assert caught.value.source == AT


def test_errors_are_at_the_setting() -> None:
    with pytest.raises(TemplateError) as caught:
        value("{{ usr }}", user="a")
    error = caught.value

    assert (error.message, error.source, error.line_text) == ("'usr' is not defined", AT, "the line")
    assert error.hint == "Did you mean 'user'?"


def test_the_setting_itself_is_no_hint() -> None:
    with pytest.raises(TemplateError) as caught:
        value("{{ ansible_usr }}", ansible_user="{{ ansible_usr }}")

    assert caught.value.hint.startswith("Define it")


def test_an_error_in_a_secret_template_does_not_show_it() -> None:
    with pytest.raises(TemplateError) as caught:
        value(Written("{{ hunter2 }}"))

    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"


def test_lists_have_their_words_rendered() -> None:
    assert value(("ip", "netns", "exec", "{{ net }}", 7), net="blue") == ["ip", "netns", "exec", "blue", 7]
    assert value(("a", "{{ token }}"), token=Secret("s")) == Secret("a s")
    with pytest.raises(TemplateError, match="'net' is not defined"):
        value(("ip", "{{ net }}"))
    with pytest.raises(TemplateError, match="the plays give it different values"):
        value(("ip", "{{ net }}"), {"net": "a"}, {"net": "b"})
