"""A list of checks as it is written, blocks and inclusions within it, to the checks themselves.

Each check is read by itself: what is wrong with one is said, and leaves only that one out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, copy_map, raw_text
from checkrunner.load.problems import translate
from checkrunner.load.scopes import Scope, needs_of
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check
from checkrunner.model.sources import SourceRef

if TYPE_CHECKING:  # they are loaded only to read a playbook
    from checkrunner.load.schema_base import StrictModel
    from checkrunner.load.schema_checks import BlockModel, CheckModel, IncludeModel

__all__ = ["Built", "Findings", "checks_of", "read_entries", "validated"]

_MOST_ENTRIES = 10_000
_INCLUSIONS = ("include_checks", "import_checks")

M = TypeVar("M", bound="StrictModel")


@dataclass(slots=True, kw_only=True)
class Findings:
    """What came up while a play was read: errors, names that what had to be left out would have given, how many
    checks there are so far, and how many entries of lists with them: inclusions can multiply."""

    files: FileSet
    errors: list[PlaybookError] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    count: int = 0
    entries: int = 0

    def fail(self, at: YamlMap | YamlList | YamlScalar | SourceRef, message: str, hint: str = "") -> None:
        """Note an error at a place."""
        self.errors.append(self.files.fail(at, message, hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A check, where it says whom it needs, and the checks that follow its trouble. `check.on_fail` is set by
    `checks_of`. `via` are the inclusions that it came by, the outermost first."""

    check: Check
    needs: dict[str, SourceRef]
    follow: tuple[Built, ...] = ()
    via: tuple[SourceRef, ...] = ()

    def tree(self) -> Iterable[Built]:
        """This one, and all that follow it."""
        yield self
        for follower in self.follow:
            yield from follower.tree()


def checks_of(built: Iterable[Built]) -> tuple[Check, ...]:
    """The finished checks."""
    return tuple(replace(one.check, on_fail=checks_of(one.follow)) if one.follow else one.check for one in built)


def read_entries(nodes: Iterable[object], found: Findings, scope: Scope, within: tuple[str, ...] = ()) -> list[Built]:
    """The checks of a list, in order. `within` are the files that are being read, the outermost first."""
    built: list[Built] = []
    for node in nodes:
        found.entries += 1
        if found.entries > _MOST_ENTRIES:
            _too_many(node, found)
            break
        if not isinstance(node, YamlMap):
            _no_mapping(node, found)
        elif "block" in node:
            built += _block(node, found, scope, within)
        elif any(key in node for key in _INCLUSIONS):
            built += _inclusion(node, found, scope, within)
        else:
            one = _check(node, found, scope, within)
            built += [one] if one else []
    return built


def validated(model: type[M], node: YamlMap, found: Findings) -> tuple[M | None, YamlMap]:
    """The model of a mapping, and the mapping that it is made of: without the keys that are wrong, if there are any.
    None where it cannot do without them."""
    from pydantic import ValidationError

    try:
        return model.model_validate(node), node
    except ValidationError as exc:
        found.errors += translate(exc, node, found.files, model)
        wrong = {error["loc"][0] for error in exc.errors(include_url=False, include_input=False) if error["loc"]}
    rest = copy_map(node)
    for key in wrong:
        variables = rest.pop(str(key), None)
        if key == "vars" and isinstance(variables, YamlMap):
            found.lost |= set(variables)
    try:
        return model.model_validate(rest), rest
    except ValidationError:
        return None, rest


def _no_mapping(node: Any, found: Findings) -> None:
    hint = "A check is a mapping: `- run: df -P /`."
    if isinstance(node, YamlScalar) and node.value is not None:
        hint = f"Write `- run: {node.raw}`." if len(node.raw) <= 60 and "\n" not in node.raw else hint
    found.fail(node, f"a mapping is expected here, this is {raw_text(node)}", hint)


def _too_many(node: Any, found: Findings) -> None:
    if found.entries == _MOST_ENTRIES + 1:  # said once, and the others are not read
        message = f"a play has more than {_MOST_ENTRIES:,} checks, blocks and inclusions"
        found.fail(node, message, "Use `loop`, or fewer inclusions.")


def _block(node: YamlMap, found: Findings, scope: Scope, within: tuple[str, ...]) -> list[Built]:
    from checkrunner.load.schema_checks import BlockModel

    model, rest = validated(BlockModel, node, found)
    block: BlockModel | None = model
    inner = scope if block is None else scope.inner(block, rest)
    written = node["block"]
    return read_entries(written if isinstance(written, YamlList) else (), found, inner, within)


