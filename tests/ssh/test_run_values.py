"""Values from the playbook to the report and the files for other programs, over a real sshd."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from cli_runner import CommandLine
from untagged import untagged

from checkrunner.render.schema import report_schema

PAGE = (Path(__file__).parents[2] / "docs" / "values.md").read_text(encoding="utf-8")

EVERY_WAY = r"""
- hosts: all
  vars: {most: 90%}
  checks:
    - id: json
      run: 'echo ''{"disks": [{"n": "a", "used": 10}, {"n": "b", "used": 95}]}'''
      parse: json
      extract: {used: {jmespath: 'disks[].used', agg: max, unit: '%'}}
      levels: {used: {crit: '{{ most }}'}}
    - id: yaml
      run: |
        printf 'size: 5GiB\n---\nsize: 1GiB\n'
      parse: yaml
      extract: {size: {jmespath: '[].size', agg: sum, unit: B}}
      levels: {size: {warn: '10GiB:'}}
    - id: csv
      run: printf '\357\273\277name;temp\r\ngpu0;61,5\r\ngpu1;74,5\r\n'
      parse: csv
      extract: {temp: {column: temp, where: "name == 'gpu1'"}}
      levels: {temp: {warn: 70}}
    - id: kv
      run: cat /proc/meminfo
      parse: kv
      extract: {total: {column: MemTotal, unit: KiB}, swap: {column: NoSuchKey, missing: 0}}
      register: memory
      expect: values.total > 1048576 and values.swap == 0
    - id: table
      run: df -P
      parse: table
      extract: {used: {column: Capacity, where: "Mounted_on == '/'", unit: '%'}}
      expect: 0 <= values.used and values.used <= 100
    - id: lines
      run: seq 50
      parse: lines
      extract: {n: {jmespath: length(@)}}
      crit_if: values.n > 40 and memory.values.total > 0
    - id: regex
      run: printf 'eth0 up 5\nlo down 7\n'
      parse: {as: regex, pattern: '(?P<name>\w+) \w+ (?P<errors>\d+)'}
      extract: {errors: {column: errors, agg: list}}
      levels: {errors: {warn: 6}}
    - id: pattern
      run: seq 100000; echo took 250 ms
      extract: {took: {regex: 'took (.*)', unit: s}}
      levels: {took: {warn: 200ms, crit: 1s}}
    - id: jc
      run: "echo ' 11:35:44 up 1 day, 11:53,  3 users,  load average: 0.10, 0.02, 0.00'"
      parse: jc:uptime
      extract: {load: load_1m}
      levels: {load: {warn: '0.05'}}
    - id: command
      run: "echo total {{ memory.values.total | int }}"
      extract: {same: {regex: 'total (\d+)'}}
      expect: values.same == memory.values.total
