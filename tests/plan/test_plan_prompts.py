"""Prompts, durations and samples in a plan: rendered, secret, verified before anything connects, linted."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import make_check, make_host, plan_of, text

from checkrunner.model.options import RunOptions
from checkrunner.model.plan import Command, Step
from checkrunner.model.playbook import Check, OnInput, PromptRule, Sample
from checkrunner.model.sources import Secret
from checkrunner.plan.lint import lint
from checkrunner.plan.verify import plan_errors

PIN = Secret("47")


def rule(match: str, answer: str | Secret) -> PromptRule:
    return PromptRule(match=text(match), answer=answer if isinstance(answer, Secret) else text(answer))


def asking(*rules: tuple[str, str | Secret], **fields: Any) -> Check:
    return make_check(prompts=tuple(rule(match, answer) for match, answer in rules), **fields)


def command(check: Check, **variables: Any) -> Command:
    plan = plan_of(check, hosts=[make_host(**variables)])
    (host,) = plan.hosts
    step = host.resolve(host.checks[0], {})
    assert isinstance(step, Step)
    return step.command


@pytest.mark.parametrize(
    ("answer", "variables", "secret", "typed"),
    [
        ("yes", {}, False, "yes"),
        ("", {}, False, ""),
        ("{{ n }}", {"n": 42}, False, "42"),
        ("open-sesame", {}, True, "open-sesame"),
        ("{{ word }}-{{ n }}", {"word": "abc", "n": 1}, True, "abc-1"),
        ("{{ pin }}", {"pin": PIN}, True, "47"),
        (PIN, {}, True, "47"),
    ],
)
def test_answers_are_rendered_and_secret(
    answer: str | Secret, variables: dict[str, Any], secret: bool, typed: str
) -> None:
    (prompt,) = command(asking(("PIN of {{ inventory_hostname }}", answer)), **variables).prompts

    assert prompt.match == "PIN of h1"
    assert isinstance(prompt.answer, Secret) is secret
    assert (prompt.answer.reveal() if isinstance(prompt.answer, Secret) else prompt.answer) == typed
    assert not secret or typed not in repr(prompt)


def test_the_words_reach_the_command() -> None:
    sample = Sample(every_s=2, count=3)
    made = command(make_check(on_input=OnInput.ASK, stdin_tty=True, duration_s=5.0, sample=sample, keep_children=True))

    assert (made.on_input, made.stdin_tty, made.duration_s, made.sample, made.keep_children) == (
        OnInput.ASK, True, 5.0, sample, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "timeout_s"),
    [
        ({}, 60),
        ({"duration_s": 300.0}, 360),
        ({"duration_s": 300.0, "timeout_s": 310.0}, 310),
        ({"sample": Sample(every_s=10, count=4)}, 90),
        ({"sample": Sample(every_s=10, count=1)}, 60),
    ],
)
def test_time_that_is_wanted_is_no_reason_for_a_timeout(fields: dict[str, Any], timeout_s: float) -> None:
    plan = plan_of(make_check(**fields), options=RunOptions(timeout_s=60))
    (host,) = plan.hosts
    step = host.resolve(host.checks[0], {})

    assert isinstance(step, Step)
    assert step.command.timeout_s == timeout_s


@pytest.mark.parametrize(
    ("rules", "variables", "message"),
    [
        ([("{{ bad }}", "x")], {"bad": "("}, "not a valid regular expression"),
        ([("{{ nobody }}", "x")], {}, "'nobody' is not defined"),
        ([("x", "{{ nobody }}")], {}, "'nobody' is not defined"),
        ([("x", "{{ two }}")], {"two": "a\nb"}, "the answer cannot be typed: it has more than one line"),
        ([("x", "{{ key }}")], {"key": Secret("a\x03")}, "the answer cannot be typed: it has a control character"),
        ([("{{ key }}", "x")], {"key": PIN}, "'key' is secret and cannot become part of this text"),
        ([("x", "{{ key")], {}, "not a valid template"),
        ([("yes\n", "x")], {}, "it wants a newline"),
    ],
)
def test_errors_come_before_anything_connects(rules: list[Any], variables: dict[str, Any], message: str) -> None:
    (error,) = plan_errors(plan_of(asking(*rules), hosts=[make_host(**variables)]))

    assert message in error.message
    assert error.source.line == 1
    assert "a\x03" not in str(error)


def test_an_answer_may_need_an_earlier_result() -> None:
    first = make_check("a", register="first")
    plan = plan_of(first, asking(("x", "{{ first.rc }}"), id="b"))

    assert plan_errors(plan) == []
    assert plan.hosts[0].checks[1].needs == {"a"}


def warnings(check: Check) -> list[str]:
    return [problem.message for problem in lint(plan_of(check))]


@pytest.mark.parametrize(
    ("match", "answer", "words"),
    [
        (".*", "yes", "'.*' fits every question"),
        ("$", "yes", "fits every question"),
        ("|a", "yes", "fits every question"),
        ("sure", "yes", ""),
        ("[Pp]assword:", "hunter2x", "looks like a password"),
        ("PIN", "47112", "looks like a password"),
        ("[Pp]assword:", "{{ inventory_hostname }}", ""),
        ("Spinning", "hunter2x", ""),
        ("Password again?", "yes", ""),
    ],
)
def test_what_lint_says_of_answers(match: str, answer: str, words: str) -> None:
    found = warnings(asking((match, answer)))

    assert [words in message for message in found] == ([True] if words else [])
    assert "hunter2x" not in "".join(found)


def test_a_command_with_a_duration_may_be_endless() -> None:
    assert warnings(make_check(run="vmstat 1"))
    assert warnings(make_check(run="vmstat 1", duration_s=5.0)) == []
    assert warnings(make_check(run="rm x", duration_s=5.0))
