"""Facts of a host, by the names that Ansible gives them: what one command has printed, taken apart here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from checkrunner.plan.facts_network import network_facts
from checkrunner.plan.facts_script import SECTION
from checkrunner.plan.facts_system import container_of, distribution, init_of, os_family, package_manager
from checkrunner.plan.values import RemoteText

__all__ = ["FACTS", "FACT_NAMES", "parse_facts"]

_MIB = 1024
_Parts = Mapping[str, list[str]]


def parse_facts(text: str) -> dict[str, Any]:
    """The facts, without the prefix ``ansible_``. What the host could not say is not among them. All texts are the
    host's."""
    parts: dict[str, list[str]] = {}
    for piece in text.split(SECTION)[1:]:
        name, _, rest = piece.partition("\n")
        parts[name] = rest.split("\n")[:-1] if rest.endswith("\n") else rest.split("\n")
    found: dict[str, Any] = {}
    for read in _READERS if parts else ():
        try:
            found |= read(parts)
        except (ValueError, IndexError, KeyError):
            continue  # a host that answers oddly lacks those facts; whoever reads one gets to know
    return {RemoteText(name): _remote(value) for name, value in found.items()}


def _remote(value: Any) -> Any:
    if isinstance(value, str):
        return RemoteText(value)
    if isinstance(value, dict):
        return {RemoteText(key): _remote(item) for key, item in value.items()}
    return [_remote(item) for item in value] if isinstance(value, list) else value


def _lines(parts: _Parts, name: str) -> list[str]:
    return [line for line in parts.get(name, []) if line.strip()]


def _first(parts: _Parts, name: str) -> str:
    return next(iter(_lines(parts, name)), "").strip()


def _system(parts: _Parts) -> dict[str, Any]:
    system, kernel, machine, node, version = parts["uname"][:5]
    bits = _first(parts, "bits")
    return {
        "system": system,
        "kernel": kernel,
        "kernel_version": version,
        "machine": machine,
        "architecture": {"i686": "i386", "i586": "i386"}.get(machine, machine),
        "nodename": node,
        "hostname": node.split(".")[0],
        **({"userspace_bits": bits} if bits else {}),
    }


def _os(parts: _Parts) -> dict[str, Any]:
    found = distribution(_pairs(parts.get("os", [])), _first(parts, "debian"), _first(parts, "redhat"))
    return {**found, "os_family": os_family(found["distribution"])}


def _pairs(lines: list[str]) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, value in pairs}


