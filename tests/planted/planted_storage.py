"""Disks, arrays, file systems and what measures them."""

from __future__ import annotations

from planted_parts import Page, output

__all__: list[str] = []


@output("df", "df -PT", 70)
def df(page: Page) -> None:
    page.say("Filesystem                      Type   1024-blocks       Used  Available Capacity Mounted on")
    (spot,) = page.spots(1)
    for index in range(page.size):
        total, share = page.rng.randrange(20, 900) * 1048576, page.between(0.08, 0.71)
        if index == spot:
            page.plant(
                f"{'/dev/mapper/vg0-spool':31} ext4   {total:>11} {total:>10} {0:>10}     100% /var/spool/mail",
                "/var/spool/mail",
                "100%",
            )
        used = int(total * share)
        page.say(
            f"/dev/mapper/vg0-{page.fill('{word}{few}'):15} ext4   {total:>11} {used:>10} {total - used:>10} {int(share * 100) + 1:>7}% /srv/{index:02d}"
        )


@output("df-inodes", "df -Pi", 60)
def df_inodes(page: Page) -> None:
    page.say("Filesystem                        Inodes     IUsed     IFree IUse% Mounted on")
    (spot,) = page.spots(1)
    for index in range(page.size):
        total, share = 6553600, page.between(0.01, 0.34)
        if index == spot:
            page.plant(
                f"{'/dev/mapper/vg0-sessions':31} {total:>9} {total:>9} {0:>9}  100% /var/lib/php/sessions",
                "/var/lib/php/sessions",
                "100%",
            )
        used = int(total * share)
        page.say(
            f"/dev/mapper/vg0-{page.fill('{word}{few}'):15} {total:>9} {used:>9} {total - used:>9} {int(share * 100) + 1:>4}% /srv/{index:02d}"
        )


@output("mount", "cat /proc/mounts", 120)
def mount(page: Page) -> None:
    page.say(
        "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0", "sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0"
    )
    page.say(
        "tmpfs /run tmpfs rw,nosuid,nodev,size=6569996k,mode=755 0 0",
        "/dev/sda2 / ext4 rw,relatime,errors=remount-ro 0 0",
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                "/dev/mapper/vg0-data /var/lib/mysql ext4 ro,relatime,errors=remount-ro 0 0", "/var/lib/mysql ext4 ro,"
            )
        elif index % 9 == 0:
            page.say(
                f"/dev/loop{index} /snap/{page.fill('{word}')}/{index} squashfs ro,nodev,relatime,errors=continue 0 0"
            )
        else:
            page.say(f"/dev/mapper/vg0-{page.fill('{word}')} /srv/{index:03d} ext4 rw,relatime,errors=remount-ro 0 0")


@output("lsblk", "lsblk", 60)
def lsblk(page: Page) -> None:
    page.say("NAME   MAJ:MIN RM   SIZE RO TYPE MOUNTPOINT")
    (spot,) = page.spots(1)
    for index in range(page.size):
        name = f"sd{chr(97 + index // 26)}{chr(97 + index % 26)}"
        if index == spot:
            page.plant(f"{name:6} {66 + index // 16:3}:{index % 16 * 16:<3}  0     0B  0 disk", f"{name} ", " 0B ")
        else:
            page.say(f"{name:6} {66 + index // 16:3}:{index % 16 * 16:<3}  0  10.9T  0 disk")


