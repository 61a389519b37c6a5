"""What goes together in a check, and what does not. Each rule takes the model and raises a problem at a key of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from checkrunner.load.forms import problem
from checkrunner.model.errors import nearest

if TYPE_CHECKING:  # the models name the rules
    from checkrunner.load.schema_checks import CheckModel, IncludeModel

__all__ = ["CHECK_RULES", "exact_fault", "one_file"]


def _one_command(check: CheckModel) -> None:
    if check.run is not None and check.argv is not None:
        hint = "Keep `run` for a shell's text, `argv` for one program and its arguments."
        raise problem(key="argv", message="a check has `run` or `argv`, not both", hint=hint)
    if check.run is None and check.argv is None:
        raise problem("a check needs a command: `run` or `argv`", "Write `run: df -P /`.")
    if check.argv is not None and (not check.argv or not check.argv[0].text):
        hint = "Write `argv: [df, -P, /]`."
        raise problem(key="argv", message="argv starts with the program to run, this is empty", hint=hint)


def _sensible_times(check: CheckModel) -> None:
    if check.sample is None and check.duration is None:
        return
    if check.sample is None:
        key, seconds, what = "duration", check.duration or 0.0, "duration is over"
    else:
        key, seconds, what = "sample", check.sample.every * (check.sample.count - 1), "last reading has begun"
        _sample_alone(check)
    if check.timeout is not None and check.timeout <= seconds:
        message = f"the timeout of {check.timeout:g} s comes before the {what}, after {seconds:g} s"
        hint = "Leave `timeout` out: the time that this needs is then added to what holds for the play."
        raise problem(key=key, message=message, hint=hint)


def _sample_alone(check: CheckModel) -> None:
    """What goes together with `sample`."""
    if check.duration is not None:
        hint = "An endless command has a duration; a short one, run again and again, is a sample."
        raise problem(key="sample", message="a check has `duration` or `sample`, not both", hint=hint)
    if check.until is not None:
        hint = "A sample judges each reading; `until` waits for the one that is right."
        raise problem(key="until", message="a check has `sample` or `until`, not both", hint=hint)
    for key in ("prompts", "on_input"):
        if getattr(check, key) not in (None, "fail"):
            message = f"a check with `sample` cannot have `{key}`: each reading would ask again"
            raise problem(key=key, message=message, hint=f"Drop `{key}`, or let the command loop by itself.")


def exact_fault(said: Any, check: CheckModel) -> tuple[str, str, str] | None:
    """What is wrong with `become: exact` of `said` (the check itself, or what is around it) for a check: key, message
    and hint."""
    if said.become != "exact":
        return None
    if check.argv is None:
        hint = "A shell would have to run as that user, which is what `become: true` does."
        whose = "" if said is check else f", which check {check.id or check.name or 'without a name'!r} has not"
        return "become", f"`become: exact` is for checks with `argv`{whose}", hint
    if "su" in (said.become_method, check.become_method):
        hint = "Write `become: true`, or another `become_method`."
        return "become_method", "`become: exact` is for sudo and doas: su always starts a shell", hint
    return None


def _exact_command(check: CheckModel) -> None:
    fault = exact_fault(check, check)
    if fault:
        raise problem(key=fault[0], message=fault[1], hint=fault[2])


def _goes_with(check: CheckModel) -> None:
    """Keys that mean something beside another one only."""
    for key, other, hint in (
        ("loop_control", "loop", "Write `loop: [...]` beside it, or drop it."),
        ("retries", "until", "Write what is waited for: `until: rc == 0`."),
        ("delay", "until", "Write what is waited for: `until: rc == 0`."),
        ("levels", "extract", "Take the value from the output first: `extract: {used: {regex: '([0-9]+)%'}}`."),
    ):
        if getattr(check, key) is not None and getattr(check, other) is None:
            raise problem(key=key, message=f"`{key}` goes with `{other}`, which this check does not have", hint=hint)


def _loop_names(check: CheckModel) -> None:
    names = {"item"} if check.loop_control is None else {check.loop_control.loop_var, check.loop_control.index_var}
    if check.loop is not None and check.register_ is not None and check.register_ in names:
        message = f"{check.register_!r} is the item of the loop already"
        raise problem(key="register", message=message, hint="Choose another name for the result.")


def _values(check: CheckModel) -> None:
    """What is taken from the output, and from which form of it."""
    for name, extract in (check.extract or {}).items():
        way = "jmespath" if extract.jmespath is not None else "column" if extract.column is not None else "regex"
        if way != "regex" and check.parse is None:
            form = "table" if way == "column" else "json"
            hint = f"Say how the output is read: `parse: {form}`."
            raise problem(
                key=("extract", name), message=f"value {name!r} has a {way}, but the output is not parsed", hint=hint
            )
        if way == "column" and check.parse is not None and check.parse.as_ == "lines":
            hint = "Write `parse: table` for an output with a header, or take a `regex`."
            raise problem(key=("extract", name), message=f"value {name!r}: lines have no columns", hint=hint)


def _levels(check: CheckModel) -> None:
    extracts = check.extract or {}
    for name in check.levels or {}:
        if name not in extracts:
            message = f"there are levels for {name!r}, which is no value of this check"
            raise problem(key=("levels", name), message=message, hint=_known(name, extracts))
        if extracts[name].type != "number":
            message = f"levels are for numbers, value {name!r} is {extracts[name].type}"
            raise problem(
                key=("levels", name), message=message, hint="Write `type: number`, or judge it with `crit_if`."
            )


def _fleet(check: CheckModel) -> None:
    on = check.consensus.on.text if check.consensus and check.consensus.on else None
    extracts = check.extract or {}
    if on is not None and on not in {"stdout", "rc", *extracts}:
        message = f"consensus is on {on!r}, which is no value of this check"
        raise problem(key=("consensus", "on"), message=message, hint=_known(on, ["stdout", "rc", *extracts]))
    for key in ("consensus", "quorum"):
        if getattr(check, key) is not None and check.run_once:
            hint = "Drop `run_once`: every host has to answer."
            raise problem(key=key, message=f"`{key}` compares hosts, and `run_once` asks one", hint=hint)
    if check.consensus is not None and check.quorum is not None:
        hint = "Keep `quorum` where some hosts may fail, `consensus` where all have to be alike."
        raise problem(key="quorum", message="a check has `consensus` or `quorum`, not both", hint=hint)


def _baseline(check: CheckModel) -> None:
    if check.baseline is not None and check.sample is not None:
        hint = "Drop `sample`: a baseline is one output."
        raise problem(key="baseline", message="a check has `sample` or `baseline`, not both", hint=hint)


def _known(word: str, known: Any) -> str:
    close = nearest(word, known)
    return f"Did you mean {close!r}?" if close else f"Known here: {', '.join(known)}."


def one_file(include: IncludeModel) -> None:
    """An inclusion names one file, by one of its two keys."""
    if include.include_checks is not None and include.import_checks is not None:
        hint = "They are the same; write one entry for each file."
        raise problem(key="import_checks", message="there is `include_checks` already", hint=hint)


CHECK_RULES: tuple[Callable[[CheckModel], None], ...] = (
    _one_command,
    _sensible_times,
    _exact_command,
    _goes_with,
    _loop_names,
    _values,
    _levels,
    _fleet,
    _baseline,
)
