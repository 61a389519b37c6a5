"""YAML (and JSON, which is YAML here) as values that know where they were written. The only door to pyyaml.

Values are built from the parser's events and not by pyyaml's own composer, so that each value and key keeps its place,
duplicate keys are seen, and depth and alias expansion are bounded. Knows nothing of playbooks or inventories.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from checkrunner.load.nodes import MAX_DEPTH, Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.load.secrets import Place, SecretReader
from checkrunner.model.errors import InventoryError, LoadError, nearest
from checkrunner.model.sources import Secret, SourceRef, Template

__all__ = ["Document", "dump", "parse"]

_FREE_EXPANSION = 100_000
"""Values that aliases may stand for in any file; beyond it, ten times what the file itself holds."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what YAML 1.1 counts as a line
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_TAG = "tag:yaml.org,2002:"
_SECRET_TAGS = ("!vault", "!vault-encrypted", "!env", "!cmd")
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_TYPES: dict[str, Callable[[Any], Any]] = {
    f"{_TAG}null": _CONSTRUCTOR.construct_yaml_null,
    f"{_TAG}bool": _CONSTRUCTOR.construct_yaml_bool,
    f"{_TAG}int": _CONSTRUCTOR.construct_yaml_int,
    f"{_TAG}float": _CONSTRUCTOR.construct_yaml_float,
    f"{_TAG}timestamp": _CONSTRUCTOR.construct_yaml_timestamp,
}


class Document:
    """One parsed file: its root (None when it is empty) and its lines, for error messages."""

    def __init__(self, path: str, lines: list[str], root: Node | None, error: type[LoadError]) -> None:
        self.path, self.lines, self.root, self._error = path, lines, root, error

    def fail(self, at: Node | SourceRef, message: str, hint: str = "") -> LoadError:
        """An error of the document's kind at a place of it, with the line itself."""
        ref = at if isinstance(at, SourceRef) else at.ref
        return _fail(self._error, self.lines, ref, message, hint)


def parse(text: str, path: str, error: type[LoadError] = LoadError, secrets: SecretReader | None = None) -> Document:
    """Parse one YAML document. `path` is what errors call it; `error` is what they are raised as; `secrets` opens
    what stands for a secret, when it is revealed."""
    lines = _BREAKS.split(text)
    builder = _Builder(path, lines, error, secrets or SecretReader())
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.feed(event)
    except yaml.reader.ReaderError as exc:
        raise _from_reader(exc, text, path, lines, error) from exc
    except yaml.MarkedYAMLError as exc:
        raise _from_yaml(exc, path, lines, error) from exc
    except UnicodeEncodeError as exc:
        ref = _offset_ref(text, exc.start, path)
        raise _fail(error, lines, ref, f"has a character that no UTF-8 text can hold ({text[exc.start]!r})") from exc
    return Document(path, lines, builder.root, error)


_SAFE_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_SAFE_DUMPER):  # type: ignore[misc]  # whichever of the two there is
    """Writes what SafeDumper does, and Secrets as the mask that they show. Only collections are worth an anchor."""

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, list | dict) or not data


_Dumper.add_representer(dt.time, lambda dumper, time: dumper.represent_str(time.isoformat()))
_Dumper.add_multi_representer(Secret, lambda dumper, secret: dumper.represent_str(str(secret)))


def dump(value: Any) -> str:
    """Plain dicts, lists and values as YAML, keys in order. Values that occur several times are anchors and aliases."""
    return str(yaml.dump(value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True))


def _fail(error: type[LoadError], lines: list[str], ref: SourceRef, message: str, hint: str = "") -> LoadError:
    text = lines[ref.line - 1] if 0 < ref.line <= len(lines) else ""
    return error(message, source=ref, line_text=text.rstrip(), hint=hint)


def _offset_ref(text: str, offset: int, path: str) -> SourceRef:
    before = _BREAKS.split(text[:offset])
    return SourceRef(path=path, line=len(before), column=len(before[-1]) + 1)


def _from_reader(
    exc: yaml.reader.ReaderError, text: str, path: str, lines: list[str], error: type[LoadError]
) -> LoadError:
    # The two parsers count differently (bytes or characters): find the character itself.
    bad = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]", text)
    ref = _offset_ref(text, bad.start(), path) if bad else SourceRef(path=path)
    shown = f"U+{ord(bad.group()):04X}" if bad else str(exc.reason)
    hint = 'Write it as an escape in a double-quoted text, such as "\\x1b".'
    return _fail(error, lines, ref, f"holds a control character ({shown}), which YAML does not allow", hint)


