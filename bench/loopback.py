"""A private sshd on loopback for benchmarks and documents: own keys, own configuration, many addresses."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ByteCounter", "Sshd", "counted", "delayed", "start_sshd"]

CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
{more}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
UseDNS no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 200
"""


@dataclass(frozen=True, kw_only=True)
class Sshd:
    """A server that accepts `key` on each of the addresses 127.0.0.1, 127.0.0.2, ... at `port`."""

    folder: Path
    port: int

    @property
    def key(self) -> Path:
        return self.folder / "user_key"

    def inventory(self, hosts: dict[str, str], *, group: str = "all", port: int | None = None) -> str:
        """An inventory's text: host name to address; also writes the known_hosts file that it names."""
        port = port or self.port
        words = (self.folder / "host_key.pub").read_text(encoding="utf-8").split()
        known = self.folder / f"known_hosts.{port}"
        known.write_text("".join(f"[{a}]:{port} {words[0]} {words[1]}\n" for a in hosts.values()), encoding="utf-8")
        lines = [f"[{group}]"] if group != "all" else []
        lines += [f"{name} ansible_host={address}" for name, address in hosts.items()]
        lines += ["[all:vars]", f"ansible_port={port}", f"ansible_user={getpass.getuser()}"]
        lines += [f"ansible_ssh_private_key_file={self.key}"]
        lines += [f"ansible_ssh_common_args='-o UserKnownHostsFile={known} -o IdentitiesOnly=yes'"]
        return "\n".join(lines) + "\n"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def start_sshd(folder: Path, addresses: int = 1, options: Sequence[str] = ()) -> Iterator[Sshd]:
    """Start a server in `folder`, and end it. `options` are further lines of its configuration."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin") or sys.exit("sshd is not installed")
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    port = _free_port()
    more = "\n".join([*(f"ListenAddress 127.0.0.{number}" for number in range(2, addresses + 1)), *options])
    config = folder / "sshd_config"
    config.write_text(CONFIG.format(port=port, folder=folder, more=more), encoding="utf-8")
    if Path("/run").is_dir() and not Path("/run/sshd").exists():
        # Debian's sshd wants its privilege separation folder; without root there is none to make, and none is needed.
        with contextlib.suppress(OSError):
            Path("/run/sshd").mkdir(mode=0o755)
    with (folder / "sshd.log").open("wb") as log:
        server = subprocess.Popen([sshd, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=log)
        try:
            _wait(server, port, folder / "sshd.log")
            yield Sshd(folder=folder, port=port)
        finally:
            server.terminate()
            server.wait(10)


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    sys.exit(f"sshd did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


@dataclass(kw_only=True)
class ByteCounter:
    """What went over a connection, encryption and SSH's own words included."""

    to_host: int = 0
    from_host: int = 0


@contextlib.contextmanager
def counted(port: int) -> Iterator[tuple[int, ByteCounter]]:
    """A port of 127.0.0.1 that passes everything on to `port` and counts it."""
    counter = ByteCounter()
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                setattr(counter, name, getattr(counter, name) + len(data))
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                host = socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=pump, args=(client, host, "to_host"), daemon=True).start()
                threading.Thread(target=pump, args=(host, client, "from_host"), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1], counter
    finally:
        listener.close()


@contextlib.contextmanager
def delayed(port: int, rtt_s: float, addresses: int = 1) -> Iterator[int]:
    """A port of 127.0.0.1, 127.0.0.2, ... that passes everything on to `port` of 127.0.0.1, half of `rtt_s` later in
    each direction. The delay does not limit how much goes through."""
    first = socket.create_server(("127.0.0.1", 0), backlog=256)
    own = int(first.getsockname()[1])
    more = [socket.create_server((f"127.0.0.{n}", own), backlog=256) for n in range(2, addresses + 1)]
    loop = asyncio.new_event_loop()
    for listener in (first, *more):
        loop.run_until_complete(asyncio.start_server(_relay(port, rtt_s / 2), sock=listener))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield own
    finally:
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


def _relay(port: int, delay_s: float) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def serve(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            host, to_host = await asyncio.open_connection("127.0.0.1", port)
            for writer in (back, to_host):
                writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.gather(_late(client, to_host, delay_s), _late(host, back, delay_s))

    return serve


async def _late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Everything from one to the other, each piece so much later."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                writer.close()
                return
            writer.write(data)

    delivering = asyncio.ensure_future(deliver())
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            waiting.put_nowait((loop.time() + delay_s, data))
    waiting.put_nowait((loop.time() + delay_s, b""))
    await delivering


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
