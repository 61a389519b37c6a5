#!/usr/bin/env python3
"""How often a run waits for a host: round trips of each host beside the levels of real dependency in its playbook.

    .venv/bin/python bench/round_trips.py [--hosts 20] [--rtt 50] [--forks 2]

A made playbook of 60 checks (loops, loops over results, registered results, needs, follow-ups, pre-checks, consensus,
one command that is repeated) over loopback hosts behind a relay that adds a round-trip time. What goes over each
host's channel is read as the protocol has it: `run` and `slice` requests, and the answers to them. The start of the
agent, and its end, are not counted: they are the same for every playbook.

| column | what |
|---|---|
| checks | outcomes of the host: items and follow-ups among them |
| requests | `run` and `slice` requests |
| bursts | pieces in which they were sent, with an answer between one and the next |
| trips | how often the host is waited for, one time after another: see below |
| levels | how often it has to be |

`trips` is the longest chain of requests each of which was sent because of the answer to the one before. `levels` is the
longest chain of checks each of which really needs the one before: a result that it reads, its `needs`, the pre-checks,
the check that it follows, an attempt before, the verdict before its slices; a session keeps its order. Answers come
one by one, as commands end, so that there are more bursts than trips.

Ends with 1 where a host has more trips than levels.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from loopback import delayed, start_sshd

from checkrunner.app import links
from checkrunner.app import run as running
from checkrunner.app.prepare import Request, prepare
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import Execution
from checkrunner.render.progress import SilentProgress
from checkrunner.settings import resolve_settings

ENOUGH = 60
_TURNS = 50
"""Of the event loop: more than it takes from an answer to what is sent because of it."""


def playbook() -> list[dict[str, Any]]:
    """Sixty checks. Hosts whose number can be divided by four have trouble."""
    words = ("self", "stat", "meminfo", "uptime", "loadavg")
    checks: list[dict[str, Any]] = [
        {"id": f"plain-{n}", "run": f"test -e /proc/{n + 1} || true", "expect": {"stdout": {"empty": True}}}
        for n in range(16)
    ]
    checks += [{"id": f"loop-{n}", "run": "ls -d /proc/{{ item }}", "loop": list(words[: 2 + n % 4])} for n in range(6)]
    checks += [
        {"id": f"same-{n}", "run": f"cut -d ' ' -f {n % 3 + 1} /proc/version", "consensus": True} for n in range(6)
    ]
    for n in range(3):
        checks += _found(n)
    for n in range(5):
        needs = {"needs": [f"chain-{n - 1}"]} if n else {}
        checks.append({"id": f"chain-{n}", "run": "true", "session": "chain", **needs})
    checks += [_trouble(n) for n in range(4)]
    twice = "echo x >> again.$PPID; test $(wc -l < again.$PPID) -ge 2 && rm again.$PPID"
    checks.append({"id": "again", "run": twice, "until": "rc == 0", "delay": 0, "session": "again"})
    play = {"name": "Round trips", "hosts": "all", "pre_checks": [{"id": "up", "run": "true"}], "checks": checks}
    while count([play]) < ENOUGH:
        checks.append({"id": f"last-{count([play])}", "run": "true", "requires": ["sh"]})
    assert count([play]) == ENOUGH, count([play])
    return [play]


def _found(n: int) -> list[dict[str, Any]]:
    """A result, a loop over it, and what reads all of that."""
    names = {"regex": "^(.*)$", "type": "text", "agg": "list", "missing": []}
    checks: list[dict[str, Any]] = [
        {"id": f"list-{n}", "run": f"seq {n + 2}", "extract": {"names": names}, "register": f"list{n}"},
        {"id": f"each-{n}", "run": "echo {{ item }}", "loop": f"list{n}.values.names", "register": f"each{n}"},
        {"id": f"sum-{n}", "run": f"test {{{{ each{n}.results | length }}}} -gt 0"},
    ]
    return [check | {"session": f"found{n}"} for check in checks]


def _trouble(n: int) -> dict[str, Any]:
    """Trouble on some hosts, what is run there because of it, and because of that."""
    tail = {"tail": 5, "when": "always"}
    deeper = {"id": f"deeper-{n}", "run": "ps -o pid= | tail -n 2", "slice": tail}
    drill = {"id": f"drill-{n}", "run": "exit 1", "slice": tail}
    return {
        "id": f"trouble-{n}",
        "run": f"test {{{{ inventory_hostname[-2:] | int % 4 }}}} -ne 0 || {{ echo trouble {n}; exit 1; }}",
        "on_fail": [
            drill | ({"on_fail": deeper} if n % 2 else {}),
            {"id": f"beside-{n}", "run": "uptime", "slice": tail},
        ],
        "session": f"trouble{n % 2}",
    }


def count(plays: Sequence[dict[str, Any]]) -> int:
    """The checks of a playbook, follow-ups among them."""
    todo = [check for play in plays for check in (*play["pre_checks"], *play["checks"])]
    found = 0
    while todo:
        check = todo.pop()
        found += 1
        follow = check.get("on_fail", [])
        todo += follow if isinstance(follow, list) else [follow]
    return found


@dataclass
class Wire:
    """What went to a host and came from it, as far as checks caused it."""

    requests: int = 0
    bursts: int = 0
    trips: int = 0
    chain: dict[int, int] = field(default_factory=dict)
    last: int = 0
    answered: bool = True

    def asked(self, idents: Sequence[int]) -> None:
        """These requests leave in one piece."""
        self.chain.update(dict.fromkeys(idents, self.last + 1))
        self.requests += len(idents)
        self.bursts += self.answered
        self.answered = False
        self.trips = max(self.trips, self.last + 1)

    def told(self, ident: int) -> None:
        """The answer to a request: what is sent until the next one is because of it."""
        if ident in self.chain:
            self.last, self.answered = self.chain[ident], True


WIRES: dict[str, Wire] = {}


class Watched:
    """A transport whose channels are read along."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def open(self, host: Host, command: str, *, timeout_s: float) -> WatchedChannel:
        channel = await self.inner.open(host, command, timeout_s=timeout_s)
        return WatchedChannel(channel, WIRES.setdefault(host.name, Wire()))


