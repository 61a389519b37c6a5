"""What is found before anything connects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plan_factory import expected, make_check, make_host, make_play, plan_of, plan_plays, text

from checkrunner.load.playbook import load_playbook
from checkrunner.model.errors import TemplateError
from checkrunner.model.playbook import BaselineRule, SliceRule
from checkrunner.model.results import SliceMode
from checkrunner.model.sources import Secret
from checkrunner.plan.build import build_plan
from checkrunner.plan.verify import PlanError, check_plan, plan_errors


def messages(*checks: Any, **fields: Any) -> list[str]:
    return [error.message for error in plan_errors(plan_of(*checks, **fields))]


@pytest.mark.parametrize(
    "check",
    [
        make_check(run="{{ nope }}"),
        make_check(argv=["echo", "{{ nope }}"]),
        make_check(env={"X": "{{ nope }}"}),
        make_check(cwd="{{ nope }}"),
        make_check(when=["nope"]),
        make_check(warn_if=["rc > nope"]),
        make_check(crit_if=["rc > nope"]),
        make_check(expect=(expected("that", "that", "rc < nope"),)),
        make_check(expect=(expected("stdout", "contains", "{{ nope }}"),)),
        make_check(slices=(SliceRule(mode=SliceMode.MATCH, pattern=text("{{ nope }}")),)),
        make_check(why="because {{ nope }}"),
        make_check(fix="with {{ nope }}"),
    ],
)
def test_an_undefined_name_anywhere(check: Any) -> None:
    assert messages(check) == ["'nope' is not defined"]


def test_the_whole_error() -> None:
    check = make_check(run="df {{ pth }}", line=9)
    hosts = [make_host("a", path="/"), make_host("b", path="/"), make_host("c", pth="/")]
    with pytest.raises(TemplateError) as caught:
        check_plan(plan_of(check, hosts=hosts))
    assert str(caught.value) == (
        "checks.yml:9:18: 'pth' is not defined (host a and 1 more)\n"
        "               df {{ pth }}\n"
        "                     ^\n"
        "  hint: Did you mean 'path'?"
    )


def test_all_errors_in_the_order_of_the_file() -> None:
    checks = [make_check("a", "{{ x }}", 5), make_check("b", "{{ 1 + }}", 3), make_check("c", crit_if=["!"], line=4)]
    plan = plan_of(*checks)
    assert [error.source.line for error in plan_errors(plan)] == [3, 4, 5]
    with pytest.raises(PlanError) as caught:
        check_plan(plan)
    assert [error.source.line for error in caught.value.errors] == [3, 4, 5]
    assert str(caught.value).count("checks.yml:") == 3


def test_a_long_list_of_errors_is_cut() -> None:
    with pytest.raises(PlanError, match=r"\.\.\. and 2 more errors in this file\Z"):
        check_plan(plan_of(*(make_check(f"c{n}", "{{ x }}", n) for n in range(1, 13))))


@pytest.mark.parametrize("condition", ["stdout_lines > lim", "rc == 0 and 3 <= lim"])
def test_a_text_compared_with_a_number_is_found_before_anything_runs(condition: str) -> None:
    (error,) = plan_errors(plan_of(make_check(warn_if=[condition]), extra_vars={"lim": "0"}))

    assert error.message.startswith("'lim' is the text '0' here and cannot be compared with a number by `")
    assert error.hint == "Write `lim | int`, or give a number: -e '{\"lim\": 0}'"
    assert error.source.column == 12 + condition.index("lim")


def test_what_may_go_well_with_another_result_is_left_alone() -> None:
    assert plan_errors(plan_of(make_check(warn_if=["1 / rc > 2"]))) == []


def test_a_threshold_that_is_no_number() -> None:
    checks = [
        make_check("a", "{{ lim | default(5) | number }}"),
        make_check("b", warn_if=["rc > lim | number"], line=2),
    ]

    found = plan_errors(plan_of(*checks, extra_vars={"lim": "abc"}))
    assert [error.message for error in found] == ["lim is 'abc', not a number"] * 2
    assert plan_errors(plan_of(*checks, extra_vars={"lim": " 7.5 "})) == []


@pytest.mark.parametrize(
    "check",
    [
        make_check(run="{{ nope | default(1) }}"),
        make_check(run="{% if nope is defined %}{{ nope }}{% endif %}"),
        make_check(run="{{ nope.a.b | default(1) }}"),
        make_check(run="{{ nope }}", when=["nope is defined"]),
        make_check(run="{{ nope }}", when=["nope is defined", "nope > 3"]),
        make_check(run="{{ nope }}", when=["'db' in group_names"]),
        make_check(crit_if=["stdout_lines > 3 and truncated and rc == 0 and elapsed_s > 1 and cwd != execution"]),
        make_check(run="{{ nope }}", raw=True),
        make_check(run="{% for i in range(3) %}{{ i }}{% endfor %}"),
    ],
)
def test_what_is_no_error(check: Any) -> None:
    assert messages(check) == []


def test_conditions_are_looked_at_host_by_host() -> None:
    check = make_check(run="{{ port }}", when=["'db' in group_names"])
    hosts = [make_host("a", ["web"]), make_host("b", ["db"]), make_host("c", ["db"], port=1)]
    assert messages(check, hosts=hosts) == ["'port' is not defined (host b)"]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (make_check(run="{{ v.nope }}"), "there is no 'nope' in it"),
        (make_check(run="{{ v + 1 }}"), "cannot be evaluated"),
        (make_check(run="{{ a }}"), "variable 'a': 'nope' is not defined"),
        (make_check(run="{{ x }}"), "variable 'x' needs itself: x -> y -> x"),
        (make_check(run="{{ s }}"), "'s' is secret and cannot become part of this text"),
        (make_check(argv=["{{ s }}"]), "'s' is secret and cannot become part of this text"),
        (make_check(run="{{ 'a' | map(v.k) | list }}"), "cannot be evaluated"),
        (make_check(when=["v.nope == 1"]), "there is no 'nope' in it"),
        (make_check(env={"X": "{{ v.nope }}"}), "there is no 'nope' in it"),
    ],
)
def test_what_only_a_trial_finds(check: Any, message: str) -> None:
    host = make_host(v={"k": 1}, a="{{ nope }}", x="{{ y }}", y="{{ x }}", s=Secret("hunter2"))
    found = messages(check, hosts=[host])
    assert len(found) == 1
    assert message in found[0]


def test_rc_before_there_is_one() -> None:
    (error,) = plan_errors(plan_of(make_check(run="echo {{ rc }}")))
    assert "known only after the check has run" in error.hint


def test_registered_only_later() -> None:
    (error,) = plan_errors(plan_of(make_check("a", "{{ r.rc }}"), make_check("b", register="r")))
    assert error.message == "'r' is registered only later, by check 'b'"
    assert error.hint == "Move that check before this one"


def test_its_own_result_by_name() -> None:
    (error,) = plan_errors(plan_of(make_check("a", register="r", expect=(expected("that", "that", "r.rc == 0"),))))
    assert error.message == "'r' is the result of this very check"


def test_registered_where_this_host_is_not() -> None:
    plays = [
        (make_play(make_check("a", register="r"), name="first"), [make_host("x")]),
        (make_play(make_check("c", "{{ r.rc }}")), [make_host("x"), make_host("y")]),
    ]
    (error,) = plan_errors(plan_plays(plays))
    assert error.message == "'r' is registered by check 'a', which does not run on this host (host y)"


def test_registered_by_what_the_tags_leave_out() -> None:
    checks = [make_check("a", register="r", tags=("x",)), make_check("b", "{{ r.rc }}", tags=("y",))]
    assert messages(*checks, tags=["y"]) == ["'r' is registered by check 'a', which the tags leave out"]


@pytest.mark.parametrize(
    ("check", "column"),
    [(make_check("c", "{{ r.stdout }}"), 17), (make_check("c", when=["r['stdout'] == 'x'"]), 15)],
)
def test_a_result_has_no_text(check: Any, column: int) -> None:
    (error,) = plan_errors(plan_of(make_check("a", register="r"), check))
    assert error.message == "the result 'r' has no 'stdout'"
    assert "`expect`" in error.hint
    assert "`slice`" in error.hint
    assert error.source.column == column


def test_a_misspelt_attribute() -> None:
    (error,) = plan_errors(plan_of(make_check("a", register="r"), make_check("c", when=["r.stdout_line > 3"])))
    assert error.hint == "Did you mean 'stdout_lines'?"


@pytest.mark.parametrize(
    ("check", "count"),
    [
        (make_check(expect=(expected("stdout", "matches", "a("),)), 1),
        (make_check(expect=(expected("stderr", "not_matches", "{{ p }}"),)), 1),
        (make_check(slices=(SliceRule(mode=SliceMode.MATCH, pattern=text("[")),)), 1),
        (make_check(expect=(expected("stdout", "contains", "a("),)), 0),
        (make_check(expect=(expected("stdout", "matches", "a+"),)), 0),
    ],
)
def test_regular_expressions(check: Any, count: int) -> None:
    found = messages(check, hosts=[make_host(p="*")])
    assert len(found) == count
    assert all("not a valid regular expression" in message for message in found)


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        ("ERROR\n", True),
        ("a|b\n", True),
        ("a\nb", True),
        (r"a\nb", True),
        (r"(a|b)\n+", True),
        (r"(?x) a \n b", True),
        (r"a(\n)?", False),
        (r"a\n?b", False),
        (r"a|\n", False),
        (r"[\n\s]a", False),
        ("[^\n]+", False),
        (r"\\n", False),
        (r"\(\n*\)", False),
        ("(?x)\n  a  # letter\n  b\n", False),
    ],
)
def test_a_pattern_that_wants_a_newline_is_never_found(pattern: str, refused: bool) -> None:
    found = messages(make_check(expect=(expected("stdout", "not_matches", pattern),)))
    assert [("never found" in message) for message in found] == [True] * refused
    if not refused:
        assert not found


@pytest.mark.parametrize(
    ("pattern", "refused"), [(".*", True), ("x*", True), ("^", True), ("^$", False), ("^#", False)]
)
def test_a_baseline_that_ignores_every_line_compares_nothing(pattern: str, refused: bool) -> None:
    found = messages(make_check(baseline=BaselineRule(ignore=(text(pattern),))))
    assert ["nothing would be compared" in message for message in found] == [True] * refused


def test_equal_errors_of_many_hosts_are_one() -> None:
    hosts = [make_host(f"h{n}") for n in range(50)]
    assert messages(make_check(run="{{ nope }}"), hosts=hosts) == ["'nope' is not defined"]


PLAYBOOK = """\
- name: containers
  hosts: all
  vars:
    label: app
  checks:
    - name: list
      run: docker ps --filter label={{ label }} --format '{{.ID}}'
    - name: count
      run: |
        list=(a b)
        echo {{ lable }}
