"""What loops, values, comparisons between hosts and courses of plays become: each form of writing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkrunner.load.documents import parse
from checkrunner.load.nodes import plain
from checkrunner.load.playbook import load_playbook, playbook_schema
from checkrunner.model.playbook import Check, Play, Share
from checkrunner.model.results import Stream
from checkrunner.model.sources import Template
from checkrunner.model.values import Aggregate, Lookup, ParseAs


def check(*lines: str) -> Check:
    text = "- hosts: all\n  checks:\n    - id: a\n      run: id\n" + "".join(f"      {line}\n" for line in lines)
    return load_playbook("p.yml", text).plays[0].checks[0]


def play(*lines: str) -> Play:
    text = "- hosts: all\n" + "".join(f"  {line}\n" for line in lines) + "  checks: [{run: id}]\n"
    return load_playbook("p.yml", text).plays[0]


def test_a_loop_over_a_list() -> None:
    loop = check("loop: [a, 1, {b: 2}]").loop

    assert loop
    assert loop.items == ("a", 1, {"b": 2})
    assert (loop.variable, loop.index_variable, loop.label, loop.pause_s) == ("item", None, None, 0.0)
    assert (loop.source.line, loop.source.column) == (5, 7)


@pytest.mark.parametrize(
    ("written", "expression", "column"),
    [
        ("disks", "disks", 13),
        ("disks | default([])", "disks | default([])", 13),
        ('"{{ disks }}"', "disks", 17),
        ("'{{disks | list}}'", "disks | list", 16),
    ],
)
def test_a_loop_over_an_expression_with_or_without_its_braces(written: str, expression: str, column: int) -> None:
    loop = check(f"loop: {written}").loop

    assert loop
    assert isinstance(loop.items, Template)
    assert loop.items.text == expression
    assert (loop.items.source.line, loop.items.source.column) == (5, column)


def test_how_a_loop_is_controlled() -> None:
    loop = check("loop: []", "loop_control: {loop_var: d, index_var: n, label: '{{ d.x }}', pause: 500ms}").loop

    assert loop
    assert (loop.items, loop.variable, loop.index_variable, loop.pause_s) == ((), "d", "n", 0.5)
    assert loop.label
    assert loop.label.text == "{{ d.x }}"


def test_until() -> None:
    until = check("until: rc == 0").until
    longer = check("until: [rc == 0, stdout_lines > 1]", "retries: 10", "delay: 0").until

    assert until
    assert longer
    assert (len(until.conditions), until.retries, until.delay_s) == (1, 3, 5.0)
    assert (len(longer.conditions), longer.retries, longer.delay_s) == (2, 10, 0.0)


@pytest.mark.parametrize(
    ("written", "kind", "parser", "stream", "delimiter"),
    [
        ("json", ParseAs.JSON, "", Stream.STDOUT, None),
        ("jc:df", ParseAs.JC, "df", Stream.STDOUT, None),
        ("jc:git-log", ParseAs.JC, "git_log", Stream.STDOUT, None),
        ("{as: csv, delimiter: ';', stream: stderr}", ParseAs.CSV, "", Stream.STDERR, ";"),
        ("{as: kv, delimiter: ': '}", ParseAs.KV, "", Stream.STDOUT, ": "),
        ("{as: regex, pattern: '(?P<a>x)'}", ParseAs.REGEX, "", Stream.STDOUT, None),
    ],
)
def test_ways_to_read_an_output(
    written: str, kind: ParseAs, parser: str, stream: Stream, delimiter: str | None
) -> None:
    parse = check(f"parse: {written}").parse

    assert parse
    assert (parse.kind, parse.parser, parse.stream, parse.delimiter) == (kind, parser, stream, delimiter)


def test_a_value_with_all_there_is_to_say() -> None:
    (value,) = check(
        "parse: {as: table, stream: stderr}",
        "extract: {used: {column: 'Use%', where: a == 1, type: number, unit: '%', agg: max, missing: 0}}",
    ).extracts

    assert (value.name, value.lookup, value.query.text, value.kind, value.unit) == (
        "used",
        "column",
        "Use%",
        "number",
        "%",
    )
    assert (value.agg, value.missing, value.stream) == (Aggregate.MAX, 0, Stream.STDERR)
    assert value.where
    assert value.where.text == "a == 1"
    assert (value.source.line, value.source.column) == (6, 17)


@pytest.mark.parametrize(
    ("parse", "lookup"),
    [
        ("json", Lookup.JMESPATH),
        ("yaml", Lookup.JMESPATH),
        ("kv", Lookup.JMESPATH),
        ("jc:df", Lookup.JMESPATH),
        ("csv", Lookup.COLUMN),
        ("table", Lookup.COLUMN),
        ("{as: table}", Lookup.COLUMN),
        ("{as: regex, pattern: '(?P<a>x)'}", Lookup.COLUMN),
    ],
)
def test_a_text_alone_is_a_value_of_a_parsed_output(parse: str, lookup: Lookup) -> None:
    short, long = check(f"parse: {parse}", "extract: {a: a, b: {regex: 'b([0-9]+)'}}").extracts

    assert (short.lookup, short.query.text, short.query.source.column) == (lookup, "a", 20)
    assert (long.lookup, long.stream) == (Lookup.REGEX, Stream.STDOUT)


def test_a_pattern_may_look_at_the_other_output_than_is_parsed() -> None:
    one, other = check("parse: json", "extract: {a: x, b: {regex: y, stream: stderr}}").extracts

    assert (one.stream, other.stream) == (Stream.STDOUT, Stream.STDERR)


@pytest.mark.parametrize("written", ["90", "90%", "'5GiB:'", "'@10:20'", "'~:5'", "1.5:2", "'{{ x }}'", "'200ms:1s'"])
def test_thresholds(written: str) -> None:
    (levels,) = check("extract: {a: {regex: '([0-9]+)'}}", f"levels: {{a: {{warn: {written}}}}}").levels

    assert levels.warn
    assert levels.warn.text == written.strip("'")
    assert levels.crit is None


def test_hosts_that_should_answer_alike() -> None:
    plain, full = check("consensus: true").consensus, check("consensus: {by: rack, on: rc, min: 90%}").consensus
    value = check("extract: {v: {regex: x, type: text}}", "consensus: {on: v, min: 0.6}").consensus

    assert plain
    assert full
    assert value
    assert check("consensus: false").consensus is None
    assert (plain.by, plain.on, plain.minimum) == ("all", "stdout", 0.8)
    assert (full.by, full.on, full.minimum) == ("rack", "rc", 0.9)
    assert (value.on, value.minimum) == ("v", 0.6)


def test_outputs_that_must_be_as_accepted() -> None:
    plain, full = check("baseline: true").baseline, check("baseline: {ignore: ['^#', x], ordered: false}").baseline

    assert plain
    assert full
    assert check("baseline: false").baseline is None
    assert (plain.ignore, plain.ordered) == ((), True)
    assert ([pattern.text for pattern in full.ignore], full.ordered) == (["^#", "x"], False)


def test_hosts_of_which_so_many_must_be_ok() -> None:
    two, half, grouped = (check(f"quorum: {w}").quorum for w in ("2", "50%", "{min: 3, by: group}"))

    assert two
    assert half
    assert grouped
    assert (two.count, two.fraction, two.by) == (2, None, "all")
    assert (half.count, half.fraction) == (None, 0.5)
    assert (grouped.count, grouped.by) == (3, "group")


@pytest.mark.parametrize(
    ("written", "shares"),
    [
        ("2", [Share(count=2)]),
        ("30%", [Share(fraction=0.3)]),
        ("[1, 5, 100%]", [Share(count=1), Share(count=5), Share(fraction=1.0)]),
    ],
)
def test_batches(written: str, shares: list[Share]) -> None:
    assert list(play(f"serial: {written}").serial) == shares


def test_the_course_of_a_play() -> None:
    found = play("forks: 7", "max_fail: 30%", "pre_checks: [{id: up, run: id}]")

    assert (found.forks, found.max_fail) == (7, Share(fraction=0.3))
    assert [one.id for one in found.pre_checks] == ["up"]
    assert (play().forks, play().max_fail, play().serial, play().pre_checks) == (None, None, (), ())


def test_flags_of_a_check() -> None:
    found = check(
        "run_once: true", "changes_host: true", "delegate_to: '{{ lb }}'", "vars: {a: 1}", "on_fail: {run: ls}"
    )

    assert (found.run_once, found.changes_host, found.vars) == (True, True, {"a": 1})
    assert found.delegate_to
    assert found.delegate_to.text == "{{ lb }}"
    assert [one.id for one in found.on_fail] == ["check-2"]


def test_parameters_and_their_types() -> None:
    params = play(
        "params:",
        "  a: {type: percent, default: 90%, help: How full.}",
        "  b: {default: [x, y]}",
        "  c: {required: true, choices: [1, 2]}",
        "  d: {type: size, default: 2GiB}",
        "  e: {type: duration, default: 5m}",
        "  f: {default: no}",
    ).params

    assert [(one.name, one.type, one.default) for one in params] == [
        ("a", "percent", 90),
        ("b", "list", ["x", "y"]),
        ("c", "string", None),
        ("d", "size", 2 << 30),
        ("e", "duration", 300),
        ("f", "boolean", False),
    ]
    assert params[0].help == "How full."
    assert (params[2].required, params[2].choices) == (True, ("1", "2"))


GOOD = [
    {"run": "id", "loop": ["a"], "loop_control": {"label": "x"}, "until": "rc == 0", "retries": 2, "delay": "2s"},
    {"run": "id", "parse": "jc:df", "extract": {"a": "x", "b": {"regex": "x"}}, "levels": {"a": {"warn": 3}}},
    {"argv": ["id"], "consensus": True, "on_fail": {"run": "ls"}},
    {"run": "id", "baseline": True, "quorum": "50%", "on_fail": [{"block": [{"run": "ls"}]}]},
    {"block": [{"run": "id"}, {"include_checks": "x.yml", "prefix": "a-"}], "when": "a", "env": {"A": 1}},
]
BAD: list[dict[str, Any]] = [
    {"run": "id", "looop": ["a"]},
    {"run": "id", "retries": 0},
    {"run": "id", "extract": {"a": {"colum": "x"}}},
    {"run": "id", "consensus": {"min": []}},
    {"run": "id", "baseline": {"ignored": "x"}},
    {"block": []},
    {"include_checks": "a.yml", "import_checks": "b.yml"},
    {"run": "id", "on_fail": "ls"},
]


@pytest.mark.parametrize("entry", GOOD)
def test_the_schema_accepts_what_loads(entry: dict[str, Any]) -> None:
    head = {"hosts": "all", "serial": [1, "30%"], "max_fail": 2, "params": {"a": {"default": 3}}, "vars_files": "v.yml"}

    jsonschema.Draft202012Validator(playbook_schema()).validate([{**head, "checks": [entry], "pre_checks": [entry]}])


@pytest.mark.parametrize("entry", BAD)
def test_the_schema_refuses_what_does_not(entry: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(playbook_schema()).validate([{"hosts": "all", "checks": [entry]}])


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "ansible" / "playbooks").glob("*.yml")), ids=str)
def test_the_schema_knows_playbooks_of_tasks(path: Path) -> None:
    document = parse(path.read_text(encoding="utf-8"), str(path))
    assert document.root is not None
    written = plain(document.root)

    jsonschema.Draft202012Validator(playbook_schema()).validate(json.loads(json.dumps(written, default=str)))


def test_the_schema_refuses_words_of_ansible_that_are_not_here() -> None:
    validator = jsonschema.Draft202012Validator(playbook_schema())
    task = {"shell": "id", "register": "x", "failed_when": "x.rc > 1"}
    validator.validate([{"hosts": "all", "tasks": [task, {"block": [task], "rescue": [task]}]}])
    for wrong in ({"apt": "name=x"}, {"shell": "id", "delegate_facts": True}):
        assert not validator.is_valid([{"hosts": "all", "tasks": [wrong]}])
    assert not validator.is_valid([{"hosts": "all", "tasks": [task], "checks": [{"run": "id"}]}])


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(playbook_schema())
