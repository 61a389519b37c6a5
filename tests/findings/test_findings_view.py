"""A run as others are compared with it."""

from __future__ import annotations

from outcome_factory import host, planned, reason, skipped
from view_factory import at, came_to, fleet, versions, view

from checkrunner.findings.pairing import Pairing
from checkrunner.model.history import FLAP_CALM, FLAP_CHANGES, FLAP_RUNS, Cell, HostCell
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import Execution, HostState, Reason, VerdictState


def digest(*reasons: Reason, state: VerdictState = VerdictState.CRIT, name: str = "web1") -> str:
    from outcome_factory import finished

    return view([host(name, finished(name, planned(), state, *reasons))]).cells[name, "disk"].reasons


def test_a_first_run_begins_everything() -> None:
    made = view(fleet(web1="disk:o load:c"), minute=3)
    assert made.hosts == {"web1": HostCell(state=HostState.REACHED, since=at(3))}
    assert made.cells["web1", "disk"] == Cell(verdict=VerdictState.OK, since=at(3))
    assert made.cells["web1", "load"].since == at(3)


def test_since_goes_by_the_verdict_and_the_trail_by_the_reasons_too() -> None:
    first = view([host("web1", came_to("web1", "disk", "c", "full"))])
    second = view([host("web1", came_to("web1", "disk", "c", "gone"))], minute=5, before=first)
    third = view([host("web1", came_to("web1", "disk", "o"))], minute=10, before=second)
    fourth = view([host("web1", came_to("web1", "disk", "o"))], minute=15, before=third)
    cells = [one.cells["web1", "disk"] for one in (first, second, third, fourth)]
    assert [cell.since for cell in cells] == [at(0), at(0), at(10), at(10)]
    assert [cell.trail for cell in cells] == [0, 1, 0b11, 0b110]


def test_a_cell_that_stays_ok_is_the_same_object() -> None:
    first = view(fleet(web1="disk:o"))
    assert view(fleet(web1="disk:o"), minute=5, before=first).cells["web1", "disk"] is first.cells["web1", "disk"]


def test_what_was_skipped_for_another_check_keeps_what_was_known_of_it() -> None:
    first = view(fleet(db1="disk:c load:w"))
    held = CheckOutcome(
        host="db1", planned=planned("load"), verdict=skipped("db1", planned("load")).verdict, held_by="disk"
    )
    second = view([host("db1", came_to("db1", "disk", "c"), held)], minute=5, before=first)
    cell = second.cells["db1", "load"]
    assert (cell.blind, cell.was, cell.since) == (True, VerdictState.WARN, at(0))
    assert cell.reasons == first.cells["db1", "load"].reasons
    assert (cell.verdict, cell.execution) == (VerdictState.SKIPPED, Execution.NOT_RUN)


def test_numbers_names_and_what_is_there_make_no_other_reasons() -> None:
    assert digest(reason("91 % used", "used", "< 90", "91")) == digest(reason("97 % used", "used", "< 80", "97"))
    one = digest(reason("x", "stdout", "equals web1"))
    assert one == digest(reason("x", "stdout", "equals db7"), name="db7")
    assert one != digest(reason("x", "stdout", "equals web1"), state=VerdictState.UNKNOWN)
    assert digest(reason("1 line", "stdout", "is empty")) == digest(reason("2 lines", "stdout", "is empty"))
    assert digest(reason(subject="rc")) != digest(reason(subject="stdout"))
    assert digest(reason("could not enter /a", "execution", "done", "not_run"), state=VerdictState.UNKNOWN) != digest(
        reason("has to run as root", "execution", "done", "not_run"), state=VerdictState.UNKNOWN
    )


def test_flapping_begins_with_many_changes_and_ends_with_calm() -> None:
    def flaps(trail: str) -> bool:
        return Cell(verdict=VerdictState.OK, trail=int(trail, 2)).is_flapping

    assert not flaps("1" * (FLAP_CHANGES - 1))
    assert flaps("1" * FLAP_CHANGES)
    calm = FLAP_RUNS - FLAP_CALM
    assert flaps("1" * FLAP_CHANGES + "0" * calm)
    assert not flaps("1" * FLAP_CHANGES + "0" * (calm + 1))
    assert not flaps("10000" * 6)
    assert Cell(verdict=VerdictState.OK, trail=0b1011).changes == 3


def test_checks_are_paired_by_key_then_by_what_they_run() -> None:
    old = versions("a", "b", "c") | versions("swapped", command="s1") | versions("other", command="s2")
    new = versions("a", "d") | versions("b2", command="c-b") | versions("c", command="changed")
    new |= versions("swapped", command="s2") | versions("other", command="s1")
    pairing = Pairing.of(old, new)
    assert pairing.earlier == {"b2": "b", "swapped": "other", "other": "swapped"}
    assert (pairing.new, pairing.gone) == (("d",), ())
    assert pairing.difference("c") == (True, False)
    assert pairing.key_before("b2[/var]") == "b[/var]"
    assert pairing.key_after("swapped") == "other"


def test_a_copy_that_keeps_the_command_has_the_past() -> None:
    pairing = Pairing.of(versions("disk"), versions("disk", command="new") | versions("disk2", command="c-disk"))
    assert pairing.earlier == {"disk2": "disk"}
    assert (pairing.key_before("disk"), pairing.new) == ("", ("disk",))


def test_each_cell_has_a_check() -> None:
    made = view(fleet(web1="disk[/]:o more:c other[a]:o"), ("disk",))
    assert made.checks.keys() >= {key for _, key in made.cells}
    assert (made.checks["disk[/]"].command, made.checks["other[a]"].command) == ("c-disk", "")
