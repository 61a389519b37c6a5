"""What is said of playbooks that are wrong: place, line and what to do, compared with ``playbooks/NAME.said``.

To accept new messages: ``CHECKRUNNER_UPDATE_GOLDEN=1 pytest tests/golden/test_golden_playbooks.py`` and read the diff
before committing it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from checkrunner.load.playbook import load_playbook
from checkrunner.model.errors import PlaybookError
from checkrunner.render.problems import error_text

FOLDER = Path(__file__).with_name("playbooks")
CASES = sorted(path.stem for path in FOLDER.glob("*.yml"))


@pytest.mark.parametrize("name", CASES)
def test_a_broken_playbook_is_explained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)

    with pytest.raises(PlaybookError) as caught:
        load_playbook(f"{name}.yml")

    said = error_text(caught.value) + "\n"
    golden = FOLDER / f"{name}.said"
    if os.environ.get("CHECKRUNNER_UPDATE_GOLDEN"):
        assert not os.environ.get("CI"), "golden files are accepted by a person"
        golden.write_text(said, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == said


@pytest.mark.parametrize("name", CASES)
def test_every_error_has_a_place_in_its_file_and_a_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)

    with pytest.raises(PlaybookError) as caught:
        load_playbook(f"{name}.yml")

    for error in caught.value.errors:
        lines = Path(error.source.path).read_text(encoding="utf-8").split("\n")
        assert 1 <= error.source.line <= len(lines), error
        assert 1 <= error.source.column <= len(lines[error.source.line - 1]) + 1, error
        assert error.line_text == lines[error.source.line - 1].rstrip()
        assert len(error.hint) > 5, f"{error.message}: it does not say what to do"


@pytest.mark.parametrize(
    "name", [name for name in CASES if name in {"include-broken", "include-yaml", "vars-file-name"}]
)
def test_errors_in_other_files_name_those(name: str) -> None:
    said = (FOLDER / f"{name}.said").read_text(encoding="utf-8")

    assert re.match(r"files/[a-z-]+\.yml:\d+:\d+: error: ", said)


def test_there_are_many_and_none_is_left_over() -> None:
    assert len(CASES) >= 100
    assert {path.stem for path in FOLDER.glob("*.said")} == set(CASES)
