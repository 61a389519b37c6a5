"""Facts: those of Ansible, gathered only where they are read; and outputs that are fetched only where they are read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from oracle import find_oracle
from task_runner import run_tasks

from checkrunner.app.prepare import Request, prepare
from checkrunner.model.results import Stream
from checkrunner.plan.build import Plan
from checkrunner.plan.facts import FACT_NAMES, parse_facts
from checkrunner.plan.facts_script import FACTS_SCRIPT
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.values import RemoteText
from checkrunner.settings import resolve_settings

MOVING = {
    *("date_time", "env", "loadavg", "memfree_mb", "memory_mb", "mounts", "swapfree_mb", "uptime_seconds"),
    *("cmdline", "proc_cmdline", "python", "fqdn", "domain", "interfaces", "lsb"),
    *("virtualization_type", "virtualization_role"),
}
"""Those that change from moment to moment, or say less here; what they have in common is compared below."""


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    done = subprocess.run(["/bin/sh", "-c", FACTS_SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return parse_facts(done.stdout)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("facts")
    program = find_oracle().inventory.with_name("ansible")
    arguments = ["-i", "localhost,", "localhost", "-c", "local", "-m", "setup", "-t", str(folder / "out")]
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_CONFIG": str(program.parents[1] / "ansible.cfg"),
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
    }
    subprocess.run([str(program), *arguments], env=env, capture_output=True, timeout=120, check=True)
    facts = json.loads((folder / "out" / "localhost").read_text())["ansible_facts"]
    return {name.removeprefix("ansible_"): value for name, value in facts.items()}


@pytest.mark.timeout(180)
def test_facts_are_those_of_ansible(here: dict[str, Any], there: Mapping[str, Any]) -> None:
    common = (here.keys() & there.keys() & FACT_NAMES) - MOVING
    assert len(common) > 40
    differing = {}
    for name in sorted(common):
        ours, theirs = here[name], there[name]
        if isinstance(ours, dict) and isinstance(theirs, dict):
            theirs = {key: value for key, value in theirs.items() if key in ours}
            ours = {key: value for key, value in ours.items() if key in theirs}
        if ours != theirs:
            differing[name] = (ours, theirs)
    assert differing == {}


@pytest.mark.timeout(180)
def test_facts_that_move_have_the_same_parts(here: dict[str, Any], there: Mapping[str, Any]) -> None:
    assert set(there["date_time"]) == set(here["date_time"])
    assert set(there["memory_mb"]) == set(here["memory_mb"])
    assert set(there["interfaces"]) == set(here["interfaces"])
    assert {mount["mount"] for mount in there["mounts"]} <= {mount["mount"] for mount in here["mounts"]}
    assert abs(here["uptime_seconds"] - there["uptime_seconds"]) < 600
    for name in there["interfaces"]:
        ours, theirs = here[name], there[name]
        assert ours.get("ipv4") == theirs.get("ipv4"), name
        assert ours["active"] == theirs["active"], name


def test_every_fact_of_the_manual_is_there(here: dict[str, Any]) -> None:
    assert FACT_NAMES - here.keys() <= {"distribution_minor_version", "userspace_bits", "python", "python_version"}


def test_facts_are_texts_of_the_host(here: dict[str, Any]) -> None:
    assert isinstance(here["kernel"], RemoteText)
    assert isinstance(here["default_ipv4"].get("address", here["kernel"]), RemoteText)


def test_odd_answers_only_lack_facts() -> None:
    assert parse_facts("") == {}
    odd = parse_facts("\x1emem\nMemTotal: x\n\x1euptime\n\n\x1eload\nx y z\n\x1edate\n1 2\n3\n\x1emounts\na b\n")
    assert not odd.keys() & {"memtotal_mb", "uptime_seconds", "loadavg", "date_time", "mounts", "kernel", "user_id"}
    assert parse_facts("\x1euptime\n7.5 1\n")["uptime_seconds"] == 7


def test_all_texts_in_facts_are_the_hosts() -> None:
    facts = parse_facts("\x1ecmdline\n$(id)=1 $(ls)\n\x1eenv\n$(id)=1\n\x1einterfaces\n$(id)\t\t\t\t\n")
    texts = [*facts["cmdline"], *facts["env"], *facts["interfaces"], *facts]
    assert "$(id)" in texts
    assert all(isinstance(each, RemoteText) for each in texts)


# ---- only where they are read


def plan_of(text: str, folder: Path, inventory: str = "h ansible_connection=local\n") -> Plan:
    (folder / "p.yml").write_text(dedent(text))
    (folder / "hosts.ini").write_text(inventory)
    settings = resolve_settings({"inventory": [str(folder / "hosts.ini")]}, environ={}, cwd=folder)
    return prepare(Request(playbook=str(folder / "p.yml"), settings=settings)).plan


def keys(plan: Plan) -> list[str]:
    return [planned.key for planned in plan.hosts[0].checks]


GATHERED = [
    ("- hosts: all\n  tasks: [{debug: {msg: '{{ ansible_kernel }}'}}]\n", True),
    ("- hosts: all\n  tasks: [{debug: {msg: \"{{ ansible_facts['kernel'] }}\"}}]\n", True),
    ("- hosts: all\n  tasks: [{command: x, when: ansible_eth0 is defined}]\n", True),
    ("- hosts: all\n  vars: {k: '{{ ansible_kernel }}'}\n  tasks: [{debug: {var: k}}]\n", True),
    ("- hosts: all\n  tasks: [{debug: {var: from_inventory}}]\n", True),
    (
        "- hosts: all\n  tasks: [{command: x}]\n- hosts: all\n  gather_facts: no\n  tasks: [{debug: {var: ansible_kernel}}]\n",
        True,
    ),
    ("- hosts: all\n  tasks: [{command: 'echo {{ ansible_host }} {{ ansible_user | default(1) }}'}]\n", False),
    ("- hosts: all\n  tasks: [{command: x, loop: [1], when: ansible_loop.first}]\n", False),
    ("- hosts: all\n  tasks: [{debug: {var: ansible_play_hosts}}]\n", False),
    ("- hosts: all\n  gather_facts: no\n  tasks: [{debug: {var: ansible_kernel}}]\n", False),
]


@pytest.mark.parametrize(("text", "gathered"), GATHERED)
def test_facts_are_gathered_where_a_text_reads_one(text: str, gathered: bool, tmp_path: Path) -> None:
    inventory = "h ansible_connection=local"
    if "from_inventory" in text:
        inventory += " from_inventory='{{ ansible_kernel }}'"
    assert ("gathering-facts" in keys(plan_of(text, tmp_path, inventory + "\n"))) is gathered


def outputs(host: HostPlan) -> dict[str, set[Stream]]:
    return {planned.check.name: {query.stream for query in host.outputs(planned)} for planned in host.checks}


OUT, ERR = Stream.STDOUT, Stream.STDERR
READ = [
    ("debug: {var: r.rc}", set()),
    ("command: x\n      when: r is failed or r.changed", set()),
    ("debug: {msg: '{{ r.stdout | length }}'}", {OUT}),
    ("debug: {msg: \"{{ r['stderr_lines'] }}\"}", {ERR}),
    ("assert: {that: [r.rc == 0, \"'x' in r.stdout_lines\"]}", {OUT}),
    ("debug: {var: r}", {OUT, ERR}),
    ("debug: {msg: '{{ r | to_json }}'}", {OUT, ERR}),
    ("debug: {msg: '{{ item }}'}\n      loop: '{{ r.results | default([]) }}'", {OUT, ERR}),
    ("debug: {msg: '{{ of_play }}'}", {OUT, ERR}),
    ("debug: {msg: \"{{ hostvars['h'].r.stdout }}\"}", {OUT, ERR}),
]


@pytest.mark.parametrize(("reader", "streams"), READ)
def test_outputs_are_fetched_where_a_text_reads_them(reader: str, streams: set[Stream], tmp_path: Path) -> None:
    of_play = "vars: {of_play: '{{ r.stdout }}'}" if "of_play" in reader else "vars: {}"
    text = f"- hosts: all\n  gather_facts: no\n  {of_play}\n  tasks:\n    - {{name: R, command: x, register: r}}\n    - {reader}\n"
    assert outputs(plan_of(text, tmp_path).hosts[0])["R"] == streams


def test_its_own_conditions_read_a_result(tmp_path: Path) -> None:
    text = "- hosts: all\n  gather_facts: no\n  tasks:\n    - {name: R, command: x, register: r, failed_when: \"'x' in r.stderr\"}\n"
    assert outputs(plan_of(text, tmp_path).hosts[0])["R"] == {ERR}


def test_a_run_without_anything_that_reads_moves_no_text(tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(
        "- hosts: all\n  tasks:\n    - {name: R, command: seq 100, register: r}\n    - {assert: {that: r.rc == 0}}\n"
    )
    (tmp_path / "hosts.ini").write_text("h ansible_connection=local\n")
    ran = run_tasks(tmp_path / "p.yml", tmp_path / "hosts.ini", tmp_path)
    (one,) = ran.of("h", "R")
    assert "stdout" not in one.registered
    assert one.registered["rc"] == 0
    assert ran.report.run.exit_code == 0


RESCUED = """\
- hosts: all
  gather_facts: no
  tasks:
    - block:
        - {name: Fails, shell: echo out; echo boom >&2; exit 4}
      rescue:
        - {name: Reads, assert: {that: "'boom' in ansible_failed_result.stderr"}}
    - {name: Other, command: echo x}
