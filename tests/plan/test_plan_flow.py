"""Loops, needs, pre-checks, follow-ups and variables of blocks, as a host's plan resolves them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_factory import (
    loop_of,
    make_check,
    make_host,
    make_play,
    outcome,
    plan_of,
    plan_plays,
    resolve_all,
    text,
)

from checkrunner.model.errors import TemplateError
from checkrunner.model.plan import CheckOutcome, Step
from checkrunner.model.playbook import Become, Check, Param, Until
from checkrunner.model.results import Value, VerdictState
from checkrunner.plan.loops import MOST_ITEMS, MOST_LABEL, labels
from checkrunner.plan.verify import plan_errors


def ran(*checks: Check, ends: Any = None, **fields: Any) -> dict[str, str]:
    return resolve_all(plan_of(*checks, **fields), ends)[0]


def bad(*keys: str, state: VerdictState = VerdictState.CRIT, **fields: Any) -> Any:
    """Commands of these checks, by key, come to `state`, all others are ok."""

    def ends(step: Step) -> CheckOutcome:
        return outcome(step.planned, state, **fields) if step.planned.key in keys else outcome(step.planned)

    return ends


def messages(*checks: Check, **fields: Any) -> list[str]:
    return [error.message for error in plan_errors(plan_of(*checks, **fields))]


# ---- loops


def test_a_loop_is_a_check_for_each_of_its_items() -> None:
    looped = make_check("disk", "df {{ item }}", loop=loop_of(["/", "/var"]))

    assert ran(looped, make_check("last", "true")) == {
        "disk[/]": "df /",
        "disk[/var]": "df /var",
        "last": "true",
    }


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("[1, 2]", ["1", "2"]),
        ("{{ mounts }}", ["/", "/srv"]),
        ("mounts", ["/", "/srv"]),
        ("mounts | select('search', 'srv')", ["/srv"]),
        ("range(3)", ["0", "1", "2"]),
        (["{{ mounts[1] }}", "b"], ["/srv", "b"]),
        ([text("{{ mounts[0] }}")], ["/"]),
        ([["x", "y"]], ["['x', 'y']"]),
    ],
)
def test_items_are_a_list_or_an_expression(items: Any, expected: list[str]) -> None:
    looped = make_check("c", "echo {{ item }}", loop=loop_of(items))

    told = ran(looped, play_vars={"mounts": ["/", "/srv"]})

    assert [shell.removeprefix("echo ") for shell in told.values()] == expected


def test_names_of_a_loop() -> None:
    loop = loop_of(["a", "b", "c"], variable="disk", index_variable="n", label="{{ n }}:{{ disk }}")
    run = "{{ disk }} {{ n }} {{ ansible_loop.index }}/{{ ansible_loop.length }} {{ ansible_loop.first }}"
    run += " {{ ansible_loop.previtem | default('-') }} {{ ansible_loop.nextitem | default('-') }}"

    assert ran(make_check("c", run, loop=loop)) == {
        "c[0:a]": "a 0 1/3 True - b",
        "c[1:b]": "b 1 2/3 False a c",
        "c[2:c]": "c 2 3/3 False b -",
    }


def test_a_loop_over_nothing_is_skipped() -> None:
    assert ran(make_check("c", loop=loop_of([]))) == {"c": "(loop: no items)"}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("'a b'", "a loop needs a list, and this is a text"),
        ("{'a': 1}", "a loop needs a list, and this is a mapping"),
        ("3", "a loop needs a list, and this is a number"),
        ("none", "a loop needs a list, and this is nothing"),
        ("true", "a loop needs a list, and this is a boolean"),
        (f"range({MOST_ITEMS + 1})", "the loop has 10,001 items, and 10,000 at most"),
        ("nobody", "'nobody' is not defined"),
    ],
)
def test_what_is_no_list_is_told_before_anything_connects(items: str, message: str) -> None:
    assert messages(make_check("c", "echo {{ item }}", loop=loop_of(items))) == [message]


def test_conditions_hold_for_items_or_for_the_loop() -> None:
    looped = make_check("c", "echo {{ item }}", loop=loop_of([1, 2, 3]), when=["item > 1", "wanted"])

    assert ran(looped, play_vars={"wanted": True}) == {
        "c[1]": "(when: item > 1)",
        "c[2]": "echo 2",
        "c[3]": "echo 3",
    }
    assert ran(looped, play_vars={"wanted": False}) == {"c": "(when: wanted)"}


def test_a_condition_guards_the_loop_itself() -> None:
    looped = make_check("c", "echo {{ item }}", loop=loop_of("mounts"), when=["mounts is defined"])

    assert ran(looped) == {"c": "(when: mounts is defined)"}
    assert messages(looped) == []


def test_variables_can_be_made_of_items() -> None:
    looped = make_check("c", "{{ command }}", loop=loop_of(["a"]), vars={"command": "ls {{ item }} {{ root }}"})

    assert ran(looped, play_vars={"root": "/{{ item }}"}) == {"c[a]": "ls a /a"}
    assert messages(looped, play_vars={"root": "/{{ item }}"}) == []


def test_a_loop_over_a_result_waits_for_it_and_shows_nothing_as_a_template() -> None:
    first = make_check("first", register="found")
    looped = make_check("c", "echo {{ item | quote }}", loop=loop_of("found.values.names"))
    plan = plan_of(first, looped)

    def ends(step: Step) -> CheckOutcome:
        value = Value(name="names", value=("a", "{{ inventory_hostname }}"))
        return replace(outcome(step.planned), values=(value,))

    assert plan.hosts[0].checks[1].needs == {"first"}
    assert plan_errors(plan) == []
    assert resolve_all(plan, ends)[0] == {
        "first": "true",
        "c[a]": "echo a",
        "c[{{ inventory_hostname }}]": "echo '{{ inventory_hostname }}'",
    }


def test_a_value_that_could_not_be_read_is_spoken_of_as_that() -> None:
    plan = plan_of(make_check("first", register="found"), make_check("c", "echo {{ found.values.used }}"))
    first = replace(outcome(plan.hosts[0].checks[0]), values=(Value(name="used", value=0, error="nothing was found"),))

    with pytest.raises(TemplateError, match="there is no value 'used': it could not be read"):
        plan.hosts[0].resolve(plan.hosts[0].checks[1], {"first": first})


def test_the_result_of_a_loop() -> None:
    looped = make_check("disk", "df {{ item }}", loop=loop_of(["a", "b"]), register="disks")
    reads = "{{ disks.results | map(attribute='item') | join(' ') }} {{ disks.rc }} {{ disks.ok }} {{ disks.failed }}"
    reads += " {{ disks.stdout_lines }} {{ disks.results[1].rc }} {{ disks.verdict }}"

    def ends(step: Step) -> CheckOutcome:
        bad = step.planned.label == "b"
        state = VerdictState.WARN if bad else VerdictState.OK
        return outcome(step.planned, state, rc=3 if bad else 0, stdout_lines=2)

    assert ran(looped, make_check("c", reads), ends=ends)["c"] == "a b 3 False True 4 3 warn"


def test_results_of_items_are_there_for_loops_only() -> None:
    assert messages(make_check("a", register="r"), make_check("c", "{{ r.results }}")) == [
        "the result 'r' has no 'results'"
    ]
    assert messages(make_check("a", register="r", loop=loop_of([1])), make_check("c", "{{ r.results }}")) == []


def test_errors_in_items_are_found_before_the_run() -> None:
    looped = make_check("c", "echo {{ item.name }}", loop=loop_of([{"name": "a"}, {"nam": "b"}]))

    (message,) = messages(looped)

    assert "name" in message


# ---- labels


def test_labels() -> None:
    assert labels(["a", "a", "a~2", "a"]) == ["a", "a~3", "a~2", "a~4"]
    assert labels([{"name": "x", "n": 1}, ["p", 2], None, True, 1.5]) == ["name=x, n=1", "p, 2", "null", "true", "1.5"]
    assert labels(["", " x\n\ty\x1b "]) == ["(empty)", "x y?"]


@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from(["a", "a~2", "a~3", "b" * 70, "b" * 60]))))
def test_labels_are_short_lines_and_no_two_are_alike(items: list[str]) -> None:
    made = labels(items)

    assert len(made) == len(items)
    assert len(set(made)) == len(made)
    assert all(0 < len(label) <= MOST_LABEL and label.isprintable() for label in made)
    assert labels(items) == made


@given(st.lists(st.sampled_from(["a", "a~2", "b", "c"]), min_size=1), st.randoms())
def test_an_item_that_is_called_like_no_other_keeps_its_label(items: list[str], random: Any) -> None:
    lone = [item for item in items if items.count(item) == 1]
    shuffled = random.sample(items, len(items))

    for order in (items, shuffled):
        made = dict(zip(labels(order), order, strict=True))
        assert all(made[item] == item for item in lone)


@given(st.lists(st.sampled_from(["a", "b", "a~2"]), max_size=6), st.lists(st.sampled_from(["x", "y"]), max_size=6))
def test_items_that_come_after_change_no_label(items: list[str], more: list[str]) -> None:
    assert labels([*items, *more])[: len(items)] == labels(items)


# ---- needs and pre-checks


def test_needs() -> None:
    checks = [make_check("db"), make_check("app", needs=("db",)), make_check("page", needs=("app",))]

    assert ran(*checks) == {"db": "true", "app": "true", "page": "true"}
    assert ran(*checks, ends=bad("db", state=VerdictState.WARN))["app"] == "true"
    assert ran(*checks, ends=bad("db")) == {
        "db": "true",
        "app": "(needs db, which is crit here)",
        "page": "(needs app, which is skipped here)",
    }


def test_a_need_is_waited_for_also_without_being_read() -> None:
    plan = plan_of(make_check("db"), make_check("app", needs=("db",)))

    assert [planned.needs for planned in plan.hosts[0].checks] == [set(), {"db"}]


def test_needs_are_met_by_earlier_plays() -> None:
    plays = [
        (make_play(make_check("db")), [make_host("x")]),
        (make_play(make_check("app", needs=("db",))), [make_host("x"), make_host("y")]),
    ]
    plan = plan_plays(plays)

    assert plan_errors(plan) == []
    assert resolve_all(plan, bad("db"), 0)[0]["app"] == "(needs db, which is crit here)"
    assert resolve_all(plan, None, 1)[0] == {"app": "(needs db, which does not run on this host)"}


@pytest.mark.parametrize(
    ("need", "message"),
    [
        ("bd", "check 'app' needs 'bd', and no check has that id"),
        ("later", "check 'app' needs 'later', which comes only later"),
        ("app", "check 'app' needs itself"),
        ("drill", "check 'app' needs 'drill', which runs only where another check is not ok"),
    ],
)
def test_needs_that_cannot_be_waited_for(need: str, message: str) -> None:
    checks = [
        make_check("db", on_fail=(make_check("drill"),)),
        make_check("app", needs=(need,)),
        make_check("later"),
    ]

    assert messages(*checks) == [message]


def test_a_need_that_the_tags_leave_out() -> None:
    checks = [make_check("db"), make_check("app", needs=("db",), tags=("quick",))]

    assert messages(*checks, tags=["quick"]) == ["check 'app' needs 'db', which the tags leave out"]


def pre_checked(*checks: Check, **fields: Any) -> Any:
    play = make_play(*checks, pre_checks=(make_check("mounted"), make_check("room")))
    return plan_plays([(play, [make_host()])], **fields)


@pytest.mark.parametrize("state", [VerdictState.CRIT, VerdictState.UNKNOWN])
def test_a_pre_check_that_finds_trouble_closes_the_play(state: VerdictState) -> None:
    plan = pre_checked(make_check("a"), make_check("b"))

    assert [sorted(planned.needs) for planned in plan.hosts[0].checks] == [[], [], *[["mounted", "room"]] * 2]
    assert resolve_all(plan, bad("mounted", state=state))[0] == {
        "mounted": "true",
        "room": "true",
        "a": f"(the pre-check mounted is {state} here)",
        "b": f"(the pre-check mounted is {state} here)",
    }


@pytest.mark.parametrize("state", [VerdictState.WARN, VerdictState.OK, VerdictState.SKIPPED])
def test_other_pre_checks_do_not(state: VerdictState) -> None:
    assert resolve_all(pre_checked(make_check("a")), bad("mounted", state=state))[0]["a"] == "true"


def test_pre_checks_come_with_any_check_of_their_play() -> None:
    checks = [make_check("a", tags=("quick",)), make_check("b")]

    assert pre_checked(*checks, tags=["quick"]).selected == {"mounted", "room", "a"}
    other = plan_plays([(make_play(*checks), [make_host()])], tags=["quick"])
    assert other.selected == {"a"}


def test_pre_checks_close_their_own_play_only() -> None:
    first = make_play(make_check("a"), pre_checks=(make_check("mounted"),))
    plan = plan_plays([(first, [make_host()]), (make_play(make_check("b")), [make_host()])])

    told = resolve_all(plan, bad("mounted"))[0]

    assert told == {"mounted": "true", "a": "(the pre-check mounted is crit here)", "b": "true"}


# ---- on_fail


def test_follow_ups_run_where_their_check_is_not_ok() -> None:
    parent = make_check("disk", on_fail=(make_check("big", "du"), make_check("open", "lsof")))

    assert ran(parent, make_check("z")) == {"disk": "true", "z": "true"}
    assert [planned.key for planned in plan_of(parent).hosts[0].checks] == ["disk"]
    for state in (VerdictState.WARN, VerdictState.CRIT, VerdictState.UNKNOWN):
        told = ran(parent, ends=bad("disk", state=state))
        assert told == {"disk": "true", "big": "du", "open": "lsof"}


def test_no_follow_ups_of_what_was_skipped() -> None:
    parent = make_check("disk", when=["false"], on_fail=(make_check("big", "du"),))

    assert ran(parent) == {"disk": "(when: false)"}


def test_follow_ups_of_an_item_read_its_result_and_each_other() -> None:
    second = make_check(
        "who", "lsof {{ item }} {{ big.rc }} {{ disk.rc }}", on_fail=(make_check("deep", "x{{ item }}"),)
    )
    parent = make_check(
        "disk",
        "df {{ item }}",
        loop=loop_of(["/", "/var"]),
        register="disk",
        on_fail=(make_check("big", "du {{ item }} {{ disk.rc }}", register="big"), second),
    )
    plan = plan_of(parent, make_check("z"))

    def ends(step: Step) -> CheckOutcome:
        key = step.planned.key
        state = VerdictState.CRIT if key in ("disk[/var]", "who[/var]") else VerdictState.OK
        return outcome(step.planned, state, rc={"disk[/var]": 7, "big[/var]": 9}.get(key, 0))

    assert plan_errors(plan) == []
    told, outcomes = resolve_all(plan, ends)
    assert told == {
        "disk[/]": "df /",
        "disk[/var]": "df /var",
        "big[/var]": "du /var 7",
        "who[/var]": "lsof /var 9 7",
        "deep[/var]": "x/var",
        "z": "true",
    }
    assert outcomes["big[/var]"].planned.follows == "disk[/var]"
    assert outcomes["deep[/var]"].planned.follows == "who[/var]"


def test_a_follow_up_may_be_a_loop() -> None:
    inner = make_check("big", "du {{ item }}/{{ d }}", loop=loop_of(["a", "b"], variable="d"))
    parent = make_check("disk", "df {{ item }}", loop=loop_of(["/var"]), on_fail=(inner,))

    assert ran(parent, ends=bad("disk[/var]")) == {
        "disk[/var]": "df /var",
        "big[/var][a]": "du /var/a",
        "big[/var][b]": "du /var/b",
    }


def test_follow_ups_have_the_session_and_the_user_of_their_check() -> None:
    become = Become(become=True, user="postgres")
    follower = make_check("f", "{{ x }}")
    own = make_check("o", session="own", become=Become(become=False), vars={"x": 2})
    parent = make_check("p", session="db", become=become, vars={"x": 1}, on_fail=(follower, own))
    plan = plan_of(parent)
    host = plan.hosts[0]

    first, second = host.follow(outcome(host.checks[0], VerdictState.CRIT))

    step, other = host.resolve(first, {}), host.resolve(second, {})
    assert isinstance(step, Step)
    assert isinstance(other, Step)
    assert (step.command.shell, step.command.session) == ("1", "db")
    assert step.command.become is not None
    assert (step.command.become.user, other.command.become, other.command.session) == ("postgres", None, "own")


def test_follow_ups_come_with_their_check() -> None:
    checks = [make_check("p", tags=("quick",), on_fail=(make_check("f"), make_check("g", tags=("slow",))))]

    assert plan_of(*checks, tags=["quick"]).selected == {"p", "f", "g"}
    assert plan_of(*checks, tags=["quick"], skip_tags=["slow"]).selected == {"p", "f"}


def test_errors_in_follow_ups_are_found_before_the_run() -> None:
    assert messages(make_check("p", on_fail=(make_check("f", "{{ nobody }}"),))) == ["'nobody' is not defined"]


# ---- variables


def test_which_variable_wins() -> None:
    host = make_host(a="host", b="host", c="host", d="host")
    check = make_check(
        "c", "{{ a }} {{ b }} {{ c }} {{ d }} {{ item }}", vars={"b": "check", "c": "check", "item": "no"}
    )
    looped = replace(check, loop=loop_of(["item"], variable="c"))
    shown = "{{ a }} {{ b }} {{ c }} {{ d }} {{ item }}"

    assert ran(check, hosts=[host], play_vars={"a": "play", "b": "play"}, extra_vars={"d": "extra"}) == {
        "c": "play check check extra no"
    }
    assert ran(looped, hosts=[host], play_vars={"a": "play"}, extra_vars={"d": "extra"}) == {
        "c[item]": "play check item extra no"
    }
    registers = make_check("r", register="c")
    assert (
        ran(registers, replace(check, run=text(shown.replace("{{ c }}", "{{ c.rc }}"))), hosts=[host])["c"]
        == "host check 0 host no"
    )
    assert ran(registers, check, hosts=[host], extra_vars={"c": "extra"})["c"] == "host check extra host no"


def test_defaults_of_parameters_count_least() -> None:
    params = (Param(name="a", default=1), Param(name="b", default=2), Param(name="c", required=True))
    play = make_play(make_check("x", "{{ a }} {{ b }} {{ c }}"), params=params)
    plan = plan_plays([(play, [make_host(b="host")])], extra_vars={"c": "extra"})

    assert plan_errors(plan) == []
    assert resolve_all(plan)[0] == {"x": "1 host extra"}


def test_variables_of_a_play_may_be_made_of_results() -> None:
    checks = [make_check("a", register="r"), make_check("c", "echo {{ line }}")]
    plan = plan_of(*checks, play_vars={"line": "rc {{ r.rc }}"})

    assert plan_errors(plan) == []
    assert plan.hosts[0].checks[1].needs == {"a"}
    assert resolve_all(plan)[0]["c"] == "echo rc 0"


def test_a_delegated_check_names_the_other_host() -> None:
    checks = [make_check("a", "true", delegate_to=text("{{ other }}")), make_check("b", delegate_to=text("h1"))]

    assert ran(*checks, play_vars={"other": "h2"}) == {"a": "h2: true", "b": "true"}


def test_until_reads_its_own_result_by_both_names() -> None:
    until = Until(conditions=(text("rc == 0"), text("r.rc == 0")))

    assert messages(make_check("c", register="r", until=until)) == []
    assert messages(make_check("c", until=until)) == ["'r' is not defined"]


def test_keys_of_follow_ups_of_other_plays() -> None:
    plays = [(make_play(make_check("p", on_fail=(make_check("f"),))), [make_host()])] * 2
    plan = plan_plays(plays)

    assert list(plan.shapes) == ["p", "f", "p~2", "f~2"]


def test_a_loop_that_cannot_be_unfolded_raises() -> None:
    plan = plan_of(make_check("a", register="r"), make_check("c", loop=loop_of("r.missing[0].x")))

    with pytest.raises(TemplateError):
        resolve_all(plan)
