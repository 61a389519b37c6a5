"""From a host's settings to a standing connection: keys, host key policy, jump hosts, proxy commands, second tries."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import asyncssh

from checkrunner.link.transports.ssh_bastion import Bastion, NoWayError, Passage, Standing
from checkrunner.link.transports.ssh_connection import (
    Attempt,
    HostKeyPolicy,
    dial,
    plain_dial_options,
    short_cuts_fit,
)
from checkrunner.link.transports.ssh_errors import Progress, is_too_many, mapped_errors
from checkrunner.link.transports.ssh_gate import Gate
from checkrunner.link.transports.ssh_keys import KeyRing
from checkrunner.link.transports.ssh_known_hosts import KnownHosts
from checkrunner.link.transports.ssh_options import Hop, HostSettings, hop_settings, host_settings
from checkrunner.link.transports.ssh_proxy import ProxyCommand
from checkrunner.link.transports.ssh_queue import Queue
from checkrunner.link.transports.ssh_resolver import addresses
from checkrunner.model.errors import ConnectError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.model.report import Wait

__all__ = ["Dialer"]

_MAX_HOPS = 8
_Addresses = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class _Via:
    """How a host behind a jump host is reached: the hop's name and a place on a connection to it."""

    hop: str
    passage: Passage


class Dialer:
    """Makes connections. What hosts share is kept: keys, known_hosts files, connections to jump hosts."""

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._settings: dict[str, HostSettings] = {}
        self._hop_settings_of: dict[tuple[Hop | str, ...], HostSettings] = {}
        self._keys = KeyRing()
        self._known: dict[tuple[str, ...], KnownHosts] = {}
        self._bastions: dict[tuple[Hop | str, ...], Bastion] = {}
        self._gates: dict[Hashable, tuple[Gate, Queue]] = {}
        self._queues: list[Queue] = []
        self._short_cuts = short_cuts_fit()

    def settings(self, host: Host) -> HostSettings:
        """A host's settings, read once: that takes time, and ssh_config may run programs (``Match exec``).

        Raises what `host_settings` raises.
        """
        if host.name not in self._settings:
            self._settings[host.name] = host_settings(host, self._options)
        return self._settings[host.name]

    def _hop_settings(self, hop: Hop, target: Host) -> HostSettings:
        given = (target.options.get(name) for name in ("ssh_common_args", "ssh_extra_args", "host_key_checking"))
        key: tuple[Hop | str, ...] = (hop, *(str(text) for text in given))
        if key not in self._hop_settings_of:
            self._hop_settings_of[key] = hop_settings(hop, target, self._options)
        return self._hop_settings_of[key]

    async def connect(self, host: Host, timeout_s: float) -> Standing:
        """A new connection to a host of the inventory; raises ConnectError members only."""
        with mapped_errors(Progress(target=host.name)):
            settings = self.settings(host)
        password = host.password or self._options.password
        secret = password.reveal() if password is not None else None

        found = await self._addresses(host.name, settings, timeout_s)
        gate, queue = self._gate(settings, settings.hops, found)

        async def attempt(via: _Via | None) -> Standing:
            return await self._one(host.name, settings, secret, via, timeout_s, found)

        async def once() -> Standing:
            return await self._through(settings.hops, host, attempt, timeout_s, waits=host.name)

        try:
            return await gate.through(once, queue, host.name)
        except NoWayError as error:
            raise type(error.error)(f"{host.name}: {error.error.message}", hint=error.error.hint) from error.error

    def waits(self) -> list[Wait]:
        """What hosts wait and have waited for, in the order in which that began."""
        return [wait for queue in self._queues if (wait := queue.wait()) is not None]

    async def aclose(self) -> None:
        """Close the connections to jump hosts and leave the agents."""
        bastions, self._bastions = self._bastions, {}
        # Those that are reached through others first.
        for _, bastion in sorted(bastions.items(), key=lambda entry: -len(entry[0])):
            await bastion.aclose()
        await self._keys.aclose()

    async def _addresses(self, target: str, settings: HostSettings, timeout_s: float) -> _Addresses:
        """Where to connect to; empty where somebody else looks the name up."""
        if settings.hops or settings.proxy_command is not None:
            return []
        progress = Progress(target=target, address=settings.address, port=settings.port, resolving=True)
        family = settings.config.get("AddressFamily", socket.AF_UNSPEC)
        with mapped_errors(progress):
            async with asyncio.timeout(settings.connect_timeout_s or timeout_s):
                return await addresses(settings.address, settings.port, int(cast(int, family)))

    async def _through(
        self,
        hops: tuple[Hop, ...],
        host: Host,
        attempt: Callable[[_Via | None], Awaitable[Standing]],
        timeout_s: float,
        *,
        waits: str,
    ) -> Standing:
        """What `attempt` makes, by way of the last of the hops where there are any. Raises NoWayError for those."""
        if not hops:
            return await attempt(None)
        try:
            bastion = self._bastion(self._chain(hops, host), host, timeout_s)
        except ConnectError as error:
            raise NoWayError(error) from error
        return await bastion.through(waits, lambda passage: attempt(_Via(str(hops[-1]), passage)))

    def _chain(self, hops: tuple[Hop, ...], host: Host) -> tuple[Hop, ...]:
        """All hops in the order of passing them: the first of a list may have jump hosts of its own."""
        while True:
            with mapped_errors(Progress(target=f"jump host {hops[0]}")):
                earlier = self._hop_settings(hops[0], host).hops
            if not earlier:
                return hops
            hops = earlier + hops
            if len(hops) > _MAX_HOPS:
                raise UnreachableError(f"its jump hosts go in a circle, or are more than {_MAX_HOPS}: {hops[-1]}")

    def _bastion(self, chain: tuple[Hop, ...], host: Host, timeout_s: float) -> Bastion:
        """The way through the last of `chain`, shared by all that go through it, as is its failure."""
        # A host that does not have keys checked must not decide that for others.
        key: tuple[Hop | str, ...] = (*chain, str(host.options.get("host_key_checking")))
        if key not in self._bastions:
            *before, last = chain
            target = f"jump host {last}"
            with mapped_errors(Progress(target=target)):
                settings = self._hop_settings(last, host)
            found: _Addresses = []
            queue = Queue(target, always=True)
            self._queues.append(queue)

            async def attempt(via: _Via | None) -> Standing:
                return await self._one(target, settings, None, via, timeout_s, found)

            async def connect() -> Standing:
                nonlocal found
                found = [] if before else await self._addresses(target, settings, timeout_s)
                gate, _ = self._gate(settings, tuple(before), found)
                return await gate.through(once, queue)

            async def once() -> Standing:
                return await self._through(tuple(before), host, attempt, timeout_s, waits="")

            self._bastions[key] = Bastion(str(last), connect, queue)
        return self._bastions[key]

    def _gate(self, settings: HostSettings, hops: tuple[Hop, ...], found: _Addresses) -> tuple[Gate, Queue]:
        """The way in to the server that decides how many it takes: with a proxy command, that is what it leads to."""
        key: Hashable
        if not hops and settings.proxy_command is not None:
            # As written, before names were put into it: what many hosts have in common is the way, not the command.
            key = str(settings.config.get("ProxyCommand"))
            place = f"proxy command {key}"
        else:
            # The names of a machine have the same addresses. Behind a jump host nobody here knows them.
            address = min((address for _, address in found), default=settings.address)
            key = (hops, address, settings.port)
            place = f"{settings.address} port {settings.port}"
        if key not in self._gates:
            self._gates[key] = Gate(), Queue(place)
            self._queues.append(self._gates[key][1])
        return self._gates[key]

    async def _one(
        self,
        target: str,
        settings: HostSettings,
        password: str | None,
        via: _Via | None,
        timeout_s: float,
        found: _Addresses,
    ) -> Standing:
        """One try; a second one without short cuts where a server stumbles over them."""
        progress = Progress(target=target, user=settings.user, password_given=password is not None)
        progress.via = via.hop if via else ""
        progress.address, progress.port = settings.address, settings.port
        with mapped_errors(progress):
            offer = await self._keys.offer(settings)
            progress.encrypted, progress.keys_skipped = offer.encrypted, offer.skipped
            attempt = Attempt(
                settings=settings,
                progress=progress,
                policy=self._policy(target, settings),
                keys=offer.keys,
                password=password,
                via=via.passage.connection if via else None,
                found=found,
                short_cuts=self._short_cuts,
            )
            async with asyncio.timeout(settings.connect_timeout_s or timeout_s):
                try:
                    return await self._dial(attempt)
                except (asyncssh.PermissionDenied, asyncssh.HostKeyNotVerifiable):
                    raise
                except asyncssh.DisconnectError as error:
                    if not (self._short_cuts and progress.authenticating) or is_too_many(error):
                        raise
                progress.start_again()
                return await self._dial(replace(attempt, short_cuts=False))

    async def _dial(self, attempt: Attempt) -> Standing:
        command = attempt.settings.proxy_command if attempt.via is None else None
        proxy = ProxyCommand(command) if command is not None else None
        attempt.progress.by_proxy = proxy is not None
        sock = proxy.socket if proxy is not None else None
        try:
            if self._short_cuts:
                return Standing(await dial(attempt, sock), proxy)
            # All keys may be tried; asyncssh does not say how many were.
            attempt.progress.keys_tried = len(attempt.keys)
            via = {"tunnel": attempt.via} if attempt.via is not None else {}
            source = {"sock": sock} if sock is not None else {}
            return Standing(await asyncssh.connect(**plain_dial_options(attempt), **via, **source), proxy)
        except BaseException:
            if proxy is not None:
                await proxy.aclose()
                attempt.progress.proxy_words = proxy.last_words()
            raise

    def _policy(self, target: str, settings: HostSettings) -> HostKeyPolicy | None:
        if settings.policy == "no":
            return None
        files = (*settings.user_known_hosts, *settings.global_known_hosts)
        if files not in self._known:
            self._known[files] = KnownHosts(files)
        return HostKeyPolicy(
            policy=settings.policy,
            known=self._known[files],
            name=settings.lookup,
            port=settings.lookup_port,
            target=target,
            user_file=settings.user_known_hosts[0] if settings.user_known_hosts else None,
        )
