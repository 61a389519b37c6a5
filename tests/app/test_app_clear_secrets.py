"""Lint: secrets that stand in a playbook in clear."""

from __future__ import annotations

import pytest

from checkrunner.app.clear_secrets import secrets_in_clear
from checkrunner.load.playbook import load_playbook

SECRET = "hunter2hunter"  # the value that no message may hold


def told(text: str) -> list[tuple[int, int, str]]:
    problems = list(secrets_in_clear(load_playbook("p.yml", text)))
    assert all(SECRET not in problem.message + problem.hint for problem in problems)
    assert {problem.rule for problem in problems} <= {"secret-in-clear"}
    return [(problem.source.line, problem.source.column, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("play", "place", "message"),
    [
        (f"  vars:\n    x: 1\n    db_password: {SECRET}", (4, 5), "variable 'db_password' of play 'all' looks like"),
        (f"  vars: {{db: {{api_token: {SECRET}}}}}", (2, 10), "variable 'db' of play 'all' looks like"),
        ("  vars: {db_password: '{{ x }}', password_file: /etc/secret}", None, ""),
        ("  vars: {db_password: password, token: abc}", None, ""),
    ],
)
def test_variables_of_plays(play: str, place: tuple[int, int] | None, message: str) -> None:
    found = told(f"- hosts: all\n{play}\n  checks: [{{run: id}}]\n")
    assert [one[:2] for one in found] == ([place] if place else [])
    assert all(one[2].startswith(message) for one in found)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (f"run: id\n      env: {{API_TOKEN: {SECRET}}}", "`env` API_TOKEN looks like a secret, in clear"),
        (f"run: mysql --password={SECRET}", "check 'c': this looks like a secret, in clear: "),
        (f"run: PGPASSWORD={SECRET} psql", "check 'c': this looks like a secret, in clear: "),
        (f"run: 'curl http://app:{SECRET}@db/'", "check 'c': this looks like a secret, in clear: "),
        (f"argv: [curl, -H, 'Authorization: Bearer {SECRET}{SECRET}']", "check 'c': this looks like a secret"),
        ("run: 'psql \"password=$PGPASSWORD\"'", ""),
        ("run: 'curl -H \"Authorization: Bearer {{ token }}\"'", ""),
        ("run: id\n      env: {API_TOKEN: '{{ token }}'}", ""),
        ("run: id\n      env: {API_TOKEN: !env API_TOKEN}", ""),
        ("run: grep -c password= /etc/x", ""),
    ],
)
def test_checks(check: str, message: str) -> None:
    found = told(f"- hosts: all\n  checks:\n    - id: c\n      {check}\n")
    assert len(found) == bool(message)
    assert all(one[2].startswith(message) for one in found)


def test_the_place_within_a_command() -> None:
    ((line, column, _),) = told(
        f"- hosts: all\n  checks:\n    - id: c\n      run: |\n        id\n        PGPASSWORD={SECRET} psql\n"
    )
    assert (line, column) == (6, 9 + len("PGPASSWORD="))


def test_follow_ups_blocks_and_tasks_are_looked_at() -> None:
    follow = (
        f"- hosts: all\n  checks:\n    - id: c\n      run: id\n      on_fail: [{{id: d, run: x --token={SECRET}}}]\n"
    )
    block = f"- hosts: all\n  checks:\n    - vars: {{my_token: {SECRET}}}\n      block: [{{id: a, run: id}}]\n"
    tasks = f"- hosts: all\n  tasks:\n    - shell: x --token={SECRET}\n"
    assert [len(told(text)) for text in (follow, block, tasks)] == [1, 1, 1]
