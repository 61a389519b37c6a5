"""Filters, tests, look-ups and whole texts against ansible-core itself: the same values, and errors where it has some.

What is different on purpose is listed here, each with its reason, and told in docs/expressions.md.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from template_cases import MADE, VALUES, Case, cases
from template_oracle import as_json

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import truth
from checkrunner.model.sources import Template
from checkrunner.plan.outside import Outside
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import OMIT

ROOT = Path(__file__).resolve().parents[2]

ORDER_ASIDE = re.compile(r"\| (union|intersect|difference|symmetric_difference)\(")
"""Ansible gives the entries of a set in an order that changes from run to run; here it is the one in which they come
first."""

DIFFERENT = {
    r"\| urlsplit": "what is no text is an error, where Ansible takes none, false and 0 for an empty address",
    r"date \| from_yaml": "times in YAML stay texts",
    r"json_query": "it is not a filter of ansible-core, but of community.general",
    r"\.append\(|\.update\(": "values are not changed in place: nothing that a text does is seen by another one",
    r"a\{\{ omit \}\}": "omit stands for a whole value; within a text it is an error, and not an empty text",
}

LONELY = re.compile(r"(sort|min|max)\(attribute=")
"""A list of one entry is sorted without a look at the entry; Ansible looks whether it has the attribute."""


@pytest.fixture(scope="module")
def oracle() -> Path:
    """The Python that has ansible-core."""
    env = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([str(ROOT / "scripts/oracle")], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"scripts/oracle failed: {done.stderr}"
    return Path(done.stdout.strip()).with_name("python")


def theirs(oracle: Path, asked: Iterable[Case]) -> list[Any]:
    sets: dict[str, int] = {}
    variables: list[Mapping[str, Any]] = []
    packed = []
    for kind, text, names in asked:
        key = json.dumps(names)
        if key not in sets:
            sets[key] = len(variables)
            variables.append({**VALUES, **names})
        packed.append([kind, text, sets[key]])
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        "ANSIBLE_CONFIG": str(oracle.parents[1] / "ansible.cfg"),
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    program = str(Path(__file__).with_name("template_oracle.py"))
    given = json.dumps({"variables": variables, "cases": packed})
    done = subprocess.run(
        [str(oracle), program], input=given, env=env, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[Any] = json.loads(done.stdout)
    return found


TEMPLATES = Templates(Outside(clock=lambda: 0.0))


def ours(case: Case) -> list[Any]:
    kind, text, names = case
    known = {**VALUES, **names}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of backslashes in strings: they are a part of this
            if kind == "template":
                value = TEMPLATES.value_of(Template(text=text), known, "x")
            elif kind == "condition":
                value = truth(TEMPLATES.evaluate(Template(text=text), known))
            else:
                value = TEMPLATES.evaluate(Template(text=text), known)
    except TemplateError as error:
        return ["error", error.message]
    return ["error", "omitted"] if value is OMIT else ["value", as_json(value)]


def sorted_deeply(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(map(sorted_deeply, value), key=json.dumps)
    return value


def differences(oracle: Path, asked: list[Case]) -> tuple[list[str], set[str]]:
    """What nothing explains, and the explanations that were needed."""
    found, needed = [], set()
    for case, answer in zip(asked, theirs(oracle, asked), strict=True):
        mine = ours(case)
        failed = answer[0] == "error" or answer[1] == "CapturedExceptionMarker"  # an error that a filter was given
        if mine == answer or (failed and mine[0] == "error"):
            continue
        text = case[1]
        if reasons := {pattern for pattern in DIFFERENT if re.search(pattern, text)}:
            needed |= reasons
        elif ORDER_ASIDE.search(text) and sorted_deeply(mine[1]) == sorted_deeply(answer[1]):
            pass
        elif not (failed and "has no attribute" in str(answer[1]) and LONELY.search(text)):
            found.append(f"{case[0]} {text} {case[2] or ''}\n  ours   {mine}\n  theirs {answer}")
    return found, needed


@pytest.mark.timeout(300)
def test_each_filter_and_test_with_each_kind_of_value(oracle: Path) -> None:
    found, needed = differences(oracle, cases())
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])
    assert needed == set(DIFFERENT), "a reason that no case needs any more goes"


@pytest.mark.timeout(300)
def test_chains_of_filters(oracle: Path) -> None:
    made: list[Case] = []

    @seed(20)
    @settings(max_examples=500, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(MADE)
    def collect(case: Case) -> None:
        made.append(case)

    collect()
    asked = [case for case in made if not ORDER_ASIDE.search(case[1])]  # what follows takes the order on
    assert len(asked) > 200
    found, _ = differences(oracle, asked)
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])