_HINTS = (
    ("mapping values are not allowed", "A text that holds ': ' must be quoted; also look at the indentation."),
    ("did not find expected key", "Look at the quotes and the indentation of this line and the one above."),
    ("did not find expected '-' indicator", "Look at the indentation: this line is not part of the list above it."),
    ("unexpected end of stream", "A quote that was opened is not closed."),
    ("did not find expected ',' or", "A bracket that was opened is not closed, or the text must be quoted."),
    ("found unexpected ':'", "A text with a colon at its end must be quoted here: 'text:'."),
    ("exceeded maximum nesting", "Nest it less."),
)
_LOOK = "Look at the quotes, the brackets and the indentation here and in the line above."


def _from_yaml(exc: yaml.MarkedYAMLError, path: str, lines: list[str], error: type[LoadError]) -> LoadError:
    mark = exc.problem_mark or exc.context_mark
    problem = exc.problem or exc.context or "is not YAML"
    hint = next((hint for text, hint in _HINTS if text in problem), _LOOK)
    ref = SourceRef(path=path)
    if mark is not None:
        row, column = min(mark.line, len(lines) - 1), mark.column
        if exc.context_mark is not None and ("unexpected end of stream" in problem or "',' or" in problem):
            # The opening quote or bracket tells more than the place where the parser gave up.
            row, column = exc.context_mark.line, exc.context_mark.column
        ref = SourceRef(path=path, line=row + 1, column=column + 1)
        char = lines[row][column : column + 1]
        if "cannot start any token" in problem:
            problem, hint = _bad_token(char)
        elif "\t" in lines[row][: column + 1] and not lines[row][:column].strip():
            hint = "YAML indents with spaces; this line has a tab."
    return _fail(error, lines, ref, f"YAML: {problem}", hint)


def _bad_token(char: str) -> tuple[str, str]:
    if char == "\t":
        return "a tab cannot indent a line", "YAML indents with spaces."
    return f"a plain text cannot start with {char!r}", "Put the whole text in quotes."


def _place(event: yaml.Event) -> tuple[int, int]:
    """Line and column of an event, from 1."""
    mark = event.start_mark
    assert mark is not None
    return mark.line + 1, mark.column + 1


