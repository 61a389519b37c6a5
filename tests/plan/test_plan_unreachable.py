"""Lint: checks that no run gets to, and hosts that do not exist."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import loop_of, make_check, make_host, make_play, plan_of, plan_plays, text

from checkrunner.load.playbook import load_playbook
from checkrunner.model.inventory import Group, Inventory
from checkrunner.model.playbook import Check
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.called_hosts import unknown_names
from checkrunner.plan.unreachable import unreachable

WEB = [make_host("w1", ("web",), role="front"), make_host("w2", ("web",), role="back")]


def told(plan: Plan, *, guess: bool = False) -> list[str]:
    found = list(unreachable(plan, guess=guess))
    assert {problem.rule for problem in found} <= {"unreachable"}
    return [problem.message for problem in found]


@pytest.mark.parametrize(
    ("when", "message", "guessed"),
    [
        (["false"], "check 'c' never runs: `when: false` is false whatever the host", True),
        (["off"], "check 'c' never runs: `when: off` is false whatever the host", True),
        (["role == 'db'"], "check 'c' never runs: `when: role == 'db'` is false on every host that it is for", False),
        (
            ["true", "role == 'db'"],
            "check 'c' never runs: `when: role == 'db'` is false on every host that it is for",
            False,
        ),
        (["role == 'back'"], "", False),
        (["role == 'front'", "inventory_hostname == 'w2'"], "", False),
        (["before.ok and false"], "", False),
        (["nope == 1"], "", False),
        (["nope is defined"], "", False),  # -e may define it
    ],
)
def test_conditions(when: list[str], message: str, guessed: bool) -> None:
    plan = plan_of(
        make_check("before", register="before"), make_check(when=when, line=2), hosts=WEB, play_vars={"off": False}
    )
    assert told(plan) == ([message] if message else [])
    assert told(plan, guess=True) == ([message] if guessed else [])


def test_conditions_of_the_plays_own_variables_hold_for_all_hosts() -> None:
    plan = plan_of(make_check(when=["deep"]), hosts=WEB, play_vars={"deep": "{{ level > 2 }}", "level": 1})
    assert told(plan, guess=True) == ["check 'c' never runs: `when: deep` is false whatever the host"]


def test_loops_over_nothing_and_items() -> None:
    items = make_check("d", "echo {{ item }}", 2, loop=loop_of(["a"]), when=["item == 'b'"])
    plan = plan_of(make_check(loop=loop_of([])), items, make_check("e", line=3, needs=("c",)), hosts=WEB)
    assert told(plan) == [
        "check 'c' loops over an empty list: it never runs",
        "check 'e' never runs: it needs 'c', which never runs",
    ]


def test_needs_of_another_plays_hosts() -> None:
    db = [make_host("d1", ("db",))]
    plays = [
        (make_play(make_check("up")), db),
        (make_play(make_check("lag", line=2, needs=("up",)), make_check("other", line=3), name="q"), WEB),
        (make_play(make_check("more", line=4, needs=("up",)), name="r"), [*WEB, *db]),
    ]
    assert told(plan_plays(plays)) == ["check 'lag' never runs: it needs 'up', which runs on none of its hosts"]
    assert told(plan_plays(plays), guess=True) == []


def test_what_is_wrong_with_needs_is_said_elsewhere() -> None:
    assert told(plan_of(make_check("a", needs=("nope",)), make_check("b", tags=("never", "x")))) == []
    assert told(plan_of(make_check("b", tags=("never",)), make_check("a", needs=("b",)))) == [
        "check 'b' has only the tag `never`: no run selects it"
    ]


def test_follow_ups_of_the_dead_are_not_told() -> None:
    parent = make_check("a", when=["false"], on_fail=(make_check("a-log", line=3),))
    assert len(told(plan_of(parent))) == 1


def tasks(lines: str) -> Plan:
    book = "- hosts: all\n  gather_facts: false\n  tasks:\n" + "".join(f"    {line}\n" for line in lines.split("\n"))
    playbook = load_playbook("play.yml", book)
    return build_plan(playbook, [[make_host()] for _ in playbook.plays])


@pytest.mark.parametrize(
    ("lines", "behind"),
    [
        ("- fail:\n- name: a\n  shell: x\n- name: b\n  shell: x", ["a", "b"]),
        ("- meta: end_play\n- name: a\n  shell: x", ["a"]),
        ("- meta: end_host\n- name: a\n  shell: x", ["a"]),
        ("- fail:\n  when: x is defined\n- name: a\n  shell: x", []),
        ("- fail:\n  ignore_errors: true\n- name: a\n  shell: x", []),
        ("- fail:\n  failed_when: false\n- name: a\n  shell: x", []),
        ("- meta: noop\n- name: a\n  shell: x", []),
        (
            "- block:\n    - fail:\n    - name: a\n      shell: x\n  rescue:\n    - name: b\n      shell: x\n- name: c\n  shell: x",
            ["a"],
        ),
        ("- block:\n    - fail:\n  always:\n    - name: b\n      shell: x\n- name: c\n  shell: x", ["c"]),
        (
            "- block:\n    - shell: x\n  rescue:\n    - fail:\n    - name: a\n      shell: x\n- name: c\n  shell: x",
            ["a"],  # the rescue runs only where its block has failed
        ),
    ],
)
def test_tasks_behind_an_end(lines: str, behind: list[str]) -> None:
    assert [message.split("'")[1] for message in told(tasks(lines))] == behind


def inventory() -> Inventory:
    hosts = {host.name: host for host in WEB}
    groups = {name: Group(name=name, hosts=tuple(hosts)) for name in ("all", "web", "ungrouped")}
    return Inventory(hosts=hosts, groups=groups)


@pytest.mark.parametrize(
    ("fields", "message", "column"),
    [
        ({"when": ["'wbe' in group_names"]}, "the inventory has no group 'wbe'", 13),
        ({"when": ["'wbe' not in group_names"]}, "the inventory has no group 'wbe'", 13),
        ({"when": ["inventory_hostname == 'w3'"]}, "the inventory has no host 'w3'", 35),
        ({"when": ["'w3' != inventory_hostname"]}, "the inventory has no host 'w3'", 13),
        ({"run": "ping {{ groups['wbe'][0] }}"}, "the inventory has no group 'wbe'", 28),
        ({"run": "ping {{ groups.wbe | first }}"}, "the inventory has no group 'wbe'", 27),
        ({"run": "echo {{ hostvars['w3'].role }}"}, "the inventory has no host 'w3'", 30),
        ({"run": "echo {{ groups['all'] }} {{ groups.get('x') }} {{ groups.web }}"}, "", 0),
        ({"run": "echo groups['wbe']"}, "", 0),
        ({"run": "echo {{ hostvars['localhost'].x }}"}, "", 0),
        ({"when": ["inventory_hostname == 'w1' or 'web' in group_names"]}, "", 0),
    ],
)
def test_names_of_hosts_and_groups(fields: dict[str, Any], message: str, column: int) -> None:
    check: Check = make_check(**fields)
    found = list(unknown_names(plan_of(check, hosts=WEB), inventory()))
    assert [problem.message for problem in found] == ([message] if message else [])
    assert [problem.source.column for problem in found] == ([column] if column else [])
    assert [problem.hint for problem in found if "group" in message] == ["Did you mean 'web'?"] * ("group" in message)


def test_raw_texts_name_nobody() -> None:
    check = Check(id="c", name="c", run=text("echo {{ groups['wbe'] }}", raw=True))
    assert list(unknown_names(plan_of(check, hosts=WEB), inventory())) == []


def test_a_check_of_an_included_file_may_be_reached_elsewhere() -> None:
    same: dict[str, Any] = {"line": 9, "when": ["level > 2"]}
    here = make_check("a", vars={"level": 1}, **same)
    assert told(plan_of(here, make_check("b", vars={"level": 3}, **same))) == []
    assert len(told(plan_of(here, make_check("b", vars={"level": 2}, **same)))) == 1
