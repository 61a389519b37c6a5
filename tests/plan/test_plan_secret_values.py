"""Secrets that were numbers or templates in an encrypted file, and which secrets a plan needs."""

from __future__ import annotations

from typing import Any

import pytest

from checkrunner.load.secrets import Covered, Sealed
from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import Host
from checkrunner.model.playbook import Check, Play, Playbook
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.secret_needs import leading_to_closed, secrets_in, unopened_secrets
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import host_variables


def names_of(**variables: Any) -> Any:
    templates = Templates()
    return templates, host_variables(Host(name="h", address="h", vars=variables), {}, {}, templates)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("n > 5", True), ("n >= 10", True), ("n < 5", False), ("n <= 9", False), ("n == 10", True), ("n != 10", False),
        ("n == '10'", True), ("n > 9.5", True), ("5 < n", True), ("t == 'abc'", True), ("t < 'abd'", True),
        ("n in [10, 11]", True), ("t == 5", False), ("n == m", True), ("t is defined", True), ("not e", True),
    ],
)  # fmt: skip
def test_secrets_can_be_compared(expression: str, value: bool) -> None:
    templates, names = names_of(n=Covered("10"), m=Secret("10"), t=Covered("abc"), e=Secret(""))

    assert templates.evaluate(expression, names) is value


@pytest.mark.parametrize("expression", ["t > 5", "n + 1", "t ~ 'x'", "[t] | join", "n | int", "n | float"])
def test_what_cannot_be_done_with_a_secret_does_not_show_it(expression: str) -> None:
    templates, names = names_of(n=Covered("31337"), t=Covered("hunter2"))
    with pytest.raises(TemplateError) as caught:
        templates.evaluate(expression, names)

    assert "hunter2" not in str(caught.value)
    assert "31337" not in str(caught.value)


def test_encrypted_templates_are_rendered_and_stay_secret() -> None:
    _, names = names_of(
        url=Covered("pg://{{ user }}:{{ pw }}@db"), user="app", pw=Secret("x{{y}}"), lone=Covered("{{ user }}")
    )

    assert names["url"].secret().reveal() == "pg://app:x{{y}}@db"
    assert names["lone"].secret().reveal() == "app"


def test_only_what_was_encrypted_is_a_template() -> None:
    _, names = names_of(
        given=Secret("{{ user }}"), printed=Sealed("cmd", lambda: "{{ user }}"), env=Sealed("env", lambda: "{{ user }}"),
        vault=Sealed("vault", lambda: "{{ user }}"), user="app",
    )  # fmt: skip

    assert [names[name].secret().reveal() for name in ("given", "printed", "env")] == ["{{ user }}"] * 3
    assert names["vault"].secret().reveal() == "app"


@pytest.mark.parametrize(
    "text", ["{{ hunter2 }}", "{{ hunter2", "{% hunter2 %}", "{{ me }}", "{{ 'hunter2' | hunter2 }}"]
)
def test_errors_of_encrypted_templates_show_nothing(text: str) -> None:
    _, names = names_of(me=Covered(text), other=Covered("{{ me }}hunter2"))
    for name in ("me", "other"):
        with pytest.raises(TemplateError, match="it is not shown") as caught:
            names[name]
        assert "hunter2" not in str(caught.value)


def sealed(kind: str = "vault") -> Sealed:
    def never() -> str:
        raise AssertionError("it is not to be opened")

    return Sealed(kind, never)


def plan_of(host_vars: dict[str, Any], *, run: str = "true", env: dict[str, Any] | None = None, **more: Any) -> Plan:
    check = Check(id="a", name="a", run=Template(text=run), env=env or {})
    play = Play(name="p", hosts="all", checks=(check,), vars=more.pop("play_vars", {}))
    book = Playbook(path="p.yml", plays=(play,), digest="", lines=())
    return build_plan(book, [[Host(name="h", address="h", vars=host_vars, **more)]])


def test_what_a_plan_needs_is_what_its_texts_lead_to() -> None:
    direct, behind, deep, spare, password, own = (sealed() for _ in range(6))
    plan = plan_of(
        {"direct": direct, "behind": behind, "way": {"x": ["{{ behind }}"]}, "deep": [{"k": deep}], "spare": spare},
        env={"A": Template(text="{{ direct }}"), "B": Template(text="{{ way.x[0] }}"), "C": Template(text="{{ deep }}"), "D": own},
        password=password,
    )  # fmt: skip
    needed, others = unopened_secrets(plan)

    assert set(needed) == {direct, behind, deep, password, own}
    assert others == [spare]


def test_an_encrypted_template_leads_on() -> None:
    inner = sealed()
    plan = plan_of({"inner": inner, "outer": Covered("{{ inner }}")}, env={"A": Template(text="{{ outer }}")})

    assert unopened_secrets(plan) == ([inner], [])


def test_what_leads_to_closed_secrets() -> None:
    closed = sealed()
    plan = plan_of(
        {"inner": closed, "way": ["{{ inner }}"], "outer": "{{ way }}", "other": "{{ open }}", "open": Secret("x")}
    )

    assert leading_to_closed(plan, ["inner", "way", "outer", "other", "open", "no"]) == {"inner", "way", "outer"}
    assert leading_to_closed(plan_of({"a": "{{ b }}"}), ["a"]) == frozenset()


def test_a_plan_without_secrets_needs_none() -> None:
    assert unopened_secrets(plan_of({"a": "{{ b }}", "b": 1, "c": Secret("open")})) == ([], [])


def test_secrets_within() -> None:
    one, two = Secret("1"), Secret("2")

    assert list(secrets_in({"a": [one, {"b": (two, "x", 3, None)}]})) == [one, two]
