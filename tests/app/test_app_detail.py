from __future__ import annotations

from checkrunner.app.detail import detail_of
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.results import HostState, Verdict, VerdictState
from checkrunner.model.sources import Template


def outcome(host: str, state: HostState, **checks: Verdict) -> HostOutcome:
    return HostOutcome(
        host=Host(name=host, address=host),
        state=state,
        checks=tuple(
            CheckOutcome(
                host=host,
                planned=PlannedCheck(
                    key=key, play="p", check=Check(id=key, name=f"Name {key}", run=Template(text="x"))
                ),
                verdict=verdict,
            )
            for key, verdict in checks.items()
        ),
    )


def test_each_check_on_each_host_has_its_letter() -> None:
    ok, noted = Verdict(state=VerdictState.OK), Verdict(state=VerdictState.OK, noted=True)
    crit, warn, unknown, skipped = (
        Verdict(state=state)
        for state in (VerdictState.CRIT, VerdictState.WARN, VerdictState.UNKNOWN, VerdictState.SKIPPED)
    )

    made = detail_of(
        [
            outcome("b", HostState.REACHED, disk=ok, load=warn),
            outcome("a", HostState.LOST, load=unknown, token=crit, disk=noted),
            outcome("c", HostState.REACHED, smart=skipped),
            outcome("d", HostState.UNREACHABLE),
        ],
        lambda text: text.replace("token", "<secret>"),
    )

    assert made.hosts == ("b", "a", "c", "d")
    assert made.states == (HostState.REACHED, HostState.LOST, HostState.REACHED, HostState.UNREACHABLE)
    assert made.checks == ("disk", "load", "<secret>", "smart")
    assert made.names == ("Name disk", "Name load", "Name <secret>", "Name smart")
    assert made.rows == ("ow..", "nuc.", "...s", "....")
