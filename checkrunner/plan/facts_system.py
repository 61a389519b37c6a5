"""Names of distributions, containers and managers, in the words of Ansible's facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["container_of", "distribution", "init_of", "os_family", "package_manager"]

_NAMES = {
    "almalinux": "AlmaLinux",
    "alpine": "Alpine",
    "amzn": "Amazon",
    "arch": "Archlinux",
    "centos": "CentOS",
    "debian": "Debian",
    "fedora": "Fedora",
    "gentoo": "Gentoo",
    "kali": "Kali",
    "linuxmint": "Linux Mint",
    "ol": "OracleLinux",
    "opensuse-leap": "openSUSE Leap",
    "opensuse-tumbleweed": "openSUSE Tumbleweed",
    "raspbian": "Debian",
    "rhel": "RedHat",
    "rocky": "Rocky",
    "sled": "SLED",
    "sles": "SLES",
    "ubuntu": "Ubuntu",
    "void": "Void",
    "xenenterprise": "XCP-ng",
}
_FAMILIES = {
    "RedHat": ("RedHat", "Fedora", "CentOS", "OracleLinux", "Amazon", "AlmaLinux", "Rocky", "XCP-ng"),
    "Debian": ("Debian", "Ubuntu", "Linux Mint", "Kali", "Raspbian"),
    "Suse": ("SLES", "SLED", "openSUSE Leap", "openSUSE Tumbleweed"),
    "Archlinux": ("Archlinux",),
    "Alpine": ("Alpine",),
    "Gentoo": ("Gentoo",),
}
_MANAGERS = {
    "/usr/bin/dnf-3": "dnf",
    "/usr/bin/dnf5": "dnf5",
    "/usr/bin/microdnf": "dnf",
    "/usr/bin/apt-get": "apt",
    "/usr/bin/yum": "yum",
    "/sbin/apk": "apk",
    "/usr/bin/zypper": "zypper",
    "/usr/bin/pacman": "pacman",
    "/usr/bin/xbps-install": "xbps",
    "/usr/bin/emerge": "portage",
    "/usr/sbin/pkg": "pkgng",
}
_PRODUCTS = (
    ("VMware", "VMware"),
    ("VirtualBox", "virtualbox"),
    ("KVM", "kvm"),
    ("Bochs", "kvm"),
    ("OpenStack", "openstack"),
    ("Standard PC", "kvm"),
    ("Google Compute", "kvm"),
    ("HVM domU", "xen"),
    ("Virtual Machine", "VirtualPC"),
)
_VENDORS = (("QEMU", "kvm"), ("Amazon EC2", "kvm"), ("DigitalOcean", "kvm"), ("Google", "kvm"), ("oVirt", "oVirt"))


def distribution(release: Mapping[str, str], debian: str, redhat: str) -> dict[str, object]:
    """Name, versions and code name from os-release, and from what Debian and Red Hat say besides."""
    name = _NAMES.get(release.get("ID", "").lower(), release.get("NAME", "") or "NA")
    version = release.get("VERSION_ID", "NA")
    if name == "Debian" and debian.replace(".", "").isdigit():
        version = debian
    elif name in {"CentOS", "RedHat", "Rocky", "AlmaLinux"}:
        words = [word for word in redhat.split() if word[:1].isdigit()]
        version = words[0] if words else version
    major, _, minor = version.partition(".")
    code = release.get("VERSION_CODENAME", "") or release.get("UBUNTU_CODENAME", "")
    if not code and "(" in redhat:
        code = redhat.partition("(")[2].partition(")")[0]
    found: dict[str, object] = {
        "distribution": name,
        "distribution_version": version,
        "distribution_major_version": major,
        "distribution_release": code or "NA",
    }
    if minor:
        found["distribution_minor_version"] = minor.split(".")[0]
    found["lsb"] = {
        "id": release.get("ID", "").capitalize(),
        "description": release.get("PRETTY_NAME", ""),
        "codename": code,
        "release": release.get("VERSION_ID", ""),
        "major_release": release.get("VERSION_ID", "").partition(".")[0],
    }
    return found


def os_family(name: object) -> str:
    """The family that a distribution belongs to; its own name where none is known."""
    return next((family for family, names in _FAMILIES.items() if name in names), str(name))


def init_of(first: str) -> str:
    """The service manager, by the name of the first process."""
    return {"init": "sysvinit", "runit-init": "runit", "s6-svscan": "s6"}.get(first, first or "service")


def package_manager(found: Sequence[str]) -> str:
    """The package manager, by the programs that are there."""
    return next((name for path, name in _MANAGERS.items() if path in found), "unknown")


def container_of(parts: Mapping[str, Sequence[str]], dmi: Mapping[str, str]) -> tuple[str, str]:
    """Kind of virtualization and the host's role in it."""
    words = [line.strip() for line in parts.get("container", ()) if line.strip()]
    groups = " ".join(words)
    if "docker" in words or "/docker/" in groups or "/docker-" in groups:
        return "docker", "guest"
    if "podman" in words or "container=podman" in words:
        return "podman", "guest"
    if "/lxc/" in groups or "container=lxc" in words:
        return "lxc", "guest"
    if "container=systemd-nspawn" in words:
        return "systemd-nspawn", "guest"
    if any(word.startswith("container=") for word in words):
        return "container", "guest"
    hypervisor = {line.strip() for line in parts.get("hypervisor", ())}
    if "xen" in hypervisor:
        return "xen", "guest"
    for text, kind in _PRODUCTS:
        if text in dmi.get("product_name", ""):
            return kind, "guest"
    for text, kind in _VENDORS:
        if text in dmi.get("sys_vendor", ""):
            return kind, "guest"
    return ("kvm", "host") if "kvm" in hypervisor else ("NA", "NA")
