"""What changed between two runs, and what an operator is told of it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcome_factory import finished, host, planned, reason, skipped, stopped
from view_factory import at, came_to, fleet, versions, view

from checkrunner.findings.drift import drift_of, kind_of
from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.errors import UnreachableError
from checkrunner.model.history import FLAP_RUNS, RunView
from checkrunner.model.plan import HostOutcome
from checkrunner.model.results import Execution, HostState, VerdictState

OK, WARN, CRIT, UNKNOWN, SKIPPED = VerdictState


def told(drift: Drift) -> list[str]:
    """``regression disk on web1: ok > crit``."""
    return [
        f"{change.kind} {change.check or '(host)'} on {change.hosts}: {change.before or '-'} > {change.after or '-'}"
        for change in drift.changes
    ]


def away(name: str, *keys: str) -> HostOutcome:
    error = UnreachableError(f"{name}: no route to host")
    return host(
        name,
        *(stopped(name, planned(key), "the host was not reached", error) for key in keys),
        state=HostState.UNREACHABLE,
        error=error,
    )


def runs(*fleets: list[HostOutcome], checks: tuple[str, ...] = ("disk", "load")) -> list[RunView]:
    """A run every five minutes, each after the one before."""
    out: list[RunView] = []
    for number, outcomes in enumerate(fleets):
        out.append(view(outcomes, checks, minute=5 * number, before=out[-1] if out else None))
    return out


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        *((before, OK, ChangeKind.RECOVERY) for before in (WARN, CRIT, UNKNOWN)),
        *((before, OK, None) for before in (None, SKIPPED)),
        *((before, CRIT, ChangeKind.REGRESSION) for before in (None, OK, WARN, UNKNOWN, SKIPPED)),
        *((before, WARN, ChangeKind.REGRESSION) for before in (None, OK, UNKNOWN, SKIPPED)),
        (CRIT, WARN, ChangeKind.RECOVERY),
        *((before, UNKNOWN, ChangeKind.UNSEEN) for before in (None, OK, WARN, CRIT, SKIPPED)),
        *((before, SKIPPED, ChangeKind.DROPPED) for before in (OK, WARN, CRIT)),
        (UNKNOWN, SKIPPED, ChangeKind.SEEN),
        (None, SKIPPED, None),
        *((before, None, ChangeKind.DROPPED) for before in (OK, WARN, CRIT, UNKNOWN)),
        *((before, None, None) for before in (None, SKIPPED)),
    ],
)
def test_what_became_of_a_check(
    before: VerdictState | None, after: VerdictState | None, kind: ChangeKind | None
) -> None:
    assert kind_of(before, after) is kind


@pytest.mark.parametrize("state", list(VerdictState))
def test_other_reasons_count_where_there_is_trouble(state: VerdictState) -> None:
    expected = None if state in {OK, SKIPPED} else ChangeKind.CHANGED
    assert kind_of(state, state, same_reasons=False) is expected
    assert kind_of(state, state) is None


def test_a_regression_a_recovery_and_what_stays() -> None:
    before, after = runs(
        fleet(web1="disk:o load:c", web2="disk:o load:w", web3="disk:c load:o"),
        fleet(web1="disk:c load:o", web2="disk:c load:w", web3="disk:c load:o"),
    )
    drift = drift_of(before, after)
    assert told(drift) == ["regression disk on web[1-2]: ok > crit", "recovery load on web1: crit > ok"]
    assert (drift.unchanged, drift.worse, drift.unlike) == (2, 1, ())
    first = drift.changes[0]
    assert (first.since, first.before_since, first.name) == (at(5), at(0), "Check disk")


def test_the_same_numbers_are_no_other_reason_and_another_expectation_is() -> None:
    before = view([host("web1", came_to("web1", "disk", "c", "used 91 %", "< 90"))])
    numbers = view([host("web1", came_to("web1", "disk", "c", "used 97 %", "< 90"))], before=before)
    other = view([host("web1", came_to("web1", "disk", "c", "inodes 97 %", "inodes < 90"))], before=before)
    assert drift_of(before, numbers).changes == ()
    assert told(drift_of(before, other)) == ["changed disk on web1: crit > crit"]


def test_an_unreachable_host_is_one_change_and_nobody_is_told_twice_when_it_is_back() -> None:
    here = fleet(web1="disk:c load:o", web2="disk:o load:o")
    gone = [*fleet(web1="disk:c load:o"), away("web2", "disk", "load")]
    away_both = [away("web1", "disk", "load"), away("web2", "disk", "load")]
    views = runs(here, gone, away_both, here)
    assert told(drift_of(views[0], views[1])) == ["unseen (host) on web2: reached > unreachable"]
    second = drift_of(views[1], views[2])
    assert told(second) == ["unseen (host) on web1: reached > unreachable"]
    assert second.unchanged == 1  # web2 is still away
    back = drift_of(views[2], views[3])
    assert told(back) == ["seen (host) on web[1-2]: unreachable > reached"]
    assert not back.is_worse
    assert views[3].cells["web1", "disk"].since == at(0)
    assert back.changes[0].before_since == at(5)


def test_a_host_that_comes_back_worse_is_told() -> None:
    views = runs(fleet(web1="disk:o"), [away("web1", "disk")], fleet(web1="disk:c"))
    assert told(drift_of(views[1], views[2])) == [
        "regression disk on web1: ok > crit",
        "seen (host) on web1: unreachable > reached",
    ]


def test_a_check_that_needs_one_in_trouble_is_told_with_that() -> None:
    held = replace(skipped("db1", planned("lag")), held_by="up")
    checks = ("up", "lag")
    views = runs(
        fleet(db1="up:o lag:w"), [host("db1", came_to("db1", "up", "c"), held)], fleet(db1="up:o lag:w"), checks=checks
    )
    assert told(drift_of(views[0], views[1])) == ["regression up on db1: ok > crit"]
    assert told(drift_of(views[1], views[2])) == ["recovery up on db1: crit > ok"]
    assert views[2].cells["db1", "lag"].since == at(0)


def test_a_check_that_follows_another_comes_and_goes_with_it() -> None:
    checks = versions("disk") | versions("who", follows="disk")
    calm, trouble = fleet(web1="disk:o"), fleet(web1="disk:c who:c")
    before, after = view(calm, checks), view(trouble, checks)
    assert told(drift_of(before, after)) == ["regression disk on web1: ok > crit"]
    assert told(drift_of(after, before)) == ["recovery disk on web1: crit > ok"]


def test_a_check_that_runs_once_is_the_same_on_another_host() -> None:
    checks = versions("disk") | versions("quorum", once=True)
    first = view(fleet(web1="disk:o quorum:c", web2="disk:o"), checks)
    same = view(fleet(web1="disk:o", web2="disk:o quorum:c"), checks, minute=5, before=first)
    fine = view(fleet(web1="disk:o", web2="disk:o quorum:o"), checks, minute=5, before=first)
    assert drift_of(first, same) == replace(drift_of(first, same), changes=(), unchanged=1)
    assert same.cells["web2", "quorum"].since == at(0)
    assert told(drift_of(first, fine)) == ["recovery quorum on web2: crit > ok"]


def test_items_of_a_loop_are_told_together() -> None:
    before = view(fleet(web1="disk[/]:o disk[/var]:o disk[/srv]:o disk[/tmp]:o"), ("disk",))
    after = view(fleet(web1="disk[/]:c disk[/var]:c disk[/new]:c disk[/tmp]:o"), ("disk",), minute=5, before=before)
    drift = drift_of(before, after)
    assert told(drift) == [
        "regression disk[/new] on web1: - > crit",
        "regression disk on web1: ok > crit",
        "dropped disk[/srv] on web1: ok > -",
    ]
    assert (drift.changes[1].items, drift.changes[1].item_count) == (("/", "/var"), 2)


def test_items_of_a_loop_that_could_not_be_had_are_not_gone() -> None:
    views = runs(
        fleet(web1="disk[/]:c disk[/var]:o"),
        [away("web1", "disk")],
        fleet(web1="disk:u"),
        fleet(web1="disk[/]:c disk[/var]:o"),
        checks=("disk",),
    )
    assert told(drift_of(views[0], views[1])) == ["unseen (host) on web1: reached > unreachable"]
    assert told(drift_of(views[1], views[2])) == [
        "unseen disk on web1: - > unknown",
        "seen (host) on web1: unreachable > reached",
    ]
    assert drift_of(views[1], views[2]).unlike == ()
    assert told(drift_of(views[2], views[3])) == ["dropped disk on web1: unknown > -"]
    assert views[3].cells["web1", "disk[/]"].since == at(0)


def test_items_that_were_gone_before_their_loop_could_not_be_had_are_no_news_later() -> None:
    views = runs(fleet(web1="disk[/]:o disk[/var]:c"), fleet(web1="disk[/]:o"), fleet(web1="disk:u"), checks=("disk",))
    assert told(drift_of(views[0], views[2])) == ["unseen disk on web1: - > unknown"]


def test_a_renamed_check_keeps_its_past() -> None:
    before = view(fleet(web1="df[/]:c load:o"), ("df", "load"))
    checks = versions("load") | versions("space", command="c-df", rules="r-df")
    after = view(fleet(web1="space[/]:c load:o"), checks, minute=5, before=before, playbook_digest="2")
    drift = drift_of(before, after)
    assert (drift.changes, drift.unchanged) == ((), 1)
    assert drift.unlike == ("the playbook was changed: df is called space now",)
    assert after.cells["web1", "space[/]"].since == at(0)
    worse = view(fleet(web1="space[/]:u load:o"), checks, minute=5, before=before)
    assert [change.note for change in drift_of(before, worse).changes] == ["renamed from df"]


def test_of_two_checks_that_run_the_same_what_they_expect_tells_which_was_renamed() -> None:
    old = versions("a", command="df", rules="90") | versions("b", command="df", rules="80")
    new = versions("x", command="df", rules="80") | versions("y", command="df", rules="90")
    before = view(fleet(web1="a:c b:w"), old)
    after = view(fleet(web1="x:w y:c"), new, minute=5, before=before)
    assert drift_of(before, after).changes == ()


def test_a_changed_threshold_is_said_and_not_counted_as_unsteadiness() -> None:
    before = view(fleet(web1="disk:o load:o"))
    checks = versions("disk", rules="80") | versions("load")
    after = view(fleet(web1="disk:w load:o"), checks, minute=5, before=before, playbook_digest="2")
    drift = drift_of(before, after)
    assert [(change.kind, change.note) for change in drift.changes] == [
        (ChangeKind.REGRESSION, "it expects something else")
    ]
    assert drift.unlike == ("the playbook was changed: disk expects something else",)
    assert after.cells["web1", "disk"].trail == 0


def test_runs_of_other_hosts_are_compared_in_what_both_have() -> None:
    before = view(fleet(web1="disk:o", web2="disk:o", db1="disk:c"), of={"limit": ""})
    after = view(fleet(web1="disk:c", web9="disk:c"), minute=5, of={"limit": "web*"})
    drift = drift_of(before, after)
    assert told(drift) == ["regression disk on web1: ok > crit"]
    assert drift.unlike == (
        "the earlier run was of all hosts, the later one of the hosts web*",
        "of 3 and 2 hosts, the one in both is compared",
    )


def test_hosts_that_came_or_went_count_in_runs_of_one_selection() -> None:
    before = view(fleet(web1="disk:o", old1="disk:c load:o"))
    after = view([*fleet(web1="disk:o", new1="disk:c load:o"), away("new2", "disk")], minute=5, before=before)
    drift = drift_of(before, after)
    assert told(drift) == [
        "unseen (host) on new2: - > unreachable",
        "regression disk on new1: - > crit",
        "dropped (host) on old1: reached > -",
    ]
    assert drift.unlike == ("other hosts: 2 hosts (new[1-2]) are new, 1 host (old1) is gone",)


def test_an_interrupted_run_blames_nobody_for_what_it_did_not_look_at() -> None:
    whole = view(fleet(web1="disk:o load:o", web2="disk:o load:c"))
    cut = [
        host("web1", came_to("web1", "disk", "c"), stopped("web1", planned("load"), "interrupted")),
        host(
            "web2",
            *(stopped("web2", planned(key), "interrupted") for key in ("disk", "load")),
            state=HostState.NOT_TRIED,
        ),
    ]
    after = view(cut, minute=5, before=whole, ended="interrupted")
    drift = drift_of(whole, after)
    assert told(drift) == ["regression disk on web1: ok > crit"]
    assert drift.unlike == ("the later run was interrupted: 3 checks on 2 hosts were not looked at",)
    first = view(cut, ended="interrupted")
    assert told(drift_of(first, whole)) == ["recovery disk on web1: crit > ok"]


def test_a_host_that_was_left_out_and_is_now_away_is_told() -> None:
    left = host("web2", stopped("web2", planned("disk"), "max_fail"), state=HostState.NOT_TRIED)
    reached = fleet(web1="disk:o", web2="disk:o")
    _, before, after = runs(reached, [*fleet(web1="disk:c"), left], [*fleet(web1="disk:o"), away("web2", "disk")])
    assert told(drift_of(before, after)) == [
        "unseen (host) on web2: not_tried > unreachable",
        "recovery disk on web1: crit > ok",
    ]
    assert told(drift_of(before, view(reached, minute=10, before=before))) == ["recovery disk on web1: crit > ok"]


def test_new_and_gone_checks_of_a_changed_playbook() -> None:
    before = view(fleet(web1="disk:o old:c"), ("disk", "old"))
    after = view(fleet(web1="disk:o load:c fine:o"), ("disk", "load", "fine"), minute=5, before=before)
    drift = drift_of(before, after)
    assert told(drift) == ["regression load on web1: - > crit", "dropped old on web1: crit > -"]
    assert drift.unlike == ("the playbook was changed: 2 checks (load and fine) are new, 1 check (old) is gone",)


def test_what_flaps_is_told_when_it_begins_and_when_it_stays_in_trouble() -> None:
    pattern = "ocococ" + "o" * FLAP_RUNS + "ocococ" + "c" * FLAP_RUNS
    views = runs(*(fleet(web1=f"disk:{letter}") for letter in pattern))
    worse = [
        (number, change.kind, change.note)
        for number, (before, after) in enumerate(itertools.pairwise(views), 1)
        for change in drift_of(before, after).changes
        if change.is_worse
    ]
    calm = len("ocococ" + "o" * FLAP_RUNS)
    stays = "it does not change any more"
    assert [entry for entry in worse if entry[0] < calm] == [
        (1, ChangeKind.REGRESSION, ""),
        (3, ChangeKind.REGRESSION, ""),
        (4, ChangeKind.FLAPPING, ""),
    ]
    assert worse[-1][1:] == (ChangeKind.REGRESSION, stays)
    assert [entry[1] for entry in worse if entry[0] >= calm].count(ChangeKind.FLAPPING) == 1


def test_a_host_that_came_and_went_and_then_stays_away_is_told() -> None:
    pattern = "ururur" + "u" * FLAP_RUNS
    views = runs(*([away("web1", "disk")] if letter == "u" else fleet(web1="disk:o") for letter in pattern))
    worse = [
        (change.kind, change.check, change.note)
        for before, after in itertools.pairwise(views)
        for change in drift_of(before, after).changes
        if change.is_worse
    ]
    assert worse[-2:] == [
        (ChangeKind.FLAPPING, "", ""),
        (ChangeKind.UNSEEN, "", "it does not change any more"),
    ]


def test_what_is_silenced_is_listed_and_not_worse() -> None:
    before, after = runs(fleet(web1="disk:o", web2="disk:o"), fleet(web1="disk:c", web2="disk:c"))
    drift = drift_of(before, after, silent=lambda name, check: (name, check) == ("web1", "disk"))
    assert [(change.hosts, change.silenced) for change in drift.changes] == [("web2", False), ("web1", True)]
    assert drift.worse == 1
    assert not drift_of(before, after, silent=lambda *_: True).is_worse


@pytest.mark.parametrize(("letters", "kind"), [("cc", "regression"), ("cw", "regression"), ("co", None)])
def test_what_is_in_trouble_when_its_silence_ends_is_told(letters: str, kind: str | None) -> None:
    before, after = runs(*(fleet(web1=f"disk:{letter} load:c") for letter in letters))
    was_silent = lambda _, check: check == "disk"  # noqa: E731 - short
    worse = [change for change in drift_of(before, after, was_silent=was_silent).changes if change.is_worse]
    assert [(change.kind, change.check, change.note) for change in worse] == (
        [(kind, "disk", "nobody silences it any more")] if kind else []
    )
    assert not drift_of(before, after, was_silent=was_silent, silent=was_silent).is_worse


def test_a_host_that_is_away_when_its_silence_ends_is_told() -> None:
    before, after = runs([away("web1", "disk")], [away("web1", "disk")])
    (change,) = drift_of(before, after, was_silent=lambda *_: True).changes
    assert (change.kind, change.check, change.note) == (ChangeKind.UNSEEN, "", "nobody silences it any more")
    assert drift_of(before, after, was_silent=lambda *_: True, silent=lambda *_: True).changes == ()


def test_what_is_not_listed_still_counts() -> None:
    keys = tuple(f"check{number}" for number in range(30))
    before = view(fleet(web1=" ".join(f"{key}:c" for key in keys)), keys)
    after = view(fleet(web1=" ".join(f"{key}:{'o' if key != 'check7' else 'u'}" for key in keys)), keys)
    drift = drift_of(before, after, most=0)
    assert (drift.changes, drift.left_out, drift.worse) == ((), 30, 1)


def test_a_command_that_hangs_elsewhere_hangs_for_the_same_reason() -> None:
    def hanging(last: str, execution: Execution = Execution.TIMED_OUT) -> list[HostOutcome]:
        said = f"was ended by its timeout of 5 s; last seen: {last}"
        why = reason(said, subject="execution", expected="done", actual=str(execution))
        return [host("web1", finished("web1", planned("disk"), UNKNOWN, why, execution=execution))]

    before, same, other = (
        view(hanging(*words)) for words in (("df in D",), ("sleep idle",), ("df in D", Execution.STUCK))
    )
    assert drift_of(before, same).changes == ()
    assert told(drift_of(before, other)) == ["changed disk on web1: unknown > unknown"]


letters = st.sampled_from("owcus-")
tables = st.dictionaries(
    st.sampled_from(["web1", "web2", "web3", "db1"]),
    st.dictionaries(st.sampled_from(["disk", "load", "unit[a]", "unit[b]"]), letters, max_size=4),
    max_size=4,
)


def drawn(table: dict[str, dict[str, str]], before: RunView | None = None, minute: int = 0) -> RunView:
    outcomes = [
        host(name, *(came_to(name, key, letter) for key, letter in row.items() if letter != "-"))
        for name, row in table.items()
    ]
    return view(outcomes, ("disk", "load", "unit"), minute=minute, before=before)


def cells_of(change: Change) -> list[tuple[str, str]]:
    keys = [f"{change.check}[{item}]" for item in change.items] or [change.check]
    return [(name, key) for name in change.names for key in keys]


@given(tables)
@settings(max_examples=25)
def test_a_run_does_not_differ_from_itself(table: dict[str, dict[str, str]]) -> None:
    one = drawn(table)
    drift = drift_of(one, one)
    assert (drift.changes, drift.unlike, drift.worse, drift.left_out) == ((), (), 0, 0)
    assert drift.unchanged == sum(cell.verdict in {WARN, CRIT, UNKNOWN} for cell in one.cells.values())


@given(tables, tables)
@settings(max_examples=40)
def test_each_pair_that_differs_is_in_one_change(
    first: dict[str, dict[str, str]], second: dict[str, dict[str, str]]
) -> None:
    before, after = drawn(first), drawn(second)
    drift = drift_of(before, after)
    found = [cell for change in drift.changes for cell in cells_of(change)]
    assert len(found) == len(set(found))
    expected = {
        cell
        for cell in before.cells.keys() | after.cells.keys()
        if cell[0] in after.hosts
        and kind_of(
            *(view.cells[cell].verdict if cell in view.cells else None for view in (before, after)),
            same_reasons=True,
        )
    }
    gone = {(name, "") for name in before.hosts.keys() - after.hosts.keys()}
    assert set(found) == expected | gone
    turned = [replace(one, cells=dict(list(one.cells.items())[::-1])) for one in (before, after)]
    assert drift_of(*turned) == drift
