"""What a host says of itself: units, processes, load, sensors, graphics processors."""

from __future__ import annotations

from planted_parts import Page, output

__all__: list[str] = []


@output("systemctl-list", "systemctl list-units --type=service --all", 220)
def systemctl_list(page: Page) -> None:
    page.say("  UNIT                             LOAD      ACTIVE   SUB     DESCRIPTION")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                "● ledger-sync.service              loaded    failed   failed  Ledger synchronisation",
                "ledger-sync.service",
                "failed",
            )
        name, what = (
            page.fill("{word}-{tag}.service"),
            page.rng.choice(("failure reporter", "agent", "error collector", "exporter")),
        )
        active, sub = page.rng.choice(
            (("active", "running"), ("active", "running"), ("active", "exited"), ("inactive", "dead"))
        )
        page.say(f"  {name:32} loaded    {active:8} {sub:7} {what.capitalize()}")
    page.say(
        "",
        "LOAD   = Reflects whether the unit definition was properly loaded.",
        "SUB    = The low-level unit activation state, values depend on unit type.",
        f"{page.size + 1} loaded units listed.",
    )


@output("systemctl-status", "systemctl status nginx chronyd sshd ...", 12)
def systemctl_status(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        name = (
            "nginx",
            "sshd",
            "chronyd",
            "crond",
            "rsyslog",
            "auditd",
            "firewalld",
            "docker",
            "kubelet",
            "sssd",
            "tuned",
            "postfix",
        )[index % 12]
        page.say(
            f"● {name}.service - {name} daemon",
            f"     Loaded: loaded (/usr/lib/systemd/system/{name}.service; enabled; preset: enabled)",
        )
        if index == spot:
            page.plant("     Active: inactive (dead) since Mon 2026-03-09 03:11:40 UTC; 8h ago", "inactive (dead)")
        else:
            page.say("     Active: active (running) since Tue 2026-02-03 10:11:02 UTC; 1 month 3 days ago")
        page.say(
            f"   Main PID: {page.fill('{pid}')} ({name})",
            f"      Tasks: {page.fill('{few}')} (limit: 38391)",
            f"     Memory: {page.fill('{few}')}.2M",
            "",
        )
        for _ in range(8):
            page.say(
                f"{page.tick():%b %d %H:%M:%S} host {name}[{page.fill('{pid}')}]: "
                + page.any(["reloaded configuration, 0 errors", "Started.", "rotated error_log", "accepted {ip}"])
            )
        page.say("")


_PROCESSES = (
    ("root", "Ss   Feb03   0:0{few} /usr/sbin/sshd -D"),
    ("root", "I<   Feb03   0:00 [kworker/{few}:1H-kblockd]"),
    ("www-data", "S    Feb03   0:1{few} nginx: worker process"),
    ("postgres", "Ssl  Feb03  1{few}:11 postgres: shop {word} {ip}({port}) idle"),
    ("app", "Sl   Mar01   2:1{few} /usr/bin/node /opt/{word}/server.js --log error"),
)


@output("ps", "ps aux", 900)
def ps(page: Page) -> None:
    page.say("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                "www-data   31337  798  0.4 2441220 81220 ?        Sl   Mar07 41220:11 /tmp/.x/kdevtmpfsi",
                "798",
                "/tmp/.x/kdevtmpfsi",
            )
        user, command = page.rng.choice(_PROCESSES)
        row = f"{user:9} {page.fill('{pid}'):>6} {page.between(0, 2.9):4.1f} {page.between(0, 1.9):4.1f} "
        page.say(row + f"{page.fill('{big}'):>7} {page.fill('{n}'):>5} ?        {page.fill(command)}")


@output("sar-cpu", "sar -u", 1440)
def sar_cpu(page: Page) -> None:
    page.say(
        "Linux 5.15.0-97-generic (db-07) \t03/09/2026 \t_x86_64_\t(32 CPU)",
        "",
        "00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle",
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        stamp = f"{index // 60:02d}:{index % 60:02d}:01        all"
        user, system = page.between(6, 19), page.between(2, 5)
        if index == spot:
            page.plant(f"{stamp}      4.11      0.00      2.91     88.42      0.00      4.56", "88.42")
        else:
            wait = page.between(0.05, 0.9)
            page.say(
                f"{stamp}     {user:5.2f}      0.00     {system:5.2f}     {wait:5.2f}      0.00     {100 - user - system - wait:5.2f}"
            )
    page.say("Average:        all     12.44      0.00      3.41      0.54      0.00     83.61")


@output("vmstat", "vmstat 1 900", 900)
def vmstat(page: Page) -> None:
    page.say("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----")
    page.say(" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st")
    (spot,) = page.spots(1)
    for index in range(page.size):
        free = page.rng.randrange(4_000_000, 5_000_000)
        if spot <= index < spot + 4:
            so = page.rng.randrange(30_000, 60_000)
            page.plant(
                f" 2 41 812204  41220  11204 {free:7}    0 {so}    12 {so} 9122 8122  4 11  2 83  0",
                f" {so} ",
                of="swap",
            )
        else:
            page.say(
                f" {page.rng.randrange(1, 5)}  0      0 {free}  81220 8122044    0    0    {page.rng.randrange(9)}    {page.rng.randrange(60):2} {page.rng.randrange(900, 2000)} {page.rng.randrange(900, 2000)} {page.rng.randrange(5, 19):2}  3 {page.rng.randrange(70, 90)}  0  0"
            )


@output("nvidia-smi", "nvidia-smi -q -d ECC,ROW_REMAPPER,PERFORMANCE", 8)
def nvidia_smi(page: Page) -> None:
    page.say("==============NVSMI LOG==============", "", "Attached GPUs                             : 8")
    (spot,) = page.spots(1)
    for index in range(page.size):
        bad = index == spot
        page.say(
            f"GPU 00000000:{0x1B + index * 0x20:02X}:00.0",
            "    Performance State                     : P0",
            "    Clocks Event Reasons",
        )
        page.say(
            *(
                f"        {name:34}: Not Active"
                for name in ("Idle", "SW Power Cap", "HW Slowdown", "HW Thermal Slowdown", "SW Thermal Slowdown")
            )
        )
        page.say(
            "    ECC Mode",
            "        Current                           : Enabled",
            "        Pending                           : Enabled",
            "    ECC Errors",
        )
        for title in ("Volatile", "Aggregate"):
            page.say(f"        {title}")
            for name in (
                "SRAM Correctable",
                "SRAM Uncorrectable Parity",
                "SRAM Uncorrectable SEC-DED",
                "DRAM Correctable",
                "DRAM Uncorrectable",
            ):
                if bad and title == "Volatile" and name == "DRAM Uncorrectable":
                    page.plant(f"            {name:30}: 14", "DRAM Uncorrectable", ": 14")
                else:
                    page.say(f"            {name:30}: 0")
        page.say(
            "    Remapped Rows",
            "        Correctable Error                 : 0",
            "        Uncorrectable Error               : 0",
        )
        if bad:
            page.plant("        Remapping Failure Occurred        : Yes", "Remapping Failure Occurred", ": Yes")
        else:
            page.say("        Remapping Failure Occurred        : No")


@output("ipmi-sel", "ipmitool sel list", 800)
def ipmi_sel(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        start = f"{index + 1:4x} | {page.tick(40000):%m/%d/%Y | %H:%M:%S} | "
        if index == spot:
            page.plant(start + "Memory #0x53 | Uncorrectable ECC | Asserted", "Memory #0x53", "Uncorrectable ECC")
        else:
            page.say(
                start
                + page.any(
                    [
                        "System Event #0x{few}1 | Timestamp Clock Sync | Asserted",
                        "Power Supply #0x6{few} | Presence detected | Asserted",
                        "Drive Slot #0x{few}4 | Drive Present | Asserted",
                        "OS Boot #0x22 | boot completed - device not specified | Asserted",
                        "Event Logging Disabled #0x07 | Log area reset/cleared | Asserted",
                    ]
                )
            )


@output("ipmi-sdr", "ipmitool sdr", 1)
def ipmi_sdr(page: Page) -> None:
    for cpu in (1, 2):
        page.say(
            f"CPU{cpu} Temp        | {page.rng.randrange(40, 60)} degrees C     | ok",
            f"CPU{cpu} Vcore       | 0.9{page.fill('{few}')} Volts       | ok",
        )
    page.say(
        *(
            f"P{1 + n % 2}-DIMM{chr(65 + n // 2)} Temp    | {'no reading' if n % 5 == 4 else f'{30 + n} degrees C'}     | {'ns' if n % 5 == 4 else 'ok'}"
            for n in range(24)
        )
    )
    for fan in range(1, 17):
        if fan == 11:
            page.plant("FAN11            | 0 RPM             | cr", "FAN11", "0 RPM")
        else:
            page.say(f"FAN{fan:<13} | {page.rng.randrange(80, 99)}00 RPM          | ok")
    page.say(
        "PS1 Status       | 0x01              | ok",
        "PS2 Status       | 0x01              | ok",
        "Chassis Intru    | 0x00              | ok",
        "PS Redundancy    | 0x01              | ok",
    )
    page.say(
        *(
            f"{name:16} | {value} Volts         | ok"
            for name, value in (
                ("12V", "12.06"),
                ("5VCC", "5.03"),
                ("3.3VCC", "3.33"),
                ("VBAT", "3.02"),
                ("5V Dual", "5.01"),
                ("1.8V PCH", "1.80"),
            )
        )
    )