@output("smartctl", "smartctl -a /dev/sdf", 1)
def smartctl(page: Page) -> None:
    page.say(
        "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.15.0] (local build)", "", "=== START OF INFORMATION SECTION ==="
    )
    page.say(
        "Device Model:     ST12000NM0008-2H3101",
        "Firmware Version: SN02",
        "User Capacity:    12,000,138,625,024 bytes [12.0 TB]",
    )
    page.say("SMART support is: Enabled", "", "=== START OF READ SMART DATA SECTION ===")
    page.say("SMART overall-health self-assessment test result: PASSED", "", "General SMART Values:")
    page.say("Offline data collection status:  (0x82)\tOffline data collection activity was completed without error.")
    page.say(
        "Self-test execution status:      (   0)\tThe previous self-test routine completed without error or no self-test has ever been run."
    )
    page.say(
        "Error logging capability:        (0x01)\tError logging supported.",
        "SCT capabilities: \t       (0x50bd)\tSCT Error Recovery Control supported.",
        "",
    )
    page.say("ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE")
    table = (
        "1 Raw_Read_Error_Rate 81220112,3 Spin_Up_Time 0,4 Start_Stop_Count 41,5 Reallocated_Sector_Ct 0,7 Seek_Error_Rate 412201128,"
        "9 Power_On_Hours 31220,10 Spin_Retry_Count 0,12 Power_Cycle_Count 41,18 Head_Health 0,187 Reported_Uncorrect 0,188 Command_Timeout 0,"
        "190 Airflow_Temperature_Cel 31,192 Power-Off_Retract_Count 812,193 Load_Cycle_Count 9122,194 Temperature_Celsius 31,"
        "195 Hardware_ECC_Recovered 81220112,197 Current_Pending_Sector 184,198 Offline_Uncorrectable 184,199 UDMA_CRC_Error_Count 0,"
        "200 Multi_Zone_Error_Rate 0,240 Head_Flying_Hours 31101,241 Total_LBAs_Written 88120441201,242 Total_LBAs_Read 912204412011"
    )
    for word in table.split(","):
        number, name, raw = word.split()
        row = f"{number:>3} {name:23} 0x0032   100   100   000    Old_age   Always       -       {raw}"
        if raw == "184":
            page.plant(row, name, "184")
        else:
            page.say(row)
    page.say(
        "", "SMART Error Log Version: 1", "No Errors Logged", "", "SMART Self-test log structure revision number 1"
    )
    page.say("Num  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error")
    page.say(
        *(
            f"#{n:2}  Short offline       Completed without error       00%     {31220 - n * 24}         -"
            for n in range(1, 21)
        )
    )


