"""The checkout as data: its tracked files, and its modules as syntax trees."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE", "ROOT", "Import", "Module", "documents", "modules", "tracked"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "checkrunner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, written in full, and the line it is imported on."""

    name: str
    line: int
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of the package; `name` is dotted (``checkrunner.load.inventory``), `path` relative to the checkout."""

    name: str
    path: str
    text: str
    tree: ast.Module

    @property
    def station(self) -> str:
        """The folder or file directly under the package: ``load``, ``app``, ``settings``; "" for the package itself."""
        return ([*self.name.split("."), ""])[1]

    def imports(self) -> Iterator[Import]:
        """Every import, those inside functions as well; ``from a import b`` gives ``a`` and ``a.b``."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(name=alias.name, line=node.lineno)
            elif isinstance(node, ast.ImportFrom):
                yield Import(name=node.module or "", line=node.lineno, level=node.level)
                for alias in node.names:
                    yield Import(name=f"{node.module}.{alias.name}", line=node.lineno, level=node.level)


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, in path order."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(name=name, path=str(path.relative_to(ROOT)), text=text, tree=ast.parse(text)))
    return tuple(found)


@cache
def tracked() -> tuple[Path, ...]:
    """The files that belong to the project: those git knows, or in an unpacked source archive, all of them."""
    if (ROOT / ".git").exists():
        # The folder may belong to somebody else (a container's mount), which git refuses without being told.
        listing = subprocess.run(
            ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        paths = [ROOT / name for name in listing.split("\0") if name]
    else:
        paths = [p for p in ROOT.rglob("*") if not any(part.startswith(".") for part in p.relative_to(ROOT).parts)]
    return tuple(sorted(p for p in paths if p.is_file() and "__pycache__" not in p.parts))


@cache
def documents() -> tuple[Path, ...]:
    """The Markdown files of the project."""
    return tuple(path for path in tracked() if path.suffix == ".md")
