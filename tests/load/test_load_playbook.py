from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.playbook import find_playbook, load_playbook
from checkrunner.model.errors import PlaybookError, UsageError
from checkrunner.model.playbook import Become, Check, Expectation, SliceRule, SliceWhen
from checkrunner.model.results import Severity, SliceMode, Stream
from checkrunner.model.sources import SourceRef, Template


def check(body: str) -> Check:
    """The one check of a play; `body` is the check's keys."""
    lines = body.strip("\n").split("\n")
    text = "- hosts: all\n  checks:\n    - " + "\n      ".join(lines) + "\n"
    return load_playbook("p.yml", text).plays[0].checks[0]


def at(line: int, column: int) -> SourceRef:
    return SourceRef(path="p.yml", line=line, column=column)


def values(expectations: tuple[Expectation, ...]) -> list[tuple[str, str, object]]:
    return [(e.subject, e.op, e.value.text if isinstance(e.value, Template) else e.value) for e in expectations]


def test_a_play_with_everything() -> None:
    text = """\
- name: Web servers
  hosts: [web, "db:!old"]
  vars: {max: 5, nested: {1: [a, no]}}
  tags: a, b
  timeout: 2m
  become: true
  become_user: app
  become_method: doas
  checks:
    - {id: one, run: "true"}
- hosts: all
  vars:
  checks:
    - run: x
"""
    book = load_playbook("p.yml", text)
    first, second = book.plays

    assert (first.name, first.hosts) == ("Web servers", "web,db,!old")
    assert dict(first.vars) == {"max": 5, "nested": {1: ["a", False]}}
    assert (first.tags, first.timeout_s) == (("a", "b"), 120.0)
    assert first.become == Become(become=True, user="app", method="doas")
    assert first.source == at(1, 3)
    assert (second.name, second.tags, second.become) == ("all", (), Become())
    assert book.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_check_with_everything() -> None:
    found = check(
        """
id: disk
name: Root disk
run: df -P {{ path }}
severity: warning
when: [max > 3, true]
register: disk
requires: df, /proc/mounts
tags: [io, 2024]
env: {LC_ALL: C, MODE: 0644, DEBUG: yes}
cwd: "/{{ dir }}"
timeout: 90
session: slow
become: false
why: It fills up.
fix: Look at {{ path }}.
warn_if: rc > 1
crit_if: ["rc > 2", "stdout_lines > max"]
"""
    )

    assert (found.id, found.name, found.session, found.timeout_s) == ("disk", "Root disk", "slow", 90.0)
    assert found.run == Template(text="df -P {{ path }}", source=at(5, 12))
    assert found.severity is Severity.WARNING
    assert [text.text for text in found.when] == ["max > 3", "true"]
    assert (found.register, found.requires, found.tags) == ("disk", ("df", "/proc/mounts"), ("io", "2024"))
    assert {key: getattr(value, "text", None) for key, value in found.env.items()} == {
        "LC_ALL": "C",
        "MODE": "0644",
        "DEBUG": "yes",
    }
    assert found.cwd == Template(text="/{{ dir }}", source=at(12, 13))
    assert found.become == Become(become=False)
    assert found.why == Template(text="It fills up.", source=at(16, 12))
    assert found.fix == Template(text="Look at {{ path }}.", source=at(17, 12))
    assert [text.text for text in found.warn_if] == ["rc > 1"]
    assert [(text.text, text.source) for text in found.crit_if] == [
        ("rc > 2", at(19, 18)),
        ("stdout_lines > max", at(19, 28)),
    ]
    assert found.source == at(3, 7)


def test_defaults() -> None:
    found = check("run: uptime")

    assert found == Check(id="check-1", name="uptime", run=Template(text="uptime", source=at(3, 12)), source=at(3, 7))


