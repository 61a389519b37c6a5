"""What a run would do, as text and JSON: what is long is cut for people and whole for programs."""

from __future__ import annotations

from typing import Any

import jsonschema

from checkrunner.model.preview import CheckPreview, ItemPreview, PlayPreview, Preview, RunPreview, Runs, SharedPreview
from checkrunner.render.preview import explain_lines, preview_document, preview_lines
from checkrunner.render.schema_lint import preview_schema


def run_of(*shared: SharedPreview, **check: Any) -> RunPreview:
    one = CheckPreview(key="c", name="c", session="main", timeout_s=60, shared=shared, **check)
    play = PlayPreview(name="p", pattern="all", hosts="h", host_count=1, checks=(one,))
    return RunPreview(
        playbook="p.yml", inventory=("i",), host_count=1, check_count=1, to_run=1, skipped=0, later=0, plays=(play,)
    )


def shared(number: int, **preview: Any) -> SharedPreview:
    return SharedPreview(hosts=f"h{number}", host_count=1, preview=Preview(runs=Runs.YES, **preview))


def test_many_ways_are_cut() -> None:
    run = run_of(*(shared(number, command=f"echo {number}") for number in range(30)))
    lines = list(preview_lines(run))
    assert sum(line.startswith("  c  on h") for line in lines) == 5
    assert "    ... and 25 more ways on 25 more hosts: --format json has all" in lines
    assert "  ... and 20 more ways on 20 more hosts: --format json has all" in list(explain_lines(run))
    assert len(preview_document(run)["plays"][0]["checks"][0]["shared"]) == 30


def test_long_commands_and_lists_of_hosts_are_cut() -> None:
    names = ",".join(f"host{number}" for number in range(100))
    group = SharedPreview(
        hosts=names, host_count=100, preview=Preview(runs=Runs.YES, command="\n".join("abcdefg") + "\n")
    )
    lines = list(preview_lines(run_of(group)))
    assert lines[1].endswith(",... (100 in all)")
    assert len(lines[1]) < 140
    assert lines[2:7] == ["      a", "      b", "      c", "      d", "      ... (3 more lines)"]
    assert "      g" in list(explain_lines(run_of(group)))


def test_items_are_cut() -> None:
    items = tuple(ItemPreview(label=str(n), runs=Runs.YES, reason="", command=f"x {n}\ny") for n in range(50))
    run = run_of(shared(1, items=items, item_count=200))
    lines = list(preview_lines(run))
    assert "      [0]  x 0 ... (1 more line)" in lines
    assert "      ... and 195 more items" in lines
    assert "      ... and 150 more items" in list(explain_lines(run))


def test_escapes_reach_no_terminal() -> None:
    run = run_of(shared(1, command="a\x1b[31m", env=(("A", "\x1b"),), reason="\x1b"))
    assert "\x1b" not in "".join((*preview_lines(run), *explain_lines(run)))


def test_the_document_has_its_schema() -> None:
    run = run_of(
        shared(1, env=(("A", "1"),), items=(ItemPreview(label="a", runs=Runs.NO, reason="r", command=""),)),
        tags=("a",),
        values=("v",),
    )
    document = preview_document(run)
    jsonschema.validate(document, preview_schema())
    assert document["plays"][0]["checks"][0]["shared"][0]["preview"]["env"] == {"A": "1"}
