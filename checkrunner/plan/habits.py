"""What lint warns of in a command: tables of commands that change a host, and of those that never end.

A row names commands, a pattern for their arguments (joined by spaces; an empty one fits always), and what they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from checkrunner.plan.shellwords import SimpleCommand, commands_in, written_files

__all__ = ["CHANGING", "ENDLESS", "Habit", "bad_habits"]


@dataclass(frozen=True, slots=True)
class Habit:
    """A row. `does` completes "``NAME`` ..."."""

    names: tuple[str, ...]
    pattern: str
    does: str

    def fits(self, command: SimpleCommand) -> bool:
        """Whether the row speaks of this command."""
        return command.name in self.names and re.search(self.pattern, " ".join(command.args)) is not None


_VERBS = r"(^|\s)(install|reinstall|remove|purge|erase|upgrade|update|full-upgrade|dist-upgrade|autoremove)(\s|$)"
_UNIT_VERBS = (
    r"(^|\s)((try-)?(re)?start|stop|reload|kill|enable|disable|mask|unmask|isolate|reset-failed|daemon-re\w+)(\s|$)"
)

CHANGING: tuple[Habit, ...] = (
    Habit(("rm", "rmdir", "unlink", "shred", "truncate"), "", "removes files"),
    Habit(("mv", "chmod", "chown", "chgrp", "chattr", "setfacl"), "", "changes files"),
    Habit(("sed", "perl"), r"(^|\s)-\w*i", "changes files in place"),
    Habit(("tee",), r"(^|\s)/(etc|usr|boot|sys|proc|root)/", "writes a system file"),
    Habit(("find",), r"(^|\s)-(delete|exec(dir)?\s+(rm|mv|chmod|chown))\b", "removes or changes files"),
    Habit(("mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkswap", "wipefs", "blkdiscard"), "", "destroys data"),
    Habit(("dd",), r"(^|\s)of=(?!/dev/null)", "writes over a file or device"),
    Habit(("fdisk", "sfdisk", "gdisk", "parted"), r"^(?!.*(-l|-d|--list|--dump|print)\b)", "changes partitions"),
    Habit(("lvremove", "lvcreate", "lvextend", "lvreduce", "vgremove", "pvremove"), "", "changes volumes"),
    Habit(("mount",), r"\S", "changes mounts"),
    Habit(("umount", "swapoff", "swapon"), "", "changes mounts or swap"),
    Habit(("systemctl",), _UNIT_VERBS, "changes units"),
    Habit(("service", "rc-service"), r"\s(start|stop|restart|reload)\b", "changes services"),
    Habit(("reboot", "shutdown", "halt", "poweroff", "init", "telinit"), "", "takes the host down"),
    Habit(("kill", "pkill", "killall"), r"^(?!-(0|l|L)\b)", "ends processes"),
    Habit(("apt", "apt-get", "yum", "dnf", "zypper", "apk", "pip", "pip3", "snap"), _VERBS, "changes packages"),
    Habit(("rpm", "dpkg"), r"(^|\s)(-[ieUF]\w*|--install|--erase|--remove|--purge|-r|-P)(\s|$)", "changes packages"),
    Habit(("iptables", "ip6tables"), r"(^|\s)-[ADFIPRXZN]\b", "changes the firewall"),
    Habit(("nft",), r"\b(add|delete|flush|insert|replace)\b", "changes the firewall"),
    Habit(("firewall-cmd",), r"--(add|remove|reload|set|permanent)", "changes the firewall"),
    Habit(("ip",), r"\b(add|del|delete|set|flush|replace|change)\b", "changes the network"),
    Habit(("sysctl",), r"(^|\s)(-w|-p|--write|--load)\b|=", "changes kernel settings"),
    Habit(("modprobe", "insmod", "rmmod"), "", "changes kernel modules"),
    Habit(("useradd", "userdel", "usermod", "groupadd", "groupdel", "passwd", "chpasswd"), "", "changes accounts"),
    Habit(("crontab",), r"(^|\s)-(r|e)\b", "changes cron jobs"),
    Habit(("docker", "podman"), r"\b(rm|rmi|stop|start|restart|kill|prune|run|exec|pull)\b", "changes containers"),
    Habit(
        ("kubectl",), r"\b(delete|apply|create|patch|scale|drain|cordon|uncordon|edit|replace)\b", "changes a cluster"
    ),
    Habit(
        ("xl", "virsh"), r"^(destroy|shutdown|reboot|start|create|migrate|undefine|suspend|resume)\b", "changes guests"
    ),
    Habit(("journalctl",), r"--(vacuum|rotate|flush)", "changes the journal"),
)
"""Commands that change a host. A diagnosis should not, and checks are not asked to confirm anything."""

ENDLESS: tuple[Habit, ...] = (
    Habit(("watch", "htop", "atop", "btop", "nmon"), "", "never ends"),
    Habit(("less", "more", "most", "man", "vi", "vim", "nano", "view"), r"^(?!.*--version)", "waits for keys"),
    Habit(("tail",), r"(^|\s)(-\w*[fF]\w*|--follow\S*)(\s|$)", "never ends with -f"),
    Habit(("journalctl",), r"(^|\s)(-\w*f\w*|--follow)(\s|$)", "never ends with -f"),
    Habit(("dmesg",), r"(^|\s)(-\w*[wW]|--follow\S*)(\s|$)", "never ends with -w"),
    Habit(("top", "iotop", "xentop"), r"^(?!.*(^|\s)-\w*b)", "needs -b (and -n) to end without a terminal"),
    Habit(("top", "iotop"), r"^(?=.*(^|\s)-\w*b)(?!.*(^|\s)-\w*n)", "never ends without -n"),
    Habit(("ping", "ping6"), r"^(?!.*(^|\s)-\w*[cw])", "never ends without -c or -w"),
    Habit(
        ("vmstat", "iostat", "mpstat", "pidstat"), r"^([^\d\s]\S*\s+)*\d+$", "never ends with an interval and no count"
    ),
    Habit(("tcpdump", "tshark"), r"^(?!.*(^|\s)-\w*c)", "never ends without -c"),
)
"""Commands that end only by the check's timeout. Under `timeout` they are not warned of."""

