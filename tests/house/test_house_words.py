"""The project's files speak of the project alone, and its documents point at what is there."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from house_tree import ROOT, documents, tracked

# What a tracked text must not hold, and why.
FORBIDDEN = {
    "a machine of a package index belongs to the installer's own configuration": (
        r"https?://[^\s)>\"']*\b(pypi|simple|nexus|artifactory|devpi)\b|--(extra-)?index-url|\bPIP_INDEX_URL\b"
    ),
    "an issue's number says nothing to a reader of the code": r"(?i)\b(issue|ticket)s? #?\d+\b",
    "what is to be done belongs into an issue": r"\b(TODO|FIXME|XXX|HACK)\b",
    "a person's home folder is on one machine only": r"/(home|Users)/(?!(user|me|you|ops|alice|bob|deploy|admin)\b)[a-z]\w*/",
}
MINE = Path(__file__).resolve()
LICENSE = ROOT / "LICENSE"


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        if path in {MINE, LICENSE}:
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            found.append((str(path.relative_to(ROOT)), data.decode("utf-8", "replace")))
    return found


def places(pattern: str) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize(("why", "pattern"), FORBIDDEN.items())
def test_words_that_do_not_belong_here(why: str, pattern: str) -> None:
    assert places(pattern) == [], why


def test_no_file_names_the_folder_that_this_checkout_lies_in() -> None:
    shared = {Path("/"), Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")}
    folders = [folder for folder in (ROOT, ROOT.parent) if folder not in shared]

    for folder in folders:
        assert places(rf"(?<![\w.}}])({re.escape(str(folder))})(/|\b)") == []


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as forges make them."""
    headings = re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize("document", documents(), ids=lambda p: str(p.relative_to(ROOT)))
def test_links_of_documents_lead_somewhere(document: Path) -> None:
    known = set(tracked())
    broken = []
    for link in links(document):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        found = target in known or (target.is_dir() and any(target in path.parents for path in known))
        if not found or (
            anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            broken.append(link)

    assert broken == []


def test_every_page_of_the_manual_is_in_its_table_of_contents() -> None:
    index = ROOT / "docs" / "index.md"
    pages = {path.name for path in documents() if path.parent == index.parent} - {index.name}

    assert pages - set(links(index)) == set()
