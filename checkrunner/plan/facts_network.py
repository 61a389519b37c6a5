"""Facts of a host's network: its interfaces, their addresses, and the way out."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__ = ["network_facts"]

_Parts = Mapping[str, list[str]]


def _lines(parts: _Parts, name: str) -> list[str]:
    return [line for line in parts.get(name, []) if line.strip()]


_ADDRESS = re.compile(
    r"^\d+: (?P<name>[^ ]+) +(?P<family>inet6?) (?P<address>[^ /]+)(?:/(?P<prefix>\d+))?"
    r"(?: brd (?P<brd>[^ ]+))?.*? scope (?P<scope>\w+)"
)
_UP = 0x1
_PROMISCUOUS = 0x100


def network_facts(parts: _Parts) -> dict[str, Any]:
    """Each interface under its own name as well. `parts` are the lines of each part of what the host has printed."""
    devices: dict[str, dict[str, Any]] = {}
    for line in _lines(parts, "interfaces"):
        name, address, mtu, _, flags = (*line.split("\t"), "", "", "", "")[:5]
        bits = int(flags, 16) if flags.startswith("0x") else 0
        device: dict[str, Any] = {"device": name, "active": bool(bits & _UP), "promisc": bool(bits & _PROMISCUOUS)}
        device |= {"mtu": int(mtu)} if mtu.isdigit() else {}
        device["type"] = "loopback" if name == "lo" else "ether"
        devices[name] = device | ({"macaddress": address} if address and name != "lo" else {})
    all4, all6 = [], []
    for match in filter(None, map(_ADDRESS.match, _lines(parts, "addresses"))):
        device = devices.setdefault(match["name"].split("@")[0], {"device": match["name"]})
        if match["family"] == "inet":
            _add4(device, match)
            if not match["address"].startswith("127."):
                all4.append(match["address"])
            continue
        entry = {"address": match["address"], "prefix": match["prefix"] or "128", "scope": match["scope"]}
        device.setdefault("ipv6", []).append(entry)
        if match["address"] != "::1":
            all6.append(match["address"])
    found: dict[str, Any] = {"interfaces": list(devices), "all_ipv4_addresses": all4, "all_ipv6_addresses": all6}
    found["default_ipv4"] = _default(parts, "route4", devices)
    found["default_ipv6"] = _default(parts, "route6", devices)
    found |= {re.sub(r"[-:.]", "_", name): device for name, device in devices.items()}
    return found


def _add4(device: dict[str, Any], match: re.Match[str]) -> None:
    network = ipaddress.ip_network(f"{match['address']}/{match['prefix'] or 32}", strict=False)
    entry = {
        "address": match["address"],
        "prefix": match["prefix"] or "32",
        "netmask": str(network.netmask),
        "network": str(network.network_address),
        "broadcast": match["brd"] or "",
    }
    if "ipv4" in device:
        device.setdefault("ipv4_secondaries", []).append(entry)
    else:
        device["ipv4"] = entry


def _default(parts: _Parts, name: str, devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    words = next(iter(_lines(parts, name)), "").split()
    said = dict(pairwise(words))
    device = devices.get(said.get("dev", ""))
    if device is None or "src" not in said or "via" not in said:
        return {}
    found = {
        "interface": said["dev"],
        "alias": said["dev"],
        "address": said["src"],
        "gateway": said["via"],
        "type": device.get("type", "unknown"),
        **{key: device[key] for key in ("macaddress", "mtu") if key in device},
    }
    if name == "route4":
        own = [device.get("ipv4", {}), *device.get("ipv4_secondaries", ())]
        return {**found, **next((each for each in own if each.get("address") == said["src"]), {})}
    of: Mapping[str, Any] = next((each for each in device.get("ipv6", ()) if each["address"] == said["src"]), {})
    return {**found, **{key: value for key, value in of.items() if key != "address"}}