class _Builder:
    """Makes nodes of events. Iterative, so that no depth of input can exhaust the stack."""

    def __init__(self, path: str, lines: list[str], error: type[LoadError], secrets: SecretReader) -> None:
        self.path, self.lines, self.error, self.secrets = path, lines, error, secrets
        self.root: Node | None = None
        self.commands: dict[int, Place] = {}  # by id, the open lists that are a !cmd
        self.open: list[tuple[YamlList | YamlMap, str | None]] = []
        self.keys: list[YamlScalar | None] = []  # for each open collection: the key that waits for its value
        self.merges: list[list[Node]] = []
        self.anchors: dict[str, Node] = {}
        self.documents = 0
        self.count = 0  # values the file itself holds

    def fail(self, ref: SourceRef, message: str, hint: str = "") -> LoadError:
        return _fail(self.error, self.lines, ref, message, hint)

    def at(self, event: yaml.Event) -> SourceRef:
        line, column = _place(event)
        return SourceRef(path=self.path, line=line, column=column)

    def feed(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self.add(self.scalar(event), event)
        elif isinstance(event, yaml.MappingStartEvent):
            self.start(YamlMap(self.path, *_place(event)), event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self.start(YamlList(self.path, *_place(event)), event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.end(event)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.fail(self.at(event), "a second YAML document starts here", "Keep one document a file.")

    def start(self, node: YamlList | YamlMap, event: yaml.CollectionStartEvent) -> None:
        if event.tag == "!cmd" and isinstance(node, YamlList):
            self.commands[id(node)] = self.place(event)
        elif event.tag and event.tag not in {f"{_TAG}map", f"{_TAG}seq"} and not self.is_unsafe(event.tag):
            raise self.tag_error(event.tag, event)
        if len(self.open) >= MAX_DEPTH:
            raise self.fail(self.at(event), f"is nested deeper than {MAX_DEPTH} levels", "Nest it less.")
        self.open.append((node, event.anchor))
        self.keys.append(None)
        self.merges.append([])

    def end(self, event: yaml.Event) -> None:
        node, anchor = self.open.pop()
        self.keys.pop()
        merges = self.merges.pop()
        if isinstance(node, YamlMap):
            for source in merges:
                self.merge(node, source)
        place = self.commands.pop(id(node), None)
        self.add(self.command(node, place) if place and isinstance(node, YamlList) else node, event, anchor)

    def alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        if any(anchor == name for _, anchor in self.open):
            raise self.fail(
                self.at(event), f"*{name} refers to the very value that it is part of", "Write the value out."
            )
        node = self.anchors.get(name)
        if node is None:
            hint = f"A text that starts with * must be quoted: '*{name}...'."
            raise self.fail(self.at(event), f"no anchor &{name} was set before *{name}", hint)
        self.add(node, event)

    def add(self, node: Node, event: yaml.Event, anchor: str | None = None) -> None:
        anchor = anchor or (event.anchor if isinstance(event, yaml.ScalarEvent) else None)
        if anchor:
            self.anchors[anchor] = node
        if not isinstance(event, yaml.AliasEvent):
            self.count += 1
        if not self.open:
            self.root = node
            return
        parent = self.open[-1][0]
        if isinstance(parent, YamlList):
            parent.append(node)
            self.grow(parent, node, event)
        else:
            self.add_pair(parent, node, event)

    def add_pair(self, parent: YamlMap, node: Node, event: yaml.Event) -> None:
        key = self.keys[-1]
        if key is None:
            self.keys[-1] = self.key(parent, node)
            return
        self.keys[-1] = None
        if key.raw == "<<" and not key.style:
            self.merges[-1].append(node)
        else:
            parent[key.raw] = node
        self.grow(parent, node, event)

    def grow(self, parent: YamlList | YamlMap, node: Node, event: yaml.Event) -> None:
        parent.size += node.size
        parent.depth = max(parent.depth, node.depth + 1)
        if parent.depth > MAX_DEPTH:  # by aliases of what is deep itself
            raise self.fail(self.at(event), f"is nested deeper than {MAX_DEPTH} levels", "Nest it less.")
        if parent.size > _FREE_EXPANSION and parent.size > 10 * self.count:
            raise self.fail(self.at(event), "aliases make this far larger than the file itself", "Use fewer aliases.")

    def key(self, parent: YamlMap, node: Node) -> YamlScalar:
        if not isinstance(node, YamlScalar):
            ref = SourceRef(path=self.path, line=node.line, column=max(node.column - 1, 1))
            if isinstance(node, YamlMap) and self.char(ref) == "{":
                hint = 'Quote the whole value: "{{ name }}".'
                raise self.fail(ref, "a plain text cannot start with '{{'", hint)
            raise self.fail(node.ref, f"a key must be a text, this is {raw_text(node)}", "Quote it to make it a text.")
        before = parent.keys_at.get(node.raw)
        if before is not None:
            message = f"key {node.raw!r} is here twice (first in line {before.line})"
            hint = "Merge several with `<<: [*a, *b]`." if node.raw == "<<" else "Keep one of them."
            raise self.fail(node.ref, message, hint)
        parent.keys_at[node.raw] = node
        return node

    def char(self, ref: SourceRef) -> str:
        return self.lines[ref.line - 1][ref.column - 1 : ref.column]

    def merge(self, node: YamlMap, source: Node) -> None:
        """Take over what the mapping lacks; its own keys win, and of several sources the first."""
        node.keys_at.pop("<<", None)
        for part in source if isinstance(source, YamlList) else [source]:
            if not isinstance(part, YamlMap):
                hint = "Write `<<: *name` with the anchor of a mapping."
                raise self.fail(part.ref, f"`<<` takes a mapping or a list of them, this is {raw_text(part)}", hint)
            for key, value in part.items():
                if key not in node:
                    node[key] = value
                    node.keys_at[key] = part.keys_at[key]

    def tag_error(self, tag: str, event: yaml.Event) -> LoadError:
        hints = {"!unsafe": "In a check, `raw: true` takes the command as it stands."}
        if tag in _SECRET_TAGS:
            return self.fail(
                self.at(event), f"{tag} is for a text, this is a list or mapping", "Give each text the tag."
            )
        close = nearest(tag, _SECRET_TAGS)
        shown = tag.replace(_TAG, "!!")
        hint = hints.get(
            tag, f"Did you mean {close}?" if close else f"A text that starts with ! must be quoted: '{shown} ...'."
        )
        return self.fail(self.at(event), f"the YAML tag {shown} is not known here", hint)

    def is_unsafe(self, tag: str | None) -> bool:
        """Ansible's mark of what is no template, in inventories."""
        return tag == "!unsafe" and self.error is InventoryError

    def place(self, event: yaml.Event) -> Place:
        ref = self.at(event)
        return Place(self.error, ref, self.lines[ref.line - 1].rstrip() if ref.line <= len(self.lines) else "")

    def command(self, node: YamlList, place: Place) -> YamlScalar:
        for item in node:
            if not isinstance(item, YamlScalar) or isinstance(item.value, Secret):
                raise self.fail(item.ref, f"a word of a command is expected here, this is {raw_text(item)}")
        value = self.secrets.command([item.raw for item in node], place)
        return YamlScalar(self.path, "", value, "", place.source.line, place.source.column, 1)

    def secret(self, tag: str, raw: str, event: yaml.Event) -> Secret:
        place = self.place(event)
        if tag == "!env":
            return self.secrets.env(raw, place)
        return self.secrets.command(raw, place) if tag == "!cmd" else self.secrets.vault(raw, place)

    def scalar(self, event: yaml.ScalarEvent) -> YamlScalar:
        raw, style = event.value, event.style or ""
        if event.tag in _SECRET_TAGS:
            value: Any = self.secret(event.tag, raw, event)
        elif self.is_unsafe(event.tag):
            value = raw if style else self.typed(raw, event)
            if isinstance(value, str) and "{" in value:
                value = Template(text=value, source=self.at(event), raw=True)
        elif event.tag and event.tag != "!":
            value = self.tagged(event.tag, raw, event)
        elif style or not event.implicit[0]:
            value = raw
        else:
            value = self.typed(raw, event)
        line, column = _place(event)
        lines = (event.end_mark.line + 2 - line) if event.end_mark else 1
        if style in {"|", ">"}:
            line, column = line + 1, self.indentation(raw, line) + 1
        elif style:
            column += 1
        return YamlScalar(self.path, raw, value, style, line, column, lines)

    def indentation(self, raw: str, after: int) -> int:
        """Indentation of a block scalar whose first content line follows line `after` (1-based)."""
        for number, text in enumerate(_leading(raw), after):
            if text.strip() and number < len(self.lines):
                line = self.lines[number]
                return (len(line) - len(line.lstrip(" "))) - (len(text) - len(text.lstrip(" ")))
        return 0

    def typed(self, raw: str, event: yaml.ScalarEvent) -> Any:
        if _INT.fullmatch(raw) and len(raw) < 19:
            return int(raw)  # by far the most common: spares the general way
        for tag, pattern in _RESOLVERS.get(raw[:1], ()):
            if pattern.match(raw):
                return self.tagged(tag, raw, event) if tag in _TYPES else raw
        return raw

    def tagged(self, tag: str, raw: str, event: yaml.Event) -> Any:
        if tag == f"{_TAG}str":
            return raw
        if tag not in _TYPES:
            raise self.tag_error(tag, event)
        try:
            return _constructed(tag, raw)
        except (ValueError, KeyError, IndexError, AttributeError, yaml.YAMLError) as exc:
            what = tag.removeprefix(_TAG)
            shown = repr(raw if len(raw) <= 40 else f"{raw[:37]}...")
            raise self.fail(self.at(event), f"{shown} is not a valid {what}", "Quote it to make it a text.") from exc


def _constructed(tag: str, raw: str) -> Any:
    value = _TYPES[tag](yaml.ScalarNode(tag, raw))
    if isinstance(value, int):
        str(value)  # a ValueError for 0xff... of more digits than Python writes as a decimal number
    return value


def _leading(raw: str) -> Iterator[str]:
    """The lines of a text, one at a time: only the first non-blank one is wanted."""
    start = 0
    while start <= len(raw):
        end = raw.find("\n", start)
        if end < 0:
            yield raw[start:]
            return
        yield raw[start:end]
        start = end + 1