@pytest.mark.parametrize(
    ("body", "text", "line", "column", "literal"),
    [
        ("run: plain {{ x }}", "plain {{ x }}", 3, 12, False),
        ("run: 'it''s'", "it's", 3, 13, False),
        ('run: "a\\nb"', "a\nb", 3, 13, False),
        ("run: |\n  one\n  two", "one\ntwo\n", 4, 9, True),
        ("run: |-\n  # no comment", "# no comment", 4, 9, True),
        ("run: >\n  one\n  two", "one two\n", 4, 9, False),
        ("run: |2\n    one", "  one\n", 4, 9, True),
    ],
)
def test_command_text_is_exact_and_knows_its_place(body: str, text: str, line: int, column: int, literal: bool) -> None:
    run = check(body).run

    assert run == Template(text=text, source=at(line, column), literal=literal)


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029"))
    .filter(str.strip)
    .filter(lambda text: not text[0].isspace())
)
def test_any_line_in_a_block_arrives_as_written(line: str) -> None:
    run = check(f"run: |-\n  {line}\n  x").run

    assert run is not None
    assert run.text == f"{line}\nx"


def test_argv_and_raw() -> None:
    found = check("argv: [echo, 0644, 1.10, '{{ x }}', yes, '']\nraw: true")

    assert [item.text for item in found.argv] == ["echo", "0644", "1.10", "{{ x }}", "yes", ""]
    assert all(item.raw and item.is_static for item in found.argv)
    assert found.name == "echo 0644 1.10 {{ x }} yes"
    assert found.run is None
    assert check("run: docker ps --format '{{.ID}}'\nraw: true").run == Template(
        text="docker ps --format '{{.ID}}'", source=at(3, 12), raw=True
    )


def test_expectations_in_the_order_they_are_written() -> None:
    found = check(
        """
expect:
  stdout:
    contains: [one, 2]
    not_matches: 'x\\d'
    empty: false
  rc: [0, 2]
  stdout_lines: ">=3"
  elapsed_s: 1.5..2
  stderr: oops
  that: rc < 3
run: x
"""
    )

    assert values(found.expect) == [
        ("stdout", "contains", "one"),
        ("stdout", "contains", "2"),
        ("stdout", "not_matches", "x\\d"),
        ("stdout", "empty", False),
        ("rc", "number", [0, 2]),
        ("stdout_lines", "number", ">= 3"),
        ("elapsed_s", "number", "1.5..2"),
        ("stderr", "contains", "oops"),
        ("that", "that", "rc < 3"),
    ]
    assert [e.source for e in found.expect][:4] == [at(5, 22), at(5, 27), at(6, 25), at(7, 11)]


def test_short_forms_of_expect() -> None:
    assert values(check("run: x\nexpect: rc == 0").expect) == [("that", "that", "rc == 0")]
    assert values(check("run: x\nexpect: [rc == 0, {stdout: hi}, {rc: 1}]").expect) == [
        ("that", "that", "rc == 0"),
        ("stdout", "contains", "hi"),
        ("rc", "number", 1),
    ]
    assert values(check("run: x\nexpect: {stdout: {equals: 1.10}}").expect) == [("stdout", "equals", "1.10")]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("{head: 5}", SliceRule(mode=SliceMode.HEAD, max_lines=5)),
        ("{tail: 7, stream: stderr, when: always}",
         SliceRule(mode=SliceMode.TAIL, max_lines=7, stream=Stream.STDERR, when=SliceWhen.ALWAYS)),
        ("{lines: 3-40}", SliceRule(mode=SliceMode.LINES, first=3, last=40, max_lines=38)),
        ("{lines: [3, 10], max_lines: 4}", SliceRule(mode=SliceMode.LINES, first=3, last=10, max_lines=4)),
        ("{lines: 5}", SliceRule(mode=SliceMode.LINES, first=5, last=5, max_lines=1)),
        ("head 3", SliceRule(mode=SliceMode.HEAD, max_lines=3)),
        ("tail 20", SliceRule(mode=SliceMode.TAIL, max_lines=20)),
        ("lines 3-10", SliceRule(mode=SliceMode.LINES, first=3, last=10, max_lines=8)),
        ("{tail: 3, max_bytes: 100}", SliceRule(mode=SliceMode.TAIL, max_lines=3, max_bytes=100)),
    ],
)  # fmt: skip
def test_slices(text: str, rule: SliceRule) -> None:
    (found,) = check(f"run: x\nslice: {text}").slices

    assert found == SliceRule(
        **{name: getattr(rule, name) for name in SliceRule.__dataclass_fields__ if name != "source"},
        source=found.source,
    )
    assert found.source.line == 4


