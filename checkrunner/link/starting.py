"""How an agent is started: in one flight, patiently, or with the agent on standard input, and when to try the next way.

| way | when |
|---|---|
| eager | first: the agent is in the exec request, requests follow at once |
| patient | a login shell's start-up file read what was meant for the agent (`lost_input`) |
| by standard input | the login shell ended without a word of the agent's: it may refuse a line of that length |
| in shell | there is no Python for it: the agent for such hosts, which always comes on standard input |
| plain | there is no bash: the agent in Python with sessions in the sh that is there |

The last two are remembered for a host as long as its transport lives. The agent in shell can be asked for, or
forbidden, by the host variable `checkrunner_agent`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from checkrunner.link.agents import agent_of
from checkrunner.link.answers import AgentFailure, Answer, Hello, NoInterpreter
from checkrunner.link.payload import PROBE_LINE, Payload, load_payload, load_plain_payload, load_shell_payload
from checkrunner.link.requests import hello_request
from checkrunner.link.staying import Stay
from checkrunner.link.wire import MAX_NOISE, PROTOCOL_VERSION, STARTING, AnswerDecoder
from checkrunner.model.characters import one_line
from checkrunner.model.errors import (
    HandshakeError,
    HostError,
    NoInterpreterError,
    RemoteStorageError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions
from checkrunner.model.seams import Channel, Transport

__all__ = ["Link", "Resume", "Starter", "Way"]

_SHOWN = 300
# How long a login shell may take to the end of its start-up files before it is asked what it waits for.
_SILENT_S = 3.0
# Part of the nonce, and so of the first line that is sent. Where a shell reads that line in the agent's place (a
# start-up file or a forced command starts one), it ends there, and runs nothing of what follows.
_SHELLS_END = ";exit;"
# What such a shell says of it: the line begins with `hello`, or a length.
_READ_BY_SHELL = re.compile(rb"\b(hello|\d{4,6}): (command )?not found|command: \W?(hello|\d{4,6})\b", re.IGNORECASE)
# Hosts that were found to be without Python, or bash: a second start there (a reconnect, another user) does not look
# again.
_WITHOUT_PYTHON: WeakKeyDictionary[Transport, set[str]] = WeakKeyDictionary()
_WITHOUT_BASH: WeakKeyDictionary[Transport, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How to start: each of these may be turned on once. `password`: as another user, who is had for a password.
    `started`: an earlier start in this way came as far as the agent's first stage, and no further."""

    patient: bool = False
    by_stdin: bool = False
    in_shell: bool = False
    plain: bool = False
    password: bool = False
    started: bool = False


