"""What travels: metadata and the slices that were asked for, never an output as a whole."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cli_runner import CommandLine
from sshd import SshdFixture


class Relay:
    """A TCP relay on loopback that counts the bytes coming back from the server."""

    def __init__(self, address: str, port: int) -> None:
        self.received = 0
        self._target = (address, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self._sockets += [client, server]
            for source, sink, counted in ((client, server, False), (server, client, True)):
                thread = threading.Thread(target=self._copy, args=(source, sink, counted), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _copy(self, source: socket.socket, sink: socket.socket, counted: bool) -> None:
        try:
            while data := source.recv(65536):
                if counted:
                    self.received += len(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)
        for end in self._sockets:
            end.close()


@contextmanager
def relay(sshd: SshdFixture) -> Iterator[Relay]:
    running = Relay(sshd.address(1), sshd.port)
    try:
        yield running
    finally:
        running.close()


def test_a_large_log_puts_only_metadata_and_declared_slices_on_the_wire(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    log = tmp_path / "app.log"
    lines = [
        f"2026-01-01T00:00:{n % 60:02d}Z {'ERROR' if n % 800 == 7 else 'INFO'} unit[{n}]: {'word ' * 45}"
        for n in range(4300)
    ]
    log.write_text("\n".join(lines) + "\n")
    assert log.stat().st_size > 1_000_000
    received: dict[str, int] = {}

    for name, more in {"none": "run: 'true'", "read": f"run: cat {log}",
                       "match": f"run: cat {log}\n      slice: {{match: ERROR, max_lines: 5, when: always}}"}.items():  # fmt: skip
        with relay(sshd) as wire:
            inventory = tmp_path / "relay.ini"
            inventory.write_text(
                f"h1 ansible_host=127.0.0.1 ansible_port={wire.port} ansible_user=root "
                f"ansible_ssh_private_key_file={sshd.private_key} "
                f"ansible_ssh_common_args='-o HostKeyAlias={sshd.address(1)}'\n"
            )
            known = tmp_path / "known"
            known.write_text(f"{sshd.address(1)} {sshd.host_key_line()}\n")
            playbook = cli.playbook(f"- hosts: all\n  checks:\n    - id: log\n      {more}\n")
            outcome = cli.call(
                cli.argv(
                    "run", playbook, "-i", inventory, "--known-hosts", known, "--ssh-config", "none", "--format", "json"
                )
            )
            assert outcome.code == 0, outcome.stdout + outcome.stderr
            received[name] = wire.received
            if name == "match":
                text = json.dumps(outcome.report)
                assert text.count("ERROR unit") == 5
                assert "INFO unit" not in text

    assert received["read"] - received["none"] < 500
    assert received["match"] - received["none"] < 5 * len(lines[0]) + 1000
