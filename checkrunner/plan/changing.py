"""Which commands change a host: a table of verbs, and files that output is written to. For lint, and for its manual.

A row names commands, a pattern for their arguments (joined by spaces; an empty one fits always), and what they do. What
only concerns scratch files changes nothing: below /tmp, or made by mktemp in the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checkrunner.plan.shellwords import SimpleCommand, commands_in, written_files

__all__ = ["CHANGING", "SCRATCH", "Habit", "changes", "unguarded_removals"]


@dataclass(frozen=True, slots=True)
class Habit:
    """A row. `does` completes "``NAME`` ...". `files` are those of the arguments that are concerned: ``all``, the
    ``last``, or none, where a file says nothing."""

    names: tuple[str, ...]
    pattern: str
    does: str
    files: str = ""

    def fits(self, command: SimpleCommand) -> bool:
        """Whether the row speaks of this command."""
        return command.name in self.names and re.search(self.pattern, " ".join(command.args)) is not None


_VERBS = (
    r"(^|\s)(install|reinstall|remove|purge|erase|upgrade|update|full-upgrade|dist-upgrade|autoremove|add|del)(\s|$)"
)
_UNIT_VERBS = (
    r"(^|\s)((try-)?(re)?start|(try-)?reload(-or-restart)?|stop|kill|enable|disable|mask|unmask|isolate|set-\w+|edit"
    r"|reset-failed|daemon-re\w+|revert|reboot|poweroff|halt|rescue|emergency|suspend|hibernate)(\s|$)"
)
_SQL = (
    r"(?i)(^|[\s;])(insert\s+into|update\s+\S+\s+set|delete\s+from|truncate\s+\w|merge\s+into|grant\s+\w|revoke\s+\w"
    r"|(drop|alter|create)\s+(or\s+replace\s+)?(table|database|schema|index|user|role|view|system|function|extension"
    r"|materialized|temp|temporary|unique|publication|subscription|tablespace)\b|vacuum\b|reindex\b|kill\s+\d"
    r"|set\s+(global|persist)\b|flush\s+\w|reset\s+(master|slave|replica)|(start|stop)\s+(slave|replica)"
    r"|select\s+pg_(terminate_backend|cancel_backend|reload_conf|switch_wal|promote|drop_\w+|stat_reset\w*))"
)
_REDIS = (
    r"(?i)^(-\S+\s+(\S+\s+)?)*?(set\w*|getset|getdel|mset|append|incr\w*|decr\w*|del|unlink|expire\w*|persist|rename\w*|flushall"
    r"|flushdb|[lr]push\w*|[lr]pop|[lr]set|[sz]add|[sz]rem|hset\w*|hdel|xadd|xdel|xtrim|publish|shutdown|slaveof|replicaof|failover"
    r"|save|bgsave|bgrewriteaof|config\s+(set|rewrite|resetstat)|script\s+(flush|kill|load)|client\s+(kill|pause)|slowlog\s+reset"
    r"|cluster\s+(reset|failover|forget|meet|addslots|delslots)|debug\s+\w+)(\s|$)"
)
_GIT = (
    r"^((-C|-c|--git-dir|--work-tree)[\s=]\S+\s+|-\S+\s+)*(reset|checkout|switch|restore|clean|pull|fetch|merge|rebase|commit|push"
    r"|stash(?!\s+(list|show))|cherry-pick|revert|am|apply|add|rm|mv|init|clone|gc|prune)(\s|$)"
)

CHANGING: tuple[Habit, ...] = (
    Habit(("rm", "rmdir", "unlink", "shred", "truncate"), "", "removes files", "all"),
    Habit(("mv",), "", "changes files", "all"),
    Habit(("chmod", "chown", "chgrp", "chattr", "setfacl"), "", "changes files", "last"),
    Habit(("cp", "install", "ln", "rsync", "scp"), r"^(?!.*(--dry-run|(^|\s)-\w*n\w*\b))", "writes files", "last"),
    Habit(("touch", "mkdir", "mkfifo", "mknod", "fallocate"), "", "creates files", "last"),
    Habit(("tee",), r"(^|\s)[^-\s]", "writes a file", "all"),
    Habit(("sed", "perl"), r"(^|\s)-\w*i", "changes files in place", "last"),
    Habit(("find",), r"(^|\s)-(delete|exec(dir)?\s+(rm|mv|chmod|chown|kill))\b", "removes or changes files"),
    Habit(("mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkswap", "wipefs", "blkdiscard"), "", "destroys data"),
    Habit(("dd",), r"(^|\s)of=(?!/dev/null|/tmp/|/var/tmp/)", "writes over a file or device"),
    Habit(("fdisk", "sfdisk", "gdisk", "parted"), r"^(?!.*(-l|-d|--list|--dump|print)\b)", "changes partitions"),
    Habit(
        ("lvremove", "lvcreate", "lvextend", "lvreduce", "lvchange", "vgremove", "pvremove", "pvcreate"),
        "",
        "changes volumes",
    ),
    Habit(("mdadm",), r"--(create|assemble|stop|fail|remove|add|grow|zero-superblock)\b", "changes a RAID"),
    Habit(
        ("zpool",),
        r"^(create|destroy|scrub|clear|add|remove|replace|offline|online|import|export|set|trim)\b",
        "changes a pool",
    ),
    Habit(("zfs",), r"^(create|destroy|set|snapshot|rollback|rename|receive|mount|unmount)\b", "changes a file system"),
    Habit(
        ("fsck", "e2fsck", "xfs_repair", "btrfsck"),
        r"^(?!.*(^|\s)-\w*[nN])",
        "repairs a file system unless told not to",
    ),
    Habit(("tune2fs", "resize2fs", "xfs_growfs"), r"^(?!.*(^|\s)-\w*[lnP])", "changes a file system"),
    Habit(("smartctl",), r"(^|\s)(-t|-X|--test|--abort)", "starts or ends a self-test of the disk"),
    Habit(("mount",), r"^(?!.*(^|\s)(-l|--show-labels|-V|--version|-h|--help)\b)(?!-t\s+\S+$)\S", "changes mounts"),
    Habit(("umount", "swapoff", "swapon"), r"^(?!.*(--show|--summary|-s\b|--version))\S", "changes mounts or swap"),
    Habit(("systemctl",), _UNIT_VERBS, "changes units"),
    Habit(("service", "rc-service"), r"\s(start|stop|restart|reload)\b", "changes services"),
    Habit(("supervisorctl",), r"(^|\s)(start|stop|restart|reload|update|shutdown|clear)(\s|$)", "changes services"),
    Habit(
        ("nginx", "apachectl", "apache2ctl", "httpd"),
        r"(^|\s)(-s|-k|start|stop|restart|graceful\S*)(\s|$)",
        "changes the service",
    ),
    Habit(("reboot", "shutdown", "halt", "poweroff", "init", "telinit"), "", "takes the host down"),
    Habit(("kill", "pkill", "killall"), r"^(?!(-(0|l|L)\b|-s\s*0\b))", "ends processes"),
    Habit(("renice", "ionice", "taskset", "prlimit"), r"(^|\s)(-\w*p\w*|--pid\S*|-n)\s", "changes how processes run"),
    Habit(
        ("apt", "apt-get", "yum", "dnf", "zypper", "apk", "pip", "pip3", "snap", "npm", "gem"),
        _VERBS,
        "changes packages",
    ),
    Habit(("rpm", "dpkg"), r"(^|\s)(-[ieUF]\w*|--install|--erase|--remove|--purge|-r|-P)(\s|$)", "changes packages"),
    Habit(
        ("iptables", "ip6tables"),
        r"(^|\s)(-[ADFIPRXZN]|--(append|delete|insert|flush|policy))\b",
        "changes the firewall",
    ),
    Habit(("nft",), r"\b(add|delete|flush|insert|replace)\b|(^|\s)-f\b", "changes the firewall"),
    Habit(("iptables-restore", "ip6tables-restore"), "", "changes the firewall"),
    Habit(("firewall-cmd",), r"--(add|remove|reload|set|permanent)", "changes the firewall"),
    Habit(
        ("ufw",),
        r"^(enable|disable|allow|deny|reject|limit|delete|reset|reload|route|insert)\b",
        "changes the firewall",
    ),
    Habit(
        ("ip", "tc", "bridge"), r"(^|\s)(add|del|delete|set|flush|replace|change|append)(\s|$)", "changes the network"
    ),
    Habit(("ifconfig",), r"\s(up|down|add|del|mtu|netmask|hw|promisc|\d+\.\d+\.\d+\.\d+)\b", "changes the network"),
    Habit(("ifup", "ifdown", "dhclient"), "", "changes the network"),
    Habit(("route",), r"(^|\s)(add|del|flush)\b", "changes the network"),
    Habit(("nmcli",), r"\b(up|down|add|modify|delete|reload|connect|disconnect|off)\b", "changes the network"),
    Habit(("ethtool",), r"^(-[sKGACLXNEpt]|--(change|offload|set-\S+|test|identify))\b", "changes the network"),
    Habit(("sysctl",), r"(^|\s)(-w|-p|--write|--load|--system)\b|=", "changes kernel settings"),
    Habit(("modprobe", "insmod", "rmmod"), r"^(?!.*(-n\b|--dry-run|--show\S*|-c\b))", "changes kernel modules"),
    Habit(("setenforce", "setsebool", "restorecon", "aa-disable"), "", "changes what is allowed"),
    Habit(("hostnamectl", "timedatectl", "localectl"), r"(^|\s)set-\S+", "changes system settings"),
    Habit(("hostname",), r"^[^-\s]\S*$", "changes system settings"),
    Habit(("date",), r"(^|\s)(-s|--set)", "sets the clock"),
    Habit(("hwclock",), r"(^|\s)(-w|-s|--systohc|--hctosys|--set)\b", "sets the clock"),
    Habit(
        ("useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "chpasswd", "chage", "chsh"),
        r"^(?!.*(^|\s)(-l|--list)\b)",
        "changes accounts",
    ),
    Habit(("passwd",), r"^(?!.*(^|\s)(-S|--status)\b)", "changes accounts"),
    Habit(("crontab",), r"^(?!.*(^|\s)-\w*l)\S", "changes cron jobs"),
    Habit(("logrotate",), r"(^|\s)(-\w*f|--force)", "rotates logs"),
    Habit(("journalctl",), r"--(vacuum|rotate|flush)", "changes the journal"),
    Habit(
        ("docker", "podman"),
        r"\b(rm|rmi|stop|start|restart|kill|pause|unpause|prune|run|create|pull|push|load|up|down|update)\b",
        "changes containers",
    ),
    Habit(
        ("kubectl", "oc"),
        r"(^|\s)(delete|apply|create|patch|scale|autoscale|drain|cordon|uncordon|edit|replace|set|label|annotate|taint|expose|run|cp"
        r"|rollout\s+(restart|undo|pause|resume))(\s|$)",
        "changes a cluster",
    ),
    Habit(("helm",), r"^(install|upgrade|uninstall|rollback|delete)\b", "changes a cluster"),
    Habit(
        ("xl", "virsh"), r"^(destroy|shutdown|reboot|start|create|migrate|undefine|suspend|resume)\b", "changes guests"
    ),
    Habit(("psql", "mysql", "mariadb", "sqlite3", "clickhouse-client", "cqlsh"), _SQL, "changes a database"),
    Habit(
        ("mongo", "mongosh"),
        r"\.(insert|update|delete|remove|drop|replace|create|rename|kill)\w*\(",
        "changes a database",
    ),
    Habit(("redis-cli", "valkey-cli"), _REDIS, "changes a database"),
    Habit(
        ("etcdctl",),
        r"\b(put|del|defrag|compact(ion)?|member\s+(add|remove|update)|move-leader)\b",
        "changes a database",
    ),
    Habit(("git",), _GIT, "changes a working copy"),
    Habit(("curl",), r"(^|\s)(-X|--request)[\s=]?(PUT|DELETE|PATCH)\b", "changes what a server has"),
    Habit(("nvidia-smi",), r"(^|\s)(-r|--gpu-reset|-pm|-pl|-ac|-rac|-mig|-c|-lgc|-rgc|-e|-p)(\s|=|$)", "changes a GPU"),
    Habit(("ipmitool",), r"\b(power|reset|cycle|clear|set|activate|bootdev)\b(?!\s+status)", "changes the machine"),
)
"""Commands that change a host. A diagnosis should not, and checks are not asked to confirm anything."""

SCRATCH: tuple[str, ...] = (
    "/tmp/",  # noqa: S108 - names to compare with: nothing is written there
    "/var/tmp/",  # noqa: S108 - as above
    "$TMPDIR",
    "${TMPDIR",
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd/",
    "/dev/tcp/",
    "/dev/udp/",
    "/dev/shm/",  # noqa: S108 - as above
)
"""Beginnings of files that may be written."""

_MADE = re.compile(r"(?P<name>[A-Za-z_]\w*)=[\"']?(?:\$\(|`)\s*mktemp\b")
_VARIABLE = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<braced>\w+)[^}]*\})")
_HINT = "A check should only look; if this one is meant to, write `changes_host: true`"


def changes(text: str) -> Iterator[tuple[str, str, int]]:
    """What changes a host in a command's text: message, hint, offset."""
    made = frozenset(match["name"] for match in _MADE.finditer(text))

    def scratch(path: str) -> bool:
        if path.startswith(SCRATCH) and ".." not in path:
            return True
        variable = _VARIABLE.match(path)
        return variable is not None and (variable["bare"] or variable["braced"]) in made

    for command in commands_in(text):
        row = next((row for row in CHANGING if row.fits(command)), None)
        if row is not None and not _only_scratch(row, command, scratch):
            yield f"`{command.name}` {row.does}", _HINT, command.offset
    for path, offset in written_files(text):
        if not scratch(path):
            yield f"writes into {path}", _HINT, offset


