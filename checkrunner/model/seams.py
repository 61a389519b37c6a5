"""The seams: Protocols whose docstrings are the contract. An implementer need not import us.

`checkrunner.testing` holds a conformance check for each, and in-memory twins of those that touch the world.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Protocol, TextIO, runtime_checkable

from checkrunner.model.history import Baseline, Detail, RunView, Silence, Suppression
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import (
    CheckOutcome,
    HostOutcome,
    Items,
    Judgement,
    OnPrompt,
    PlannedCheck,
    PromptText,
    Settled,
    Skip,
    Step,
)
from checkrunner.model.report import Report, Wait
from checkrunner.model.results import RawSlice, Result, Slice, SliceQuery, Verdict
from checkrunner.model.sources import Secret, Template

__all__ = [
    "Channel",
    "Driver",
    "Observer",
    "Past",
    "Queues",
    "Redactor",
    "Renderer",
    "Script",
    "Session",
    "Templates",
    "TokenCounter",
    "Transport",
]


class Channel(Protocol):
    """A byte stream to a program running on the host. Three endings are kept apart: closed by us, ended by the peer
    (`receive` returns b""), broken (`receive` or `send` raises)."""

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the peer does not read.

        Raises SessionLostError when the peer is gone or the link broke. A cancelled send may have sent a part.
        """
        ...

    async def receive(self) -> bytes:
        """The next bytes, at most 256 KiB; b"" once the peer has ended its output. One reader at a time.

        Raises SessionLostError when the link broke, also where the program floods its standard error: what has come
        by then is handed out first. Cancelling loses no bytes.
        """
        ...

    def stderr_tail(self) -> bytes:
        """The last bytes (at most 4 KiB) that the program wrote to its standard error: for error messages only."""
        ...

    async def end_input(self) -> None:
        """End the program's input alone, and send no more: its output still comes. Never raises."""
        ...

    async def aclose(self, *, kill: bool = False) -> bool:
        """End the program's input and the channel; idempotent, never raises, returns within about a second.

        The program on the host sees the end of its input; whatever it started is its own duty to end. With `kill` it
        is ended as well, where the host can do that: for a program that does not get as far as reading its input.
        True where the program is known to have ended.
        """
        ...


class Transport(Protocol):
    """How a host is reached. One object serves a whole run; it may keep what hosts share (keys, jump connections)."""

    async def open(self, host: Host, command: str, *, timeout_s: float) -> Channel:
        """Connect, start `command` (a line for the account's login shell, whichever shell that is) and return its
        byte stream. A second `open` for a host whose connection stands uses that connection.

        Raises only members of the ConnectError family (foreign errors are mapped, `raise ... from`). A cancelled or
        failed open leaves no process and no connection behind.
        """
        ...

    def warnings(self, host: Host) -> Sequence[str]:
        """What the host's settings ask for that this transport does not do, one sentence each. Connects nothing.

        Raises SettingsError and InventoryError for settings that cannot be used.
        """
        ...

    async def aclose(self) -> None:
        """Drop every connection; idempotent, never raises."""
        ...


@runtime_checkable
class Queues(Protocol):
    """A transport that knows what hosts wait for before they can be reached has this as well."""

    def waits(self) -> Sequence[Wait]:
        """Places where hosts wait or have waited so far, those that began first in front. Cheap; while a run lasts."""
        ...


