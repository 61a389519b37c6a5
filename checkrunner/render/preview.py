"""What a run would do: for people, for one check or all of them, and as one JSON document."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from checkrunner.model.preview import CheckPreview, PlayPreview, Preview, RunPreview, Runs, SharedPreview
from checkrunner.render.layout import count_of, duration
from checkrunner.render.safe import safe

__all__ = ["PREVIEW_SCHEMA", "explain_lines", "preview_document", "preview_lines"]

PREVIEW_SCHEMA = "checkrunner/preview/1"
_MOST_LINES = 4
_MOST_ITEMS = 5
_MOST_GROUPS = 5
"""Ways in which a check comes to something else, where a whole run is shown; of one check, twice as many."""
_MOST_NAMES = 100
"""Characters of folded names of hosts."""
_WORDS = {Runs.YES: "on", Runs.NO: "not on", Runs.LATER: "perhaps on"}


def preview_document(run: RunPreview) -> dict[str, Any]:
    """All of it as data; `env` is an object. Nothing is shortened."""
    return {"schema": PREVIEW_SCHEMA, **_plain(run)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        found = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            found[field.name] = dict(item) if field.name == "env" else _plain(item)
        return found
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def preview_lines(run: RunPreview) -> Iterator[str]:
    """A whole run: per play its checks, each with the hosts on which it comes to the same, and the command."""
    for play in run.plays:
        yield from _play_lines(play)
        for check in play.checks:
            for group in check.shared[:_MOST_GROUPS]:
                yield from _short(check, group)
            yield from _further(check, _MOST_GROUPS, "    ")
        yield ""
    pairs = count_of(run.check_count, "check on a host", "checks on hosts")
    yield (
        f"dry run: {count_of(run.host_count, 'host')}, {pairs}: {run.to_run:,} would run, {run.skipped:,} would not, "
        f"{run.later:,} known only during the run; nothing was connected"
    )


def _further(check: CheckPreview, shown: int, indent: str) -> Iterator[str]:
    """What is said of the hosts that are not shown one by one."""
    rest = check.shared[shown:]
    if rest:
        hosts = count_of(sum(group.host_count for group in rest), "more host")
        yield f"{indent}... and {count_of(len(rest), 'more way')} on {hosts}: --format json has all"


def _hosts(folded: str, number: int) -> str:
    if len(folded) <= _MOST_NAMES:
        return folded
    cut = folded.rfind(",", 0, _MOST_NAMES)
    return f"{folded[: cut if cut > 0 else _MOST_NAMES]},... ({number:,} in all)"


def _play_lines(play: PlayPreview) -> Iterator[str]:
    hosts = (
        f"{count_of(play.host_count, 'host')}: {_hosts(play.hosts, play.host_count)}" if play.host_count else "no hosts"
    )
    yield safe(f"{play.name}  ({play.source})  {hosts}")
    if play.order:
        yield safe(f"  {play.order}")


def _short(check: CheckPreview, group: SharedPreview) -> Iterator[str]:
    preview = group.preview
    words = [
        f"  {'  ' if check.follows else ''}{check.key}  {_WORDS[preview.runs]} {_hosts(group.hosts, group.host_count)}"
    ]
    if check.once:
        words.append("(once for all)")
    if preview.on:
        words.append(f"in a session of {preview.on}")
    if preview.become:
        words.append(f"as {preview.become}")
    head = " ".join(words)
    yield safe(f"{head}: {preview.reason}" if preview.reason else head)
    if preview.runs is Runs.NO:
        return
    if preview.item_count:
        yield from _items(preview, _MOST_ITEMS, "      ")
    else:
        yield from _shortened(preview.command, "      ")
        if preview.loop:
            yield safe(f"      for each item of {preview.loop}")


def _items(preview: Preview, most: int, indent: str) -> Iterator[str]:
    for item in preview.items[:most]:
        if item.runs is Runs.NO:
            yield safe(f"{indent}[{item.label}]  not run: {item.reason}")
            continue
        perhaps = f"perhaps, {item.reason}: " if item.runs is Runs.LATER else ""
        lines = item.command.split("\n")
        more = (
            f" ... ({count_of(len(lines) - 1, 'more line')})" if len(lines) > 1 and "".join(lines[1:]).strip() else ""
        )
        yield safe(f"{indent}[{item.label}]  {perhaps}{lines[0]}{more}")
    if preview.item_count > most:
        yield f"{indent}... and {count_of(preview.item_count - most, 'more item')}"


def _shortened(text: str, indent: str) -> Iterator[str]:
    lines = text.rstrip("\n").split("\n")
    yield from (safe(indent + line).rstrip() for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"{indent}... ({count_of(len(lines) - _MOST_LINES, 'more line')})"


def explain_lines(run: RunPreview) -> Iterator[str]:
    """All that is known of the checks of a run: for `explain`, which asks for one."""
    first = True
    for play in run.plays:
        for check in play.checks:
            if not first:
                yield ""
            first = False
            name = f"  {check.name}" if check.name != check.key else ""
            yield safe(f"{check.key}{name}  ({check.source})")
            for word, text in _facts(play, check):
                yield safe(f"  {word + ':':<13}{text}")
            for group in check.shared[: 2 * _MOST_GROUPS]:
                yield from _full(group)
            yield from _further(check, 2 * _MOST_GROUPS, "  ")


def _facts(play: PlayPreview, check: CheckPreview) -> Iterator[tuple[str, str]]:
    """What is known of a check for all hosts: word and text."""
    facts = [
        ("play", f"{play.name} (hosts: {play.pattern}){'; ' + play.order if play.order else ''}"),
        ("pre-check", "the play's other checks are skipped where it is crit or unknown" if check.pre_check else ""),
        ("severity", str(check.severity)),
        ("tags", ", ".join(check.tags)),
        *(("when", condition) for condition in check.conditions),
        ("runs where", f"{check.follows} is not ok" if check.follows else ""),
        ("waits for", ", ".join(check.waits_for)),
        ("if not ok", ", ".join(check.followed_by)),
        ("requires", ", ".join(check.requires)),
        ("session", f"{check.session}, timeout {duration(check.timeout_s)}"),
        ("until", check.until),
        *(("value", value) for value in check.values),
        ("compared", check.compared),
        ("once", "on the first host that can be reached, for all" if check.once else ""),
        ("changes", "the host, on purpose" if check.changes_host else ""),
    ]
    return ((word, text) for word, text in facts if text)


def _full(group: SharedPreview) -> Iterator[str]:
    preview = group.preview
    said = f": {preview.reason}" if preview.reason else ""
    yield safe(
        f"  {_WORDS[preview.runs]} {_hosts(group.hosts, group.host_count)} ({count_of(group.host_count, 'host')}){said}"
    )
    if preview.runs is Runs.NO:
        return
    facts = [("in a session of", preview.on), ("as", preview.become), ("in", preview.cwd)]
    facts += [("env", f"{name}={value}") for name, value in preview.env]
    facts += [_judged(text) for text in preview.expects] + [("level", text) for text in preview.levels]
    for word, text in facts:
        if text:
            yield safe(f"    {word + ':':<11} {text}")
    if preview.item_count:
        yield f"    {count_of(preview.item_count, 'item')}:"
        yield from _items(preview, len(preview.items), "      ")
        return
    if preview.loop:
        yield safe(f"    for each item of {preview.loop}")
    yield "    command:" if preview.complete else "    command, what a run finds out left as written:"
    yield from (safe(f"      {line}").rstrip() for line in preview.command.rstrip("\n").split("\n"))


def _judged(text: str) -> tuple[str, str]:
    word, colon, condition = text.partition(": ")
    return (word, condition) if colon and word in ("warn_if", "crit_if", "failed_when") else ("expects", text)