def _inclusion(node: YamlMap, found: Findings, scope: Scope, within: tuple[str, ...]) -> list[Built]:
    from checkrunner.load.schema_checks import IncludeModel

    model, rest = validated(IncludeModel, node, found)
    include: IncludeModel | None = model
    named = include and (include.include_checks or include.import_checks)
    if include is None or not isinstance(named, YamlScalar):
        return []
    try:
        nodes, inside = _included(named, found.files, within or (found.files.path,))
    except PlaybookError as error:
        found.errors.append(error)
        return []
    built = read_entries(nodes, found, scope.inner(include, rest), inside)
    renaming = _Renaming(prefix=include.prefix or "", own=_ids(built), around=frozenset(inside[:-1]), via=named.ref)
    return [renaming.of(one) for one in built]


def _included(named: YamlScalar, files: FileSet, within: tuple[str, ...]) -> tuple[YamlList, tuple[str, ...]]:
    """The list of checks in a file. Raises PlaybookError."""
    path = files.resolve(named)
    if path in within:
        around = " -> ".join([*within[within.index(path) :], path])
        raise files.fail(named, f"the file includes itself: {around}", "Take one of these inclusions out.")
    document = files.document(named)
    root = document.root
    if root is None or root == [] or (isinstance(root, YamlScalar) and root.value is None):
        raise files.fail(
            SourceRef(path=path, line=1, column=1), "the file is empty", "Write a list of checks: `- run: ...`."
        )
    if not isinstance(root, YamlList):
        hint = "Start each check with `- `."
        if isinstance(root, YamlMap) and "checks" in root:
            hint = "Drop the line `checks:`; the file is the list itself."
        raise files.fail(root, f"an included file is a list of checks, this is {raw_text(root)}", hint)
    if root and isinstance(root[0], YamlMap) and "hosts" in root[0]:
        hint = "Keep its checks alone, without `hosts` and `checks`; or run the playbook by itself."
        raise files.fail(root[0], "an included file is a list of checks, this is a play", hint)
    return root, (*within, path)


def _check(node: YamlMap, found: Findings, scope: Scope, within: tuple[str, ...]) -> Built | None:
    from checkrunner.load.checks import build_check
    from checkrunner.load.schema_checks import CheckModel

    found.count += 1
    number = found.count
    before = len(found.errors)
    model, rest = validated(CheckModel, node, found)
    written = node.get("on_fail")
    follow = written if isinstance(written, YamlList) else [written] if isinstance(written, YamlMap) else []
    if len(found.errors) > before or model is None:
        if isinstance(name := node.get("register"), YamlScalar):
            found.lost.add(name.raw)
        read_entries(follow, found, Scope(), within)  # for what is wrong in them
        return None
    _exact_around(model, node, found, scope)
    check = scope.apply(build_check(model, rest, number), model)
    # What follows a check runs where it ran: with its variables and its privileges, whatever its conditions were.
    around = replace(scope, when=(), needs={}, vars={**scope.vars, **model.vars})
    return Built(
        check=check,
        needs={**scope.needs, **needs_of(model, node)},
        follow=tuple(read_entries(follow, found, around, within)),
    )


def _exact_around(check: CheckModel, node: YamlMap, found: Findings, scope: Scope) -> None:
    """What a block says for all of its checks and is not for this one."""
    from checkrunner.load.schema_rules import exact_fault

    for model, around in scope.exact if check.become is None else ():
        fault = exact_fault(model, check)
        if fault and fault[0] in around.keys_at:
            found.fail(around.keys_at[fault[0]].ref, fault[1], fault[2])
        elif fault:
            found.fail(node, fault[1], fault[2])


def _ids(built: Iterable[Built]) -> frozenset[str]:
    return frozenset(one.check.id for top in built for one in top.tree())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renaming:
    """Gives checks other ids, as an inclusion does. `own` are the ids of its checks; what the files `around` it need is
    not among them, whatever it is called."""

    prefix: str
    own: frozenset[str]
    around: frozenset[str]
    via: SourceRef

    def of(self, one: Built) -> Built:
        """The same check under another id, and so are those of the same file that it needs."""
        needs = {self._name(name, ref): ref for name, ref in one.needs.items()}
        check = replace(one.check, id=self.prefix + one.check.id, needs=tuple(needs)) if self.prefix else one.check
        return Built(check=check, needs=needs, follow=tuple(map(self.of, one.follow)), via=(self.via, *one.via))

    def _name(self, name: str, ref: SourceRef) -> str:
        return self.prefix + name if name in self.own and ref.path not in self.around else name
