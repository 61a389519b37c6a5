"""Inventories that nobody wrote are to us what they are to Ansible, or both say that they cannot be read."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import golden_inventories as golden
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from made_inventories import Made, batches
from oracle import Answer, Oracle, list_call

from checkrunner.load.inventory import load_inventory
from checkrunner.model.errors import InventoryError

# Where Ansible only warns and takes the last, we say that something is wrong: docs/inventory.md says so too.
STRICTER = re.compile(r"is here twice")
# Where Ansible fails over a value such as {{}}, which Python takes for a set of dicts, we take it for a text.
LAXER = re.compile(r"unhashable type")


def judged(made: Made, folder: Path, answer: Answer) -> str:
    """What is wrong, or nothing."""
    failed = bool(answer.rc) or answer.unread
    try:
        inventory = load_inventory([str(folder / name) for name in made])
    except InventoryError as exc:
        return "" if failed or STRICTER.search(exc.message) else f"only we say: {exc}"
    if failed:
        return "" if LAXER.search(answer.stderr) else f"only Ansible says: {answer.stderr}"
    return "\n".join(golden.differences(inventory, answer.json()))


@pytest.mark.timeout(180)
@settings(
    max_examples=3,
    phases=[Phase.generate],  # an example is a batch: what is wrong is named one by one, nothing needs shrinking
    suppress_health_check=list(HealthCheck),
)
@given(batch=batches(25))
def test_made_inventories_are_to_us_what_they_are_to_ansible(oracle: Oracle, batch: list[Made]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folders = [Path(root) / str(number) for number in range(len(batch))]
        for made, folder in zip(batch, folders, strict=True):
            folder.mkdir()
            for name, text in made.items():
                (folder / name).write_text(text, encoding="utf-8", newline="")
        answers = oracle.batch(list_call(*made, cwd=folder) for made, folder in zip(batch, folders, strict=True))
        wrong = [
            f"{found}\nof {made}"
            for made, folder, answer in zip(batch, folders, answers, strict=True)
            if (found := judged(made, folder, answer))
        ]
    assert not wrong, "\n\n".join(sorted(wrong, key=len))