def test_match_slices_hold_their_pattern_with_its_place() -> None:
    one, two = check("run: x\nslice:\n  - {match: 'ERR|{{ word }}', context: 2}\n  - match a  b").slices

    assert one.pattern == Template(text="ERR|{{ word }}", source=at(5, 20))
    assert (one.context, one.max_lines) == (2, 20)
    assert two.pattern == Template(text="a  b", source=at(6, 17))


def test_ids_come_from_names() -> None:
    text = "- hosts: all\n  checks:\n    - {name: 'Root Disk!', run: x}\n    - {name: 日本, run: x}\n    - run: |\n\n        first line\n        second\n    - {id: a.b, run: x}\n"
    checks = load_playbook("p.yml", text).plays[0].checks

    assert [(found.id, found.name) for found in checks] == [
        ("root-disk", "Root Disk!"),
        ("check-2", "日本"),
        ("check-3", "first line"),
        ("a.b", "a.b"),
    ]


def test_long_commands_are_shortened_to_a_name() -> None:
    name = check(f"run: echo {'x' * 100}").name

    assert len(name) <= 60
    assert name.endswith("...")


def test_equal_ids_in_different_plays_are_fine() -> None:
    text = "- {hosts: a, checks: [{id: x, run: y}]}\n- {hosts: b, checks: [{id: x, run: y}]}\n"

    assert [play.checks[0].id for play in load_playbook("p.yml", text).plays] == ["x", "x"]


def test_a_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mein spiel é.yml"
    path.write_text("- {hosts: all, checks: [{run: y}]}\n", encoding="utf-8")

    assert load_playbook(str(path)).digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_bare_name_finds_a_shipped_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = find_playbook("linux-health")

    assert load_playbook(found).plays
    assert find_playbook("linux-health.yml") == found


def test_a_file_wins_over_a_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linux-health").write_text("x", encoding="utf-8")

    assert find_playbook("linux-health") == "linux-health"


@pytest.mark.parametrize("name", ["linux-helth", "linux-helth.yml"])
def test_an_unknown_pack_names_the_nearest(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match="Did you mean 'linux-health'"):
        find_playbook(name)


def test_an_unknown_file_names_the_nearest_beside_it(tmp_path: Path) -> None:
    (tmp_path / "webserver.yml").write_text("- name: x\n  hosts: all\n", encoding="utf-8")
    (tmp_path / "webservers.yaml").write_text("web:\n  hosts: {a: }\n", encoding="utf-8")
    (tmp_path / "webservers.json").write_text('{"run": {}, "hosts": []}', encoding="utf-8")

    with pytest.raises(PlaybookError, match="there is no file") as caught:
        find_playbook(str(tmp_path / "webservers.yml"))
    assert caught.value.hint == f"Did you mean '{tmp_path / 'webserver.yml'}'?"


def test_a_directory_is_no_playbook_but_may_hold_some(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("- hosts: all\n", encoding="utf-8")

    with pytest.raises(PlaybookError, match="is a directory") as caught:
        find_playbook(str(tmp_path))
    assert caught.value.hint == f"Give one of its files: {tmp_path / 'a.yml'}"


def test_a_playbook_can_come_by_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert find_playbook(str(tmp_path / "pipe")) == str(tmp_path / "pipe")
    assert find_playbook("-") == "/dev/stdin"


def test_a_playbook_keeps_its_lines_and_the_place_of_the_pattern() -> None:
    book = load_playbook("p.yml", "- name: x\n  hosts: web\n  checks: [{run: id}]\n")

    assert book.lines[1] == "  hosts: web"
    assert book.plays[0].hosts_source == at(2, 10)