"""


def test_a_rescue_reads_the_output_of_what_failed(tmp_path: Path) -> None:
    assert outputs(plan_of(RESCUED, tmp_path).hosts[0]) == {"Fails": {ERR}, "Reads": set(), "Other": set()}
    ran = run_tasks(tmp_path / "p.yml", tmp_path / "hosts.ini", tmp_path)
    assert ran.report.run.exit_code == 0


def test_a_result_may_be_called_as_a_function_is(tmp_path: Path) -> None:
    text = """\
    - hosts: all
      gather_facts: no
      tasks:
        - {name: R, command: echo 7, register: now}
        - {name: F, command: "false", register: q, ignore_errors: yes}
        - assert: {that: [now.stdout == '7', q is failed, q.rc == 1]}
        - assert: {that: ["dict(a=1) == {'a': 1}", "(lookup('env', 'HOME') | default(omit)) is string"]}
    """
    assert outputs(plan_of(text, tmp_path).hosts[0])["R"] == {OUT}
    assert run_tasks(tmp_path / "p.yml", tmp_path / "hosts.ini", tmp_path).report.run.exit_code == 0


@pytest.mark.parametrize("control", ["{}", "{label: 'the {{ item }}'}"])
def test_items_are_not_shown_where_nothing_is_to_be(control: str, tmp_path: Path) -> None:
    task = f"{{name: R, command: 'false', loop: [one, two], loop_control: {control}, no_log: yes}}"
    plan_of(f"- hosts: all\n  gather_facts: no\n  tasks:\n    - {task}\n", tmp_path)
    ran = run_tasks(tmp_path / "p.yml", tmp_path / "hosts.ini", tmp_path)
    assert [one.planned.label for one in ran.of("h", "R")] == ["item 1", "item 2"]
    (finding,) = ran.report.findings
    assert finding.items == ("item 1", "item 2")