class Session(Protocol):
    """The remote side of one host: named shell sessions, captures, slices. Any number of calls may be in flight;
    answers may come in any order; commands of one named session run in the order of the calls."""

    @property
    def agent(self) -> str:
        """What is at the other end, for people: ``python 3.11.2, bash 5.2.15, uid 0``; "" until it has said hello."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the start (a login shell's noise, a fallback directory); may grow during the run."""
        ...

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step; the slices answer `step.early`, one each, with an error where the host refused it; None
        where it was not asked.

        `on_prompt` is asked what the command asks on its terminal and `step.command.prompts` do not answer, one
        question at a time, unless `on_input` is `fail`. Without it such a question ends the command, whatever
        `on_input` says.

        `on_state` is told what the command's processes are doing: first when it has run for about a second, then when
        that changes, and every now and then while it does not. Never before the command has started, and never once
        `run` has returned, raised or been cancelled. It is called on the event loop: it may not block and may not
        raise.

        A session may get over the loss of its link. Then calls in flight go on, and a command that had begun and has no
        result is one with the execution ``lost`` and the note `LINK_LOST`; it is not run again.

        Raises SessionLostError when the link ends for good before the answer (all calls in flight get the same cause),
        BootstrapError members when the remote side turns out not to have started, and AgentError when it refuses the
        request. A command that fails, times out or loses its shell is a
        Result, not an error. Cancelling the call does not end the command on the host; `cancel` does.
        """
        ...

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output.

        Cost: one round trip; the host reads only what the query needs. Raises SessionLostError, and AgentError, also
        where the output was lost with the link.
        """
        ...

    async def cancel(self) -> None:
        """End every command that is running and refuse what is queued; returns when the host has said so."""
        ...

    async def aclose(self) -> None:
        """End the remote side: it ends its processes and removes its directory. Idempotent, never raises."""
        ...


class Templates(Protocol):
    """What the judge needs of templates and expressions. Every method raises TemplateError, and nothing else, for what
    is written wrongly or reads a name that is not there. Pure: the same names give the same answer."""

    def render(self, template: Template, names: Mapping[str, Any]) -> str:
        """The text with its templates filled in; a text without any as it stands. Values are not templates again."""
        ...

    def evaluate(self, expression: Template, names: Mapping[str, Any]) -> Any:
        """The value of an expression, which is written without braces."""
        ...

    def names_in_expression(self, expression: Template) -> frozenset[str]:
        """The names that an expression reads; those that it makes itself are not among them."""
        ...

    def attributes_of(self, expression: Template, name: str) -> frozenset[str]:
        """What an expression reads of one of its names: ``{"rc"}`` for ``disk.rc > 0``; empty for other names."""
        ...


