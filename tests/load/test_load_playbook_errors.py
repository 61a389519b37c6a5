"""What is wrong with a playbook is said at its place, with its line and the nearest valid word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.playbook import load_playbook, read_playbook
from checkrunner.load.problems import PlaybookFileError
from checkrunner.model.errors import PlaybookError

CHECK = "- hosts: all\n  checks:\n    - run: x\n"


def failure(text: str) -> PlaybookError:
    with pytest.raises(PlaybookError) as caught:
        load_playbook("p.yml", text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "is empty", "list of plays"),
        ("# nothing\n", "is empty", "list of plays"),
        ("[]", "no plays", ""),
        ("hosts: all\nchecks: []\n", "this is one play", "`- `"),
        ("all:\n  hosts:\n", "this is a mapping", "inventory"),
        ("text", "this is 'text'", ""),
        ("- text", "a play is a mapping", ""),
        ("- run: x\n- run: y\n", "this is a check", "under a play"),
        ("- hosts: all\n", "'checks' is missing", ""),
        ("- checks: [{run: x}]\n", "'hosts' is missing", ""),
        ("- hosts: all\n  checks: []\n", "at least one check", ""),
        ("- hosts: all\n  checks:\n", "a list is expected here, this is nothing", ""),
        ("- hosts: all\n  checks: {run: x}\n", "a list is expected here, this is a mapping", "`- `"),
        ("- hosts: all\n  checks: [{run: x}]\n  tasks:\n    - shell: x\n", "unknown key 'tasks'", "no `checks:`"),
        ("- hosts: all\n  tasks:\n    - apt: x\n", "the module 'apt' is not supported: it changes the host", "shell"),
        ("- hosts: all\n  checks:\n    - shell: x\n", "unknown key 'shell'", "`run: ...`"),
        ("- import_playbook: no-such.yml\n", "there is no file", ""),
        ("- hosts: '{{ x }}'\n  checks: [{run: x}]\n", "cannot hold variables", "--limit"),
        ("- hosts: []\n  checks: [{run: x}]\n", "the list is empty", ""),
        ("- hosts: all\n  gather_facts: no\n  checks: [{run: x}]\n", "unknown key 'gather_facts'", "Nothing is gathered"),
    ],
)  # fmt: skip
def test_the_shape_of_a_playbook(text: str, message: str, hint: str) -> None:
    error = failure(text)

    assert not isinstance(error, PlaybookFileError)
    assert message in error.message
    assert hint in error.hint
    assert error.source.path == "p.yml"


@pytest.mark.parametrize(
    ("extra", "column", "message", "hint"),
    [
        ("expct: 3", 7, "unknown key 'expct'", "'expect'"),
        ("Timeout: 3", 7, "unknown key 'Timeout'", "'timeout'"),
        ("xyzzy: 3", 7, "unknown key 'xyzzy'", "Known here: "),
        ("failed_when: rc", 7, "unknown key 'failed_when'", "crit_if"),
        ("rescue: [a]", 7, "unknown key 'rescue'", "'rescue' is a key of Ansible that checks do not have: each check"),
        ("debug: {msg: x}", 7, "unknown key 'debug'", "slice: {head: 5, when: always}"),
        ("with_dict: {}", 7, "unknown key 'with_dict'", "dict2items"),
        ("with_fileglob: x", 7, "unknown key 'with_fileglob'", "`loop:`"),
        ("serial: 2", 7, "unknown key 'serial'", "a key of the play"),
        ("agg: max", 7, "unknown key 'agg'", "a key of `extract`"),
        ("no_log: true", 7, "unknown key 'no_log'", "drop the line"),
        ("vars: [a]", 13, "variables are a mapping", ""),
        ("ansible.builtin.include_tasks: x", 7, "unknown key", "include_checks: FILE"),
        ("argv: [a]", 7, "not both", ""),
        ("run: y", 7, "here twice (first in line 3)", ""),
        ("id: a/b", 11, "'a/b' is not a name", ""),
        ("id: -x", 11, "'-x' is not a name", ""),
        ("name:", 12, "there is nothing", ""),
        ("name: [a]", 13, "this is a list", "quoted"),
        ("raw: maybe", 12, "true or false", ""),
        ("severity: crit", 17, "is not one of critical, warning, info", "'critical'"),
        ("register: stdout", 17, "has a meaning", ""),
        ("register: a-b", 17, "not a variable name", ""),
        ("when: '{{ a }}'", 14, "in braces", "without braces: a"),
        ("when: '{% if a %}'", 14, "in braces", ""),
        ("when: ''", 14, "is empty", ""),
        ("warn_if: []", 16, "the list is empty", ""),
        ("crit_if: [rc > 1, '{{ x }}']", 26, "in braces", "x"),
        ("timeout: 0", 16, "out of range", ""),
        ("timeout: 1:30", 16, "not a duration", "2m"),
        ("timeout: yes", 16, "not a duration", ""),
        ("timeout: [1]", 16, "this is a list", ""),
        ("tags: [a b]", 14, "not a name", ""),
        ("tags: a, /", 16, "'/' is not a name", ""),
        ("session: a b", 16, "not a name", ""),
        ("env: [A]", 12, "a mapping is expected here, this is a list", ""),
        ("env: {A B: 1}", 13, "not the name of an environment variable", ""),
        ("env: {A: [1]}", 16, "this is a list", ""),
        ("requires: ''", 18, "is empty", ""),
        ("become_method: ksu", 22, "is not one of sudo, su, doas", "'su'"),
        ("expect: {}", 15, "nothing is expected", "Leave `expect` out"),
        ("expect: {rcc: 0}", 16, "unknown key 'rcc'", "'rc'"),
        ("expect: {rc: 300}", 16, "0 to 255", ""),
        ("expect: {rc: [0, -1]}", 16, "0 to 255", ""),
        ("expect: {rc: '=> 1'}", 21, "not a number or a comparison", "'>= 3'"),
        ("expect: {rc: []}", 20, "at least one", ""),
        ("expect: {rc: ['>= 1']}", 20, "numbers only", ""),
        ("expect: {stdout_lines: '< {{ x }}'}", 31, "not a number or a comparison", "expression"),
        ("expect: {stdout: {}}", 24, "nothing is expected", ""),
        ("expect: {stdout: [a]}", 24, "a mapping is expected here, this is a list", "contains"),
        ("expect: {stdout: {contain: a}}", 25, "unknown key 'contain'", "'contains'"),
        ("expect: {stdout: {not_contains: a}}", 25, "unknown key 'not_contains'", "'not_matches'"),
        ("expect: {stdout: {contains: ''}}", 36, "is empty", ""),
        ("expect: {stdout: {empty: 3}}", 32, "true or false", ""),
        ("expect: {stdout: {matches: 'a(b'}}", 36, "not a regular expression", ""),
        ("expect: {stdout: {matches: [a, 'x*+']}}", 40, "possessive", ""),
        ("expect: {that: '{{ x }}'}", 23, "in braces", ""),
        ("expect: '{{ x }}'", 16, "in braces", ""),
        ("expect: [3, [a]]", 19, "this is a list", ""),
        ("slice: {}", 14, "this has none of them", ""),
        ("slice: {head: 1, tail: 1}", 24, "both head and tail", ""),
        ("slice: {tail: 1, context: 1}", 24, "goes with match", ""),
        ("slice: {tail: 1, max_lines: 1}", 24, "says already", ""),
        ("slice: {tail: 0}", 21, "out of range", "1 to 1000"),
        ("slice: {tail: x}", 21, "a whole number", ""),
        ("slice: {tail: yes}", 21, "a whole number", ""),
        ("slice: {lines: 9-3}", 22, "is empty", ""),
        ("slice: {lines: [1, 2, 3]}", 22, "two numbers", ""),
        ("slice: {match: '('}", 23, "not a regular expression", ""),
        ("slice: {match: x, stream: out}", 33, "is not one of stdout, stderr", "'stdout'"),
        ("slice: {match: x, when: allways}", 31, "is not one of fail, always", "'always'"),
        ("slice: [{tial: 3}]", 16, "unknown key 'tial'", "'tail'"),
        ("slice: taill 3", 14, "is not a slice", "'tail 20'"),
        ("slice: tail x", 19, "a whole number", ""),
    ],
)
def test_the_place_in_a_check(extra: str, column: int, message: str, hint: str) -> None:
    text = f"{CHECK}      {extra}\n"
    error = failure(text)
    if isinstance(error, PlaybookFileError) and "none of them" in message:
        error = error.errors[0]

    assert message in error.message
    assert hint in error.hint
    assert (error.source.line, error.source.column) == (4, column)
    assert error.line_text == f"      {extra}"


@pytest.mark.parametrize(
    ("line", "column", "message", "hint"),
    [
        ("- run: {{ x }}", 12, "cannot start with '{{'", "Quote the whole value"),
        ("- run: echo a: b", 18, "mapping values are not allowed", "quoted"),
        ("- run: [a, b]", 12, "this is a list", "quoted"),
        ("- run: {a: b}", 12, "this is a mapping", "quoted"),
        ('- run: "a\\0b"', 13, "NUL", ""),
        ("- run: ''", 13, "is empty", ""),
        ("- run:", 11, "there is nothing", ""),
        ("- argv: ls -l", 13, "a list is expected here, this is 'ls -l'", "`run`"),
        ("- argv: []", 7, "argv starts with the program", ""),
        ("- argv: ['', a]", 7, "argv starts with the program", ""),
        ("- argv: [a, [b]]", 17, "this is a list", ""),
        ("- name: x", 7, "needs a command", ""),
        ("- just text", 7, "a mapping is expected here, this is 'just text'", ""),
    ],
)
def test_the_place_of_a_command(line: str, column: int, message: str, hint: str) -> None:
    error = failure(f"- hosts: all\n  checks:\n    {line}\n")

    assert message in error.message
    assert hint in error.hint
    assert (error.source.line, error.source.column) == (3, column)


@pytest.mark.parametrize(
    ("variables", "column", "message"),
    [
        ("[a]", 10, "variables are a mapping"),
        ("{a b: 1}", 10, "not a variable name"),
        ("{rc: 1}", 10, "has a meaning"),
        ("{yes-no: 1}", 10, "not a variable name"),
    ],
)
def test_the_place_in_vars(variables: str, column: int, message: str) -> None:
    error = failure(f"- hosts: all\n  vars: {variables}\n  checks: [{{run: x}}]\n")

    assert message in error.message
    assert error.source.line == 2
    assert error.source.column in {column, column - 1}


def test_repeated_ids_name_both_places() -> None:
    error = failure("- hosts: all\n  checks:\n    - {name: Root disk, run: x}\n    - {id: root-disk, run: y}\n")

    assert (error.source.line, error.source.column) == (4, 7)
    assert "'root-disk'" in error.message
    assert "line 3" in error.message


def test_all_errors_of_a_file_come_together() -> None:
    text = (
        "- hosts: all\n  checks:\n    - run: x\n      expct: 1\n    - run: y\n      timeout: x\n"
        "- hosts: b\n  check:\n    - run: x\n"
    )
    error = failure(text)

    assert isinstance(error, PlaybookFileError)
    assert [(one.source.line, one.source.column) for one in error.errors] == [(4, 7), (6, 16), (7, 3), (8, 3)]
    shown = str(error)
    assert shown.startswith(
        "p.yml:4:7: unknown key 'expct'\n          expct: 1\n          ^\n  hint: Did you mean 'expect'?"
    )
    assert shown.count("p.yml:") == 4


def test_at_most_ten_errors_are_shown() -> None:
    text = "- hosts: all\n  checks:\n" + "".join(f"    - {{run: x, bad{n}: 1}}\n" for n in range(14))
    shown = str(failure(text))

    assert shown.count("unknown key") == 10
    assert shown.endswith("... and 4 more errors in this file")


def test_an_error_in_a_merged_mapping_is_where_it_was_written() -> None:
    text = "- hosts: all\n  checks:\n    - &base {run: x, timeout: never}\n    - <<: *base\n      id: b\n"
    error = failure(text)

    assert error.source.line == 3
    assert "'never' is not a duration" in str(error)


def test_braces_in_texts_do_not_upset_messages() -> None:
    assert "'a{b}c' is not a name" in failure(f"{CHECK}      id: a{{b}}c\n").message


_PIECES = st.sampled_from(
    [
        *("- ", "  ", "\n", ": ", "{", "}", "[", "]", "'", '"', "|\n", "&a ", "*a", "<<: ", "!x ", "\t", "~", "yes"),
        *("{{ x }}", "#", "é", "\u2028", "hosts: all", "checks:", "run: x", "expect: ", "slice: ", "tail 3", ">= 1"),
    ]
)


@given(st.lists(_PIECES, max_size=12).map("".join), st.integers(0, len(CHECK)))
def test_any_change_to_a_playbook_loads_or_is_an_error_with_a_place(change: str, at: int) -> None:
    text = CHECK[:at] + change + CHECK[at:]
    try:
        load_playbook("p.yml", text)
    except PlaybookError as exc:
        assert exc.source.path == "p.yml"  # noqa: PT017 - both endings are right
        assert exc.message  # noqa: PT017 - as above


def test_what_is_sound_can_be_read_beside_what_is_not() -> None:
    text = (
        "- hosts: all\n  vars: {1a: 2, b: 3}\n  gather_facts: no\n  checks:\n"
        "    - {id: a, run: id, register: left, blok: 1}\n    - {id: b, run: id}\n"
        "- checks: [{run: id}]\n- hosts: web\n  checks: [{id: c, run: id}]\n"
    )
    reading = read_playbook("p.yml", text)

    assert [[check.id for check in play.checks] for play in reading.playbook.plays] == [["b"], ["c"]]
    assert sorted(error.source.line for error in reading.errors) == [2, 3, 5, 7]
    assert reading.lost == {"1a", "b", "left"}
