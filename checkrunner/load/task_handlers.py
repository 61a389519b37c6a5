"""Handlers of a play, and the tasks that notify them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checkrunner.load.nodes import Node, YamlMap
from checkrunner.load.task_values import Values
from checkrunner.model.errors import PlaybookError
from checkrunner.model.sources import SourceRef

__all__ = ["Handler", "Handlers"]


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler as written, and the names that it answers to."""

    node: YamlMap
    names: tuple[str, ...]


@dataclass(slots=True)
class Handlers:
    """Those of a play, and which tasks have notified them since they were last run."""

    known: list[Handler] = field(default_factory=list)
    _by_name: dict[str, list[str]] = field(default_factory=dict)
    _places: dict[str, SourceRef] = field(default_factory=dict)

    def read(self, values: Values, node: Node) -> None:
        """Add what stands at `handlers`. Raises PlaybookError."""
        for item in values.each(node, "`handlers`"):
            names = values.names(item["listen"], "listen") if "listen" in item else ()
            if "name" in item:
                names = (values.plain(item["name"], "name"), *names)
            if not {"block", "include_tasks", "import_tasks"}.isdisjoint(item):
                raise values.fail(item, "a handler is a single task here", "List the tasks of it one by one.")
            self.known.append(Handler(item, names))

    def notify(self, task: str, names: Iterable[str], place: SourceRef) -> None:
        """A task, by its id, notifies handlers."""
        for name in names:
            self._by_name.setdefault(name, []).append(task)
            self._places.setdefault(name, place)

    def due(self) -> Iterator[tuple[Handler, tuple[str, ...]]]:
        """The handlers that are notified by now, in the order in which they are written, and the tasks that do so.
        Those that one of these notifies in its turn come after it, if they are written after it."""
        for handler in self.known:
            tasks = [task for name in handler.names for task in self._by_name.get(name, ())]
            if tasks:
                yield handler, tuple(dict.fromkeys(tasks))

    def begin_anew(self, values: Values) -> list[PlaybookError]:
        """Forget what was notified. What no handler answers to is an error."""
        answered = {name for handler in self.known for name in handler.names}
        wrong = [
            values.fail(place, f"no handler is called {name!r}, or listens to that")
            for name, place in self._places.items()
            if name not in answered
        ]
        self._by_name.clear()
        self._places.clear()
        return wrong
