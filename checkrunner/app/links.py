"""The transports of a run and the sessions over them."""

from __future__ import annotations

from checkrunner.link.agents import agent_of
from checkrunner.link.session import open_session
from checkrunner.link.transports import make_transport, unsupported
from checkrunner.model.inventory import Host
from checkrunner.model.report import Wait
from checkrunner.model.seams import Queues, Session, Transport
from checkrunner.model.sources import Secret
from checkrunner.settings import Settings

__all__ = ["Links"]


class Links:
    """Makes a transport when a host first needs it. `password` is what a prompt gave."""

    def __init__(self, settings: Settings, password: Secret | None = None) -> None:
        self._settings = settings
        self._ssh = settings.ssh_options(password)
        self._transports: dict[str, Transport] = {}

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
        return await open_session(
            self._transport(host),
            host,
            options=self._settings.session_options(),
            timeout_s=self._ssh.connect_timeout_s,
        )

    def waits(self) -> tuple[Wait, ...]:
        """What hosts wait and have waited for before they could be reached."""
        queues = (transport for transport in self._transports.values() if isinstance(transport, Queues))
        return tuple(wait for transport in queues for wait in transport.waits())

    async def aclose(self) -> None:
        """Drop every connection."""
        for transport in self._transports.values():
            await transport.aclose()

    def _transport(self, host: Host) -> Transport:
        found = self._transports.get(host.transport)
        if found is None:
            found = make_transport(host.transport, ssh=self._ssh, local=self._settings.local_options())
            self._transports[host.transport] = found
        return found