class WatchedChannel:
    """A channel that hands out one answer at a time, each when all that follows from the one before has been sent."""

    def __init__(self, inner: Any, wire: Wire) -> None:
        self.inner, self.wire = inner, wire
        self.sent = self.got = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def send(self, data: bytes) -> None:
        """See the seam."""
        self.sent += data
        idents = list(self.requests())
        if idents:
            self.wire.asked(idents)
        await self.inner.send(data)

    def requests(self) -> Iterator[int]:
        """The requests that have been sent whole: a header line each, and its sections behind it."""
        while b"\n" in self.sent:
            line, _, rest = self.sent.partition(b"\n")
            words = line.decode("ascii", "replace").split(" ")
            length = sum(int(m[1]) for word in words[2:] if (m := re.fullmatch(r"[^=:]+:(\d+)", word)))
            if len(rest) < length:
                return
            self.sent = rest[length:]
            if words[0] in ("run", "slice") and words[1].isdigit():
                yield int(words[1])

    async def receive(self) -> bytes:
        """See the seam."""
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        while True:
            if data := self.answer():
                return data
            more: bytes = await self.inner.receive()
            if not more:
                rest, self.got = self.got, b""
                return rest
            self.got += more

    def answer(self) -> bytes:
        """The first answer that has come whole; b"" where there is none."""
        line, end, _rest = self.got.partition(b"\n")
        try:
            answer = json.loads(line) if end and line.startswith(b"{") else {}
        except ValueError:
            answer = {}
        length = len(line) + 1 + int(answer.get("payload", 0))
        if not end or len(self.got) < length:
            return b""
        data, self.got = self.got[:length], self.got[length:]
        if answer.get("t") in ("result", "slice", "error"):
            self.wire.told(answer.get("id", 0))
        return data


