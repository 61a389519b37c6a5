"""Logs of kernels, of the system and of who logs in."""

from __future__ import annotations

from planted_parts import Page, Plant, output

__all__: list[str] = []

_JOURNAL = [
    "kernel: ACPI: \\_SB_.PCI0.RP0{few}._PRT: AE_NOT_FOUND, evaluation skipped",
    "systemd[1]: /lib/systemd/system/{word}.service:{few}: PIDFile= references a path below legacy directory /var/run/",
    "sshd[{pid}]: error: kex_exchange_identification: Connection closed by remote host",
    "sshd[{pid}]: error: kex_exchange_identification: Connection closed by remote host",
    "sudo[{pid}]:   {user} : a password is required ; TTY=pts/{few} ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/true",
    "named[{pid}]: network unreachable resolving '{word}.example.net/AAAA/IN': 2001:db8::{few}#53",
    "named[{pid}]: network unreachable resolving '{word}.example.org/A/IN': 2001:db8:1::{few}#53",
    'dockerd[1188]: time="2026-03-09T01:00:00Z" level=warning msg="reference for unknown type: application/octet"',
    "snmpd[911]: error on subcontainer 'ia_addr' insert (-1)",
    "systemd-resolved[702]: Using degraded feature set UDP instead of UDP+EDNS0 for DNS server {ip}.",
]


@output("journal-warnings", "journalctl -p warning --since -1d", 4000)
def journal_warnings(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%b %d %H:%M:%S} db-03 ",
        _JOURNAL,
        Plant(
            at=0.37,
            text="kernel: EXT4-fs error (device dm-4): ext4_journal_check_start:83: Detected aborted journal",
            words=("dm-4", "Detected aborted journal"),
        ),
        Plant(
            at=0.3704,
            text="kernel: EXT4-fs (dm-4): Remounting filesystem read-only",
            words=("Remounting filesystem read-only",),
        ),
        Plant(
            at=0.61,
            text="systemd[1]: Dependency failed for /srv/archive.",
            words=("Dependency failed for /srv/archive",),
        ),
    )


_BOOT = [
    "ACPI: SSDT 0x0000000{hex} {n} (v02 INTEL  Cpu{few}Ist 00003000 INTL 20160422)",
    "pci 0000:{few}a:00.{few}: BAR {few}: assigned [mem 0x{hex}-0x{hex} 64bit pref]",
    "pci 0000:{few}b:00.0: PME# supported from D0 D3hot",
    "ERST: Error Record Serialization Table (ERST) support is initialized.",
    "pcieport 0000:00:1c.{few}: AER: enabled with IRQ {n}",
    "RAS: Correctable Errors collector initialized.",
    "sd {few}:0:0:0: [{disk}] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA",
    "{disk}: {disk}1 {disk}2",
    'audit: type=1400 audit(1772000{n}.{few}:{n}): apparmor="STATUS" operation="profile_load" name="{word}"',
    "IPv6: ADDRCONF(NETDEV_CHANGE): veth{hex}: link becomes ready",
    "br-{hex}: port {few}(veth{hex}) entered forwarding state",
    "usb {few}-1: new high-speed USB device number {few} using xhci_hcd",
    "random: crng reseeded on system resumption",
    "EXT4-fs ({disk}1): mounted filesystem with ordered data mode. Opts: errors=remount-ro. Quota mode: none.",
]


def _uptime(page: Page) -> str:
    page.tick(9.0)
    return f"[{page.now.timestamp() % 1_000_000:13.6f}] "


@output("dmesg-disk", "dmesg", 1500)
def dmesg_disk(page: Page) -> None:
    sector = page.fill("{big}")
    page.log(
        lambda: _uptime(page),
        _BOOT,
        Plant(
            at=0.80,
            text="sd 4:0:0:0: [sde] tag#17 Sense Key : Medium Error [current]",
            words=("sde", "Medium Error"),
            of="disk",
        ),
        Plant(
            at=0.8006,
            text="sd 4:0:0:0: [sde] tag#17 Add. Sense: Unrecovered read error - auto reallocate failed",
            words=("sde", "Unrecovered read error"),
            of="disk",
        ),
        Plant(
            at=0.8012,
            text=f"blk_update_request: I/O error, dev sde, sector {sector} op 0x0:(READ) flags 0x80700 phys_seg 4",
            words=("I/O error, dev sde",),
            of="disk",
        ),
    )