"""


def test_every_way_of_reading(cli: CommandLine) -> None:
    outcome = cli.run(EVERY_WAY)

    assert outcome.code == 2, outcome.stderr
    jsonschema.validate(outcome.report, report_schema())
    found = {
        finding["check"]: (finding["verdict"], [reason["message"] for reason in finding["reasons"]])
        for finding in outcome.report["findings"]
    }
    assert found == {
        "json": ("crit", ["used was 95%, critical above 90%"]),
        "yaml": ("warn", ["size was 6GiB, a warning below 10GiB"]),
        "csv": ("warn", ["temp was 74.5 (gpu1), a warning above 70"]),
        "regex": ("warn", ["errors was 7 (lo), a warning above 6"]),
        "lines": ("crit", [found["lines"][1][0]]),
        "pattern": ("warn", ["took was 250ms, a warning above 200ms"]),
        "jc": ("warn", ["load was 0.1, a warning above 0.05"]),
    }, outcome.stderr
    assert re.fullmatch(r"crit_if: .* \(values\.n = 50, memory\.values\.total = \d+\)", found["lines"][1][0])
    metrics = {entry["check"]: entry["values"] for entry in outcome.report["metrics"]}
    assert set(metrics) == set(re.findall(r"- id: (\w+)", EVERY_WAY))
    assert [value["name"] for value in metrics["kv"]] == ["total", "swap"]


def test_what_cannot_be_read_is_unknown_and_says_why(cli: CommandLine) -> None:
    outcome = cli.run(
        r"""
        - hosts: all
          checks:
            - {id: not-json, run: echo oops, parse: json, extract: {a: a}}
            - {id: cut, run: 'yes "n=5" | head -c 300000', parse: kv, extract: {n: n}}
            - {id: column, run: df -P /, parse: table, extract: {a: Nothing}, crit_if: values.a > 1}
            - {id: slow, run: 'echo n=5; sleep 30', timeout: 1s, extract: {a: {regex: 'n=(\d)'}}}
            - {id: binary, run: 'printf "n=5\0\n"', extract: {a: {regex: 'n=(\d)'}}}
        """
    )

    said = {
        finding["check"]: (finding["verdict"], finding["reasons"][0]["message"])
        for finding in outcome.report["findings"]
    }
    assert said["not-json"] == ("unknown", "a: line 1 is not JSON: Expecting value at 'oops'")
    assert said["cut"] == ("unknown", "n: stdout has 300,000 bytes, more than the 262,144 that are parsed")
    assert said["column"][1].startswith("a: column 'Nothing' is not in the table: Filesystem")
    assert said["slow"][1].startswith("was ended by its timeout")
    assert said["binary"] == ("unknown", "a: stdout is not text")
    assert outcome.code == 3


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_of_the_manual(cli: CommandLine, number: int) -> None:
    outcome = cli.run(re.findall(r"```yaml\n(- hosts.*?)```", PAGE, re.DOTALL)[number])

    assert outcome.code in {0, 1, 2}, outcome.stdout + outcome.stderr
    assert not [finding for finding in outcome.report["findings"] if finding["verdict"] == "unknown"]
    assert outcome.report["metrics"]


def test_files_for_other_programs(cli: CommandLine) -> None:
    cli.hosts = 2
    outcome = cli.run(
        r"""
        - hosts: all
          vars: {db_password: hunter2-hunter2}
          checks:
            - id: it's
              run: 'printf "n=5 ms\nwho=hunter2-hunter2\n"'
              env: {X: "{{ db_password }}"}
              extract: {n: {regex: 'n=(.*)', unit: s}, who: {regex: 'who=(.*)', type: text}}
              levels: {n: {warn: '1ms'}}
        """.replace("it's", "it"),
        *("--perfdata", "perf.txt", "--metrics", "metrics.jsonl"),
    )

    assert outcome.code == 1, outcome.stderr
    names = [finding["hosts"] for finding in outcome.report["findings"]]
    lines = (cli.folder / "perf.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["it WARNING | 'it.n'=0.005s;0.001"] * 2
    metrics = [json.loads(line) for line in (cli.folder / "metrics.jsonl").read_text().splitlines()]
    assert [(one["name"], one["value"]) for one in json.loads(untagged(json.dumps(metrics)))] == [
        ("n", 0.005),
        ("who", "<secret>"),
    ] * 2
    assert len({one["host"] for one in metrics}) == 2
    assert names
    assert "hunter2-hunter2" not in outcome.stdout


def test_stdout_may_have_the_lines_in_place_of_the_report(cli: CommandLine) -> None:
    text = "- hosts: all\n  checks:\n    - {id: n, run: echo 5, extract: {v: {regex: '(.*)'}}}\n"

    outcome = cli.run(text, "--perfdata", "-", "-o", "report.json")

    assert re.fullmatch(r"\S+ n OK \| 'n\.v'=5\n", outcome.stdout)
    assert json.loads((cli.folder / "report.json").read_text())["metrics"]


def test_places_are_looked_at_before_anything_connects(cli: CommandLine) -> None:
    text = "- hosts: all\n  checks:\n    - {id: n, run: touch ran, extract: {v: {regex: '(.*)'}}}\n"

    for arguments, says in (
        (("--perfdata", "nowhere/x"), "there is no directory 'nowhere'"),
        (("--metrics", "."), "it is a directory"),
        (("--perfdata", "-", "--metrics", "-"), "--perfdata writes there already"),
    ):
        outcome = cli.run(text, *arguments)
        assert (outcome.code, says in outcome.stderr) == (64, True), outcome.stderr


def test_a_parser_that_is_not_there_is_told_before_anything_connects(cli: CommandLine) -> None:
    outcome = cli.run("- hosts: all\n  checks:\n    - {id: n, run: uptime, parse: jc:upteim, extract: {v: load_1m}}\n")

    assert outcome.code == 64
    assert "jc has no parser 'upteim'; did you mean 'uptime'?" in outcome.stderr