def levels(outcome: HostOutcome) -> int:
    """The longest chain of dependencies among what a host was asked, by the outcomes of its checks."""
    known: dict[str, int] = {}
    lanes: dict[str, int] = {}
    longest = 0
    for check in order(outcome.checks):
        planned = check.planned
        needs = [known.get(key, 0) for key in planned.needs] + ([known[planned.follows]] if planned.follows else [])
        after = max(needs, default=0)
        ran = check.result is not None and check.result.execution is not Execution.NOT_RUN
        lane = f"{planned.check.session}"
        sent = max(lanes.get(lane, 1), after + 1)
        if not planned.follows:  # those hold up nobody
            lanes[lane] = sent + (check.attempts if planned.check.until else 0)
        known[planned.key] = sent + check.attempts - 1 if ran else after
        if planned.loop:
            known[planned.loop] = max(known.get(planned.loop, 0), known[planned.key])
        fetched = any(piece.query not in early(check) for piece in check.slices)
        longest = max(longest, known[planned.key] + fetched)
    return longest


def order(checks: Sequence[CheckOutcome]) -> Iterator[CheckOutcome]:
    """In the order of sending: follow-ups come after all that does not wait for them."""
    yield from (check for check in checks if not check.planned.follows)
    yield from (check for check in checks if check.planned.follows)


def early(check: CheckOutcome) -> list[Any]:
    """Slices that were sent along with their command."""
    wanted = [rule for rule in check.planned.check.slices if rule.when == "always"]
    return [piece.query for piece in check.slices for rule in wanted if piece.query.mode is rule.mode]


def measure(folder: Path, hosts: int, rtt_s: float, forks: int) -> tuple[list[HostOutcome], float]:
    """Run the playbook over so many hosts."""
    kept: list[HostOutcome] = []
    make, build = vars(links)["make_transport"], vars(running)["build_report"]
    setattr(links, "make_transport", lambda *a, **k: Watched(make(*a, **k)))  # noqa: B010 - not meant to be set

    def remember(outcomes: Sequence[HostOutcome], **more: Any) -> Any:
        kept.extend(outcomes)
        return build(outcomes, **more)

    setattr(running, "build_report", remember)  # noqa: B010 - as above
    with start_sshd(folder) as sshd, delayed(sshd.port, rtt_s, hosts) as port:
        names = {f"h{n:02}": f"127.0.0.{n}" for n in range(1, hosts + 1)}
        (folder / "inventory.ini").write_text(sshd.inventory(names, port=port), encoding="utf-8")
        (folder / "play.yml").write_text(yaml.safe_dump(playbook(), sort_keys=False), encoding="utf-8")
        settings = resolve_settings(
            {
                "inventory": [str(folder / "inventory.ini")],
                "ssh_config": "none",
                "start_timeout": "3m",
                "forks": str(forks),
            },
            environ={},
            cwd=folder,
        )
        prepared = prepare(Request(playbook=str(folder / "play.yml"), settings=settings))
        began = time.monotonic()
        report = running.run_prepared(prepared, SilentProgress())
        took = time.monotonic() - began
    if report.totals.hosts != hosts or report.incomplete:
        sys.exit(f"not all hosts were reached: {report.incomplete}")
    return kept, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--rtt", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--forks", type=int, default=2, help="hosts at a time: all of them are this machine")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        outcomes, took = measure(Path(name), args.hosts, args.rtt / 1000, args.forks)
    print(f"{ENOUGH} checks, {args.hosts} hosts, {args.rtt:g} ms: {took:.2f} s\n")
    print(f"{'host':6} {'checks':>7} {'requests':>9} {'bursts':>7} {'trips':>6} {'levels':>7}")
    over = 0
    for outcome in outcomes:
        wire, need = WIRES[outcome.host.name], levels(outcome)
        over += wire.trips > need
        row = f"{outcome.host.name:6} {len(outcome.checks):7} {wire.requests:9} {wire.bursts:7} {wire.trips:6} {need:7}"
        print(row + ("  <- more than levels" if wire.trips > need else ""))
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
