"""Every package that an installation brings along has a licence that goes with ours (Apache-2.0)."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]

# licence family: how packages write it. All of these may be depended on by, and shipped beside, Apache-2.0 code.
PERMISSIVE = {
    "MIT": r"\bMIT\b",
    "BSD": r"\bBSD\b|\bBSD-[23]-Clause\b",
    "Apache-2.0": r"Apache",
    "PSF-2.0": r"PSF|Python Software Foundation",
    "ISC": r"\bISC\b",
}
# Weak copyleft: fine for a library that is imported as it is and that users can replace; its own files stay under its
# licence. Each needs its reason here.
WITH_REASON = {
    "asyncssh": (r"EPL-2\.0|Eclipse Public License", "EPL-2.0 covers its own files; we import it unchanged"),
    "clustershell": (r"LGPL", "LGPL-2.1+; imported unchanged from its own package, which users can replace"),
}


def runtime_dependencies() -> list[str]:
    """Canonical names of what an installation of checkrunner brings along, itself left out."""
    # From the file: what is installed may be older than it is.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    queue = [Requirement(line) for line in project["dependencies"]]
    found: set[str] = set()
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        if name in found or not applies(requirement):
            continue
        found.add(name)
        queue += [Requirement(text) for text in importlib.metadata.requires(name) or ()]
    return sorted(found)


def applies(requirement: Requirement) -> bool:
    """Whether it is needed here: not behind an extra that nobody asked for, nor for another system."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def licence_words(name: str) -> str:
    """All that a package's metadata says of its licence."""
    metadata = importlib.metadata.metadata(name)
    classifiers = [c for c in metadata.get_all("Classifier") or () if c.startswith("License")]
    # Some put the whole text into the field: its first line names it.
    field = [text.strip().splitlines()[0] for text in metadata.get_all("License") or () if text.strip()]
    return " | ".join([*(metadata.get_all("License-Expression") or ()), *field, *classifiers])


@pytest.mark.parametrize("name", runtime_dependencies())
def test_licence_goes_with_ours(name: str) -> None:
    words = licence_words(name)
    if name in WITH_REASON:
        pattern, reason = WITH_REASON[name]
        assert re.search(pattern, words), (words, reason)
    else:
        assert any(re.search(pattern, words) for pattern in PERMISSIVE.values()), words
        assert not re.search(r"\bA?GPL", words), words


def test_the_direct_dependencies_are_among_them() -> None:
    assert {"asyncssh", "clustershell", "jinja2", "markupsafe", "pydantic", "typer"} <= set(runtime_dependencies())