def _only_scratch(row: Habit, command: SimpleCommand, scratch: Callable[[str], bool]) -> bool:
    """Whether the files that the command concerns are scratch files all."""
    paths = [arg for arg in command.args if not arg.startswith("-")]
    if not row.files or not paths:
        return False
    return all(scratch(path) for path in (paths if row.files == "all" else paths[-1:]))


_RECURSIVE = re.compile(r"-\w*[rR]\w*|--recursive")
_BELOW_NOTHING = re.compile(r"(\$\w+|\$\{\w+\}|\{\{[^}]*\}\})(/.*)?", re.DOTALL)
_EVERYTHING = re.compile(r"(/|~)\*?|/\*")


def unguarded_removals(text: str) -> Iterator[tuple[str, str, int]]:
    """Where a tree is removed or handed to others whose name begins with a variable that may be empty."""
    made = frozenset(match["name"] for match in _MADE.finditer(text))
    for command in commands_in(text):
        if command.name not in ("rm", "chmod", "chown", "chgrp"):
            continue
        if not any(_RECURSIVE.fullmatch(arg) for arg in command.args):
            continue
        for arg in command.args:
            if _EVERYTHING.fullmatch(arg):
                yield f"`{command.name}` goes over all of {arg}", "Name what is meant", command.offset
                break
            found = _BELOW_NOTHING.fullmatch(arg)
            if found is None or found[2] is None or found[1].strip("${}") in made:
                continue
            message = f"`{command.name}` goes over {found[2]} where {found[1]} is empty"
            name = found[1].strip("${}")
            hint = f"Write ${{{name}:?}}: the shell then ends instead"
            if found[1].startswith("{{"):
                hint = "Pass it through `env` and write ${NAME:?}: the shell then ends instead"
            yield message, hint, command.offset
            break