class Script(Protocol):
    """What one host is to do: the joint of plan, judge and slices that the engine drives. Pure: no I/O, no clock."""

    host: Host
    checks: Sequence[PlannedCheck]
    """In play order. The engine sends them in this order, each named session its own, waiting only for `needs`."""

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip | Items | Settled:
        """Render the check. `outcomes` holds at least those of `planned.needs`, by key.

        Called once per check, before anything else is asked about it; for a loop once, and then once for each of its
        items. Raises TemplateError: the engine makes the outcome `unknown` with that reason.
        """
        ...

    def judge(
        self,
        step: Step,
        result: Result,
        outcomes: Mapping[str, CheckOutcome],
        reads: Sequence[RawSlice | None] = (),
        attempt: int = 1,
    ) -> Judgement:
        """The verdict on a result, and the values in it. `reads` answer the last `step.reads` queries of `step.early`,
        None where nothing was asked. `attempt` is 1 for the first run of a command that may be run again. Total:
        trouble in an expression is an `unknown` verdict, not an exception. A command that did not run to its end is
        `unknown`, or `skipped` where something is missing: never ok, never crit, unless it is a task."""
        ...

    def again(self, step: Step, result: Result, judgement: Judgement, attempt: int) -> float | None:
        """In how many seconds the command is to be run once more (`until`), None when this run counts. Total."""
        ...

    def whole(self, planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
        """What a loop as a whole came to: what checks that need it, or read its result, get to see. Total."""
        ...

    def follow(self, outcome: CheckOutcome) -> Sequence[PlannedCheck]:
        """The checks that are to run because of this outcome (`on_fail`): in the same session, after what has been
        sent. They are planned only now. Asked once for each check and item that was not skipped. Total."""
        ...

    def ask(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """The slices to fetch after the verdict (those not already in `step.early`). May be empty."""
        ...

    def keep(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """Parts of the outputs that are to be kept after the run, to be fetched after the slices; they are handed to
        `kept`. Mostly empty. Total."""
        ...

    def kept(self, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        """Take what `keep` asked for, as far as it could be had. Total."""
        ...

    def show(self, step: Step, raw: RawSlice) -> Slice:
        """Make a slice of what the host sent: text view, redaction, evidence id. Nothing else turns output to text."""
        ...


class Observer(Protocol):
    """Watches a run. Methods are called on the event loop: they may not block and may not raise."""

    def run_started(self, hosts: int, checks: int) -> None:
        """Once, before anything connects. `checks` counts (host, check) pairs."""
        ...

    def checks_added(self, host: str, more: int) -> None:
        """A check turned out to be several: a loop has come to its items, or others follow it. The run has so many more
        than were known of."""
        ...

    def host_connecting(self, host: str) -> None:
        """A connection attempt starts (after waiting for its turn)."""
        ...

    def hosts_waiting(self, waits: Sequence[Wait]) -> None:
        """Where hosts that connect wait at the moment (`waiting` is never 0), about once a second while some do, and
        once with nothing when that is over."""
        ...

    def host_connected(self, host: str) -> None:
        """The connection stands and the remote side is starting; its hello is not waited for."""
        ...

    def check_started(self, host: str, planned: PlannedCheck) -> None:
        """The check was sent to the host."""
        ...

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        """What the check's command is doing on the host; any number of times between the two events around this one.
        The texts in it are the host's."""
        ...

    def check_finished(self, outcome: CheckOutcome) -> None:
        """Exactly once per planned check, whatever became of it; of a loop once for each of its items instead."""
        ...

    def host_finished(self, outcome: HostOutcome) -> None:
        """Exactly once per host, after all of its checks."""
        ...

    def run_finished(self) -> None:
        """Once, at the end, also after an interrupt."""
        ...

    def tick(self) -> None:
        """About once a second while the run lasts, so that a view can say what is being waited for."""
        ...


class Driver(Protocol):
    """Who answers the questions of commands that the playbook has no answer to: a person, or a program that drives the
    run. What a command asks is the host's text: data, never an instruction."""

    async def answer(self, host: str, planned: PlannedCheck, prompt: PromptText) -> Secret | None:
        """The line to type, without its newline; None refuses. May be called for several hosts at once.

        Takes its time; the check's timeout goes on meanwhile. Cancelled when no answer is needed any more. May not
        raise.
        """
        ...


class Redactor(Protocol):
    """Removes secrets from text before it leaves the run."""

    def redact(self, text: str, known: Sequence[Secret | str] = ()) -> str:
        """Idempotent; never lengthens a line without bound; keeps the number of lines. `known` are further secrets that
        this text may hold. A NUL says that something was left out there, so that half a secret is known for one."""
        ...

    def counts(self) -> Mapping[str, int]:
        """How many different secrets were masked so far, by kind."""
        ...


class Renderer(Protocol):
    """A report format (a row of `render.RENDERERS`)."""

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:
        """Write the report: a pure function of it, without exit code, clock or global colour setting. `detail` is what
        came of each check on each host, for formats that tell it; without it they tell what the report holds."""
        ...


class Past(Protocol):
    """What earlier runs of the same playbook showed, and what people said of its checks since. Without a store of runs
    there is `NoPast`. Nothing that it answers changes while it is asked. Cheap: asked for each check on each host."""

    def findings(self) -> Container[str] | None:
        """The ids of the findings of the last run; None where there was none, so that nothing is called new."""
        ...

    def shapes(self, host: str, check: str) -> Container[str] | None:
        """The shapes (`findings.salience.shape_of`) of the lines that the check's output had on the host when it was
        last ok; None where that is not known."""
        ...

    def view(self) -> RunView | None:
        """The last run that this one can be compared with: of the same playbook and selection, ended normally."""
        ...

    def baseline(self, host: str, check: str) -> Baseline | None:
        """The output that was accepted as how it should be; None where none was. Raises HistoryError where it is
        damaged."""
        ...

    def silence(self, host: str, check: str) -> Silence | None:
        """The silence that holds for the check on the host now; of several the one that ends last. With the check "":
        the one that holds for all checks of the host, and so for what becomes of the host itself."""
        ...

    def was_silenced(self, host: str, check: str) -> bool:
        """Whether a silence held for it when the last run began."""
        ...

    def suppression(self, host: str, check: str) -> Suppression | None:
        """Why the check is not to be run on the host now; None where it is."""
        ...


class TokenCounter(Protocol):
    """Estimates how many tokens of a model's context a text takes."""

    name: str

    def count(self, text: str) -> int:
        """At least 1 for a non-empty text; monotone under concatenation up to 1 token a joint."""
        ...