@output("mdadm-detail", "mdadm --detail /dev/md*", 14)
def mdadm_detail(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        bad = index == spot
        page.say(
            f"/dev/md{index}:",
            "           Version : 1.2",
            "        Raid Level : raid1",
            "        Array Size : 976630464 (931.39 GiB 1000.07 GB)",
        )
        page.say(
            "      Raid Devices : 2",
            f"     Total Devices : {1 if bad else 2}",
            "       Persistence : Superblock is persistent",
        )
        if bad:
            page.plant("             State : clean, degraded", "State : clean, degraded")
        else:
            page.say(f"             State : {page.rng.choice(('clean', 'active'))}")
        page.say(
            f"    Active Devices : {1 if bad else 2}",
            "    Failed Devices : 0",
            "     Spare Devices : 0",
            f"              UUID : {page.fill('{hex}:{hex}:{hex}:{hex}')}",
        )
        page.say(
            "    Number   Major   Minor   RaidDevice State",
            "       0       8        1        0      active sync   /dev/sda1",
        )
        page.say(
            "       -       0        0        1      removed"
            if bad
            else "       1       8       17        1      active sync   /dev/sdb1",
            "",
        )


@output("mdstat", "cat /proc/mdstat", 18)
def mdstat(page: Page) -> None:
    page.say("Personalities : [raid1] [raid6] [raid5] [raid4]")
    (spot,) = page.spots(1)
    for index in range(page.size):
        page.say(f"md{index} : active raid1 sdb{index + 1}[1] sda{index + 1}[0]")
        if index == spot:
            page.plant("      976630464 blocks super 1.2 [2/1] [U_]", "[U_]")
        else:
            page.say("      976630464 blocks super 1.2 [2/2] [UU]")
        page.say("      bitmap: 2/8 pages [8KB], 65536KB chunk", "")
    page.say("unused devices: <none>")


@output("zpool-status", "zpool status", 6)
def zpool_status(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        bad = index == spot
        page.say(
            f"  pool: tank{index}",
            " state: ONLINE",
            "  scan: scrub repaired 0B in 05:12:44 with 0 errors on Sun Mar  8 05:36:45 2026",
            "config:",
            "",
        )
        page.say(
            "        NAME                        STATE     READ WRITE CKSUM",
            f"        tank{index:<3}                     ONLINE       0     0     0",
        )
        for disk in range(12):
            name = page.fill("wwn-0x5000c500{hex}")
            if bad and disk == 7:
                page.plant(f"          {name:25} ONLINE       0     0   912", name, "912")
            else:
                page.say(f"          {name:25} ONLINE       0     0     0")
        page.say("", "errors: No known data errors", "")


@output("lvs", "lvs -a", 90)
def lvs(page: Page) -> None:
    page.say("  LV               VG   Attr       LSize    Pool  Origin Data%  Meta%")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant("  pool7            vg1  twi-aotzD-    1.00t              100.00 45.13", "pool7", "100.00")
        page.say(
            f"  vm{index:03d}-disk0      vg1  Vwi-aotz--   {page.between(10, 90):5.2f}g pool{index % 6}        {page.between(4, 71):5.2f}"
        )


@output("multipath", "multipath -ll", 24)
def multipath(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        page.say(
            page.fill(f"mpath{chr(97 + index)} (3600508b4000{{hex}}00{{hex}}) dm-{index} HP,HSV300"),
            "size=2.0T features='1 queue_if_no_path' hwhandler='1 alua' wp=rw",
        )
        for group, status in (("active", 50), ("enabled", 10)):
            page.say(f"{'|' if status == 50 else '`'}-+- policy='service-time 0' prio={status} status={group}")
            for path in range(2):
                name = f"sd{chr(97 + index)}{chr(97 + path + (0 if status == 50 else 2))}"
                if index == spot and group == "enabled" and path:
                    page.plant(
                        f"  `- 4:0:{path}:{index} {name} 8:{index * 16} failed faulty running",
                        f"{name} ",
                        "failed faulty",
                    )
                else:
                    page.say(
                        f"{'| ' if status == 50 else '  '}`- 3:0:{path}:{index} {name} 8:{index * 16} active ready running"
                    )


@output("ceph-tree", "ceph osd tree", 400)
def ceph_tree(page: Page) -> None:
    page.say(
        "ID   CLASS  WEIGHT     TYPE NAME          STATUS  REWEIGHT  PRI-AFF", " -1         4364.1377  root default"
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index % 20 == 0:
            page.say(f"{-3 - index // 10:3}          218.2069      host ceph-{index // 20:02d}")
        row = f"{index:3}    hdd   10.91034          osd.{index:<4}      "
        if index == spot:
            page.plant(row + "  down   1.00000  1.00000", f"osd.{index} ", "down")
        else:
            page.say(row + "    up   1.00000  1.00000")


@output("ceph-health", "ceph health detail", 120)
def ceph_health(page: Page) -> None:
    page.say("HEALTH_ERR 1 scrub errors; Possible data damage: 1 pg inconsistent; 120 pgs not deep-scrubbed in time")
    page.say("[WRN] PG_NOT_DEEP_SCRUBBED: 120 pgs not deep-scrubbed in time")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.say("[ERR] PG_DAMAGED: Possible data damage: 1 pg inconsistent")
            page.plant(
                "    pg 4.1f is active+clean+inconsistent, acting [41,7,112]", "pg 4.1f is active+clean+inconsistent"
            )
        page.say(f"    pg {index % 9}.{index:x} not deep-scrubbed since 2026-02-{1 + index % 20:02d}T04:11:09.112+0000")


@output("storcli", "storcli64 /c0 /eall /sall show", 24)
def storcli(page: Page) -> None:
    page.say(
        "CLI Version = 007.1907.0000.0000",
        "Status = Success",
        "Description = Show Drive Information Succeeded.",
        "",
        "Drive Information :",
    )
    page.say("=" * 80, "EID:Slt DID State DG       Size Intf Med SED PI SeSz Model                Sp Type", "-" * 80)
    (spot,) = page.spots(1)
    for enclosure in (252, 253):
        for slot in range(page.size):
            bad = enclosure == 252 and slot == spot
            row = f"{enclosure}:{slot:<3} {slot + 8:4} {'UBad' if bad else 'Onln'} {'-' if bad else '0'}  10.914 TB SATA HDD N   N  512B ST12000NM0008-2H3101 U  -"
            if bad:
                page.plant(row, f"{enclosure}:{slot} ", "UBad")
            else:
                page.say(row)
    page.say(
        "-" * 80,
        "",
        "EID=Enclosure Device ID|Slt=Slot No|DID=Device ID|DG=DriveGroup",
        "UGood=Unconfigured Good|UBad=Unconfigured Bad|Offln=Offline|Onln=Online",
    )


@output("iostat", "iostat -x 5 60", 60)
def iostat(page: Page) -> None:
    page.say("Linux 5.15.0-97-generic (db-07) \t03/09/2026 \t_x86_64_\t(32 CPU)", "")
    bad = page.rng.randrange(page.size // 3, page.size // 2)
    for index in range(page.size):
        page.say(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle",
            f"          {page.between(8, 14):5.2f}    0.00   {page.between(2, 4):5.2f}    {page.between(0.1, 0.9):.2f}    0.00   81.20",
            "",
        )
        page.say("Device            r/s     rkB/s   w/s     wkB/s   r_await w_await aqu-sz  %util")
        for disk in "abcdefghijkl":
            rate = f"sd{disk}            {page.between(10, 99):6.2f} {page.between(800, 4000):8.2f} {page.between(10, 99):6.2f} {page.between(500, 3000):8.2f}"
            if disk == "h" and bad <= index < bad + 3:
                wait = page.between(2100, 3900)
                page.plant(
                    f"{rate} {wait:8.2f} {wait * 2:8.2f} {wait / 20:6.2f} 100.00", "sdh", f"{wait:.2f}", of="slow disk"
                )
            else:
                page.say(
                    f"{rate} {page.between(0.3, 4):8.2f} {page.between(0.3, 4):8.2f} {page.between(0, 0.9):6.2f} {page.between(2, 31):6.2f}"
                )
        page.say("")


@output("fio", "fio read.fio", 8)
def fio(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        row = f"disk{index}: (groupid={index}, jobs=1): err="
        if index == spot:
            page.plant(
                row + " 5 (file:io_u.c:1845, func=io_u error, error=Input/output error): pid=4112",
                f"disk{index}",
                "Input/output error",
            )
        else:
            page.say(row + f" 0: pid={4105 + index}: Mon Mar  9 04:12:{index:02d} 2026")
        page.say(
            f"  read: IOPS={page.fill('{n}')}, BW=412MiB/s (432MB/s)(12.1GiB/30001msec)",
            f"    slat (usec): min=2, max={page.fill('{n}')}, avg= 4.12, stdev= 2.11",
        )
        page.say(
            f"    clat (usec): min=61, max={page.fill('{n}')}, avg=311.20, stdev=88.12", "    clat percentiles (usec):"
        )
        page.say(*(f"     | {p:2}.00th=[  {100 + p * 4}], {p + 5:2}.00th=[  {120 + p * 4}]" for p in range(10, 90, 20)))
        page.say(
            "  cpu          : usr=2.11%, sys=9.41%, ctx=401220, majf=0, minf=11",
            "     errors    : total=0, first_error=0/<0>" if index != spot else "  lat (msec)   : 2=0.01%",
        )


@output("lsof", "lsof -nP", 15_000)
def lsof(page: Page) -> None:
    """A deleted log that still takes 48 GB."""
    page.say("COMMAND     PID     USER   FD      TYPE             DEVICE    SIZE/OFF       NODE NAME")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                "java      28114      app    7w      REG              253,2 48318382080    1311021 /var/log/app/gc.log (deleted)",
                "48318382080",
                "(deleted)",
            )
        start = f"{page.rng.choice(('nginx', 'postgres', 'java', 'sshd', 'node')):9} {page.fill('{pid}'):>5}      app {page.rng.randrange(400):>4}"
        page.say(
            start
            + page.any(
                [
                    "u      REG              253,2       {n}    {big} /srv/{word}/{hex}.dat",
                    "u     IPv4             {big}         0t0        TCP {ip}:{port}->{ip}:5432 (ESTABLISHED)",
                    "r      REG              253,0       {n}    {big} /usr/lib/x86_64-linux-gnu/libgpg-error.so.0",
                    "u      REG                0,1       {n}    {big} /memfd:{word} (deleted)",
                    "u      CHR                1,3         0t0          6 /dev/null",
                ]
            )
        )