@output("dmesg-clock", "dmesg -T", 1200)
def dmesg_clock(page: Page) -> None:
    page.log(
        lambda: f"[{page.tick():%a %b %d %H:%M:%S %Y}] ",
        _BOOT,
        Plant(
            at=0.55,
            text="tsc: Marking TSC unstable due to clocksource watchdog",
            words=("Marking TSC unstable",),
        ),
    )


_MESSAGES = [
    "systemd[1]: Started Session {n} of user {user}.",
    "systemd-logind[812]: New session {n} of user {user}.",
    "systemd-logind[812]: Session {n} logged out. Waiting for processes to exit.",
    "systemd-logind[812]: Removed session {n}.",
    "dhclient[{pid}]: DHCPREQUEST for {ip} on eth0 to {ip} port 67",
    "dhclient[{pid}]: DHCPACK of {ip} from {ip}",
    "rsyslogd[901]: imjournal: {n} messages lost due to rate-limiting (0 errors)",
    "kernel: IN=eth0 OUT= SRC={net} DST={ip} LEN=40 TTL=244 ID={n} PROTO=TCP SPT={port} DPT=23 WINDOW=1024 SYN",
    "kernel: IN=eth0 OUT= SRC={net} DST={ip} LEN=44 TTL=51 ID={n} PROTO=TCP SPT={port} DPT=445 WINDOW=1024 SYN",
    "puppet-agent[{pid}]: Applied catalog in {ms} seconds (failed=0, failed_to_restart=0)",
    "chef-client[{pid}]: Chef Run complete in {ms} seconds, 0 resources failed",
    "zabbix_agentd[{pid}]: active check {word}.error_count is supported again",
    'nslcd[{pid}]: [{hex}] <passwd="{user}"> connected to LDAP server ldap://{ip} after retry',
]


@output("messages", "cat /var/log/messages", 200_000)
def messages(page: Page) -> None:
    plants = [
        Plant(
            at=0.512 + step / 8000,
            text="kernel: nf_conntrack: nf_conntrack: table full, dropping packet",
            words=("nf_conntrack: table full, dropping packet",),
            of="conntrack",
        )
        for step in range(3)
    ]
    page.log(lambda: f"{page.tick(3):%b %d %H:%M:%S} gw-2 ", _MESSAGES, *plants)


_AUTH = [
    "sshd[{pid}]: Failed password for invalid user admin from {net} port {port} ssh2",
    "sshd[{pid}]: Failed password for invalid user oracle from {net} port {port} ssh2",
    "sshd[{pid}]: Failed password for root from {net} port {port} ssh2",
    "sshd[{pid}]: Invalid user test from {net} port {port}",
    "sshd[{pid}]: pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={net}",
    "sshd[{pid}]: Connection closed by authenticating user root {net} port {port} [preauth]",
    "sshd[{pid}]: Received disconnect from {net} port {port}:11: Bye Bye [preauth]",
    "sshd[{pid}]: Accepted publickey for deploy from {ip} port {port} ssh2: ED25519 SHA256:{long}",
    "sshd[{pid}]: pam_unix(sshd:session): session opened for user deploy(uid=1004) by (uid=0)",
    "sshd[{pid}]: pam_unix(sshd:session): session closed for user deploy",
    "CRON[{pid}]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
    "CRON[{pid}]: pam_unix(cron:session): session closed for user root",
]


@output("auth-log", "cat /var/log/auth.log", 30_000)
def auth_log(page: Page) -> None:
    page.log(
        lambda: f"{page.tick(5):%b %d %H:%M:%S} bastion ",
        _AUTH,
        Plant(
            at=0.71,
            text="sshd[{pid}]: Accepted password for root from 203.0.113.66 port {port} ssh2",
            words=("Accepted password for root", "203.0.113.66"),
        ),
        Plant(
            at=0.7103,
            text="useradd[{pid}]: new user: name=systemd-net, UID=0, GID=0, home=/root, shell=/bin/bash, from=none",
            words=("new user: name=systemd-net", "UID=0"),
        ),
    )


_CRON = [
    "CRON[{pid}]: (root) CMD (   cd / && run-parts --report /etc/cron.hourly)",
    "CRON[{pid}]: (deploy) CMD (/usr/local/bin/stock-sync --retry 3 >> /var/log/stock_error.log 2>&1)",
    "CRON[{pid}]: (backup) CMD (/usr/local/bin/ledger-sync --retry 3 >> /var/log/ledger_error.log 2>&1)",
    "CRON[{pid}]: (root) CMD (command -v debian-sa1 > /dev/null && debian-sa1 1 1)",
    "CRON[{pid}]: (www-data) CMD (php /srv/shop/cron.php --task=orders || logger orders failed)",
    "CRON[{pid}]: (www-data) CMD (php /srv/shop/cron.php --task=exports || logger exports failed)",
    "anacron[{pid}]: Job `cron.daily' started",
    "anacron[{pid}]: Job `cron.daily' terminated",
    "crontab[{pid}]: ({user}) LIST ({user})",
]


