"""Durations, samples and kept children over a real sshd: the examples of the manual, run for real."""

from __future__ import annotations

import time

import psutil
from cli_runner import CommandLine
from sshd import wait_until
from test_run_prompts import part


def test_the_examples_of_the_manual(cli: CommandLine) -> None:
    playbook = part("times").replace("  - id: busy\n", "  - id: busy\n      slice: {head: 2, when: always}\n").replace(
        "  - id: resolver\n", "  - id: resolver\n      slice: {head: 1, when: always}\n"
    )  # fmt: skip
    outcome = cli.run(playbook)

    assert outcome.code == 0, outcome.stderr
    busy, resolver = outcome.finding("busy"), outcome.finding("resolver")
    assert busy["notes"] == ["duration_ended"]
    assert "rc" not in busy["result"]
    assert busy["result"]["elapsed_s"] > 1.9
    assert busy["result"]["stdout_lines"] >= 5
    samples = resolver["result"]["samples"]
    assert (samples["count"], samples["rc"]) == (4, 0)
    assert resolver["result"]["elapsed_s"] >= 0.9


def test_each_reading_is_judged(cli: CommandLine) -> None:
    outcome = cli.run(
        """\
        - hosts: all
          checks:
            - id: third
              run: n=$((n + 1)); echo "reading $n"; test $n != 3
              sample: {every: 100ms, count: 5}
            - id: lines
              run: m=$((m + 1)); seq $m
              sample: {every: 100ms, count: 3}
              expect: {stdout_lines: "< 3"}
            - id: many
              run: k=$((k + 1)); exit $((k % 2))
              sample: {every: 100ms, count: 4}
              expect: {rc: [0, 1]}
              crit_if: samples | selectattr('rc', '!=', 0) | list | count > 1
        """
    )

    def messages(check: str) -> list[str]:
        return [reason["message"] for reason in outcome.finding(check)["reasons"]]

    assert messages("third") == ["rc was 1 in reading 3 of 5, expected 0 (the default)"]
    assert messages("lines") == ["stdout_lines was 3 in reading 3 of 3, expected < 3"]
    assert len(messages("many")) == 1
    assert outcome.finding("third")["result"]["samples"]["failed"] == 1
    assert outcome.finding("lines")["result"]["samples"]["stdout_lines"]["max"] == 3


def test_a_firehose_costs_the_controller_nothing_but_numbers(cli: CommandLine) -> None:
    outcome = cli.run(
        "- hosts: all\n  checks: [{id: hose, run: 'yes 0123456789', duration: 2s, slice: {head: 1, when: always}}]\n"
    )

    finding = outcome.finding("hose")
    assert (finding["verdict"], finding["notes"][0]) == ("ok", "duration_ended"), finding
    assert finding["result"]["stdout_lines"] > 10_000
    assert len(outcome.stdout) < 4096


def test_kept_children_outlive_the_run(cli: CommandLine) -> None:
    mark = f"41.{time.time_ns() % 10**9}"
    outcome = cli.run(
        f"- hosts: all\n  checks:\n"
        f"    - {{id: kept, run: 'sleep {mark} >/dev/null 2>&1 &', keep_children: true, slice: {{head: 1, when: always}}}}\n"
        f"    - {{id: ended, run: 'sleep 9{mark} >/dev/null 2>&1 &'}}\n"
    )
    assert outcome.code == 0, outcome.stderr

    def alive(text: str) -> list[psutil.Process]:
        return [one for one in psutil.process_iter(["cmdline"]) if (one.info["cmdline"] or [])[:2] == ["sleep", text]]

    wait_until(lambda: not alive(f"9{mark}"), what="the end of what is not kept")
    kept = alive(mark)
    assert len(kept) == 1
    kept[0].kill()
