"""Which keys are offered to a host, and why others are not. Files are read once a run, the agent is asked once."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from checkrunner.link.transports.ssh_options import HostSettings

__all__ = ["KeyRing", "Offer"]

_DEFAULT_NAMES = ("id_ed25519", "id_ecdsa", "id_rsa")
# An agent answers at once, or asks its user. All hosts wait for it.
_AGENT_S = 5.0
_KEY_FILE_BYTES = 1 << 20


@dataclass(slots=True)
class Offer:
    """The keys for one connection in the order of trying, and the files that gave none."""

    keys: list[asyncssh.SSHKeyPair] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _KeyFile:
    """What a file holds: pairs that can sign, or else why not, and the public part where it is known."""

    pairs: Sequence[asyncssh.SSHKeyPair] = ()
    public: bytes | None = None
    encrypted: bool = False
    missing: bool = False
    note: str = ""


class KeyRing:
    """The keys of a run. Key files are cached; agents are kept connected."""

    def __init__(self) -> None:
        self._files: dict[str, _KeyFile] = {}
        self._agents: dict[str, asyncssh.SSHAgentClient] = {}
        self._agent_keys: dict[str, Sequence[asyncssh.SSHKeyPair]] = {}
        self._agent_notes: dict[str, str] = {}
        self._asking = asyncio.Lock()

    async def offer(self, settings: HostSettings) -> Offer:
        """Named files first (by the agent where it has the key), then the agent's others, unless IdentitiesOnly."""
        offer = Offer()
        named = bool(settings.key_files)
        paths = settings.key_files or _default_paths()
        agent = {pair.public_data: pair for pair in await self._agent(settings.agent_socket, offer)}
        for path in paths:
            key_file = self._file(path)
            if key_file.pairs:
                offer.keys += key_file.pairs
            elif key_file.public in agent:
                offer.keys.append(agent[key_file.public])
            elif key_file.encrypted:
                offer.encrypted.append(path)
            elif key_file.note and (named or not key_file.missing):
                offer.skipped.append(key_file.note)
        if not settings.identities_only:
            offer.keys += agent.values()
        unique = {pair.public_data: pair for pair in reversed(offer.keys)}
        # A pair remembers which signature the server wants: each connection has its own.
        offer.keys = [copy.copy(pair) for pair in reversed(unique.values())]
        return offer

    async def aclose(self) -> None:
        """Leave the agents."""
        agents, self._agents = self._agents, {}
        for agent in agents.values():
            agent.close()
            await agent.wait_closed()

    async def _agent(self, socket_path: str | None, offer: Offer) -> Sequence[asyncssh.SSHKeyPair]:
        if socket_path is None:
            return ()
        async with self._asking:
            if socket_path not in self._agent_keys:
                await self._ask(socket_path)
        if socket_path in self._agent_notes:
            offer.skipped.append(self._agent_notes[socket_path])
        return self._agent_keys[socket_path]

    async def _ask(self, socket_path: str) -> None:
        client = asyncssh.SSHAgentClient(socket_path)
        self._agents[socket_path] = client
        try:
            async with asyncio.timeout(_AGENT_S):
                self._agent_keys[socket_path] = await client.get_keys()
        except (ValueError, OSError) as error:
            why = f"nothing for {_AGENT_S:g} s" if isinstance(error, TimeoutError) else str(error)
            self._agent_keys[socket_path] = ()
            self._agent_notes[socket_path] = f"the agent at {socket_path} does not answer ({why})"

    def _file(self, path: str) -> _KeyFile:
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]


def _default_paths() -> tuple[str, ...]:
    return tuple(os.path.expanduser(f"~/.ssh/{name}") for name in _DEFAULT_NAMES)


def _read(path: str) -> _KeyFile:
    with contextlib.suppress(OSError):
        found = os.stat(path)
        # Opening a pipe would wait for somebody to write into it, and everything else here with it.
        if stat.S_ISFIFO(found.st_mode) or found.st_size > _KEY_FILE_BYTES:
            return _KeyFile(note=f"key file {path} cannot be used (it is no file, or too large for a key)")
    try:
        return _KeyFile(pairs=list(asyncssh.load_keypairs([path])))
    except FileNotFoundError:
        return _KeyFile(missing=True, public=_public_part(path), note=f"key file {path} does not exist")
    except OSError as error:
        return _KeyFile(note=f"key file {path} cannot be read ({error.strerror})", public=_public_part(path))
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as error:
        public = _public_part(path)
        if _is_encrypted(path, str(error)):
            return _KeyFile(encrypted=True, public=public)
        if public is not None and _is_public(path):
            return _KeyFile(note=f"{path} is a public key, and no agent has its private one", public=public)
        return _KeyFile(note=f"key file {path} cannot be used ({error})", public=public)


def _is_encrypted(path: str, reason: str) -> bool:
    return "passphrase" in reason.lower() or b"ENCRYPTED" in Path(path).read_bytes()[:2000]


def _is_public(path: str) -> bool:
    try:
        asyncssh.read_public_key(path)
    except (OSError, ValueError):
        return False
    return b"PRIVATE" not in Path(path).read_bytes()


def _public_part(path: str) -> bytes | None:
    """The public key that belongs to a private key file: its ``.pub`` file, or the readable part of the file itself."""
    for candidate in (f"{path}.pub", path):
        try:
            return asyncssh.read_public_key(candidate).public_data
        except (OSError, ValueError):
            continue
    return None
