"""Parameters of a playbook: where their values come from, and what is refused before anything connects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrunner.app.linting import lint_playbook
from checkrunner.app.params import params_of, read_params
from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.model.errors import UsageError
from checkrunner.model.plan import Step
from checkrunner.settings import resolve_settings

PLAYBOOK = """\
- hosts: web
  params:
    threshold: {type: percent, default: 90}
    age: {type: duration, default: 5m}
    level: {choices: [quick, full], default: quick}
  checks:
    - {id: a, run: "echo {{ threshold }} {{ age }} {{ level }}"}
- hosts: web
  checks:
    - {id: b, run: "echo {{ threshold }}"}
"""
INVENTORY = "[web]\nw1\nw2 threshold=80%\n[old]\nw3\n[old:vars]\nage=1h\n[web:children]\nold\n"


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
        (folder / "hosts").write_text(INVENTORY, encoding="utf-8")

    def request(self, *extra_vars: str, **more: Any) -> Request:
        settings = resolve_settings({"inventory": [str(self.folder / "hosts")]}, environ={}, cwd=self.folder)
        return Request(playbook=str(self.folder / "play.yml"), settings=settings, extra_vars=extra_vars, **more)

    def prepare(self, *extra_vars: str, **more: Any) -> Prepared:
        return prepare(self.request(*extra_vars, **more))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def commands(prepared: Prepared) -> dict[str, list[str]]:
    found = {}
    for host in prepared.plan.hosts:
        steps = [host.resolve(planned, {}) for planned in host.checks]
        found[host.host.name] = [step.command.shell for step in steps if isinstance(step, Step)]
    return found


def test_the_default_counts_least_and_the_inventory_is_read_by_the_type(site: Site) -> None:
    assert commands(site.prepare()) == {
        "w1": ["echo 90 300 quick", "echo 90"],
        "w2": ["echo 80 300 quick", "echo 80"],
        "w3": ["echo 90 3600 quick", "echo 90"],
    }


def test_the_items_of_a_list_are_among_its_choices(site: Site) -> None:
    text = "- hosts: w1\n  params: {mode: {type: list, default: [a, b], choices: [a, b, c]}}\n  checks: [{id: a, run: w}]\n"
    (site.folder / "play.yml").write_text(text, encoding="utf-8")
    (param,) = params_of(site.prepare("mode=c,a").playbook).values()

    assert (param.default, param.choices) == (["a", "b"], ("a", "b", "c"))
    with pytest.raises(UsageError, match="-e mode is 'd', which is none of its choices"):
        site.prepare("mode=a,d")


def test_the_command_line_wins(site: Site) -> None:
    found = commands(site.prepare("threshold=70%", '{"age": "1d", "level": "full"}'))

    assert found["w2"] == ["echo 70 86400 full", "echo 70"]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("threshold=3h", "-e threshold is '3h', which is not a percent", "Write a percentage such as 90%."),
        ("level=fulll", "-e level is 'fulll', which is none of its choices", "Did you mean 'full'?"),
        ("Threshold=3", "-e Threshold: no parameter is called so", "Did you mean 'threshold'?"),
        ("treshold=3", "-e treshold: no parameter is called so", "Did you mean 'threshold'?"),
        ('{"age": [1]}', "-e age is [1], which is not a duration", "Write seconds"),
    ],
)
def test_what_cannot_be_is_refused(site: Site, given: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        site.prepare(given)

    assert caught.value.exit_code == 64
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_a_value_of_the_inventory_is_refused_on_hosts_of_the_run_only(site: Site) -> None:
    (site.folder / "hosts").write_text(INVENTORY.replace("80%", "much"), encoding="utf-8")

    with pytest.raises(UsageError, match="w2: threshold is 'much', which is not a percent"):
        site.prepare()
    assert [*commands(site.prepare(limit="w1"))] == ["w1"]


def test_a_template_is_taken_as_it_is(site: Site) -> None:
    found = commands(site.prepare('{"threshold": "{{ 20 + 3 }}"}'))

    assert found["w1"][0] == "echo 23 300 quick"


def test_a_required_one_must_be_set_on_every_host(site: Site) -> None:
    text = PLAYBOOK.replace("default: 90", "required: true")
    (site.folder / "play.yml").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        site.prepare()
    assert caught.value.message == "the parameter threshold must be set, and nothing sets it on w[1,3]"
    assert "-e threshold=..." in caught.value.hint
    assert commands(site.prepare(limit="w2")) == {"w2": ["echo 80 300 quick", "echo 80"]}
    assert commands(site.prepare("threshold=1"))["w3"] == ["echo 1 3600 quick", "echo 1"]


def test_lint_finds_wrong_values_and_misses_no_required_one(site: Site) -> None:
    text = PLAYBOOK.replace("default: 90", "required: true")
    (site.folder / "play.yml").write_text(text, encoding="utf-8")
    errors = [problem.message for problem in lint_playbook(site.request()) if problem.level == "error"]
    wrong = [problem.message for problem in lint_playbook(site.request("level=x")) if problem.level == "error"]

    assert errors == []
    assert wrong == ["-e level is 'x', which is none of its choices"]


def test_parameters_are_listed_in_the_order_of_the_file(site: Site) -> None:
    path, params = read_params(str(site.folder / "play.yml"))

    assert path == str(site.folder / "play.yml")
    assert [param.name for param in params] == ["threshold", "age", "level"]
