"""What is said of inventories that are wrong: place, line and what to do, compared with ``broken/NAME.said``.

To accept new messages: ``CHECKRUNNER_UPDATE_GOLDEN=1 pytest tests/load/test_load_broken_inventories.py`` and read the
diff before committing it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory
from checkrunner.model.errors import InventoryError
from checkrunner.render.problems import error_text

FOLDER = Path(__file__).with_name("broken")
CASES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".said")


@pytest.mark.parametrize("name", CASES)
def test_a_broken_inventory_is_explained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)

    with pytest.raises(InventoryError) as caught:
        load_inventory([name])

    said = error_text(caught.value) + "\n"
    golden = FOLDER / f"{name}.said"
    if os.environ.get("CHECKRUNNER_UPDATE_GOLDEN"):
        assert not os.environ.get("CI"), "golden files are accepted by a person"
        golden.write_text(said, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == said


@pytest.mark.parametrize("name", CASES)
def test_the_place_is_in_the_file(name: str) -> None:
    said = (FOLDER / f"{name}.said").read_text(encoding="utf-8").splitlines()
    lines = (FOLDER / name).read_text(encoding="utf-8").split("\n")

    place = re.match(rf"{re.escape(name)}:(\d+):(\d+): error: ", said[0])
    assert place, said[0]
    line, column = int(place[1]), int(place[2])
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1
    assert any(line.startswith("  hint: ") for line in said), "it does not say what to do"


def test_there_are_many_and_none_is_left_over() -> None:
    assert len(CASES) >= 25
    assert {path.name.removesuffix(".said") for path in FOLDER.glob("*.said")} == set(CASES)
