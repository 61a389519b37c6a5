"""What a run can be compared with, and what makes a check another version of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrunner.app.prepare import Request, prepare
from checkrunner.app.series import series_of
from checkrunner.findings.redact import NullRedactor
from checkrunner.findings.view import Series
from checkrunner.model.history import CheckVersion, Selection
from checkrunner.settings import resolve_settings

PLAYBOOK = """\
- name: Disks
  hosts: all
  vars: {limit: 90, path: /var, words: "{{ limit }} at most"}
  checks:
    - id: disk
      name: Disk
      tags: [storage]
      run: df {{ path }}
      warn_if: stdout_lines > limit
      env: {LANG: C}
      fix: Look at {{ path }}
      on_fail:
        - {id: who, run: "du {{ path }}"}
    - {id: quorum, run: "true", run_once: true, tags: [slow, deep]}
    - {id: mount, run: "stat {{ item }}", loop: [/, /var]}
"""


def series(folder: Path, text: str = PLAYBOOK, **more: Any) -> Series:
    (folder / "play.yml").write_text(text, encoding="utf-8")
    settings = resolve_settings({}, environ={}, cwd=folder)
    request = Request(playbook=str(folder / "play.yml"), settings=settings, **more)
    return series_of(prepare(request), NullRedactor())


def disk(folder: Path, text: str = PLAYBOOK, key: str = "disk", **more: Any) -> CheckVersion:
    return series(folder, text, **more).checks[key]


def test_a_series_is_the_file_and_the_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = series(tmp_path, tags=("storage",), limit="localhost", skip_tags=("slow", "deep"))
    assert made.playbook == str(tmp_path / "play.yml")
    assert made.selection == Selection(limit="localhost", tags=("storage",), skip_tags=("deep", "slow"))
    assert list(made.checks) == ["disk", "who"]
    assert (made.checks["who"].follows, made.checks["disk"].name) == ("disk", "Disk")
    monkeypatch.chdir(tmp_path)
    settings = resolve_settings({}, environ={}, cwd=tmp_path)
    assert series_of(prepare(Request(playbook="play.yml", settings=settings)), NullRedactor()).playbook == made.playbook
    shipped = prepare(Request(playbook="linux-health", settings=settings))
    assert series_of(shipped, NullRedactor()).playbook == "linux-health"


def test_variables_of_the_command_line_make_another_series_and_secrets_do_not(tmp_path: Path) -> None:
    def params(*given: str) -> str:
        return series(tmp_path, extra_vars=given).selection.params

    assert params() == ""
    assert params("path=/a") not in {"", params("path=/b")}
    assert params("path=/a", "db_password=one-thing") == params("path=/a", "db_password=another-one")


@pytest.mark.parametrize(
    ("old", "new", "command", "rules"),
    [
        ("df {{ path }}", "df -i {{ path }}", True, False),
        ("path: /var", "path: /srv", True, False),
        ("LANG: C", "LANG: de", True, False),
        ("tags: [storage]", "become: true", True, False),
        ("stdout_lines > limit", "stdout_lines >= limit", False, True),
        ("limit: 90", "limit: 80", False, True),
        ("tags: [storage]", "severity: warning", False, True),
        ("tags: [storage]", "baseline: true", False, True),
        ("tags: [storage]", "when: path == '/var'", False, True),
        ("fix: Look at", "fix: Mind", False, False),
        ("name: Disk\n", "name: The disk\n", False, False),
        ("- id: disk", "- id: space", False, False),
        ("- name: Disks\n", "# a comment\n- name: Disks\n", False, False),
    ],
)
def test_what_makes_another_version(tmp_path: Path, old: str, new: str, command: bool, rules: bool) -> None:
    assert PLAYBOOK.count(old) == 1
    text = PLAYBOOK.replace(old, new)
    before, after = disk(tmp_path), disk(tmp_path, text, "space" if "space" in new else "disk")
    assert (before.command != after.command, before.rules != after.rules) == (command, rules)


def test_items_make_no_other_version_of_a_loop_and_secrets_none_of_a_check(tmp_path: Path) -> None:
    assert disk(tmp_path, key="mount") == disk(tmp_path, PLAYBOOK.replace("[/, /var]", "[/, /home]"), "mount")
    assert disk(tmp_path, key="quorum").once
    text = PLAYBOOK.replace("vars: {", "vars: {api_token: SECRET, ").replace("LANG: C", 'TOKEN: "{{ api_token }}"')
    one, other = (disk(tmp_path, text.replace("SECRET", word)) for word in ("0123456789", "abcdefghij"))
    assert one == other
