"""How an agent is started as another user: at once where nothing is asked for, else with a password, told to a prompt.

The password is sent only after the prompt was seen, so that nothing but sudo, doas or su can read it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass, field, replace

from checkrunner.link.answers import AgentFailure, NoInterpreter
from checkrunner.link.become_lines import (
    asking_line,
    describe,
    eager_line,
    failure,
    last_words,
    marks,
    sure_name,
)
from checkrunner.link.questions import AskPassword
from checkrunner.link.starting import Link, Starter, Way
from checkrunner.model.errors import BecomeError, BecomeFailure, HostError, SessionLostError, UsageError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import Account
from checkrunner.model.seams import Transport
from checkrunner.model.sources import Secret

__all__ = ["BecomeStarter", "Becoming", "Tried"]

# How often what was said on standard error is looked at, and how often a start-up file that reads gets an empty line.
_LOOK_S = 0.03
_NUDGE_S = 0.3
# How long a password is held back while it is tried for another account of the host.
_TURN_S = 10.0
# An open line that stays for so long, and is not our prompt, is a question that we have no answer to.
_QUESTION_S = 5.0
_ASKING_S = 60.0


@dataclass(frozen=True, slots=True)
class Tried:
    """The passwords that a host did not take, and those that it is being told until their events, each with the method.
    None that was not taken is tried again: that locks accounts."""

    wrong: set[tuple[str, Secret]] = field(default_factory=set)
    now: dict[tuple[str, Secret], asyncio.Event] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Becoming:
    """Another account of a host, and where its password comes from: `password`, else `ask`. `login` is the account that
    logs in, as far as it is known; `patient` says whether its own agent had to be started so. `tried` is shared by the
    accounts of a host."""

    account: Account
    password: Secret | None = None
    ask: AskPassword | None = None
    login: str = ""
    patient: bool = False
    tried: Tried = field(default_factory=Tried)


class BecomeStarter(Starter):
    """Starts agents as another user. What goes wrong is a BecomeError, and so the trouble of that user's checks."""

    def __init__(
        self, transport: Transport, host: Host, options: SessionOptions, timeout_s: float, becoming: Becoming
    ) -> None:
        super().__init__(transport, host, options, timeout_s)
        self._becoming = becoming
        self._password: Secret | None = None
        self._nonces: dict[str, str] = {}
        self._turn: asyncio.Event | None = None

    async def first(self) -> Link:
        """The first start, without a password. Raises BecomeError."""
        sure_name(self._becoming.account)
        # On standard input: sudo writes command lines into the host's logs.
        return await self.again(replace(self.first_way(), patient=self._becoming.patient, by_stdin=True))

    async def again(self, way: Way) -> Link:
        """Another start, in the given way. Raises BecomeError."""
        if way.password and self._password is None:
            self._password = await self._find_password()
        return await super().again(way)

    async def watch(self, link: Link) -> None:
        """Say what comes before the agent's start. If that goes wrong the link ends, and its reader finds `failure`.

        A start that says nothing for a while is no sign of anything here: sudo may wait for others.
        """
        if not link.way.password:
            return
        try:
            await self._talk(link)
        except SessionLostError:
            return  # whoever reads the link gets to know
        except HostError as error:
            link.failure = error
            await link.channel.aclose(kill=True)
        finally:
            if self._turn is not None:
                self._turn.set()

    def line(self, way: Way, nonce: str) -> str:
        """The line for the login shell."""
        wrap = asking_line if way.password else eager_line
        # The nonce of the greeting has what ends a shell; this one goes through shells as it is.
        ours = self._nonces[nonce] = secrets.token_hex(12)
        return wrap(self._becoming.account, super().line(way, nonce), ours)

    def next_way(self, link: Link) -> Way:
        """How to start over after a link that brought no hello. Raises BecomeError when nothing is left."""
        if link.failure is not None:
            raise link.failure
        if link.swallowed or isinstance(link.ending, AgentFailure | NoInterpreter) or link.starting:
            return replace(super().next_way(link), by_stdin=True, password=link.way.password)
        error = self._failure(link)
        known = self._becoming.password is not None or self._becoming.ask is not None
        if error.kind is BecomeFailure.PASSWORD_REQUIRED and known and not link.way.password:
            return replace(link.way, password=True)
        link.failure = error
        raise error

    def no_hello(self, link: Link, *, late: bool, left: bool = False) -> HostError:
        """The error for a start that brought no hello."""
        if not late or link.starting:
            return super().no_hello(link, late=late, left=left)
        words = last_words(link.channel.stderr_tail(), self._nonces[link.nonce])
        said = f" within {self._options.hello_timeout_s:g} s (start_timeout)" + (f"; it says: {words}" if words else "")
        return describe(BecomeFailure.FAILED, self._becoming.account, said, self._becoming.login)

    def _failure(self, link: Link) -> BecomeError:
        stderr = link.channel.stderr_tail()
        nonce = self._nonces[link.nonce]
        login = self._becoming.login
        error = failure(self._becoming.account, stderr, nonce, login=login, answered=link.way.password)
        return self._wrong() if error.kind is BecomeFailure.PASSWORD_WRONG else error

    def _wrong(self) -> BecomeError:
        account = self._becoming.account
        if self._password is not None:
            self._becoming.tried.wrong.add((account.method, self._password))
        return describe(BecomeFailure.PASSWORD_WRONG, account, login=self._becoming.login)

    async def _find_password(self) -> Secret:
        becoming, account = self._becoming, self._becoming.account
        if becoming.password is not None:
            if account.method != "su" and (account.method, becoming.password) in becoming.tried.wrong:
                raise describe(BecomeFailure.PASSWORD_WRONG, account, login=becoming.login)
            try:
                return Secret(becoming.password.reveal())
            except UsageError as error:  # it is in a vault, or a program says it
                raise describe(BecomeFailure.PASSWORD_REQUIRED, account, f" ({error})", becoming.login) from error
        given = None
        if becoming.ask is not None:
            whose = account.user if account.method == "su" else becoming.login or "the account that logs in"
            try:
                async with asyncio.timeout(_ASKING_S):
                    given = await becoming.ask(f"{account.method} (to run as {account.user}): password of {whose}")
            except TimeoutError:
                given = None
        if given is None:
            raise describe(BecomeFailure.PASSWORD_REQUIRED, account, login=becoming.login)
        return given

    async def _talk(self, link: Link) -> None:
        """Lead the login shell to the prompt and answer it once; returns when the agent starts or nothing will come."""
        ready, go, ask = marks(self._nonces[link.nonce])
        assert self._password is not None
        loop = asyncio.get_running_loop()
        said, since, nudged = b"", loop.time(), 0.0
        went = answered = False
        while not (link.starting or link.ended or link.failure):
            now, tail = loop.time(), link.channel.stderr_tail()
            if tail != said:
                said, since = tail, now
            if not went and ready in tail:
                went = True
                await link.channel.send(f"\n{go}\n".encode())
            elif not went and now - nudged > _NUDGE_S:
                nudged = now
                await link.channel.send(b"\n")
            elif went and not answered and ask in tail:
                answered = True
                await self._wait_for_turn()
                await link.channel.send(self._password.reveal().encode("utf-8", "surrogateescape") + b"\n")
            elif answered and tail.count(ask) > 1:
                raise self._asked_again(tail, link)
            elif went and now - since > _QUESTION_S and said.rpartition(ask)[2].rstrip(b" ")[-1:] in (b":", b"?"):
                raise self._other_question(said, link)
            await asyncio.sleep(_LOOK_S)

    def _key(self) -> tuple[str, Secret]:
        assert self._password is not None
        return self._becoming.account.method, self._password

    async def _wait_for_turn(self) -> None:
        """Wait until nobody else of this host tries the password. Raises BecomeError where it was not taken then."""
        tried = self._becoming.tried
        if self._becoming.account.method == "su":
            return  # each account has a password of its own
        key, self._turn = self._key(), asyncio.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TURN_S):
                while (other := tried.now.get(key)) is not None and not other.is_set():
                    await other.wait()
        if key in tried.wrong:
            raise self._wrong()
        tried.now[key] = self._turn

    def _asked_again(self, said: bytes, link: Link) -> BecomeError:
        """What a second prompt means. Whatever it is, the password is not tried again on this host."""
        becoming = self._becoming
        wrong = self._wrong()
        _, _, ask = marks(self._nonces[link.nonce])
        between = said.split(ask)[1].strip()
        if becoming.account.method != "sudo" or not between:
            # sudo says so before it asks for a password again; doas and su never ask for it again.
            return self._other_question(said, link)
        error = failure(becoming.account, between, self._nonces[link.nonce], login=becoming.login)
        return error if error.kind is BecomeFailure.NOT_ALLOWED else wrong

    def _other_question(self, said: bytes, link: Link) -> BecomeError:
        # No colon at the end: what follows would be taken for a password, and masked.
        words = last_words(said, self._nonces[link.nonce]).rstrip(": ")
        asks = ": it asks what the password does not answer" + (f" ({words})" if words else "")
        return describe(BecomeFailure.FAILED, self._becoming.account, asks, self._becoming.login, asks=True)
