"""An sshd whose account is an ordinary user, with sudo, doas and su as a test wants them.

The daemon has an /etc of its own, with other accounts, sudoers and so on, in a mount namespace: nothing of the machine
is changed, and nothing has to be put back. Needs root, and the right to mount.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from sshd import SshdFixture

__all__ = ["LOGIN", "OTHER", "OTHER_PASSWORD", "PASSWORD", "BecomeHost", "why_not"]

LOGIN, PASSWORD = "tester", "let me in, 7 of us"
OTHER, OTHER_PASSWORD = "keeper", "the keeper's own, 42"
_MODES = {"shadow": 0o600, "sudoers": 0o440, "doas.conf": 0o600}
_PAM = "auth required pam_unix.so\naccount required pam_unix.so\nsession required pam_permit.so\n"


def why_not(*programs: str) -> str:
    """Why such a host cannot be had here; "" where it can."""
    if os.geteuid() != 0:
        return "only root can give an sshd accounts of its own"
    for program in ("sudo", "unshare", "openssl", *programs):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    tried = subprocess.run(["unshare", "-m", "mount", "--bind", "/etc/passwd", "/etc/passwd"], capture_output=True)
    return "" if tried.returncode == 0 else f"no mount namespaces here: {tried.stderr.decode().strip()}"


class BecomeHost(SshdFixture):
    """Log in as `LOGIN`. `sudoers` and `doas` are lines of those files; `files` maps paths of the host to what they
    hold (in /etc; None hides a file of any other place); `pam` has lines for sudo, doas and su in place of the usual ones.
    With `must_change` the passwords have to be changed first."""

    def __init__(
        self,
        folder: Path,
        *,
        sudoers: str = "",
        doas: str = "",
        pam: str = _PAM,
        login_shell: str = "/bin/bash",
        files: Mapping[str, str | None] | None = None,
        options: dict[str, str] | None = None,
        must_change: bool = False,
    ) -> None:
        super().__init__(folder, options={"SetEnv": "CHECKED=yes"} | (options or {}))
        self.user = LOGIN
        self.uids = {LOGIN: 61000 + secrets.randbelow(2000), OTHER: 63000 + secrets.randbelow(2000)}
        self.homes = {name: folder / "homes" / name for name in self.uids}
        self._shell = login_shell
        self._changed = 0 if must_change else 19000
        self._files = {
            "/etc/sudoers": f"Defaults env_reset, use_pty\nroot ALL=(ALL) ALL\n{sudoers}\n",
            "/etc/doas.conf": f"{doas}\n",
            **dict.fromkeys(("/etc/pam.d/sudo", "/etc/pam.d/doas"), pam),
            "/etc/pam.d/su": f"auth sufficient pam_rootok.so\n{pam}",
            **(files or {}),
        }

    def start(self) -> None:
        for place in (self.folder, self.folder.parent):
            place.chmod(0o755)
        shutil.rmtree(self.folder / "homes", ignore_errors=True)
        for name, home in self.homes.items():
            home.mkdir(parents=True, mode=0o700)
            os.chown(home, self.uids[name], self.uids[name])
        super().start()

    def _accounts(self) -> dict[str, str]:
        passwd, shadow, group = (Path(f"/etc/{name}").read_text() for name in ("passwd", "shadow", "group"))
        shells = {LOGIN: self._shell, OTHER: "/bin/sh"}
        for (name, uid), password in zip(self.uids.items(), (PASSWORD, OTHER_PASSWORD), strict=True):
            made = subprocess.run(
                ["openssl", "passwd", "-6", "-stdin"], input=password.encode(), capture_output=True, check=True
            )
            passwd += f"{name}:x:{uid}:{uid}::{self.homes[name]}:{shells[name]}\n"
            shadow += f"{name}:{made.stdout.decode().strip()}:{self._changed}:0:99999:7:::\n"
            group += f"{name}:x:{uid}:\n"
        return {"/etc/passwd": passwd, "/etc/shadow": shadow, "/etc/group": group}

    def _with_password(self) -> list[str]:
        """A prefix that shows sshd, and what it starts, the files."""
        etc = self.folder / "etc"
        shutil.rmtree(etc, ignore_errors=True)
        shutil.copytree("/etc", etc, symlinks=True, ignore=shutil.ignore_patterns("sudoers.d", "ssl"))
        mounts = [f'mount --bind "{etc}" /etc']
        for path, text in {**self._accounts(), **self._files}.items():
            mine = etc / path.removeprefix("/etc/")
            if text is None:
                mounts.append(f"mount --bind /dev/null {path}")
            else:
                mine.write_text(text)
                mine.chmod(_MODES.get(mine.name, 0o644))
        # Of its own as well: what sudo remembers of a password that was given.
        mounts.append("mkdir -p /run/sudo && mount -t tmpfs -o mode=711 tmpfs /run/sudo")
        script = "; ".join(["set -e", *mounts, 'exec "$@"'])
        return ["unshare", "-m", "sh", "-c", script, "sh"]

    # ---- what is there

    def everything(self) -> dict[int, str]:
        """All processes that see this host's files, but sshd itself: with their arguments and environment."""
        assert self._process is not None
        mine = os.readlink(f"/proc/{self._process.pid}/ns/mnt")
        out = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if os.readlink(entry / "ns/mnt") == mine:
                    words = (entry / "cmdline").read_bytes() + b"\0" + (entry / "environ").read_bytes()
                    out[int(entry.name)] = words.replace(b"\0", b" ").decode("utf-8", "replace")
        return {pid: words for pid, words in out.items() if not words.startswith(("sshd", "/usr/sbin/sshd"))}

    def captures(self) -> list[Path]:
        """Directories of agents that ran as one of the accounts."""
        names = {str(uid) for uid in self.uids.values()}
        return [
            p
            for base in ("/dev/shm", "/var/tmp", "/tmp")
            for p in Path(base).glob("checkrunner-*-*-*")
            if p.name.split("-")[1] in names
        ]

    def assert_clean(self, *, deadline_s: float = 60.0) -> None:
        """Fail unless, within the deadline, nothing of this host runs any more and no capture is left."""
        end = time.monotonic() + deadline_s
        while left := [*self.everything().items(), *self.captures()]:
            if time.monotonic() > end:
                raise AssertionError(f"left on the host after {deadline_s:g} s: {left}")
            time.sleep(0.05)

    def kill_agent(self, user: str) -> None:
        """Kill what runs as this account: what checks run in as it is gone."""
        uid = 0 if user == "root" else self.uids[user]
        for pid, words in self.everything().items():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{pid}").st_uid == uid and "python" in words.split(" ", 1)[0]:
                    os.kill(pid, signal.SIGKILL)