@output("cron-log", "cat /var/log/cron", 15_000)
def cron_log(page: Page) -> None:
    page.log(
        lambda: f"{page.tick(40):%b %d %H:%M:%S} backup-1 ",
        _CRON,
        Plant(
            at=0.42,
            text="cron[733]: (*system*pg-backup) WRONG FILE OWNER (/etc/cron.d/pg-backup)",
            words=("WRONG FILE OWNER", "/etc/cron.d/pg-backup"),
        ),
    )


_KEEPALIVED = [
    "Keepalived_vrrp[1201]: Script `chk_haproxy` now returning 0",
    "Keepalived_vrrp[1201]: VRRP_Script(chk_haproxy) succeeded",
    "Keepalived_vrrp[1201]: Sending gratuitous ARP on eth0 for 10.0.0.{few}",
    "Keepalived_vrrp[1201]: (VI_WEB) Sending/queueing gratuitous ARPs on eth0 for 10.0.0.{few}",
    "Keepalived_healthcheckers[1200]: HTTP_CHECK on service [{ip}]:tcp:80 succeeded.",
    "Keepalived_healthcheckers[1200]: Remote SMTP server [127.0.0.1]:25 connected, 0 errors.",
]


@output("keepalived", "journalctl -u keepalived", 900)
def keepalived(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%b %d %H:%M:%S} lb-1 ",
        _KEEPALIVED,
        Plant(
            at=0.64, text="Keepalived_vrrp[1201]: Netlink reports eth1 down", words=("reports eth1 down",), of="vrrp"
        ),
        Plant(
            at=0.6425,
            text="Keepalived_vrrp[1201]: (VI_DB) Entering FAULT STATE",
            words=("(VI_DB) Entering FAULT STATE",),
            of="vrrp",
        ),
    )


