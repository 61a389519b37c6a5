"""From a host's settings to a standing connection: keys, host key policy, jump hosts, proxy commands, second tries."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, replace

import asyncssh

from checkrunner.link.transports.ssh_connection import (
    Attempt,
    HostKeyPolicy,
    dial,
    drop,
    plain_dial_options,
    short_cuts_fit,
)
from checkrunner.link.transports.ssh_errors import Progress, is_too_many, mapped_errors
from checkrunner.link.transports.ssh_gate import Gate
from checkrunner.link.transports.ssh_keys import KeyRing
from checkrunner.link.transports.ssh_known_hosts import KnownHosts
from checkrunner.link.transports.ssh_options import Hop, HostSettings, hop_settings, host_settings
from checkrunner.link.transports.ssh_proxy import ProxyCommand
from checkrunner.model.errors import ConnectError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions

__all__ = ["Dialer", "Standing"]

_MAX_HOPS = 8
_CLOSING_S = 1.0


@dataclass(slots=True)
class Standing:
    """A connection that was made, and the proxy command that it goes through."""

    connection: asyncssh.SSHClientConnection
    proxy: ProxyCommand | None = None

    @property
    def usable(self) -> bool:
        """Whether it still stands."""
        return not self.connection.is_closed()

    async def close(self) -> None:
        """End it; says goodbye, so that the server need not write of a broken connection."""
        self.connection.close()
        try:
            async with asyncio.timeout(_CLOSING_S):
                await self.connection.wait_closed()
        except TimeoutError:
            await drop(self.connection)
        await asyncio.sleep(0)
        if self.proxy is not None:
            await self.proxy.aclose()


class Dialer:
    """Makes connections. What hosts share is kept: keys, known_hosts files, connections to jump hosts."""

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._settings: dict[str, HostSettings] = {}
        self._hop_settings_of: dict[tuple[Hop | str, ...], HostSettings] = {}
        self._keys = KeyRing()
        self._known: dict[tuple[str, ...], KnownHosts] = {}
        self._hops: dict[tuple[Hop | str, ...], asyncio.Task[Standing]] = {}
        self._gates: dict[Hashable, Gate] = {}
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

        async def once() -> Standing:
            via = await self._last_hop(settings.hops, host, timeout_s)
            return await self._one(host.name, settings, secret, via, timeout_s)

        return await self._gate(settings, settings.hops).through(once)

    async def aclose(self) -> None:
        """Close the connections to jump hosts and leave the agents."""
        hops, self._hops = self._hops, {}
        # The last hops were made last, through the first ones.
        for task in reversed(hops.values()):
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled() and task.exception() is None:
                await task.result().close()
        await self._keys.aclose()

    async def _last_hop(self, hops: tuple[Hop, ...], host: Host, timeout_s: float) -> tuple[Hop, Standing] | None:
        if not hops:
            return None
        try:
            return hops[-1], await self._hop(self._chain(hops, host), host, timeout_s)
        except ConnectError as error:
            raise type(error)(f"{host.name}: {error.message}", hint=error.hint) from error

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

    async def _hop(self, chain: tuple[Hop, ...], host: Host, timeout_s: float) -> Standing:
        """The connection to the last of `chain`, shared by all that go through it. A failure is shared as well."""
        # A host that does not have keys checked must not decide that for others.
        key: tuple[Hop | str, ...] = (*chain, str(host.options.get("host_key_checking")))
        task = self._hops.get(key)
        if task is not None and task.done() and task.exception() is None and not task.result().usable:
            task = None
        if task is None:
            task = asyncio.ensure_future(self._connect_hop(chain, host, timeout_s))
            # Everybody who waited may have been cancelled: the outcome counts as seen.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._hops[key] = task
        return await asyncio.shield(task)

    async def _connect_hop(self, chain: tuple[Hop, ...], host: Host, timeout_s: float) -> Standing:
        *before, last = chain
        target = f"jump host {last}"
        with mapped_errors(Progress(target=target)):
            settings = self._hop_settings(last, host)

        async def once() -> Standing:
            via = (before[-1], await self._hop(tuple(before), host, timeout_s)) if before else None
            return await self._one(target, settings, None, via, timeout_s)

        return await self._gate(settings, tuple(before)).through(once)

    def _gate(self, settings: HostSettings, hops: tuple[Hop, ...]) -> Gate:
        """The way in to the server that decides how many it takes: with a proxy command, that is what it leads to."""
        if not hops and settings.proxy_command is not None:
            # As written, before names were put into it: what many hosts have in common is the way, not the command.
            return self._gates.setdefault(str(settings.config.get("ProxyCommand")), Gate())
        return self._gates.setdefault((hops, settings.address, settings.port), Gate())

    async def _one(
        self,
        target: str,
        settings: HostSettings,
        password: str | None,
        via: tuple[Hop, Standing] | None,
        timeout_s: float,
    ) -> Standing:
        """One try; a second one without short cuts where a server stumbles over them."""
        progress = Progress(target=target, user=settings.user, password_given=password is not None)
        progress.via = str(via[0]) if via else ""
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
                via=via[1].connection if via else None,
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
                progress.keys_tried, progress.dialled, progress.banner, progress.greeting = 0, False, False, b""
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
