"""The use case of `init`: a working directory with a playbook that runs at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkrunner.app.schemas import schema_of
from checkrunner.model.errors import UsageError

__all__ = ["PLAYBOOK", "Written", "scaffold"]

PLAYBOOK = "checks.yml"
_SCHEMA = "playbook.schema.json"

_CHECKS = """\
# yaml-language-server: $schema=playbook.schema.json
# Each check is one command and what is expected of it. Output stays on the hosts: the report has verdicts, values
# and the few lines that matter.
- name: First checks
  hosts: all
  params:
    disk_full_warn: {type: percent, default: 85, help: File systems that are fuller are a warning.}
    disk_full_crit: {type: percent, default: 95, help: "... and from here on critical."}
  checks:
    - id: disk-space
      name: Space on the root file system
      why: Programs that cannot write fail in odd ways.
      fix: Delete what is old, or make the file system larger.
      tags: [disk]
      env: {LC_ALL: C}
      run: df -P /
      parse: table
      extract:
        used_pct: {column: Capacity, unit: "%"}
      levels:
        used_pct: {warn: "{{ disk_full_warn }}", crit: "{{ disk_full_crit }}"}
      on_fail:
        - id: disk-space-by-directory
          name: What takes the space
          run: du -xhd1 / 2>/dev/null | sort -rh | head -n 5
          timeout: 30s
          expect: {rc: [0, 1, 141]}
          slice: {head: 5, when: always}

    - id: directories
      name: Temporary files can be written
      why: Without them many programs do not start.
      fix: Look at the permissions of the directory (1777), and at the mount options.
      run: test -d {{ item }} -a -w {{ item }}
      loop: [/tmp, /var/tmp]

    - id: uptime
      name: Up for a while
      why: A host that has just started may have crashed.
      fix: Look at the log of the start before, `journalctl -b -1`.
      severity: warning
      run: cut -d. -f1 /proc/uptime
      requires: [/proc/uptime]
      extract:
        up: {regex: '^(\\d+)$', unit: s}
      levels:
        up: {warn: "10m:"}
"""

_INVENTORY = """\
# Who is looked at, as in Ansible. This machine, without SSH, to begin with:
all:
  hosts:
    localhost:
      ansible_connection: local
#  children:
#    web:
#      hosts:
#        web[1:3].example.com:
#      vars:
#        ansible_user: ops
"""

_SETTINGS = """\
# Settings of runs that are started in this directory; flags and CHECKRUNNER_ variables win over them.
inventory = ["inventory.yml"]
# forks = 50
# timeout = "30s"
# host_key_checking = "accept-new"
"""

_README = """\
# Checks

    checkrunner run checks.yml              # run them, report on the screen
    checkrunner run checks.yml --check      # what would run where; nothing connects
    checkrunner explain checks.yml disk-space
    checkrunner lint checks.yml             # what is wrong, before anything runs
    checkrunner run checks.yml --help-params

- `checks.yml`: the playbook. Editors with a YAML language server know its keys: the first line names the schema.
- `playbook.schema.json`: that schema, as of the version of checkrunner that wrote it. For another version, anew:
  `checkrunner schema playbook > playbook.schema.json`
- `inventory.yml`: the hosts, as in Ansible.
- `checkrunner.toml`: settings, so that `-i inventory.yml` need not be written each time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file of the scaffold: `what` is ``wrote``, ``overwrote`` or ``kept`` (it was there)."""

    path: str
    what: str


def scaffold(directory: str, *, force: bool = False) -> list[Written]:
    """Write the files that are not there; with `force` those that are there as well. Raises UsageError for a directory
    that cannot be made or written to."""
    if not directory:
        raise UsageError("no directory is called ''", hint="Leave it out, or write `.`, for the current directory")
    folder = Path(directory)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _files():
            written.append(_write(folder / name, text, force))
    except OSError as error:
        where = error.filename or directory
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from error
    return written


def _files() -> Iterator[tuple[str, str]]:
    yield PLAYBOOK, _CHECKS
    yield _SCHEMA, json.dumps(schema_of("playbook"), indent=2, ensure_ascii=False) + "\n"
    yield "inventory.yml", _INVENTORY
    yield "checkrunner.toml", _SETTINGS
    yield "README.md", _README


def _write(path: Path, text: str, force: bool) -> Written:
    there = os.path.lexists(path)
    if there and not force:
        return Written(path=str(path), what="kept")
    # Exclusive, unless it is to be overwritten: what came there meanwhile is somebody's.
    with path.open("w" if force else "x", encoding="utf-8") as file:
        file.write(text)
    return Written(path=str(path), what="overwrote" if there else "wrote")
