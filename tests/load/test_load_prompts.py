"""Prompts, durations, samples and kept children in a playbook: what they mean, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from checkrunner.load.playbook import load_playbook, read_playbook
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, OnInput, Sample
from checkrunner.model.sources import Secret, Template


def check(extra: str) -> Check:
    return load_playbook("p.yml", f"- hosts: all\n  checks:\n    - run: x\n      {extra}\n").plays[0].checks[0]


def failure(extra: str) -> PlaybookError:
    with pytest.raises(PlaybookError) as caught:
        check(extra)
    return caught.value


@pytest.mark.parametrize(
    ("extra", "fields"),
    [
        ("id: a", {"prompts": (), "on_input": None, "stdin_tty": False, "duration_s": None, "sample": None}),
        ("on_input: ask", {"on_input": OnInput.ASK}),
        ("on_input: fail", {"on_input": OnInput.FAIL}),
        ("stdin: tty", {"stdin_tty": True}),
        ("stdin: none", {"stdin_tty": False}),
        ("duration: 1m", {"duration_s": 60.0}),
        ("sample: {every: 500ms, count: 5}", {"sample": Sample(every_s=0.5, count=5)}),
        ("keep_children: yes", {"keep_children": True}),
    ],
)
def test_what_they_mean(extra: str, fields: dict[str, Any]) -> None:
    found = check(extra)

    assert {name: getattr(found, name) for name in fields} == fields


@pytest.mark.parametrize("answer", ["yes", "no", "0644", "''", '"  two words "', "'{{ pin }}'"])
def test_answers_are_taken_as_written(answer: str) -> None:
    (prompt,) = check(f"prompts: {{match: 'sure', answer: {answer}}}").prompts

    assert prompt.match.text == "sure"
    assert isinstance(prompt.answer, Template)
    assert prompt.answer.text == answer.strip("'\"")
    assert prompt.answer.source.line == 4


def test_a_list_of_prompts_keeps_its_order() -> None:
    prompts = check("prompts: [{match: a, answer: 1}, {match: b, answer: 2}]").prompts

    assert [prompt.match.text for prompt in prompts] == ["a", "b"]
    assert not any(isinstance(prompt.answer, Secret) for prompt in prompts)


@pytest.mark.parametrize(
    ("extra", "column", "message", "hint"),
    [
        ("prompts: yes", 16, "a mapping is expected here, this is 'yes'", "{match: ..., answer: ...}"),
        ("prompts: []", 16, "the list is empty", "Leave the key out"),
        ("prompts: {match: a}", 16, "the key 'answer' is missing", ""),
        ("prompts: {answer: a}", 16, "the key 'match' is missing", ""),
        ("prompts: {match: a, anwser: b}", 27, "unknown key 'anwser'", "'answer'"),
        ("prompts: {match: a, response: b}", 27, "unknown key 'response'", "`answer`"),
        ("prompts: {match: '(', answer: b}", 25, "not a regular expression", ""),
        ("prompts: {match: '', answer: b}", 25, "an empty pattern is found everywhere", ""),
        (r'prompts: {match: a, answer: "b\nc"}', 36, "it has more than one line", "newline is added"),
        (r'prompts: {match: a, answer: "b\x03"}', 36, "it has a control character", ""),
        (f"prompts: {{match: a, answer: {'x' * 4001}}}", 35, "it has 4,001 bytes", ""),
        ("prompts: {match: a, answer: }", 35, "there is nothing", ""),
        ("prompts: {match: a, answer: [b]}", 35, "a text is expected here", ""),
        ("responses: {a: b}", 7, "unknown key 'responses'", "`prompts: [{match: ..., answer: ...}]`"),
        ("prompt: {match: a, answer: b}", 7, "unknown key 'prompt'", "'prompts'"),
        ("on_input: aks", 17, "'aks' is not one of fail, ask", "'ask'"),
        ("stdin: pty", 14, "'pty' is not one of none, tty", "'tty'"),
        ("duration: soon", 17, "'soon' is not a duration", ""),
        ("duration: 0", 17, "out of range", ""),
        ("durations: 5", 7, "unknown key 'durations'", "'duration'"),
        ("sample: 5", 15, "a mapping is expected here, this is '5'", "`sample: {every: 1s, count: 5}`"),
        ("sample: {every: 1s}", 15, "the key 'count' is missing", ""),
        ("sample: {every: 1s, count: 0}", 34, "0 is out of range", "1 to 1000"),
        ("sample: {every: 1s, count: 1001}", 34, "1001 is out of range", "1 to 1000"),
        ("sample: {every: 10ms, count: 3}", 16, "every 100 ms at most", ""),
        ("sample: {every: 1s, times: 3}", 27, "unknown key 'times'", "`count`"),
        ("sample: {every: 1s, count: 3, evrey: 3}", 37, "unknown key 'evrey'", "'every'"),
        ("samples: {every: 1s, count: 3}", 7, "unknown key 'samples'", "'sample'"),
        ("keep_children: maybe", 22, "true or false is expected", ""),
        ("keep_childern: yes", 7, "unknown key 'keep_childern'", "'keep_children'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_place(extra: str, column: int, message: str, hint: str) -> None:
    (error,) = [error for error in failure(extra).errors if message in error.message]

    assert hint in error.hint
    assert (error.source.line, error.source.column) == (4, column)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("{duration: 5s, sample: {every: 1s, count: 3}}", "a check has `duration` or `sample`, not both"),
        ("{duration: 5s, timeout: 5s}", "the timeout of 5 s comes before the duration is over, after 5 s"),
        (
            "{sample: {every: 10s, count: 4}, timeout: 30}",
            "the timeout of 30 s comes before the last reading has begun",
        ),
        ("{sample: {every: 1s, count: 3}, prompts: {match: a, answer: b}}", "cannot have `prompts`"),
        ("{sample: {every: 1s, count: 3}, on_input: ask}", "cannot have `on_input`"),
    ],
)
def test_what_does_not_go_together(extra: str, message: str) -> None:
    with pytest.raises(PlaybookError) as caught:
        load_playbook("p.yml", f"- hosts: all\n  checks:\n    - {{run: x, {extra[1:-1]}}}\n")

    assert message in caught.value.message
    assert caught.value.source.line == 3


def test_what_goes_together() -> None:
    check("{duration: 5s, timeout: 6s}"[1:-1].replace(", ", "\n      "))
    check("sample: {every: 1s, count: 3}\n      on_input: fail\n      keep_children: true")
    check("prompts: {match: a, answer: b}\n      on_input: ask\n      duration: 5")


@pytest.mark.parametrize(
    "written",
    [
        "prompts: {match: a, answer: hunter2x, foo: 3}",
        "prompts: [{foo: 3, match: a, answer: 'hunter2x it''s'}]",
        'prompts: {match: a, answer: "hunter2x\\t", foo: 3}',
        "prompts:\n        match: a\n        answer: |-\n          hunter2x\n        foo: 3",
    ],
)
def test_no_message_shows_an_answer(written: str) -> None:
    reading = read_playbook("p.yml", f"- hosts: all\n  checks:\n    - run: x\n      {written}\n")

    assert reading.errors
    shown = [str(error) for error in reading.errors] + list(reading.playbook.lines)
    assert not any("hunter2x" in line for line in shown)
    assert any("match: a" in line for line in reading.playbook.lines)


def test_short_answers_and_templates_are_shown() -> None:
    text = (
        "- hosts: all\n  checks:\n    - {run: x, prompts: [{match: a, answer: yes}, {match: b, answer: '{{ pin }}'}]}\n"
    )

    assert list(load_playbook("p.yml", text).lines) == text.split("\n")
