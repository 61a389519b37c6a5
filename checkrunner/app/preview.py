"""The use cases of `explain` and `run --check`: what a run would do, folded over hosts. Connects nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.app.run import make_redactor
from checkrunner.app.secrets import make_secrets
from checkrunner.findings.fold import fold
from checkrunner.findings.secret_names import is_secret_name
from checkrunner.judge.judge import Judge
from checkrunner.load.playbook import find_playbook, load_playbook, pack_names
from checkrunner.model.errors import PlaybookError, UnknownNameError, UsageError
from checkrunner.model.playbook import BaselineRule, Check, Play, Playbook, Share
from checkrunner.model.preview import (
    CheckPreview,
    ItemPreview,
    PlayPreview,
    Preview,
    RunPreview,
    Runs,
    SharedPreview,
)
from checkrunner.model.values import Extract
from checkrunner.plan.hostplan import Entry, HostPlan
from checkrunner.plan.previews import Previewer, conditions_of, one_line
from checkrunner.plan.tags import check_tags

__all__ = ["explain", "find_check", "preview_run"]

_MASK = "********"


def preview_run(request: Request) -> RunPreview:
    """What the run that is asked for would do. Raises what `prepare` raises."""
    return _preview(_prepare(request), frozenset())


def explain(request: Request, check: str) -> RunPreview:
    """The same for one check, by id, key (``disk~2``) or key of an item (``disk[/var]``), wherever it is in the
    playbook. Raises UnknownNameError, with the nearest that there is."""
    prepared = _prepare(request)
    shapes = prepared.plan.shapes
    base = check.partition("[")[0]
    keys = {key for key, shape in shapes.items() if key == base or shape.check.id == base}
    if not keys:
        raise UnknownNameError("check", check, {shape.check.id for shape in shapes.values()})
    label = check[len(base) :].removeprefix("[").removesuffix("]")
    run = _preview(prepared, frozenset(keys))
    return _with_item(run, check, label) if label else run


def find_check(words: Sequence[str]) -> tuple[str, str]:
    """Playbook and check of ``PLAYBOOK CHECK``, ``PLAYBOOK:CHECK``, or a CHECK of a shipped playbook. Raises UsageError
    members."""
    if len(words) == 2:
        return words[0], words[1]
    (word,) = words
    # The label of an item may hold colons, and the path of a playbook a bracket.
    base, bracket, label = word.partition("[") if word.endswith("]") else (word, "", "")
    playbook, colon, check = base.rpartition(":")
    if colon and playbook and check:
        return playbook, f"{check}{bracket}{label}"
    with_it = [name for name in pack_names() if word in _ids(load_playbook(find_playbook(name)))]
    if with_it:
        return with_it[0], word
    try:
        ids = _ids(load_playbook(find_playbook(word)))
    except (PlaybookError, UnknownNameError):
        known = [one for name in pack_names() for one in _ids(load_playbook(find_playbook(name)))]
        raise UnknownNameError("check of a shipped playbook", word, known) from None
    shown = ", ".join(ids[:20]) + (", ..." if len(ids) > 20 else "")
    raise UsageError(f"explain needs a check of {word}", hint=f"One of: {shown}")


def _ids(playbook: Playbook) -> list[str]:
    todo = [check for play in playbook.plays for check in (*play.pre_checks, *play.checks)]
    found: list[str] = []
    while todo:
        check = todo.pop(0)
        found.append(check.id)
        todo = [*check.on_fail, *todo]
    return found


def _prepare(request: Request) -> Prepared:
    secrets = request.secrets or make_secrets(request.settings, dry=True)
    return prepare(replace(request, secrets=secrets))


def _preview(prepared: Prepared, only: frozenset[str]) -> RunPreview:
    plan = prepared.plan
    mask = make_redactor(prepared).redact
    judge = Judge(plan.templates)
    previewer = Previewer(lambda entry: judge.expects_rc_0(entry.shape.check))
    found: dict[str, dict[Preview, list[str]]] = {}
    entries: dict[str, Entry] = {}
    for host in plan.hosts:
        host.masked_by(mask)
        for entry in host.track.entries:
            key = entry.planned.key
            if only and key not in only:
                continue
            entries.setdefault(key, entry)
            found.setdefault(key, {}).setdefault(previewer.preview(host, entry), []).append(host.host.name)
    states = [(one.runs, len(hosts)) for groups in found.values() for one, hosts in groups.items()]
    plays = [_play(prepared, number, found, entries, mask) for number in range(len(plan.playbook.plays))]
    return RunPreview(
        playbook=prepared.playbook.path,
        inventory=prepared.request.settings.inventory or ("localhost",),
        host_count=len(plan.hosts),
        check_count=sum(number for _, number in states),
        to_run=sum(number for runs, number in states if runs is Runs.YES),
        skipped=sum(number for runs, number in states if runs is Runs.NO),
        later=sum(number for runs, number in states if runs is Runs.LATER),
        plays=tuple(play for play in plays if play.checks or not only),
        warnings=tuple(mask(warning) for warning in prepared.warnings),
    )


def _play(
    prepared: Prepared,
    number: int,
    found: Mapping[str, Mapping[Preview, Sequence[str]]],
    entries: Mapping[str, Entry],
    mask: Callable[[str], str],
) -> PlayPreview:
    play = prepared.plan.playbook.plays[number]
    keys = [key for key, shape in prepared.plan.shapes.items() if shape.play_index == number]
    hosts = [host.host.name for host in prepared.plan.hosts if _is_in(host, number)]
    children: dict[str, list[str]] = {}
    for key in keys:
        children.setdefault(prepared.plan.shapes[key].follows, []).append(key)
    return PlayPreview(
        name=play.name,
        pattern=play.hosts,
        hosts=fold(hosts) if hosts else "",
        host_count=len(hosts),
        source=play.source,
        order=_order(play),
        checks=tuple(
            _check(key, entries[key], found[key], tuple(children.get(key, ())), mask) for key in keys if key in entries
        ),
    )


def _is_in(host: HostPlan, number: int) -> bool:
    return any(entry.shape.play_index == number for entry in host.track.entries)


def _order(play: Play) -> str:
    parts = []
    if play.serial:
        parts.append(f"serial {', '.join(_share(share) for share in play.serial)}")
    if play.forks:
        parts.append(f"at most {play.forks} at a time")
    if play.max_fail:
        parts.append(f"no further host once {_share(play.max_fail)} have failed")
    if play.pre_checks:
        parts.append(f"after its pre-checks: {', '.join(check.id for check in play.pre_checks)}")
    return "; ".join(parts)


def _share(share: Share) -> str:
    number = f"{share.count}" if share.count is not None else f"{(share.fraction or 0.0) * 100:g}%"
    return f"more than {number}" if share.beyond else number


def _check(
    key: str,
    entry: Entry,
    groups: Mapping[Preview, Sequence[str]],
    children: tuple[str, ...],
    mask: Callable[[str], str],
) -> CheckPreview:
    check, shape = entry.shape.check, entry.shape
    ordered = sorted(groups.items(), key=lambda pair: (list(Runs).index(pair[0].runs), -len(pair[1])))
    return CheckPreview(
        key=key,
        name=mask(check.name),
        source=check.source,
        severity=check.severity,
        tags=tuple(sorted(check_tags(shape.play, check))),
        session=check.session,
        timeout_s=shape.timeout_s,
        requires=check.requires,
        once=check.run_once,
        pre_check=shape.before,
        conditions=tuple(mask(condition) for condition in conditions_of(entry)),
        waits_for=tuple(sorted(entry.planned.needs)),
        follows=shape.follows,
        followed_by=children,
        until=mask(_until(check)),
        values=tuple(mask(_value(extract)) for extract in check.extracts),
        compared="; ".join(filter(None, (_compared(check), mask(_baseline(check.baseline))))),
        changes_host=check.changes_host,
        shared=tuple(
            SharedPreview(hosts=fold(hosts), host_count=len(hosts), preview=_masked(preview, mask))
            for preview, hosts in ordered
        ),
    )


def _until(check: Check) -> str:
    if check.until is None:
        return ""
    conditions = " and ".join(one_line(condition.text) for condition in check.until.conditions)
    return f"{conditions} (at most {check.until.retries} more times, {check.until.delay_s:g} s apart)"


def _value(extract: Extract) -> str:
    unit = f" in {extract.unit}" if extract.unit else ""
    where = f" where {one_line(extract.where.text)}" if extract.where else ""
    looked_up = f"{extract.lookup} {one_line(extract.query.text)!r}{where}"
    return f"{extract.name}: {extract.agg} of {looked_up}, {extract.kind}{unit}"


def _compared(check: Check) -> str:
    if check.consensus is not None:
        on, by = check.consensus.on, check.consensus.by
        return f"consensus on {on} by {by}, at least {check.consensus.minimum * 100:g}% alike"
    if check.quorum is not None:
        wanted = check.quorum.count if check.quorum.count is not None else f"{(check.quorum.fraction or 0.0) * 100:g}%"
        return f"quorum: {wanted} of {check.quorum.by} must be ok"
    return ""


def _baseline(rule: BaselineRule | None) -> str:
    if rule is None:
        return ""
    ignored = ", ".join(repr(one_line(pattern.text)) for pattern in rule.ignore)
    but = [f"but for lines with {ignored}"] if ignored else []
    return " ".join(["the accepted baseline", *but, *([] if rule.ordered else ["in any order"])])


def _masked(preview: Preview, mask: Callable[[str], str]) -> Preview:
    return replace(
        preview,
        reason=mask(preview.reason),
        command=mask(preview.command),
        env=tuple((name, _masked_value(name, value, mask)) for name, value in preview.env),
        cwd=mask(preview.cwd),
        on=mask(preview.on),
        loop=mask(preview.loop),
        items=tuple(_masked_item(item, mask) for item in preview.items),
        expects=tuple(mask(text) for text in preview.expects),
        levels=tuple(mask(text) for text in preview.levels),
    )


def _masked_value(name: str, value: str, mask: Callable[[str], str]) -> str:
    return _MASK if value == _MASK or (value and is_secret_name(name)) else mask(value)


def _masked_item(item: ItemPreview, mask: Callable[[str], str]) -> ItemPreview:
    return replace(item, label=mask(item.label), reason=mask(item.reason), command=mask(item.command))


def _with_item(run: RunPreview, check: str, label: str) -> RunPreview:
    """The same with one item of the loop alone."""
    labels: dict[str, None] = {}
    plays = []
    for play in run.plays:
        checks = []
        for one in play.checks:
            shared = []
            for group in one.shared:
                labels |= dict.fromkeys(item.label for item in group.preview.items)
                items = tuple(item for item in group.preview.items if item.label == label)
                if items or group.preview.loop:
                    shared.append(replace(group, preview=replace(group.preview, items=items, item_count=len(items))))
            checks.append(replace(one, shared=tuple(shared)))
        plays.append(replace(play, checks=tuple(checks)))
    if not any(one.shared for play in plays for one in play.checks):
        base = check.partition("[")[0]
        raise UnknownNameError("item", check, [f"{base}[{one}]" for one in labels])
    return replace(run, plays=tuple(plays))