@dataclass(slots=True)
class Link:
    """One channel with an agent starting or running at its other end. `greeting` is what must be sent first; in a
    patient start only once the login shell's start-up files are through (`starting`). `swallowed` says that somebody
    else gets what was sent: an agent is silent although it was started, or is not started before all input has ended.
    `timer` is what ends the wait for hello. `failure` is what went wrong before an agent could start; `broken` says why
    nothing could be sent any more."""

    channel: Channel
    decoder: AnswerDecoder
    greeting: bytes
    way: Way
    nonce: str
    hello_by: float
    timer: asyncio.Timeout | None = None
    starting: bool = False
    swallowed: bool = False
    ending: Answer | None = None
    hello: Hello | None = None
    broken: str = ""
    closing: asyncio.Future[bool] | None = None
    failure: HostError | None = None

    @property
    def patient(self) -> bool:
        """Whether nothing may be sent before hello."""
        return self.way.patient or self.way.password

    @property
    def ended(self) -> bool:
        """Whether the agent, or the first stage, said that nothing more will come."""
        return self.ending is not None

    def why_ended(self) -> str:
        """The peer's ending in words."""
        if isinstance(self.ending, AgentFailure):
            return f"the agent gave up: {self.ending.message or self.ending.kind}"
        tail = _shown(self.channel.stderr_tail())
        why = "the agent ended"
        if self.decoder.unfinished:
            why += " in the middle of an answer"
        return f"{why}; its last words: {tail}" if tail else why

    def notes(self, hello: Hello) -> list[str]:
        """What was odd about this start."""
        out = []
        noise = _shown(self.decoder.noise)
        if noise:
            out.append(f"login_noise: {noise}")
        if self.way.patient:
            out.append("login_reads: a start-up file of the login shell read what was meant for the agent")
        if self.way.by_stdin:
            out.append("start_by_stdin: the login shell does not take a long command line")
        if hello.agent_kind == "shell":
            lacking = ", ".join(hello.lacks) or "nothing"
            out.append(f"agent_shell: no Python 3.6 or newer is used; not available: {lacking}")
        elif not hello.bash:
            lacking = ", ".join(hello.lacks)
            out.append(f"sessions_sh: there is no bash, sessions run in {hello.shell}; not available: {lacking}")
        return [*out, *hello.notes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """What further starts are for: to go on where the agent `token` was cut off. `behind` goes out behind hello."""

    token: str
    behind: bytes


class Starter:
    """Opens channels to one host and judges how the agent's start went."""

    def __init__(
        self,
        transport: Transport,
        host: Host,
        options: SessionOptions,
        timeout_s: float,
        payload: Payload | None = None,
    ) -> None:
        self._payload = payload
        self._transport = transport
        self._host = host
        self._options = options
        self._timeout_s = timeout_s
        # A program of this machine is not cut off from us: it ends, or we do.
        self.linger_s = 0.0 if host.transport == "local" else options.away_s
        self.reconnect_s = options.reconnect_s
        self.resume: Resume | None = None
        self.stay = Stay(options, host)

    async def first(self) -> Link:
        """The first, eager start. Raises ConnectError members, and InventoryError for a `checkrunner_agent` that does
        not exist."""
        return await self.again(self.first_way())

    def notes(self, link: Link, hello: Hello) -> list[str]:
        """What is to be said of a start."""
        return [*link.notes(hello), *self.stay.notes(link)]

    def first_way(self) -> Way:
        """Which of the agents is tried first."""
        known = self._host.name in _WITHOUT_PYTHON.get(self._transport, ())
        kind = agent_of(self._host)
        plain = self._host.name in _WITHOUT_BASH.get(self._transport, ())
        return Way(in_shell=kind == "shell" or (known and kind == "auto"), plain=plain)

    async def again(self, way: Way) -> Link:
        """Another start, in the given way. Raises ConnectError members."""
        nonce = secrets.token_hex(12) + _SHELLS_END
        line = self.line(way, nonce)
        channel = await self._transport.open(self._host, line, timeout_s=self._timeout_s)
        greeting = self._hello(nonce, way)
        if way.by_stdin or way.in_shell:
            greeting = self.payload(way).stdin_head + greeting
        now = asyncio.get_running_loop().time()
        return Link(
            channel=channel,
            decoder=AnswerDecoder(nonce),
            greeting=greeting,
            way=way,
            nonce=nonce,
            hello_by=now + self._options.hello_timeout_s,
        )

    async def receive(self, link: Link) -> bytes:
        """The next bytes of the link; until hello has come, only in time for that. b"" ends it."""
        if link.decoder.greeted:
            return await link.channel.receive()
        try:
            async with asyncio.timeout_at(link.hello_by) as link.timer:
                return await link.channel.receive()
        except TimeoutError:
            if link.swallowed or (link.starting and not link.patient):
                link.swallowed = True
                return b""
            left = not await link.channel.aclose(kill=True)
            raise self.no_hello(link, late=True, left=left) from None

    def _hello(self, nonce: str, way: Way) -> bytes:
        """What every agent is sent first. The one in shell does not outlast its link, and only ends the one before."""
        if self.resume is None:
            return hello_request(nonce, self._options, linger_s=0.0 if way.in_shell else self.linger_s)
        hello = hello_request(nonce, self._options, resume=self.resume.token)
        return hello if way.in_shell else hello + self.resume.behind

    def payload(self, way: Way) -> Payload:
        """What is started."""
        if way.in_shell:
            return load_shell_payload()
        return self._payload or (load_plain_payload() if way.plain else load_payload())

    def line(self, way: Way, nonce: str) -> str:  # noqa: ARG002 - other starts need it
        """What the login shell is given. `nonce` is the one of this start."""
        payload = self.payload(way)
        return payload.stdin_line if way.by_stdin or way.in_shell else payload.exec_line

    async def watch(self, link: Link) -> None:
        """Find out, long before the time for hello is over, whether somebody else waits for the end of all input."""
        loop = asyncio.get_running_loop()
        if link.hello_by < loop.time() + 2 * _SILENT_S:
            return
        await asyncio.sleep(_SILENT_S)
        if link.starting or link.ended or not await self._swallows(link) or link.starting:
            return
        link.swallowed = True
        link.hello_by = loop.time()
        if link.timer is not None:
            with contextlib.suppress(RuntimeError):  # nobody waits at this moment
                link.timer.reschedule(link.hello_by)

    async def _swallows(self, link: Link) -> bool:
        """Whether a start that says nothing waits for the end of its input: whether another one, whose input ends at
        once, says something, or ends."""
        channel = None
        try:
            async with asyncio.timeout_at(link.hello_by):
                channel = await self._transport.open(self._host, PROBE_LINE, timeout_s=self._timeout_s)
                await channel.end_input()
                said = b""
                while STARTING not in said and (data := await channel.receive()):
                    said = said[-len(STARTING) :] + data
                return True
        except (HostError, TimeoutError):
            return False
        finally:
            if channel is not None:
                await channel.aclose(kill=True)

    def check_hello(self, link: Link, hello: Hello) -> None:
        """Raise HandshakeError unless it is the hello that was asked for."""
        if hello.nonce != link.nonce:
            raise HandshakeError(f"{self._host.name}: a second hello, of another start, came from the host")
        if hello.version != PROTOCOL_VERSION:
            raise HandshakeError(
                f"{self._host.name}: the agent speaks protocol {hello.version}, not {PROTOCOL_VERSION}"
            )

    def next_way(self, link: Link) -> Way:
        """How to start over after this link ended before its hello. Raises a BootstrapError when nothing is left."""
        ending, way = link.ending, link.way
        if link.swallowed:
            if way.patient:
                raise self._reads_all(link)
            return replace(way, patient=True)
        if isinstance(ending, AgentFailure):
            if ending.kind == "lost_input" and not way.patient:
                return replace(way, patient=True)
            if ending.kind == "no_bash" and not way.plain and not way.in_shell:
                _WITHOUT_BASH.setdefault(self._transport, set()).add(self._host.name)
                return replace(way, plain=True)
            raise self._gave_up(link, ending)
        if isinstance(ending, NoInterpreter):
            if not way.in_shell and agent_of(self._host) == "auto":
                _WITHOUT_PYTHON.setdefault(self._transport, set()).add(self._host.name)
                return replace(way, in_shell=True)
            raise NoInterpreterError(
                f"{self._host.name}: no Python 3.6 or newer was found (tried: {ending.tried})",
                hint="Install python3 on the host, or let checkrunner_agent be auto",
            )
        if not way.by_stdin and not way.in_shell:
            return replace(way, by_stdin=True)
        if link.starting and not way.patient:  # a start-up file may have taken the first that was meant for it
            return replace(way, patient=True, started=True)
        raise self.no_hello(link, late=False)

    def no_hello(self, link: Link, *, late: bool, left: bool = False) -> HostError:
        """The error for a start that brought no hello: too late, or the program ended. `left`: what was started may
        still be there."""
        starting = link.starting or link.way.started
        if late:
            what = f"the agent did not say hello within {self._options.hello_timeout_s:g} s (start_timeout)"
            hint = (
                "The host, or this machine, may be loaded (raise start_timeout, lower --forks), or a start-up file of "
                f"the login shell waits: see how long `{self._by_hand('true')}` takes"
            )
        elif starting and link.way.in_shell:
            what = "the login shell has started the agent in sh, which ended before its hello"
            hint = f"See what its start-up files do, and whether sh works: {self._by_hand('/bin/sh -c true')}"
        elif starting:
            what = "the login shell has started Python, which ended before its hello"
            hint = (
                f"Its start-up files may set limits that are too tight ({self._by_hand('ulimit -a')}: open files, "
                "memory, processes) or redirect standard input; or that Python does not work: "
                f"{self._by_hand('python3 -IS -c pass')}"
            )
        elif _READ_BY_SHELL.search(link.channel.stderr_tail()):
            what = "a start-up file of the login shell, or a forced command, starts another shell, which read our input"
            hint = "Let the file start it for terminals only: [ -t 0 ] && exec SHELL"
        else:
            what = "the login shell ended before the agent started"
            by_hand = self._by_hand("/bin/sh -c true")
            hint = f"See whether the account may run commands: {by_hand}, and what its start-up files do"
        facts = [f"{self._host.name}: {what}"]
        noise, tail = _shown(link.decoder.noise), _shown(link.channel.stderr_tail())
        if noise:
            facts.append(f"it printed: {noise}")
        if tail:
            facts.append(f"its standard error: {tail}")
        if left:
            facts.append("the login shell goes on there, as the server ends none of root's or behind a forced command")
            hint += ". What is left there ends with: pkill -f checkrunner-starting"
        return HandshakeError("; ".join(facts), hint=hint)

    def _by_hand(self, command: str) -> str:
        """How a user tries a command there without us."""
        return f"ssh HOST {command}" if self._host.transport == "ssh" else f"{command} there"

    def _reads_all(self, link: Link) -> HostError:
        noise = _shown(link.decoder.noise)
        said = f"; it printed: {noise}" if noise else ""
        return HandshakeError(
            f"{self._host.name}: a start-up file of the login shell, or a forced command, reads all input to its end, "
            f"so that nothing is left for the agent{said}",
            hint="Let the file return early when standard input is no terminal: [ -t 0 ] || return",
        )

    def too_noisy(self, link: Link) -> HostError:
        """The error for a start that brought no hello but a flood."""
        noise = _shown(link.decoder.noise)
        return HandshakeError(
            f"{self._host.name}: {MAX_NOISE >> 20} MiB came before the agent's hello; they begin with: {noise}",
            hint="See what the start-up files of the account's login shell print",
        )

    def _gave_up(self, link: Link, ending: AgentFailure) -> HostError:
        why = f"{self._host.name}: {ending.message or ending.kind}"
        if ending.kind == "storage":
            return RemoteStorageError(why, hint="The agent needs a directory that it can write to, such as /tmp")
        if ending.kind == "no_tools":
            return NoInterpreterError(why, hint="Install python3, or these programs, on the host")
        if ending.kind == "no_bash":
            return NoInterpreterError(why, hint="Install bash, dash or a busybox on the host")
        if ending.kind == "lost_input":
            noise = _shown(link.decoder.noise)
            said = f"; it printed: {noise}" if noise else ""
            return HandshakeError(
                f"{self._host.name}: a start-up file of the login shell reads what is meant for the agent{said}",
                hint="Let the file return early when standard input is no terminal: [ -t 0 ] || return",
            )
        return HandshakeError(why)


def _shown(data: bytes) -> str:
    """Bytes of a host for a message: printable, one line, not long."""
    return one_line(data.decode("utf-8", "replace"), _SHOWN)