_SYSTEM_FILE = re.compile(r"/(etc|usr|boot|bin|sbin|lib\w*|sys|proc|root|var/(?!tmp/)|dev/(sd|nvme|vd|mem|mapper))")
_ENDLESS_HINT = "It would be ended by the check's timeout; after a `duration:` that is success"
_LONG_SLEEP_S = 30.0
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def bad_habits(text: str, *, bounded: bool = False) -> Iterator[tuple[str, str, int]]:
    """What is worth a warning in a command's text: message, hint, offset. `bounded`: the check ends it after a time."""
    for command in commands_in(text):
        for row in CHANGING:
            if row.fits(command):
                yield f"`{command.name}` {row.does}", "A check should only look", command.offset
                break
        if bounded or command.bounded:
            continue
        for row in ENDLESS:
            if row.fits(command):
                yield (
                    f"`{command.name}` {row.does}",
                    _ENDLESS_HINT,
                    command.offset,
                )
                break
        if (seconds := _sleep_s(command)) > _LONG_SLEEP_S:
            yield f"sleeps {seconds:g} s", "Everything after it in its session waits", command.offset
    for path, offset in written_files(text):
        if _SYSTEM_FILE.match(path):
            yield f"writes into {path}", "A check should only look", offset


def _sleep_s(command: SimpleCommand) -> float:
    if command.name != "sleep":
        return 0.0
    total = 0.0
    for arg in command.args:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", arg)
        if arg in ("inf", "infinity"):
            return float("inf")
        total += float(found[1]) * _UNITS[found[2]] if found else 0.0
    return total
