"""The inventories in inventories/ are to us what they are to Ansible, host by host and variable by variable."""

from __future__ import annotations

from pathlib import Path

import golden_inventories as golden
import pytest
from oracle import Oracle

from checkrunner.load.inventory import load_inventory

CASES = golden.cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_inventory_is_to_us_what_it_is_to_ansible(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)

    assert golden.differences(load_inventory(golden.sources(case)), golden.expected(case)) == []


@pytest.mark.timeout(180)
def test_what_is_expected_is_what_ansible_says_today(oracle: Oracle) -> None:
    answers = oracle.batch(map(golden.question, CASES))

    assert [case.name for case, answer in zip(CASES, answers, strict=True) if answer.unread or answer.rc] == []
    assert {case.name: answer.stdout for case, answer in zip(CASES, answers, strict=True)} == {
        case.name: golden.expected_text(case) for case in CASES
    }


def test_there_are_many() -> None:
    counted = golden.count([golden.expected(case) for case in CASES])

    assert counted.inventories >= 60
    assert counted.pairs >= 500


def test_a_difference_would_be_seen() -> None:
    case = golden.INVENTORIES / "ini-aliases"
    inventory = load_inventory([str(case / "hosts")])
    for change in (
        {"ungrouped": {"hosts": ["host3", "host2", "jumper"]}},
        {"more": {"hosts": ["host2"]}},
        {"_meta": {"hostvars": {**golden.expected(case)["_meta"]["hostvars"], "host2": {"ansible_port": "44"}}}},
    ):
        assert golden.differences(inventory, golden.expected(case) | change)
