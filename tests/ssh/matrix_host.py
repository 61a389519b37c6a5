"""An sshd with an account for each login shell and each kind of start-up file, on a host that lacks what a test wants."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from become_host import BecomeHost

__all__ = ["FILES", "KINDS", "PASSWORD", "SHELLS", "Account", "MatrixHost", "accounts", "cannot_hide"]

PASSWORD = "root's own, for su"

SHELLS = {
    "bash": "/bin/bash",
    "dash": "/bin/dash",
    "busybox ash": "",
    "zsh": "/bin/zsh",
    "fish": "/usr/bin/fish",
    "tcsh": "/usr/bin/tcsh",
    "rbash": "/bin/rbash",
    "nologin": "/usr/sbin/nologin",
}
"""Login shells by name. That of a busybox is found where it is."""

_READ_BY = {
    "bash": ".bashrc",
    "rbash": ".bashrc",
    "zsh": ".zshenv",
    "fish": ".config/fish/config.fish",
    "tcsh": ".tcshrc",
}

FILES = {
    "silent": {"": "true"},
    "prints": {"": "echo Welcome to this host"},
    "starts another shell": {"": "exec sh"},
    "reads a line": {"": "read line", "tcsh": "set line = $<"},
    "reads all": {"": "cat >/dev/null"},
    "exit 1": {"": "echo Under maintenance; exit 1"},
}
"""What start-up files do, with the text for each shell that says it otherwise."""

KINDS = {
    "Python and bash": (),
    "no bash": ("bash",),
    "no Python": ("python3",),
    "neither": ("python3", "bash"),
}
"""Hosts, by what is hidden there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account of such a host."""

    shell: str
    file: str

    @property
    def name(self) -> str:
        """Its name, and that of the host in the inventory."""
        words = f"{self.shell.split()[-1]}-{self.file}"
        return words.replace(" 1", "").replace(" ", "-")

    @property
    def path(self) -> str:
        """Its login shell; "" where this machine has none."""
        path = SHELLS[self.shell] or shutil.which("busybox") or ""
        return path if path and os.access(path, os.X_OK) else ""

    def write_file(self, home: Path) -> None:
        """Write what its login shell reads, if that reads anything."""
        if self.shell in _READ_BY:
            path = home / _READ_BY[self.shell]
            path.parent.mkdir(parents=True, exist_ok=True)
            texts = FILES[self.file]
            path.write_text(texts.get(self.shell, texts[""]) + "\n")


def accounts() -> list[Account]:
    """All that this machine has the shells for."""
    every = [Account(shell=shell, file=file) for shell in SHELLS for file in FILES]
    return [account for account in every if account.path]


def cannot_hide() -> str:
    """Why programs cannot be hidden here; "" where they can."""
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "overlay", "overlay", "-o", "lowerdir=/usr/share:/usr/bin", "/usr/bin"],
        capture_output=True,
        check=False,
    )
    if tried.returncode or Path("/bin").resolve() != Path("/usr/bin"):
        return "programs of /usr/bin cannot be hidden here"
    return ""


class MatrixHost(BecomeHost):
    """Logs in as any of `accounts()`. All of them may become root: with sudo and doas without a password, with su for `PASSWORD`."""

    def __init__(self, folder: Path, hidden: Sequence[str]) -> None:
        names = [account.name for account in accounts()]
        sudoers = "".join(f"{name} ALL=(ALL) NOPASSWD: ALL\n" for name in names)
        doas = "".join(f"permit nopass {name}\n" for name in names)
        super().__init__(folder, sudoers=sudoers, doas=doas)
        self._hidden = hidden
        base = 50000 + secrets.randbelow(10000)
        self.uids = {name: base + number for number, name in enumerate(names)}
        self.homes = {name: folder / "homes" / name for name in names}

    def start(self) -> None:
        ash = self.folder / "ash"
        if not ash.is_symlink():
            ash.symlink_to(shutil.which("busybox") or "busybox")
        super().start()
        for account in accounts():
            account.write_file(self.homes[account.name])

    def _with_password(self) -> list[str]:
        """The programs are hidden by a file system over their folder, in which they were removed."""
        prefix = super()._with_password()
        removed = self.folder / "removed"
        removed.mkdir(exist_ok=True)
        found = [path.name for name in self._hidden for path in Path("/usr/bin").glob(f"{name}*")]
        for name in found:
            if not (removed / name).exists():
                os.mknod(removed / name, stat.S_IFCHR, 0)
        if found:
            prefix[4] = f"mount -t overlay overlay -o lowerdir={removed}:/usr/bin /usr/bin || exit 9; {prefix[4]}"
        return prefix

    def _accounts(self) -> dict[str, str]:
        command = ["openssl", "passwd", "-6", "-stdin"]
        made = subprocess.run(command, input=PASSWORD.encode(), capture_output=True, check=True).stdout.decode().strip()
        passwd, group = (Path(f"/etc/{name}").read_text() for name in ("passwd", "group"))
        shadow = f"root:{made}:19000:0:99999:7:::\n"
        for account in accounts():
            uid = self.uids[account.name]
            shell = SHELLS[account.shell] or self.folder / "ash"
            passwd += f"{account.name}:x:{uid}:{uid}::{self.homes[account.name]}:{shell}\n"
            group += f"{account.name}:x:{uid}:\n"
            shadow += f"{account.name}:*:19000:0:99999:7:::\n"
        return {"/etc/passwd": passwd, "/etc/shadow": shadow, "/etc/group": group}

    def write_inventory(self, path: Path, n_hosts: int = 1, *, group: str = "fleet") -> Path:
        """An inventory in which each account is a host."""
        common = {
            "ansible_host": self.address(),
            "ansible_port": self.port,
            "ansible_ssh_private_key_file": self.private_key,
            "ansible_ssh_common_args": f"-F none -o UserKnownHostsFile={self.known_hosts}",
        }
        lines = ["all:", "  children:", f"    {group}:", "      vars:"]
        lines += [f'        {key}: "{value}"' for key, value in common.items()]
        lines += ["      hosts:", *(f"        {name}: {{ansible_user: {name}}}" for name in self.uids)]
        path.write_text("\n".join(lines) + "\n")
        return path
