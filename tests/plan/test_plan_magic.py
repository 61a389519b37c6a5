"""Names that every host has: groups, other hosts, the play, the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import PATH, make_check, make_host, make_play, plan_of, text

from checkrunner.model.inventory import Group, Host, Inventory
from checkrunner.model.playbook import Playbook
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.magic import Surroundings
from checkrunner.plan.variables import MAGIC
from checkrunner.plan.verify import plan_errors

HOSTS = [
    make_host("web1.example", ["web"], port="{{ 80 + 1 }}", peer="{{ hostvars['db'].data }}"),
    make_host("web2", ["web", "eu"]),
    make_host("db", ["eu"], data="/srv/{{ inventory_hostname }}", broken="{{ nope }}"),
]
INVENTORY = Inventory(
    hosts={host.name: host for host in HOSTS},
    groups={name: Group(name=name) for name in ("all", "ungrouped", "web", "eu")},
    localhost=make_host("localhost", x=1),
)


def plan(*checks: Any, play_vars: dict[str, Any] | None = None) -> Plan:
    surroundings = Surroundings(
        inventory=INVENTORY,
        constants={"playbook_dir": "/books"},
        places=lambda host: {"inventory_dir": "/inv"} if host.name == "db" else {},
    )
    play = make_play(*(checks or (make_check(),)), vars=play_vars or {}, name="first")
    book = Playbook(path=PATH, plays=(play,))
    return build_plan(book, [HOSTS[:2]], extra_vars={"extra": "e"}, surroundings=surroundings)


def value(expression: str, host: int = 0, **play_vars: Any) -> Any:
    made = plan(play_vars=play_vars)
    found = made.hosts[host]
    return made.templates.evaluate(text(expression), found.variables(found.track.entries[0]))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("inventory_hostname_short", "web1"),
        (
            "groups",
            {
                "all": ["web1.example", "web2", "db"],
                "ungrouped": [],
                "web": ["web1.example", "web2"],
                "eu": ["web2", "db"],
            },
        ),
        ("groups.web | length", 2),
        ("groups['eu'] | map('extract', hostvars, 'data') | select('defined') | list | length", 1),
        ("groups | dict2items | map(attribute='key') | sort", ["all", "eu", "ungrouped", "web"]),
        ("hostvars['db'].data", "/srv/db"),
        ("hostvars.db['data']", "/srv/db"),
        ("hostvars[inventory_hostname].port", 81),
        ("hostvars.db.extra ~ hostvars.db.inventory_dir ~ hostvars.db.group_names[0]", "e/inveu"),
        ("hostvars['nope'].x | default('none')", "none"),
        ("hostvars.db.nope | default('none')", "none"),
        ("hostvars.db.mine | default('none')", "none"),
        ("'db' in hostvars and 'nope' not in hostvars", True),
        ("hostvars | length", 3),
        ("hostvars | list", ["web1.example", "web2", "db"]),
        ("hostvars.localhost.x", 1),
        ("hostvars.values() | map(attribute='ansible_host') | list", ["web1.example", "web2", "db"]),
        ("peer", "/srv/db"),
        ("ansible_play_hosts", ["web1.example", "web2"]),
        ("ansible_play_hosts == ansible_play_hosts_all == ansible_play_batch == play_hosts", True),
        ("ansible_play_name", "first"),
        ("inventory_dir is none and inventory_file is none", True),
        ("playbook_dir", "/books"),
        ("ansible_version.full is version('2.15', '>=') and ansible_version.major == 2", True),
        ("ansible_check_mode or ansible_diff_mode", False),
        ("ansible_host", "web1.example"),
        ("ansible_port | default(22)", 22),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression, mine=1) == expected


def test_variables_say_how_a_host_is_reached_before_its_settings_do() -> None:
    host = replace(make_host("h"), address="10.0.0.1", port=2222, user="ops")
    made = plan_of(make_check(), hosts=[host, replace(host, name="i", vars={"ansible_host": "named"})])
    found = [
        made.templates.evaluate(text("[ansible_host, ansible_port, ansible_user]"), one.variables(one.track.entries[0]))
        for one in made.hosts
    ]
    assert found == [["10.0.0.1", 2222, "ops"], ["named", 2222, "ops"]]


def test_nobody_sets_them() -> None:
    assert value("groups.web[0] ~ playbook_dir", groups="x", playbook_dir="y") == "web1.example/books"


@pytest.mark.parametrize("name", MAGIC)
def test_they_are_there_before_anything_connects(name: str) -> None:
    made = plan(make_check(run=f"echo {{{{ {name} | type_debug }}}}"), make_check("d", run="echo {{ ansible_host }}"))
    assert plan_errors(made) == []


def test_what_is_missing_is_known_before_anything_connects() -> None:
    (error,) = plan_errors(plan(make_check(run="echo {{ ansible_user }}")))
    assert "'ansible_user' is not defined" in error.message


def test_many_hosts_share_them() -> None:
    hosts = [make_host(f"h{n}", ["g"]) for n in range(2000)]
    play = make_play(
        make_check(run="echo {{ groups.g | length }} {{ hostvars['h7'].inventory_hostname }} {{ play_hosts | length }}")
    )
    inventory = Inventory(
        hosts={host.name: host for host in hosts}, groups={"all": Group(name="all"), "g": Group(name="g")}
    )
    made = build_plan(Playbook(path=PATH, plays=(play,)), [hosts], surroundings=Surroundings(inventory=inventory))
    assert plan_errors(made) == []
    seen: set[int] = set()
    for host in made.hosts:
        variables = host.variables(host.track.entries[0])
        seen.add(id(variables["groups"]))
        seen.add(id(variables["hostvars"]))
        seen.add(id(variables["play_hosts"]))
    assert len(seen) == 3


def test_a_host_without_a_name_of_its_own() -> None:
    host = Host(name="any host", address="any host")
    made = plan_of(make_check(run="echo {{ hostvars['any host'].inventory_hostname }}"), hosts=[host])
    assert plan_errors(made) == []
