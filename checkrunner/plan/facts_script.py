"""The command that gathers facts: one round of reading, nothing written, no program that a small system may lack
without its part being left out."""

from __future__ import annotations

__all__ = ["FACTS_SCRIPT", "SECTION"]

SECTION = "\x1e"
"""Stands before the name of each part of the output."""

FACTS_SCRIPT = r"""
LC_ALL=C; export LC_ALL
part() { printf '\036%s\n' "$1"; }
try() { command -v "$1" >/dev/null 2>&1 && "$@" 2>/dev/null; }
part uname; for f in s r m n v; do uname -$f; done
part os; cat /etc/os-release 2>/dev/null || cat /usr/lib/os-release 2>/dev/null
part debian; cat /etc/debian_version 2>/dev/null
part redhat; cat /etc/redhat-release 2>/dev/null
part nproc; try nproc
part cpu; cat /proc/cpuinfo 2>/dev/null
part mem; cat /proc/meminfo 2>/dev/null
part load; cat /proc/loadavg 2>/dev/null
part uptime; cat /proc/uptime 2>/dev/null
part init; cat /proc/1/comm 2>/dev/null
part date; date '+%Y %m %d %H %M %S %s %Z %z %A %w %U %N'; date -u '+%Y-%m-%dT%H:%M:%S'
part id; id -un; id -u; id -g; id -ru; id -rg
part account; try getent passwd "$(id -un)" || grep "^$(id -un):" /etc/passwd
part machine; cat /etc/machine-id 2>/dev/null
part cmdline; cat /proc/cmdline 2>/dev/null
part dns; cat /etc/resolv.conf 2>/dev/null
part selinux; try getenforce
part bits; try getconf LONG_BIT
part dmi; for f in sys_vendor product_name product_version product_uuid product_serial bios_version bios_date; do
printf '%s=' $f; cat /sys/class/dmi/id/$f 2>/dev/null || echo; done
part container; [ -e /.dockerenv ] && echo docker; [ -e /run/.containerenv ] && echo podman
{ tr '\0' '\n' </proc/1/environ; } 2>/dev/null | grep '^container='; head -c 4096 /proc/1/cgroup 2>/dev/null
part hypervisor; cat /sys/hypervisor/type 2>/dev/null; [ -d /proc/xen ] && echo xen; [ -e /dev/kvm ] && echo kvm
part managers; for f in /usr/bin/apt-get /usr/bin/dnf-3 /usr/bin/microdnf /usr/bin/dnf5 /usr/bin/yum /sbin/apk \
/usr/bin/zypper /usr/bin/pacman /usr/bin/xbps-install /usr/bin/emerge /usr/sbin/pkg; do [ -e $f ] && echo $f; done
part interfaces; for d in /sys/class/net/*; do [ -e "$d" ] || continue
printf '%s\t%s\t%s\t%s\t%s\n' "${d##*/}" "$(cat $d/address 2>/dev/null)" "$(cat $d/mtu 2>/dev/null)" \
"$(cat $d/operstate 2>/dev/null)" "$(cat $d/flags 2>/dev/null)"; done
part addresses; try ip -o addr show
part route4; try ip -4 route get 8.8.8.8
part route6; try ip -6 route get 2404:6800:400a:800::1012
part mounts; cat /proc/mounts 2>/dev/null
part space; try df -PT -B1 -l
part inodes; try df -PTi -l
part python; for p in /usr/bin/python3 python3 /usr/libexec/platform-python python; do
command -v $p >/dev/null 2>&1 && $p -c 'import platform, socket, sys, time
for f in (sys.executable, platform.python_version(), socket.getfqdn(), time.tzname[1]): print(f)' 2>/dev/null && break
done
part hostname; try hostname -f
part env; env -0 2>/dev/null || env
exit 0
"""
