"""Playbooks that a playbook imports: their plays in its place."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from checkrunner.load.documents import Document
from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import YamlMap, YamlScalar
from checkrunner.load.play_words import PREFIXES
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, Play
from checkrunner.model.sources import Template

if TYPE_CHECKING:  # it is loaded only where a playbook imports another one
    from checkrunner.load.task_handed import Handed

__all__ = ["Entry", "entries"]

_DEEPEST = 20
_MOST_ENTRIES = 1000
_NAMES = frozenset({"import_playbook", *(f"{prefix}import_playbook" for prefix in PREFIXES)})
_KEYS = ("name", "vars", "when", "tags")


@dataclass(frozen=True, slots=True)
class Entry:
    """A play as written, and what the imports around it say of it."""

    node: YamlMap
    around: Handed | None = None

    def applied(self, play: Play) -> Play:
        """The play with that."""
        if self.around is None:
            return play
        when = self.around.when
        return replace(
            play,
            tags=tuple(dict.fromkeys((*play.tags, *self.around.tags))),
            vars=MappingProxyType({**play.vars, **self.around.vars}),
            checks=tuple(_under(check, when) for check in play.checks),
            pre_checks=tuple(_under(check, when) for check in play.pre_checks),
        )


def _under(check: Check, when: Sequence[Template]) -> Check:
    return replace(check, when=(*when, *check.when)) if when else check


def entries(
    document: Document,
    files: FileSet,
    plays_of: Callable[[Document], list[YamlMap]],
    errors: list[PlaybookError],
    around: Handed | None = None,
    above: tuple[str, ...] = (),
    number: Iterator[int] | None = None,
) -> Iterator[Entry]:
    """The plays of a playbook, those that it imports in their place. An import that goes wrong is left out, and goes to
    `errors`. Raises PlaybookError where the playbook itself is no list of plays."""
    number = itertools.count() if number is None else number
    for node in plays_of(document):
        if (before := next(number)) >= _MOST_ENTRIES:
            if before == _MOST_ENTRIES:  # said once: imports can multiply
                message = f"a playbook has more than {_MOST_ENTRIES:,} plays and imports"
                errors.append(files.fail(node, message, "Import fewer playbooks."))
            return
        name = next((key for key in node if key in _NAMES), None)
        if name is None:
            yield Entry(node, around)
            continue
        try:
            below, inner = _imported(node, name, document, files, around, above)
            yield from entries(below, files, plays_of, errors, inner, (*above, document.path), number)
        except PlaybookError as error:
            errors.append(error)


def _imported(
    node: YamlMap, name: str, document: Document, files: FileSet, around: Handed | None, above: tuple[str, ...]
) -> tuple[Document, Handed]:
    """The playbook that `node` imports by its key `name`, and what is around its plays. Raises PlaybookError."""
    from checkrunner.load.task_handed import Handed, read_handed
    from checkrunner.load.task_values import Values
    from checkrunner.load.task_words import Word

    values = Values(files)
    values.expect_keys(node, {key: Word("yes", "") for key in (name, *_KEYS)}, "import_playbook")
    named = values.scalar(node[name], name)
    path = os.path.normpath(os.path.join(os.path.dirname(document.path), named.raw))
    if path in (*above, document.path) or len(above) > _DEEPEST:
        raise values.fail(named, f"{path} imports itself: {' > '.join([*above, document.path, path])}")
    below = files.document(YamlScalar(named.path, named.raw, named.raw, "", named.line, named.column, 1))
    return below, read_handed(values, node, around or Handed())