@output("oom-dump", "journalctl -k -b", 600)
def oom_dump(page: Page) -> None:
    """A task table of the kernel takes most of it."""
    stamp = f"{page.now:%b %d %H:%M:%S} app-11 kernel: "
    page.say(
        stamp + "tomcat-exec-31 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0"
    )
    page.say(
        stamp + "CPU: 3 PID: 28160 Comm: tomcat-exec-31 Not tainted 5.15.0-97-generic #107-Ubuntu",
        stamp + "Call Trace:",
    )
    for name in (
        "dump_stack_lvl",
        "dump_header",
        "oom_kill_process.cold",
        "out_of_memory",
        "filemap_fault",
        "do_user_addr_fault",
    ):
        page.say(stamp + f" {name}+0x{page.fill('{few}')}d/0x{page.fill('{few}')}b0")
    page.say(stamp + "Node 0 Normal free:43104kB min:44012kB low:55012kB high:66012kB active_anon:41220112kB")
    page.say(stamp + "Total swap = 0kB", stamp + "Tasks state (memory values in pages):")
    page.say(stamp + "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name")
    for index in range(page.size):
        pid, name = 500 + index * 7, page.any(["nginx", "php-fpm", "sshd", "bash", "containerd-shim", "node", "errord"])
        page.say(
            stamp
            + f"[{pid:7}]    33 {pid:5} {page.fill('{n}'):>8} {page.fill('{n}'):>8}    77824        0             0 {name}"
        )
    page.say(stamp + "[  28114]  1001 28114 17412119 15811204 131072000       0             0 java")
    page.say(
        stamp
        + "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task=java,pid=28114,uid=1001"
    )
    page.plant(
        stamp + "Out of memory: Killed process 28114 (java) total-vm:69648476kB, anon-rss:63244816kB, file-rss:0kB",
        "Out of memory: Killed process 28114 (java)",
    )
    for _ in range(page.size // 3):
        page.say(page.fill(f"{page.tick(30):%b %d %H:%M:%S} app-11 kernel: ") + page.any(_BOOT))


_FRAMES = [
    "__schedule",
    "schedule",
    "io_schedule",
    "wait_on_page_bit",
    "__jbd2_log_wait_for_space",
    "jbd2_journal_commit_transaction",
    "kthread",
    "xfs_log_force",
    "submit_bio_wait",
    "__wait_on_buffer",
    "ext4_sync_file",
    "do_fsync",
    "ret_from_fork",
    "entry_SYSCALL_64_after_hwframe",
]


@output("call-traces", "dmesg", 40)
def call_traces(page: Page) -> None:
    """Blocks of boot noise, a hung task with its frames in the middle, and an innocent trace of a module's load."""
    hung = page.size // 2
    for block in range(page.size):
        for _ in range(20):
            page.say(_uptime(page) + page.any(_BOOT))
        if block in {3, hung + 2}:
            page.say(
                _uptime(page)
                + "perf: interrupt took too long (2511 > 2500), lowering kernel.perf_event_max_sample_rate to 79000"
            )
        if block == hung:
            page.plant(
                _uptime(page) + "INFO: task jbd2/dm-3-8:1123 blocked for more than 122 seconds.",
                "task jbd2/dm-3-8:1123 blocked for more than",
            )
            page.say(_uptime(page) + "      Not tainted 5.15.0-97-generic #107-Ubuntu")
            page.say(_uptime(page) + '"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.')
            page.say(_uptime(page) + "task:jbd2/dm-3-8    state:D stack:    0 pid: 1123 ppid:     2 flags:0x00004000")
            page.say(_uptime(page) + "Call Trace:", _uptime(page) + " <TASK>")
            for frame in _FRAMES * 2:
                page.say(_uptime(page) + f" {frame}+0x{page.fill('{few}')}4/0x{page.fill('{few}')}80")
            page.say(_uptime(page) + " </TASK>")


_GERMAN = [
    "dienst[{pid}]: Sitzung {n} für Benutzer {user} geöffnet",
    "dienst[{pid}]: Sitzung {n} für Benutzer {user} geschlossen",
    "sicherung[{pid}]: {n} Dateien geprüft, 0 Fehler, {few} übersprungen",
    "sicherung[{pid}]: Übertragung nach {ip} abgeschlossen, {ms} s",
    "postfix[{pid}]: {hex}: an=<{user}@example.de>, Verzögerung={ms}, Zustand=gesendet",
    "drucker[{pid}]: Auftrag {n} in die Warteschlange gestellt",
]


@output("german", "journalctl (LANG=de_DE.UTF-8)", 6000)
def german(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%d.%m.%Y %H:%M:%S} srv-1 ",
        _GERMAN,
        Plant(
            at=0.58,
            text="sicherung[{pid}]: /mnt/band/voll-09.tar: Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
            words=("Auf dem Gerät ist kein Speicherplatz mehr verfügbar",),
        ),
    )


_FRENCH = [
    "session[{pid}]: ouverture de la session {n} pour {user}",
    "session[{pid}]: fermeture de la session {n} pour {user}",
    "sauvegarde[{pid}]: {n} fichiers vérifiés, 0 erreur",
    "relais[{pid}]: message {hex} remis à {ip} en {ms} s",
    "certificats[{pid}]: renouvellement inutile, encore {n} heures",
]


@output("french", "journalctl (LANG=fr_FR.UTF-8)", 4000)
def french(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%d/%m/%Y %H:%M:%S} srv-2 ",
        _FRENCH,
        Plant(
            at=0.33,
            text="relais[{pid}]: échec de la connexion à base-1:5432 : Connexion refusée",
            words=("échec de la connexion à base-1:5432",),
        ),
    )


_SQL_SERVER = [
    "Logon       Login succeeded for user '{user}'. Connection made using SQL Server authentication. [CLIENT: {ip}]",
    "spid{few}s      {n} transactions rolled forward in database '{word}' ({few}:0). No user action is required.",
    "spid{few}s      0 transactions rolled back in database '{word}' ({few}:0). No user action is required.",
    "Backup      Database backed up. Database: {word}, creation date(time): 2024/11/02(10:11:12), pages dumped: {n}",
    "spid{few}s      Setting database option ERROR_BROKER_CONVERSATIONS to OFF for database '{word}'.",
    "spid{few}       DBCC CHECKDB ({word}) executed by {user} found 0 errors and repaired 0 errors.",
]


@output("windows-crlf", "type ERRORLOG", 3000, end="\r\n")
def windows_crlf(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%Y-%m-%d %H:%M:%S}.40 ",
        _SQL_SERVER,
        Plant(
            at=0.77,
            text="spid61      The operating system returned error 21(The device is not ready.) to SQL Server during a read at "
            "offset 0x0000000{hex} in file 'E:\\data\\ledger.mdf'.",
            words=("returned error 21(The device is not ready.)",),
        ),
    )
