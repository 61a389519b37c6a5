"""The transports of a run and the sessions over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checkrunner.app.audit import NO_AUDIT, Audit
from checkrunner.link.accounts import Accounts
from checkrunner.link.agents import agent_of
from checkrunner.link.questions import AskPassword
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports import make_transport, unsupported
from checkrunner.model.inventory import Host
from checkrunner.model.plan import Account
from checkrunner.model.report import Wait
from checkrunner.model.seams import Queues, Session, Transport
from checkrunner.model.sources import Secret
from checkrunner.settings import Settings

if TYPE_CHECKING:  # most runs become nobody else
    from checkrunner.link.become_start import Tried

__all__ = ["Links"]


class Links:
    """Makes a transport when a host first needs it. `password` is what a prompt gave; `run` is the run's id:
    the directory of what stays on hosts is called after it. What is run goes into `audit`."""

    def __init__(
        self, settings: Settings, password: Secret | None = None, *, run: str = "", audit: Audit = NO_AUDIT
    ) -> None:
        self._audit = audit
        self._settings = settings
        self._options = replace(settings.session_options(), stay_name=run)
        self._ssh = settings.ssh_options(password)
        self._transports: dict[str, Transport] = {}
        self._tried: dict[str, Tried] = {}

    def warnings(self, host: Host) -> tuple[str, ...]:
        """What the host's settings ask for and its transport does not do. Connects nothing. Raises UsageError members
        for settings that cannot be used."""
        agent_of(host)
        return () if unsupported(host) else tuple(self._transport(host).warnings(host))

    async def open(self, host: Host) -> Session:
        """A session on the host. Raises ConnectError members; see `link.session.open_session`."""
        error = unsupported(host)
        if error is not None:
            raise error
        options = self._options
        login = await open_session(
            self._transport(host),
            host,
            options=options,
            timeout_s=self._ssh.connect_timeout_s,
        )
        session = Accounts(host, login, self._open_as, away_s=options.away_s)
        return self._audit.watch(host, session, lambda: login.user or host.user or self._ssh.user or "")

    async def _open_as(
        self, host: Host, account: Account, login: FramedSession, ask: AskPassword | None
    ) -> FramedSession:
        from checkrunner.link.become_start import BecomeStarter, Becoming, Tried

        own = host.options.get("become_password")
        becoming = Becoming(
            account=account,
            password=own if isinstance(own, Secret) else self._settings.become_password,
            ask=ask,
            login=login.user or host.user or "",
            patient=any(note.startswith("login_reads") for note in login.notes),
            tried=self._tried.setdefault(host.name, Tried()),
        )
        options = self._options
        starter = BecomeStarter(self._transport(host), host, options, self._ssh.connect_timeout_s, becoming)
        session = FramedSession(starter)
        await session.start()
        return session

    def waits(self) -> tuple[Wait, ...]:
        """What hosts wait and have waited for before they could be reached."""
        queues = (transport for transport in self._transports.values() if isinstance(transport, Queues))
        return tuple(wait for transport in queues for wait in transport.waits())

    async def aclose(self) -> None:
        """Drop every connection; what was run is on record then."""
        for transport in self._transports.values():
            await transport.aclose()
        self._audit.flush()

    def _transport(self, host: Host) -> Transport:
        found = self._transports.get(host.transport)
        if found is None:
            found = make_transport(host.transport, ssh=self._ssh, local=self._settings.local_options())
            self._transports[host.transport] = found
        return found
