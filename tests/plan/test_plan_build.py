"""Plans: which checks on which host, what they wait for, what they become."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from plan_factory import expected, make_check, make_host, make_play, outcome, plan_of, plan_plays, text

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import REGISTERED_NAMES
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import Command, PlannedCheck, Skip, Step
from checkrunner.model.playbook import SliceRule
from checkrunner.model.results import Execution, SliceMode, VerdictState
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.build import Plan
from checkrunner.plan.values import Registered


def command(plan: Plan, key: str = "c", host: int = 0, **outcomes: Any) -> Command:
    step = resolve(plan, key, host, **outcomes)
    assert isinstance(step, Step)
    return step.command


def planned(plan: Plan, key: str, host: int = 0) -> PlannedCheck:
    return next(check for check in plan.hosts[host].checks if check.key == key)


def resolve(plan: Plan, key: str = "c", host: int = 0, **outcomes: Any) -> Step | Skip:
    resolved = plan.hosts[host].resolve(planned(plan, key, host), outcomes)
    assert isinstance(resolved, (Step, Skip))
    return resolved


def test_each_host_once_in_inventory_order() -> None:
    a, b, c = (make_host(name) for name in "abc")
    plays = [(make_play(make_check("one"), name="p1"), [c, a]), (make_play(make_check("two"), name="p2"), [b, c])]
    plan = plan_plays(plays, order=["a", "b", "c"])
    assert [(h.host.name, [p.key for p in h.checks]) for h in plan.hosts] == [
        ("a", ["one"]),
        ("b", ["two"]),
        ("c", ["one", "two"]),
    ]
    assert [h.host.name for h in plan_plays(plays).hosts] == ["c", "a", "b"]


def test_keys_tell_plays_apart_whatever_the_tags_select() -> None:
    plays = [
        (make_play(make_check("disk", tags=("a",)), name="p1"), [make_host()]),
        (make_play(make_check("disk", tags=("b",)), make_check("net", tags=("b",)), name="p2"), [make_host()]),
    ]
    assert [p.key for p in plan_plays(plays).hosts[0].checks] == ["disk", "disk~2", "net"]
    assert [p.key for p in plan_plays(plays, tags=["b"]).hosts[0].checks] == ["disk~2", "net"]


def test_a_host_without_a_selected_check_is_left_out() -> None:
    plays = [
        (make_play(make_check("disk", tags=("a",))), [make_host("x")]),
        (make_play(make_check("net", tags=("b",))), [make_host("y")]),
    ]
    assert [h.host.name for h in plan_plays(plays, tags=["b"]).hosts] == ["y"]


def test_a_plain_check_is_one_step_for_all_hosts() -> None:
    plan = plan_of(make_check(run="df -P"), hosts=[make_host("a"), make_host("b")])
    assert resolve(plan, host=0) is resolve(plan, host=1)


def test_the_command() -> None:
    check = make_check(
        run="df {{ path }}",
        env={"LC_ALL": "C", "WHERE": "{{ path }}", "TOKEN": "{{ token }}"},
        cwd="{{ path }}/sub",
        timeout_s=5.0,
        session="other",
        requires=("df",),
    )
    token = Secret("hunter2")
    plan = plan_of(check, hosts=[make_host(path="/var", token=token)], options=RunOptions(capture_bytes=99))
    assert command(plan) == Command(
        shell="df /var",
        session="other",
        env={"LC_ALL": "C", "WHERE": "/var", "TOKEN": token},
        cwd="/var/sub",
        timeout_s=5.0,
        capture_bytes=99,
        requires=("df",),
    )


def test_raw_and_plain_text_reach_the_command_exactly() -> None:
    awkward = "echo '{{.ID}}' \"${#a[@]}\" \\\n\t'ä' {% x %}\r\n"
    assert command(plan_of(make_check(run=awkward, raw=True))).shell == awkward
    plain = "awk '{print $1}' <<E\n\\x\nE\n"
    assert command(plan_of(make_check(run=plain))).shell == plain


def test_argv_is_quoted_word_by_word() -> None:
    plan = plan_of(make_check(argv=["echo", "{{ words }}", "a b", "$HOME"]), hosts=[make_host(words="it's; rm -rf /")])
    assert shlex.split(command(plan).shell) == ["echo", "it's; rm -rf /", "a b", "$HOME"]


@pytest.mark.parametrize(
    ("check_s", "play_s", "expected_s"), [(5.0, 7.0, 5.0), (None, 7.0, 7.0), (None, None, 42.0), (0.5, None, 0.5)]
)
def test_timeouts(check_s: float | None, play_s: float | None, expected_s: float) -> None:
    play = make_play(make_check(timeout_s=check_s), timeout_s=play_s)
    plan = plan_plays([(play, [make_host()])], options=RunOptions(timeout_s=42.0))
    assert command(plan).timeout_s == expected_s


def test_precedence_of_variables() -> None:
    check = make_check(run="{{ a }} {{ b }} {{ c }} {{ inventory_hostname }} {{ group_names | join(',') }}")
    host = make_host("h", groups=["all", "web", "db"], a="inv", b="inv", c="inv", inventory_hostname="no")
    plan = plan_of(check, hosts=[host], play_vars={"b": "play", "c": "play"}, extra_vars={"c": "extra"})
    assert command(plan).shell == "inv play extra h web,db"


@pytest.mark.parametrize(
    ("variables", "content", "rendered"),
    [
        ({"a": "{{ b }}/x", "b": "{{ c }}", "c": "/srv"}, "{{ a }}", "/srv/x"),
        ({"n": "{{ m }}", "m": 3}, "{{ n + 1 }}", "4"),
        ({"d": {"k": ["{{ x }}"]}, "x": "v"}, "{{ d.k[0] }}", "v"),
        ({"t": Template(text="{{ x }}"), "x": 1}, "{{ t }}", "1"),
        ({"t": Template(text="{{ x }}", raw=True)}, "{{ t }}", "{{ x }}"),
        ({"a": "{{ b }}", "b": "{% raw %}{{ 7*7 }}{% endraw %}"}, "{{ a }}", "{{ 7*7 }}"),
        ({"m": "{{ inventory_hostname }}.example"}, "{{ m }}", "h1.example"),
    ],
)
def test_variables_that_are_templates(variables: dict[str, Any], content: str, rendered: str) -> None:
    assert command(plan_of(make_check(run=content), hosts=[make_host(**variables)])).shell == rendered


def test_variables_that_need_each_other() -> None:
    plan = plan_of(make_check(run="{{ a }}"), hosts=[make_host(a="{{ b }}", b="x{{ a }}")])
    with pytest.raises(TemplateError, match="variable 'a' needs itself: a -> b -> a") as caught:
        command(plan)
    assert caught.value.source.line == 1


def test_an_undefined_name_in_a_variable_points_at_its_use() -> None:
    plan = plan_of(make_check(run="echo {{ a }}"), hosts=[make_host(a="{{ nope }}")])
    with pytest.raises(TemplateError, match="variable 'a': 'nope' is not defined") as caught:
        command(plan)
    assert (caught.value.source.line, caught.value.source.column) == (1, 12 + len("echo {{ "))


def test_a_secret_within_a_variable_stays_secret() -> None:
    host = make_host(auth="Bearer {{ token }}", token=Secret("hunter2"))
    ok = plan_of(make_check(run="true", env={"A": "{{ auth }}"}), hosts=[host])
    value = command(ok).env["A"]
    assert isinstance(value, Secret)
    assert value.reveal() == "Bearer hunter2"
    both = plan_of(make_check(run="curl -H {{ auth }}", env={"A": "{{ auth }}"}), hosts=[host])
    with pytest.raises(TemplateError, match="'auth' is secret"):
        command(both)


def test_conditions() -> None:
    check = make_check(when=["'db' in group_names", "size | int > 3"])
    hosts = [make_host("a", ["db"], size="5"), make_host("b", ["web"], size="5"), make_host("c", ["db"], size="1")]
    plan = plan_of(check, hosts=hosts)
    reasons = [r.reason if isinstance(r := resolve(plan, host=n), Skip) else "" for n in range(3)]
    assert reasons == ["", "when: 'db' in group_names", "when: size | int > 3"]


@pytest.mark.parametrize(
    ("value", "runs"),
    [(True, True), ("no", False), ("false", False), ("0", False), ("yes", True), (0, False), ([], False)],
)
def test_a_condition_that_is_no_boolean(value: object, runs: bool) -> None:
    plan = plan_of(make_check(when=["flag"]), hosts=[make_host(flag=value)])
    assert isinstance(resolve(plan), Step) is runs


def test_needs_come_from_every_text() -> None:
    first = [make_check(name, register=name) for name in ("r1", "r2", "r3", "r4", "r5", "r6", "r7", "unused")]
    last = make_check(
        "c",
        run="echo {{ r1.rc }}",
        when=["r2.ok"],
        env={"X": "{{ r3.rc }}"},
        crit_if=["rc > r4.rc"],
        expect=(expected("that", "that", "r5.ok"), expected("stdout", "contains", "{{ r6.rc }}")),
        slices=(SliceRule(mode=SliceMode.MATCH, pattern=text("{{ r7.rc }}")),),
    )
    plan = plan_of(*first, last)
    assert planned(plan, "c").needs == {"r1", "r2", "r3", "r4", "r5", "r6", "r7"}
    assert planned(plan, "r2").needs == frozenset()


def test_the_latest_registration_counts_and_hides_a_variable() -> None:
    checks = [make_check("a", register="r"), make_check("u", "{{ r.rc }}"), make_check("b", register="r")]
    plan = plan_of(make_check("z", "{{ r }}"), *checks, make_check("c", "{{ r.rc }}"), hosts=[make_host(r="var")])
    assert [planned(plan, key).needs for key in ("z", "u", "c")] == [set(), {"a"}, {"b"}]
    assert command(plan, "z").shell == "var"


def test_results_are_read_by_later_plays_of_the_same_host_only() -> None:
    plays = [
        (make_play(make_check("a", register="r")), [make_host("x")]),
        (make_play(make_check("c", "echo {{ r.rc | default('-') }}")), [make_host("x"), make_host("y")]),
    ]
    plan = plan_plays(plays)
    assert planned(plan, "c", 0).needs == {"a"}
    assert planned(plan, "c", 1).needs == frozenset()
    assert command(plan, "c", 1).shell == "echo -"
    assert command(plan, "c", 0, a=outcome(planned(plan, "a"), rc=3)).shell == "echo 3"


def test_what_a_registered_result_has() -> None:
    plan = plan_of(make_check("a", register="r"))
    registered = Registered(
        outcome(planned(plan, "a"), VerdictState.WARN, rc=1, stdout_lines=7, elapsed_s=0.5, cwd="/x")
    )
    assert vars(registered.values) == {}
    assert {name: getattr(registered, name) for name in REGISTERED_NAMES if name != "values"} == {
        "rc": 1,
        "stdout_lines": 7,
        "stderr_lines": 0,
        "stdout_bytes": 0,
        "stderr_bytes": 0,
        "elapsed_s": 0.5,
        "cpu_s": 0.0,
        "cwd": "/x",
        "execution": "done",
        "truncated": False,
        "answered": 0,
        "samples": [],
        "verdict": "warn",
        "ok": False,
        "failed": True,
        "skipped": False,
        "missing": [],
        "attempts": 1,
        "item": None,
    }


@pytest.mark.parametrize(
    ("state", "ran", "result", "seen"),
    [
        (VerdictState.SKIPPED, False, {}, "None True False False"),
        (VerdictState.UNKNOWN, False, {}, "None True False False"),
        (VerdictState.SKIPPED, True, {"rc": None, "execution": Execution.NOT_RUN}, "None True False False"),
        (VerdictState.UNKNOWN, True, {"rc": None, "execution": Execution.TIMED_OUT}, "None False False False"),
        (VerdictState.OK, True, {"rc": 0}, "0 False True False"),
        (VerdictState.CRIT, True, {"rc": 2}, "2 False False True"),
    ],
)
def test_a_result_that_never_came(state: VerdictState, ran: bool, result: dict[str, Any], seen: str) -> None:
    reader = make_check("c", "{{ r.rc == none and 'None' or r.rc }} {{ r.skipped }} {{ r.ok }} {{ r.failed }}")
    plan = plan_of(make_check("a", register="r"), reader)
    assert command(plan, "c", a=outcome(planned(plan, "a"), state, ran=ran, **result)).shell == seen


def test_tests_on_results() -> None:
    plan = plan_of(make_check("a", register="r"), make_check("c", when=["r is failed", "r is not skipped"]))
    first = planned(plan, "a")
    assert isinstance(resolve(plan, "c", a=outcome(first, VerdictState.CRIT)), Step)
    assert isinstance(resolve(plan, "c", a=outcome(first, VerdictState.OK)), Skip)


@pytest.mark.parametrize("cwd", ["/tmp/{{ 7*7 }}", "/tmp/{% raw %}", "/tmp/$(touch x)", "/tmp/`id`; id"])
def test_what_a_host_says_stays_inert(cwd: str) -> None:
    use = make_check("c", "cd {{ r.cwd }}", when=["r.cwd != ''"], cwd="{{ r.cwd }}", env={"X": "{{ r.cwd }}"})
    plan = plan_of(make_check("a", register="r"), use)
    made = command(plan, "c", a=outcome(planned(plan, "a"), cwd=cwd))
    assert shlex.split(made.shell) == ["cd", cwd]
    assert (made.cwd, made.env["X"]) == (cwd, cwd)


def test_names_without_an_outcome_are_missing_rather_than_wrong() -> None:
    plan = plan_of(make_check("a", register="r"), make_check("c", "{{ r.rc }}"))
    assert "r" not in plan.hosts[0].names(planned(plan, "c"), {})