def _processors(parts: _Parts) -> dict[str, Any]:
    listed: list[str] = []
    sockets: dict[str, int] = {}
    count = siblings = cores = 0
    for line in parts["cpu"]:
        name, _, value = (word.strip() for word in line.partition(":"))
        if name == "processor":
            count += 1
            listed.append(value)
        elif name in {"vendor_id", "model name", "Processor", "cpu model"}:
            listed.append(value)
        elif name == "physical id":
            sockets.setdefault(value, 0)
        elif name == "cpu cores" and value.isdigit():
            cores = int(value)
        elif name == "siblings" and value.isdigit():
            siblings = int(value)
    number = len(sockets) or count
    cores = cores if sockets else 1
    threads = max(1, siblings // cores) if sockets and cores else 1
    nproc = _first(parts, "nproc")
    return {
        "processor": listed,
        "processor_count": number,
        "processor_cores": cores,
        "processor_threads_per_core": threads,
        "processor_vcpus": number * cores * threads if sockets else count,
        "processor_nproc": int(nproc) if nproc.isdigit() else count,
    }


def _memory(parts: _Parts) -> dict[str, Any]:
    kib = {
        name: int(value.split()[0])
        for name, _, value in (line.partition(":") for line in _lines(parts, "mem"))
        if value.split()[:1] and value.split()[0].isdigit()
    }
    mib = {name: value // _MIB for name, value in kib.items()}
    total, free = mib["MemTotal"], mib["MemFree"]
    spare = free + mib.get("Cached", 0) + mib.get("Buffers", 0)
    swap, swap_free = mib.get("SwapTotal", 0), mib.get("SwapFree", 0)
    return {
        "memtotal_mb": total,
        "memfree_mb": free,
        "swaptotal_mb": swap,
        "swapfree_mb": swap_free,
        "memory_mb": {
            "real": {"total": total, "used": total - free, "free": free},
            "nocache": {"free": spare, "used": total - spare},
            "swap": {
                "total": swap,
                "free": swap_free,
                "used": swap - swap_free,
                "cached": mib.get("SwapCached", 0),
            },
        },
    }


def _load(parts: _Parts) -> dict[str, Any]:
    one, five, fifteen = (float(word) for word in _first(parts, "load").split()[:3])
    return {"loadavg": {"1m": one, "5m": five, "15m": fifteen}}


def _uptime(parts: _Parts) -> dict[str, Any]:
    return {"uptime_seconds": int(float(_first(parts, "uptime").split()[0]))}


def _clock(parts: _Parts) -> dict[str, Any]:
    here, utc = _lines(parts, "date")[:2]
    year, month, day, hour, minute, second, epoch, zone, offset, weekday, number, week, nanos = here.split()
    micros = f"{nanos[:6]:0<6}" if nanos.isdigit() else "000000"
    return {
        "date_time": {
            "year": year,
            "month": month,
            "day": day,
            "hour": hour,
            "minute": minute,
            "second": second,
            "epoch": epoch,
            "epoch_int": epoch,
            "date": f"{year}-{month}-{day}",
            "time": f"{hour}:{minute}:{second}",
            "iso8601": f"{utc}Z",
            "iso8601_micro": f"{utc}.{micros}Z",
            "iso8601_basic": f"{year}{month}{day}T{hour}{minute}{second}{micros}",
            "iso8601_basic_short": f"{year}{month}{day}T{hour}{minute}{second}",
            "tz": zone,
            "tz_dst": [*_lines(parts, "python")[3:4], zone][0],
            "tz_offset": offset,
            "weekday": weekday,
            "weekday_number": number,
            "weeknumber": week,
        }
    }


def _account(parts: _Parts) -> dict[str, Any]:
    name, uid, gid, real_uid, real_gid = (line.strip() for line in parts["id"][:5])
    found: dict[str, Any] = {
        "user_id": name,
        "user_uid": int(uid),
        "user_gid": int(gid),
        "effective_user_id": int(uid),
        "effective_group_id": int(gid),
        "real_user_id": int(real_uid),
        "real_group_id": int(real_gid),
    }
    fields = _first(parts, "account").split(":")
    if len(fields) == 7:
        found |= {"user_gecos": fields[4], "user_dir": fields[5], "user_shell": fields[6]}
    return found


def _names(parts: _Parts) -> dict[str, Any]:
    python = _lines(parts, "python")
    fqdn = python[2] if len(python) > 2 else _first(parts, "hostname") or parts["uname"][3]
    found: dict[str, Any] = {"fqdn": fqdn, "domain": fqdn.partition(".")[2]}
    if len(python) > 1:
        major, minor, micro = (int(word) for word in re.findall(r"\d+", python[1])[:3])
        found["python_version"] = python[1]
        found["python"] = {
            "executable": python[0],
            "type": "cpython",
            "version": {"major": major, "minor": minor, "micro": micro},
        }
    return found


def _kernel(parts: _Parts) -> dict[str, Any]:
    words = _first(parts, "cmdline").split()
    line = {name: value if sign else True for name, sign, value in (word.partition("=") for word in words)}
    selinux = _first(parts, "selinux").lower()
    return {
        "cmdline": line,
        "proc_cmdline": line,
        "machine_id": _first(parts, "machine"),
        "selinux": {"status": "enabled", "mode": selinux}
        if selinux in {"enforcing", "permissive"}
        else {"status": "disabled"},
    }


def _resolver(parts: _Parts) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in _lines(parts, "dns"):
        words = line.split()
        if words[0] == "nameserver" and len(words) > 1:
            found.setdefault("nameservers", []).append(words[1])
        elif words[0] == "search":
            found["search"] = words[1:]
        elif words[0] == "domain" and len(words) > 1:
            found["domain"] = words[1]
    return {"dns": found}


def _hardware(parts: _Parts) -> dict[str, Any]:
    dmi = _pairs(parts.get("dmi", []))
    names = ("product_name", "product_version", "product_uuid", "product_serial", "bios_version", "bios_date")
    found = {name: dmi.get(name) or "NA" for name in names}
    return {**found, "system_vendor": dmi.get("sys_vendor") or "NA"}


def _kind(parts: _Parts) -> dict[str, Any]:
    dmi = _pairs(parts.get("dmi", []))
    kind, role = container_of(parts, dmi)
    managers = _lines(parts, "managers")
    return {
        "virtualization_type": kind,
        "virtualization_role": role,
        "service_mgr": init_of(_first(parts, "init")),
        "pkg_mgr": package_manager(managers),
    }


def _mounts(parts: _Parts) -> dict[str, Any]:
    space, inodes = _table(parts, "space"), _table(parts, "inodes")
    found = []
    for line in _lines(parts, "mounts"):
        device, mount, kind, options, dump, order = line.split()[:6]
        mount = _unescaped(mount)
        if not (device.startswith(("/", "\\")) or ":/" in device) or kind in {"none", "autofs"}:
            continue
        entry: dict[str, Any] = {
            "mount": mount,
            "device": _unescaped(device),
            "fstype": kind,
            "options": options,
            "dump": int(dump),
            "passno": int(order),
        }
        if mount in space:
            size, used, free = space[mount]
            entry |= {"size_total": size, "size_available": free, "size_used": used}
        if mount in inodes:
            total, taken, left = inodes[mount]
            entry |= {"inode_total": total, "inode_used": taken, "inode_available": left}
        found.append(entry)
    return {"mounts": found}


def _table(parts: _Parts, name: str) -> dict[str, tuple[int, int, int]]:
    found = {}
    for line in _lines(parts, name)[1:]:
        words = line.split(None, 6)
        if len(words) == 7 and all(word.isdigit() for word in words[2:5]):
            found[words[6]] = (int(words[2]), int(words[3]), int(words[4]))
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _environment(parts: _Parts) -> dict[str, Any]:
    text = "\n".join(parts["env"])
    entries: Iterator[str] = iter(text.split("\0") if "\0" in text else parts["env"])
    return {"env": dict(entry.split("=", 1) for entry in entries if "=" in entry)}


_READERS: tuple[Callable[[_Parts], dict[str, Any]], ...] = (
    _system,
    _os,
    _processors,
    _memory,
    _load,
    _uptime,
    _clock,
    _account,
    _names,
    _kernel,
    _resolver,
    _hardware,
    _kind,
    network_facts,
    _mounts,
    _environment,
)

FACTS: Mapping[str, str] = MappingProxyType(
    {
        "system, kernel, kernel_version": "kernel",
        "architecture, machine, userspace_bits": "processor architecture",
        "hostname, nodename, fqdn, domain": "names of the host",
        "distribution, distribution_version, distribution_major_version, distribution_minor_version, "
        "distribution_release, os_family, lsb": "distribution",
        "processor, processor_count, processor_cores, processor_threads_per_core, processor_vcpus, processor_nproc": (
            "processors"
        ),
        "memtotal_mb, memfree_mb, swaptotal_mb, swapfree_mb, memory_mb": "memory",
        "loadavg, uptime_seconds, date_time": "load, uptime, the host's clock",
        "user_id, user_uid, user_gid, user_gecos, user_dir, user_shell, real_user_id, real_group_id, "
        "effective_user_id, effective_group_id": "the account",
        "python, python_version": "the Python that the host has",
        "cmdline, proc_cmdline, machine_id, selinux, dns": "kernel's command line, machine id, SELinux, resolver",
        "system_vendor, product_name, product_version, product_uuid, product_serial, bios_version, bios_date": (
            "what the firmware says"
        ),
        "virtualization_type, virtualization_role, service_mgr, pkg_mgr": "kind of system",
        "interfaces, default_ipv4, default_ipv6, all_ipv4_addresses, all_ipv6_addresses": (
            "network; each interface also under its own name"
        ),
        "mounts": "file systems, with sizes and inodes",
        "env": "environment of the session",
    }
)
"""The facts, as the manual lists them."""

FACT_NAMES = frozenset(name for names in FACTS for name in names.split(", "))
"""The same one by one; names of interfaces come besides."""
