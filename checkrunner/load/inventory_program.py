"""Inventories that a program prints: JSON of ``--list``, and of ``--host NAME`` where that has no ``_meta``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from checkrunner.load.draft import Assigned, Draft, DraftGroup, DraftHost
from checkrunner.load.nodes import is_too_deep
from checkrunner.load.programs import run_program
from checkrunner.load.secrets import Place
from checkrunner.model.errors import InventoryError
from checkrunner.model.sources import SourceRef, Template

__all__ = ["read_program"]

_PARTS = frozenset({"hosts", "children", "vars"})
_KINDS = {dict: "a mapping", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}


def read_program(path: str, draft: Draft) -> None:
    """Run the program and add what it prints to the draft. It runs in the current directory, as in Ansible.

    Raises ProgramError when it fails, and InventoryError for what it prints and is no inventory.
    """
    _Reader(path, draft).read()


class _Reader:
    def __init__(self, path: str, draft: Draft) -> None:
        self.path, self.draft = path, draft
        self.ref = SourceRef(path=path)

    def read(self) -> None:
        data = self.printed("--list")
        meta = self.mapping(data.pop("_meta", None), "_meta")
        before = set(self.draft.hosts)
        found: dict[str, DraftHost] = {}
        for name, value in data.items():
            self.group(name, value, found)
        if "hostvars" in meta:
            values = self.mapping(meta["hostvars"], "_meta.hostvars")
            lost = [name for name in values if name not in found and name not in before]
            if lost:
                more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
                self.draft.warn(self.ref, f"_meta.hostvars of {lost[0]!r}{more} are not used: no group has such a host")
        else:
            values = {name: self.printed("--host", name) for name in found}
        for name, host in found.items():
            own = self.mapping(values.get(name), f"the variables of host {name!r}")
            self.draft.set_host_vars([host], self.assignments(own))

    def fail(self, message: str, hint: str = "") -> InventoryError:
        return InventoryError(f"what the program prints is no inventory: {message}", source=self.ref, hint=hint)

    def printed(self, *arguments: str) -> dict[str, Any]:
        """The mapping that the program prints for these arguments; nothing at all stands for an empty one."""
        output = run_program([os.path.abspath(self.path), *arguments], timeout_s=self.draft.secrets.timeout_s)
        asked = " ".join(arguments)
        hint = f"Run it by hand: {self.path} {asked}"
        try:
            text = output.stdout.decode("utf-8-sig")
            value = json.loads(text) if text.strip() else {}
            _check(text, value)
        except UnicodeDecodeError as exc:
            raise self.fail(f"{asked} prints no UTF-8 text", hint) from exc
        except json.JSONDecodeError as exc:
            message = f"{asked} prints no JSON (line {exc.lineno}, column {exc.colno}: {exc.msg})"
            raise self.fail(message, hint) from exc
        except UnicodeEncodeError as exc:
            message = f"{asked} prints a text with {exc.object[exc.start]!r} in it, which is half a character"
            raise self.fail(message, hint) from exc
        except ValueError as exc:
            raise self.fail(f"{asked} prints a number with too many digits", hint) from exc
        except RecursionError as exc:
            raise self.fail(f"{asked} prints JSON that is nested too deeply", hint) from exc
        return self.mapping(value, f"what {asked} prints")

    def mapping(self, value: object, what: str) -> dict[str, Any]:
        found: dict[str, Any] = self.checked({} if value is None else value, dict, what)
        return found

    def checked(self, value: object, kind: type, what: str) -> Any:
        if not isinstance(value, kind):
            raise self.fail(f"{what} is not {_KINDS[kind]}, it is {_KINDS.get(type(value), 'nothing')}")
        return value

    def group(self, name: str, value: object, found: dict[str, DraftHost]) -> None:
        group = self.draft.group(name, self.ref)
        parts = {"hosts": value} if isinstance(value, list) else self.mapping(value, f"group {name!r}")
        if not _PARTS & parts.keys():
            self.draft.warn(
                self.ref, f"group {name!r} has no hosts, children or vars: as in Ansible, that makes a host of its name"
            )
            parts = {"hosts": [name], "vars": parts}
        for host in self.names(parts, name, "hosts"):
            found[host] = self.host(host, group)
        for variable, assigned in self.assignments(self.mapping(parts.get("vars"), f"{name}.vars")).items():
            self.draft.set_group_var(group, variable, assigned)
        for child in self.names(parts, name, "children"):
            self.draft.add_child(group, self.draft.group(child, self.ref), self.ref)

    def names(self, parts: Mapping[str, object], group: str, part: str) -> list[str]:
        names = self.checked(parts.get(part, []), list, f"{group}.{part}")
        for name in names:
            if not isinstance(name, str) or not name.strip():
                raise self.fail(f"{group}.{part} holds {name!r}, which is no name")
        return list(names)

    def host(self, name: str, group: DraftGroup) -> DraftHost:
        """The host as it is called: a program writes no ranges and no ports."""
        host = self.draft.hosts.get(name)
        if host is None:
            host = self.draft.hosts[name] = DraftHost(name, self.ref)
        group.hosts[name] = None
        return host

    def assignments(self, values: Mapping[str, object]) -> dict[str, Assigned]:
        found = {}
        for name, value in values.items():
            ours = self.value(value)
            text = value if isinstance(value, str) else json.dumps(value)
            found[name] = Assigned(ours, ours.text if isinstance(ours, Template) else text, self.ref)
        return found

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"__ansible_vault"} and isinstance(value["__ansible_vault"], str):
            return self.draft.secrets.vault(value["__ansible_vault"], Place(InventoryError, self.ref))
        if value.keys() == {"__ansible_unsafe"} and isinstance(value["__ansible_unsafe"], str):
            text = value["__ansible_unsafe"]
            return Template(text=text, raw=True, source=self.ref) if "{" in text else text
        return {key: self.value(item) for key, item in value.items()}


def _check(text: str, value: object) -> None:
    """Raise RecursionError for what is too deep to be followed, and UnicodeEncodeError for texts that could not be
    written anywhere: JSON can spell halves of characters."""
    if is_too_deep(value):
        raise RecursionError
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()
