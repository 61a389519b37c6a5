"""Programs that lead into a host, for tests: real namespaces where they are permitted, and stand-ins for clients."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from sshd import wait_until

__all__ = ["Stubs", "namespaces", "network_namespace", "small_root"]

# A client passes streams on and is no parent of what runs on the other side: so its end is seen there as the end of
# input. It leaves out its own arguments, up to the shell.
_STUB = """\
#!{python}
import json, os, subprocess, sys, threading
with open({log!r}, "a") as log:
    log.write(json.dumps([os.getpid(), os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
rest = sys.argv[sys.argv.index("/bin/sh"):]
inside = subprocess.Popen(rest, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0)
def pump(source, sink):
    while data := os.read(source, 65536):
        try:
            os.write(sink, data)
        except BrokenPipeError:
            return
def feed():
    pump(0, inside.stdin.fileno())
    inside.stdin.close()
threading.Thread(target=feed, daemon=True).start()
pump(inside.stdout.fileno(), 1)
os._exit(inside.wait())
"""


class Stubs:
    """Programs by these names, in a folder to be put before PATH. They note their arguments and do the rest here."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder / "stubs"
        self.folder.mkdir()
        self._log = folder / "stubs.log"
        for name in names:
            self.add(name, _STUB.format(python=sys.executable, log=str(self._log)))

    def add(self, name: str, text: str) -> None:
        """A program of the test's own."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        """An environment in which they are found first."""
        return os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def calls(self) -> list[list[str]]:
        """How they were called, in order: name and arguments before the shell."""
        return [call[1 : call.index("/bin/sh")] for call in self._noted()]

    def tails(self) -> list[list[str]]:
        """The shell that each was given, with its arguments."""
        return [call[call.index("/bin/sh") :] for call in self._noted()]

    def pids(self) -> list[int]:
        """Their process ids, in the order of the calls."""
        return [int(json.loads(line)[0]) for line in self._log.read_text().splitlines()]

    def _noted(self) -> list[list[str]]:
        if not self._log.exists():
            return []
        return [[str(word) for word in json.loads(line)] for line in self._log.read_text().splitlines()]


def _permitted(*argv: str) -> None:
    """Skip the test where this machine does not let us."""
    if shutil.which(argv[0]) is None or subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip(f"not permitted here: {' '.join(argv)}")


@contextmanager
def namespaces() -> Iterator[int]:
    """The id of a process that has namespaces of its own: of mounts, processes, names and network."""
    _permitted("unshare", "--mount", "--pid", "--uts", "--net", "--fork", "--mount-proc", "true")
    argv = ["unshare", "--mount", "--pid", "--uts", "--net", "--fork", "--kill-child", "--mount-proc"]
    with subprocess.Popen([*argv, "sh", "-c", "hostname inside; exec sleep 300"]) as outer:
        try:
            parent = psutil.Process(outer.pid)
            wait_until(lambda: [child.name() for child in parent.children()] == ["sleep"], what="the namespaces")
            yield parent.children()[0].pid
        finally:
            outer.kill()


@contextmanager
def network_namespace(name: str) -> Iterator[None]:
    """A network namespace with a name, for `ip netns exec`."""
    _permitted("ip", "netns", "add", name)
    try:
        yield
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def small_root(folder: Path) -> list[str]:
    """The arguments that lead into a small root below `folder`: programs of this machine, all else its own. Its mounts
    end with the program."""
    root = folder / "root"
    for name in ("usr", "proc", "dev", "tmp", "etc", "root"):
        (root / name).mkdir(parents=True)
    for link in ("bin", "lib", "lib64", "sbin"):
        source = Path("/") / link
        if source.is_symlink():
            (root / link).symlink_to(source.readlink())
        elif source.is_dir():
            (root / link).mkdir()
    (root / "etc" / "checkrunner-root").write_text("a small one\n")
    binds = " && ".join(
        f'mount --rbind /{name} "$0/{name}"'
        for name in ("usr", "proc", "dev", "bin", "lib", "lib64", "sbin")
        if (root / name).is_dir() and not (root / name).is_symlink()
    )
    argv = ["unshare", "--mount", "sh", "-c", f'{binds} && exec chroot "$0" "$@"', str(root)]
    _permitted(*argv, "/bin/sh", "-c", "true")
    return argv