"""


def test_places_in_a_real_file(tmp_path: Path) -> None:
    path = tmp_path / "checks.yml"
    path.write_text(PLAYBOOK)
    plan = build_plan(load_playbook(str(path)), [[make_host()]])
    first, second = plan_errors(plan)
    lines = PLAYBOOK.split("\n")
    assert first.source.line == 7
    assert lines[6][first.source.column - 1 :].startswith(".ID}}")
    assert "raw: true" in first.hint
    assert second.source.line == 11
    assert lines[10][second.source.column - 1 :].startswith("lable")
    assert second.hint == "Did you mean 'label'?"


def test_the_way_out_works(tmp_path: Path) -> None:
    path = tmp_path / "checks.yml"
    path.write_text(
        "- hosts: all\n"
        "  checks:\n"
        "    - {name: one, raw: true, run: \"docker ps --format '{{.ID}}'\"}\n"
        "    - {name: two, run: \"docker ps --format '{% raw %}{{.ID}}{% endraw %}'\"}\n"
    )
    plan = build_plan(load_playbook(str(path)), [[make_host()]])
    check_plan(plan)
    (host,) = plan.hosts
    commands = [host.resolve(planned, {}) for planned in host.checks]
    assert [getattr(step, "command").shell for step in commands] == ["docker ps --format '{{.ID}}'"] * 2  # noqa: B009 - Step or Skip
