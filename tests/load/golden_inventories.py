"""The inventories in inventories/, and what Ansible says of each: reading, comparing, counting, asking anew.

Each is a directory with its sources and `expected.json`, which is what ``ansible-inventory --list`` prints. The one
file beside it is the source, or `sources` names them, one a line. Run as a program it counts what is compared;
``--update`` asks Ansible anew and shows what is different then.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from oracle import Call, find_oracle, list_call

from checkrunner.model.inventory import Inventory
from checkrunner.model.sources import Secret, Template

__all__ = ["INVENTORIES", "Counts", "cases", "count", "differences", "expected", "expected_text", "question", "sources"]

INVENTORIES = Path(__file__).with_name("inventories")


@dataclass(frozen=True)
class Counts:
    """How much is compared."""

    inventories: int
    hosts: int
    groups: int
    pairs: int

    def __str__(self) -> str:
        return (
            f"{self.inventories} inventories, {self.hosts:,} hosts in {self.groups:,} groups, "
            f"{self.pairs:,} (host, variable) pairs"
        )


def cases() -> list[Path]:
    """The directories, by name."""
    return sorted(path for path in INVENTORIES.iterdir() if path.is_dir())


def sources(case: Path) -> list[str]:
    """The sources of a case, as arguments of -i, relative to its directory."""
    named = case / "sources"
    if named.exists():
        return named.read_text(encoding="utf-8").splitlines()
    (only,) = (path.name for path in case.iterdir() if path.is_file() and path.name != "expected.json")
    return [only]


def question(case: Path) -> Call:
    """The call that answers with what is expected."""
    return list_call(*sources(case), cwd=case)


def expected_text(case: Path) -> str:
    """What Ansible said, as it printed it."""
    return (case / "expected.json").read_text(encoding="utf-8")


def expected(case: Path) -> Any:
    """What Ansible said."""
    return json.loads(expected_text(case))


def differences(inventory: Inventory, said: Any) -> list[str]:
    """What is not as Ansible said, in words. Types count: 1 is neither true nor 1.0."""
    members = dict(_members(said))
    found = []
    names = {host for below in said.values() for host in below.get("hosts", ())}
    if set(inventory.hosts) != names:
        found.append(f"hosts: {sorted(inventory.hosts)}, Ansible: {sorted(names)}")
    for name in sorted({*inventory.groups, *(group for group in said if group != "_meta")}):
        group = inventory.groups.get(name)
        ours = (list(group.hosts) if name != "all" else [], list(group.children)) if group else None
        theirs = (said.get(name, {}).get("hosts", []), said.get(name, {}).get("children", []))
        if ours != theirs:
            found.append(f"group {name}: {ours}, Ansible: {theirs}")
    for name, host in inventory.hosts.items():
        if list(host.groups) != members.get(name):
            found.append(f"groups of {name}: {host.groups}, Ansible: {members.get(name)}")
        theirs = said["_meta"]["hostvars"].get(name, {})
        for variable in sorted({*host.vars, *theirs}, key=str):
            one, other = _shown(host.vars, variable), _shown(theirs, variable)
            if one != other:
                found.append(f"{name}: {variable} is {one}, Ansible: {other}")
    return found


def count(all_said: list[Any]) -> Counts:
    """How much Ansible's answers hold."""
    return Counts(
        len(all_said),
        sum(len({host for below in said.values() for host in below.get("hosts", ())}) for said in all_said),
        sum(len(said) - 1 for said in all_said),
        sum(len(values) for said in all_said for values in said["_meta"]["hostvars"].values()),
    )


def _members(said: Any) -> Iterator[tuple[str, list[str]]]:
    """The groups that each host is in, sorted, without `all`."""
    parents: dict[str, set[str]] = {}
    for name, below in said.items():
        for child in below.get("children", ()):
            parents.setdefault(child, set()).add(name)
    direct: dict[str, set[str]] = {}
    for name, below in said.items():
        for host in below.get("hosts", ()):
            direct.setdefault(host, set()).add(name)
    for host, groups in direct.items():
        todo, found = list(groups), set(groups)
        while todo:
            for parent in parents.get(todo.pop(), set()) - found:
                found.add(parent)
                todo.append(parent)
        yield host, sorted(found - {"all"})


def _shown(values: Any, name: str) -> str:
    if name not in values:
        return "not there"
    # Once to JSON and back: keys that are numbers become texts, as Ansible prints them.
    return json.dumps(_bare(json.loads(json.dumps(values[name], default=_as_ansible))), sort_keys=True)


def _bare(value: Any) -> Any:
    """Without the marks of texts that Ansible would not render as templates: no value of ours is one."""
    if isinstance(value, dict):
        if value.keys() == {"__ansible_unsafe"}:
            return value["__ansible_unsafe"]
        return {key: _bare(below) for key, below in value.items()}
    return [_bare(below) for below in value] if isinstance(value, list) else value


def _as_ansible(value: object) -> object:
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Template):
        return value.text
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    raise TypeError(f"{value!r} is no value of an inventory")


def main() -> None:
    """Count; with ``--update``, ask Ansible first."""
    if "--update" in sys.argv[1:]:
        asked = cases()
        for case, answer in zip(asked, find_oracle().batch(map(question, asked)), strict=True):
            assert answer.rc == 0, f"{case.name}: {answer.stderr}"
            if answer.unread:
                print(f"{case.name} cannot be read:\n{answer.stderr}")
            path = case / "expected.json"
            if not path.exists() or path.read_text(encoding="utf-8") != answer.stdout:
                print(f"{case.name} is different now")
                path.write_text(answer.stdout, encoding="utf-8")
    print(count([expected(case) for case in cases()]))


if __name__ == "__main__":
    main()
