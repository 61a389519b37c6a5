"""Finished models of checks to the words of `model`: expectations, slices, answers. Nothing can be wrong here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from checkrunner.load.nodes import YamlList, YamlMap
from checkrunner.load.quantities import slug
from checkrunner.model.inventory import empty
from checkrunner.model.playbook import (
    Become,
    Check,
    Expectation,
    OnInput,
    PromptRule,
    Sample,
    SliceRule,
    SliceWhen,
)
from checkrunner.model.results import Severity, SliceMode, Stream
from checkrunner.model.sources import SourceRef, Template

if TYPE_CHECKING:  # whoever has read a model has loaded it
    from checkrunner.load.schema_checks import CheckModel
    from checkrunner.load.schema_flow import SampleModel
    from checkrunner.load.schema_plays import PlayModel
    from checkrunner.load.schema_values import ExpectModel, SliceModel, TextModel

__all__ = ["become_of", "build_check"]

_NAME_LENGTH = 60
_NUMBERS = ("rc", "stdout_lines", "stderr_lines", "elapsed_s")
_STREAMS = ("stdout", "stderr")
_REFINING = frozenset({"loop", "until", "parse", "extract", "levels", "consensus", "quorum", "baseline"})


def build_check(model: CheckModel, node: YamlMap, number: int) -> Check:
    """The check of a model, without what is around it and without `on_fail`. `node` tells where its parts were written,
    `number` which one of the play it is."""
    argv = tuple(_raw(item, model.raw) for item in model.argv or ())
    run = _raw(model.run, model.raw) if model.run else None
    command = run.text if run else " ".join(item.text for item in argv)
    check = Check(
        id=model.id or slug(model.name or "") or f"check-{number}",
        name=model.name or model.id or _shortened(command),
        run=run,
        argv=argv,
        expect=tuple(_expectations(model, node)),
        warn_if=tuple(model.warn_if or ()),
        crit_if=tuple(model.crit_if or ()),
        severity=Severity(model.severity),
        slices=tuple(_slices(model, node)),
        when=tuple(model.when or ()),
        register=model.register_,
        requires=tuple(model.requires or ()),
        tags=tuple(model.tags or ()),
        vars=MappingProxyType(model.vars) if model.vars else empty(),
        needs=tuple(model.needs or ()),
        run_once=model.run_once,
        delegate_to=model.delegate_to,
        changes_host=model.changes_host,
        why=model.why,
        fix=model.fix,
        source=node.ref,
    )
    check = _with_surroundings(check, model, node)
    if _REFINING.isdisjoint(model.model_fields_set):
        return check
    from checkrunner.load.refinements import refined

    return refined(check, model, node)


def _with_surroundings(check: Check, model: CheckModel, node: YamlMap) -> Check:
    """Where and how the command runs."""
    return replace(
        check,
        env=MappingProxyType(dict(model.env)) if model.env else empty(),
        cwd=model.cwd,
        timeout_s=model.timeout,
        session=model.session,
        prompts=tuple(_prompts(model, node)),
        on_input=OnInput(model.on_input) if model.on_input else None,
        stdin_tty=model.stdin == "tty",
        duration_s=model.duration,
        sample=_sample(model.sample),
        keep_children=model.keep_children,
        become=become_of(model),
    )


def become_of(model: PlayModel | CheckModel) -> Become:
    """The privileges that a play or check says itself."""
    exact = model.become == "exact"
    become = None if model.become is None else bool(model.become)
    return Become(become=become, exact=exact, user=model.become_user, method=model.become_method)


def _raw(text: Template, raw: bool) -> Template:
    return Template(text=text.text, source=text.source, raw=True, literal=text.literal) if raw else text


def _shortened(command: str) -> str:
    line = next((line.strip() for line in command.splitlines() if line.strip()), command)
    return line if len(line) <= _NAME_LENGTH else line[: _NAME_LENGTH - 3].rstrip() + "..."


def _nodes(node: YamlMap, key: str) -> YamlList | list[object]:
    value = node[key]
    return value if isinstance(value, YamlList) else [value]


def _expectations(model: CheckModel, node: YamlMap) -> Iterator[Expectation]:
    if not model.expect:
        return
    for expect, at in zip(model.expect, _nodes(node, "expect"), strict=True):
        # The order is the author's: reasons come in it.
        for key in at if isinstance(at, YamlMap) else ("that",):
            ref = _key_ref(at, key, node)
            if key in _NUMBERS:
                yield Expectation(subject=key, op="number", value=_number(expect, key), source=ref)
            elif key in _STREAMS:
                yield from _text_expectations(key, getattr(expect, key), at, ref)
            else:
                for text in expect.that or ():
                    yield Expectation(subject="that", op="that", value=text, source=text.source)


def _key_ref(at: object, key: str, fallback: YamlMap) -> SourceRef:
    return at.keys_at[key].ref if isinstance(at, YamlMap) and key in at.keys_at else fallback.ref


def _number(expect: ExpectModel, key: str) -> object:
    value = getattr(expect, key)
    return list(value) if isinstance(value, tuple) else value


def _text_expectations(stream: str, text: TextModel, at: object, ref: SourceRef) -> Iterator[Expectation]:
    written = at.get(stream) if isinstance(at, YamlMap) else None
    for op in written if isinstance(written, YamlMap) else ("contains",):
        value = getattr(text, op)
        if isinstance(value, bool):
            place = written.keys_at[op].ref if isinstance(written, YamlMap) else ref
            yield Expectation(subject=stream, op=op, value=value, source=place)
            continue
        for item in value:
            yield Expectation(subject=stream, op=op, value=item, source=item.source)


def _prompts(model: CheckModel, node: YamlMap) -> Iterator[PromptRule]:
    if not model.prompts:
        return
    for prompt, at in zip(model.prompts, _nodes(node, "prompts"), strict=True):
        yield PromptRule(match=prompt.match, answer=prompt.answer, source=getattr(at, "ref", node.ref))


def _sample(sample: SampleModel | None) -> Sample | None:
    return Sample(every_s=sample.every, count=sample.count) if sample else None


def _slices(model: CheckModel, node: YamlMap) -> Iterator[SliceRule]:
    if not model.slice:
        return
    for rule, at in zip(model.slice, _nodes(node, "slice"), strict=True):
        yield _slice(rule, getattr(at, "ref", node.ref))


def _slice(rule: SliceModel, source: SourceRef) -> SliceRule:
    if rule.head is not None:
        mode, first, last, count = SliceMode.HEAD, 0, 0, rule.head
    elif rule.tail is not None:
        mode, first, last, count = SliceMode.TAIL, 0, 0, rule.tail
    elif rule.lines is not None:
        first, last = rule.lines
        mode, count = SliceMode.LINES, rule.max_lines or last - first + 1
    elif rule.mode is not None:
        mode, first, last, count = SliceMode(rule.mode), 0, 0, rule.max_lines or 20
    else:
        mode, first, last, count = SliceMode.MATCH, 0, 0, rule.max_lines or 20
    return SliceRule(
        mode=mode,
        stream=Stream(rule.stream),
        first=first,
        last=last,
        pattern=rule.match,
        context=rule.context or 0,
        max_lines=count,
        max_bytes=rule.max_bytes,
        when=SliceWhen(rule.when),
        source=source,
    )
