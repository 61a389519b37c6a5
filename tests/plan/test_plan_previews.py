"""What a check comes to on a host before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_factory import expected, loop_of, make_check, make_host, make_play, plan_of, plan_plays, text

from checkrunner.model.inventory import Host
from checkrunner.model.playbook import Become, Check
from checkrunner.model.preview import ItemPreview, Preview, Runs
from checkrunner.model.sources import Secret
from checkrunner.model.values import Levels
from checkrunner.plan.build import Plan
from checkrunner.plan.previews import MOST_SHOWN_ITEMS, Previewer

BEFORE = make_check("before", register="before")


def look(plan: Plan, key: str = "c", host: int = 0) -> Preview:
    one = plan.hosts[host]
    return Previewer(lambda entry: not entry.shape.check.expect).preview(one, one.track.by_key[key])


def of(*, hosts: tuple[Host, ...] = (make_host(path="/var"),), **fields: Any) -> Preview:
    return look(plan_of(BEFORE, make_check(**fields), hosts=hosts))


@pytest.mark.parametrize(
    ("run", "command", "complete"),
    [
        ("df {{ path }}", "df /var", True),
        ("df {{ before.rc }} {{ path }}", "df {{ before.rc }} /var", False),
        ("{% if before.rc %}x{% endif %} {{ path }}", "{% if before.rc %}x{% endif %} {{ path }}", False),
        ("{{ nope }} {{ path }}", "{{ nope }} {{ path }}", False),
        ("{{ 1 + }}", "{{ 1 + }}", False),
        ("plain", "plain", True),
    ],
)
def test_commands(run: str, command: str, complete: bool) -> None:
    made = of(run=run)
    assert (made.command, made.complete, made.runs) == (command, complete, Runs.YES)


def test_words_are_quoted_and_omitted() -> None:
    assert of(argv=["echo", "a b", "{{ path }}", "{{ omit }}", "{{ before.rc }}"]).command == (
        "echo 'a b' /var {{ before.rc }}"
    )


@pytest.mark.parametrize(
    ("fields", "runs", "reason"),
    [
        ({"when": ["path == '/var'"]}, Runs.YES, ""),
        ({"when": ["path == '/'"]}, Runs.NO, "when: path == '/'"),
        ({"when": ["before.ok", "path == '/'"]}, Runs.NO, "when: path == '/'"),
        ({"when": ["before.ok"]}, Runs.LATER, "when: before.ok"),
        ({"when": ["before.ok"], "needs": ("before",)}, Runs.LATER, "when: before.ok; needs before to be ok or warn"),
        ({"loop": loop_of([])}, Runs.NO, "loop: no items"),
        ({"loop": loop_of("[]")}, Runs.NO, "loop: no items"),
    ],
)
def test_whether_it_runs(fields: dict[str, Any], runs: Runs, reason: str) -> None:
    made = of(**fields)
    assert (made.runs, made.reason) == (runs, reason)


def test_what_other_hosts_have_is_not_there_to_be_needed() -> None:
    plays = [
        (make_play(make_check("up")), [make_host("d")]),
        (make_play(make_check(needs=("up",)), name="q"), [make_host("w")]),
    ]
    assert look(plan_plays(plays), host=1).reason == "needs up, which does not run on this host"


def test_secrets_are_masked() -> None:
    host = make_host(token=Secret("hunter2"))
    env = {"A": "{{ token }}", "B": Secret("hunter3"), "C": "x {{ token }}", "D": "{{ omit }}", "E": "{{ before.rc }}"}
    made = of(env=env, hosts=(host,))
    assert made.env == (("A", "********"), ("B", "********"), ("C", "********"), ("E", "{{ before.rc }}"))


def test_items_of_loops() -> None:
    made = of(
        run="stat {{ item }} {{ before.rc }}",
        loop=loop_of(["/a", "{{ path }}", "/c"]),
        when=["item != '/c'", "before.ok"],
    )
    late = "when: before.ok"
    assert made.items == (
        ItemPreview(label="/a", runs=Runs.LATER, reason=late, command="stat /a {{ before.rc }}"),
        ItemPreview(label="/var", runs=Runs.LATER, reason=late, command="stat /var {{ before.rc }}"),
        ItemPreview(label="/c", runs=Runs.NO, reason="when: item != '/c'", command=""),
    )
    assert (made.runs, made.item_count, made.complete) == (Runs.LATER, 3, False)


def test_loops_that_need_a_result_and_long_ones() -> None:
    made = of(run="x {{ item }}", loop=loop_of("range(before.rc)"))
    assert (made.loop, made.items) == ("range(before.rc)", ())
    long = of(run="x {{ item }}", loop=loop_of("range(1000)"))
    assert (len(long.items), long.item_count, long.complete) == (MOST_SHOWN_ITEMS, 1000, True)


def test_accounts_are_those_of_each_host() -> None:
    hosts = [make_host("a"), Host(name="b", address="b", options={"become": True, "become_user": "app"})]
    plan = plan_of(make_check(), hosts=hosts)
    previewer = Previewer(lambda _: True)
    found = [previewer.preview(host, host.track.by_key["c"]).become for host in plan.hosts]
    assert found == ["", "app by sudo"]
    exact = make_check(argv=["id"], become=Become(become=True, exact=True))
    assert look(plan_of(exact)).become == "root by sudo, the command alone"


def test_expectations_and_levels_are_sentences() -> None:
    check = make_check(
        expect=(
            expected("rc", "number", 0),
            expected("stdout_lines", "number", ">= 3"),
            expected("stdout", "contains", "a {{ path }}"),
            expected("stderr", "empty", True),
            expected("that", "that", "elapsed_s <  1"),
        ),
        warn_if=["elapsed_s >  0.5"],
        levels=(Levels(name="used", warn=text("{{ 40 + 40 }}%"), crit=text("90%")),),
    )
    made = look(plan_of(check, hosts=[make_host(path="/var")]))
    assert made.expects == (
        "rc 0",
        "stdout_lines >= 3",
        "stdout contains 'a /var'",
        "stderr is empty",
        "elapsed_s < 1",
        "warn_if: elapsed_s > 0.5",
    )
    assert made.levels == ("used: warn 80%, crit 90%",)


def test_follow_ups_read_a_result() -> None:
    follower = make_check("c-log", "tail -n {{ out.rc }} {{ path }} {{ item }}")
    parent = make_check("c", register="out", loop=loop_of(["x"]), on_fail=(follower,))
    made = look(plan_of(parent, hosts=[make_host(path="/var")]), "c-log")
    assert (made.runs, made.reason) == (Runs.LATER, "only where c is not ok")
    assert made.command == "tail -n {{ out.rc }} /var {{ item }}"


def test_hosts_with_the_same_outcome_have_equal_previews() -> None:
    plan = plan_of(
        make_check(run="df {{ path }}"), hosts=[make_host(name, path=p) for name, p in zip("abc", "xxy", strict=True)]
    )
    previewer = Previewer(lambda _: True)
    found = [previewer.preview(host, host.track.by_key["c"]) for host in plan.hosts]
    assert found[0] == found[1] != found[2]
    assert len(set(found)) == 2


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from("ab {}%#|.'\"before.rc(path)\n"), max_size=40))
def test_any_text_has_a_preview(run: str) -> None:
    check = Check(id="c", name="c", run=text(run))
    made = look(plan_of(BEFORE, check, hosts=[make_host(path="/var")]))
    assert isinstance(made.command, str)
