"""A private sshd on loopback: own keys, own configuration, many hosts on one daemon.

Each address of 127.0.0.0/8 is a host: ``127.3.7.1``, ``127.3.7.2``, ... all reach the one sshd of a fixture. The
fixture's `home` is a HOME for programs under test: its ``.ssh`` holds nothing but what the fixture put there.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

import psutil

from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions

__all__ = ["SshdFixture", "wait_until"]

_CONFIG = """\
Port {port}
ListenAddress {listen}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
UsePAM no
UseDNS no
StrictModes no
PermitRootLogin yes
PubkeyAuthentication yes
KbdInteractiveAuthentication no
PasswordAuthentication no
X11Forwarding no
PrintMotd no
PrintLastLog no
LoginGraceTime 60
LogLevel VERBOSE
SetEnv HOME={folder}/remote_home XDG_RUNTIME_DIR={folder}/run
"""
_DEFAULTS = {"MaxStartups": "500:30:1000", "MaxSessions": "50"}


def wait_until(condition: Callable[[], object], *, deadline_s: float = 60.0, what: str = "the condition") -> None:
    """Return once `condition()` is true; fail the test, naming `what`, when it is not in time."""
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not hold within {deadline_s:g} s")
        time.sleep(0.02)


def _find_sshd() -> str:
    found = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        raise AssertionError("sshd is missing: install it (Debian, Ubuntu: apt-get install openssh-server)")
    return found


def make_key(path: Path, *, kind: str = "ed25519", passphrase: str = "") -> Path:
    """A new key pair at `path` and `path`.pub; returns `path`."""
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


class SshdFixture:
    """One sshd. Start it with `with SshdFixture(folder) as sshd:`; options are lines of sshd_config.

    `options` replaces or adds settings (``{"MaxSessions": "1"}``). `shell` is a program that is given the client's
    command line in the login shell's place (``/usr/bin/fish``). `password` becomes the account's, for this sshd alone
    (needs root). The account's home, as far as a login shell sees it, is `remote_home`: what is written to its
    ``.bashrc`` is read at each start. Agents keep their captures in `run_dir`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        options: dict[str, str] | None = None,
        shell: str | None = None,
        password: str | None = None,
    ) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.port = 0
        self.user = getpass.getuser()
        self.private_key = folder / "client_key"
        self.known_hosts = folder / "known_hosts"
        self.config = folder / "ssh_config"
        self.remote_home = folder / "remote_home"
        self.run_dir = folder / "run"
        self._options = _DEFAULTS | (options or {})
        if shell is not None:
            self._options["ForceCommand"] = f'exec {shell} -c "$SSH_ORIGINAL_COMMAND"'
        if password is not None:
            self._options |= {"PasswordAuthentication": "yes"}
        self._password = password
        # Every fixture has addresses of its own, so that its connections are told from those of others.
        self._net = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(250) + 2}"
        self._process: subprocess.Popen[bytes] | None = None

    # ---- life

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.home / ".ssh").mkdir(parents=True, exist_ok=True)
        self.remote_home.mkdir(exist_ok=True)
        self.run_dir.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(parents=True, exist_ok=True)
        make_key(self.folder / "host_key")
        make_key(self.private_key)
        self.authorize(self.private_key)
        self.write_known_hosts()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def authorize(self, *keys: Path) -> None:
        """Let these keys (private paths) log in, and no other."""
        lines = [Path(f"{key}.pub").read_text() for key in keys]
        (self.folder / "authorized_keys").write_text("".join(lines))

    def start(self) -> None:
        """Start the daemon on a free port, or on the one that it had before."""
        for _ in range(5):
            port = self.port or _free_port()
            text = _CONFIG.format(port=port, listen="0.0.0.0", folder=self.folder)
            kept = [line for line in text.splitlines() if line.split()[0] not in self._options]
            kept += [f"{name} {value}" for name, value in self._options.items()]
            (self.folder / "sshd_config").write_text("\n".join(kept) + "\n")
            with (self.folder / "sshd.log").open("ab") as log:
                self._process = subprocess.Popen(
                    [*self._with_password(), _find_sshd(), "-D", "-e", "-f", str(self.folder / "sshd_config")],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"},
                    start_new_session=True,
                )
            if self._came_up(port):
                self.port = port
                self.write_known_hosts()
                return
            self.stop()
        raise AssertionError(f"sshd did not start: {self.log()[-2000:]}")

    def _with_password(self) -> list[str]:
        """A prefix that shows sshd, and nobody else, a shadow file with the password in it."""
        if self._password is None:
            return []
        if os.geteuid() != 0:
            raise AssertionError("an account's password can be set for a test by root only")
        made = subprocess.run(
            ["openssl", "passwd", "-6", "-stdin"], input=self._password.encode(), capture_output=True, check=True
        )
        digest = made.stdout.decode().strip()
        lines = Path("/etc/shadow").read_text().splitlines()
        lines = [
            f"{self.user}:{digest}:19000:0:99999:7:::" if line.split(":")[0] == self.user else line for line in lines
        ]
        shadow = self.folder / "shadow"
        shadow.write_text("\n".join(lines) + "\n")
        shadow.chmod(0o600)
        script = f'mount --bind "{shadow}" /etc/shadow && exec "$@"'
        return ["unshare", "-m", "sh", "-c", script, "sh"]

    def _came_up(self, port: int) -> bool:
        assert self._process is not None
        end = time.monotonic() + 10
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                if probe.recv(4) == b"SSH-":
                    return True
            time.sleep(0.02)
        return False

    def stop(self) -> None:
        """End the daemon and every connection that it serves."""
        if self._process is None:
            return
        process, self._process = self._process, None
        children = self._descendants(process.pid)
        for each in [process.pid, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGCONT)
                os.kill(each, signal.SIGKILL)
        process.wait()

    def log(self) -> str:
        """What sshd has logged so far."""
        return (self.folder / "sshd.log").read_text(errors="replace")

    # ---- hosts

    def address(self, number: int = 1) -> str:
        """The address of host `number` (from 1)."""
        assert 1 <= number <= 254
        return f"{self._net}.{number}"

    def host(self, number: int = 1, **changes: object) -> Host:
        """Host `number` as the inventory would name it, with its key; `changes` replace fields."""
        fields: dict[str, object] = {
            "name": f"h{number}",
            "address": self.address(number),
            "port": self.port,
            "user": self.user,
            "private_key_file": str(self.private_key),
        }
        return Host(**(fields | changes))  # type: ignore[arg-type]  # fields by name

    def options(self, **changes: object) -> SshOptions:
        """SSH options that trust this sshd and read no file of the machine; `changes` replace fields."""
        fields: dict[str, object] = {"known_hosts": (str(self.known_hosts),), "config_files": ()}
        return SshOptions(**(fields | changes))  # type: ignore[arg-type]  # fields by name

    def host_key_line(self) -> str:
        """Kind and key of the host key, as in a known_hosts line."""
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    def write_known_hosts(self) -> None:
        """Make every address of this sshd known."""
        self.known_hosts.write_text(f"[{self._net}.*]:{self.port} {self.host_key_line()}\n")

    def change_host_key(self) -> None:
        """Install the host anew, as it were: another host key, known_hosts left as it is. Restarts the daemon."""
        known = self.known_hosts.read_text()
        self.stop()
        for suffix in ("", ".pub"):
            (self.folder / f"host_key{suffix}").unlink()
        make_key(self.folder / "host_key")
        self.start()
        self.known_hosts.write_text(known)

    def write_inventory(self, path: Path, n_hosts: int = 1, *, group: str = "fleet") -> Path:
        """An inventory of hosts h1..hN in `group`; YAML or INI by the suffix (.yml, .yaml, .ini). Returns `path`."""
        numbers = range(1, n_hosts + 1)
        common = {
            "ansible_port": self.port,
            "ansible_user": self.user,
            "ansible_ssh_private_key_file": self.private_key,
            "ansible_ssh_common_args": f"-F none -o UserKnownHostsFile={self.known_hosts}",
        }
        if path.suffix in (".yml", ".yaml"):
            lines = ["all:", "  children:", f"    {group}:", "      vars:"]
            lines += [f'        {key}: "{value}"' for key, value in common.items()]
            lines += ["      hosts:", *(f"        h{n}: {{ansible_host: {self.address(n)}}}" for n in numbers)]
        else:
            lines = [f"[{group}]", *(f"h{n} ansible_host={self.address(n)}" for n in numbers)]
            lines += ["", f"[{group}:vars]", *(f"{key}={value}" for key, value in common.items())]
        path.write_text("\n".join(lines) + "\n")
        return path

    def env(self, **more: str) -> dict[str, str]:
        """An environment for a program under test: HOME is the fixture's, no agent, no settings of ours."""
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR")}
        return kept | {"HOME": str(self.home), "LC_ALL": "C.UTF-8"} | more

    # ---- trouble

    def connections(self) -> list[int]:
        """The process ids of sshd's children: one for each connection."""
        assert self._process is not None
        return [child.pid for child in _children(self._process.pid)]

    def kill_connections(self) -> None:
        """Kill what serves the connections: to the client, the host is gone without a word."""
        for pid in self._served():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """While this holds, everything that serves connections is stopped: the link is up and dead."""
        pids = self._served()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _served(self) -> list[int]:
        """All sshd processes below the daemon, not what they run."""
        assert self._process is not None
        return [pid for pid in self._descendants(self._process.pid) if _name(pid).startswith("sshd")]

    @staticmethod
    def _descendants(pid: int) -> list[int]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return [child.pid for child in psutil.Process(pid).children(recursive=True)]
        return []

    # ---- what is left

    def processes(self) -> dict[int, str]:
        """Programs that were started over this sshd and still run, whatever became of their connection."""
        # sshd puts its port into the environment of all that it starts.
        mark = re.compile(rb"(?:^|\0)SSH_CONNECTION=[^\0]* %d(?:\0|$)" % self.port)
        out = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if mark.search((entry / "environ").read_bytes()):
                    out[int(entry.name)] = (
                        (entry / "cmdline").read_bytes()[:80].replace(b"\0", b" ").decode("utf-8", "replace")
                    )
        return out

    def assert_clean(self, *, deadline_s: float = 60.0) -> None:
        """Fail unless, within the deadline, nothing that was started over this sshd runs and no capture is left."""
        end = time.monotonic() + deadline_s
        while left := [*self.processes().items(), *self.run_dir.iterdir()]:
            if time.monotonic() > end:
                raise AssertionError(f"left on the host after {deadline_s:g} s: {left}")
            time.sleep(0.05)


def _children(pid: int) -> Sequence[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children()
    return []


def _name(pid: int) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).name()
    return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        port: int = probe.getsockname()[1]
        return port
