"""Interfaces, sockets, certificates and clocks."""

from __future__ import annotations

import string

from planted_parts import Page, output

__all__: list[str] = []


@output("ss-tan", "ss -tan", 9000)
def ss_tan(page: Page) -> None:
    """A listener whose queue is full, and a connection that nobody answers."""
    page.say("State      Recv-Q Send-Q Local Address:Port    Peer Address:Port")
    full, asking = page.spots(2)
    for port in (22, 25, 80, 111, 3306, 5432, 9100):
        page.say(f"LISTEN     0      {page.rng.choice((128, 511, 4096)):<6} 0.0.0.0:{port:<13}    0.0.0.0:*")
    for index in range(page.size):
        if index == full:
            page.plant("LISTEN     129    128    0.0.0.0:8443             0.0.0.0:*", "LISTEN 129 128", "8443")
        if index == asking:
            page.plant("SYN-SENT   0      1      10.0.3.7:51234           10.4.0.9:5432", "SYN-SENT", "10.4.0.9:5432")
        state = page.rng.choice(("ESTAB", "ESTAB", "ESTAB", "TIME-WAIT", "TIME-WAIT", "FIN-WAIT-2"))
        page.say(page.fill(f"{state:10} 0      0      10.0.3.7:443             {{ip}}:{{port}}"))


@output("netstat-s", "netstat -s", 1)
def netstat_s(page: Page) -> None:
    ip = "8812044121 total packets received;0 with invalid addresses;0 forwarded;0 incoming packets discarded;8812040012 incoming packets delivered;7712044100 requests sent out;0 outgoing packets dropped;0 fragments dropped after timeout;0 packet reassemblies failed"
    icmp = "41220 ICMP messages received;12 input ICMP message failed;destination unreachable: 812;echo requests: 40410;41201 ICMP messages sent;0 ICMP messages failed"
    tcp = "912204 active connection openings;8122044 passive connection openings;8112 failed connection attempts;41220 connection resets received;214 connections established;8812044000 segments received;9912044110 segments sent out;81220 segments retransmitted;12 bad segments received;91220 resets sent"
    udp = "4122041 packets received;812 packets to unknown port received;0 packet receive errors;4122099 packets sent;0 receive buffer errors;0 send buffer errors;IgnoredMulti: 12"
    more = "41 invalid SYN cookies received;812 resets received for embryonic SYN_RECV sockets;0 packets pruned from receive queue because of socket buffer overrun;812204 TCP sockets finished time wait in fast timer;12 packets rejected in established connections because of timestamp;8122044 delayed acks sent;412 delayed acks further delayed because of locked socket;Quick ack mode was activated 81220 times;FULL;DROP;881220441 packet headers predicted;41220441 acknowledgments not containing data payload received;312204412 predicted acknowledgments;TCPSackRecovery: 8122;Detected reordering 41220 times using SACK;TCPDSACKUndo: 412;812 congestion windows recovered without slow start after partial ack;TCPLostRetransmit: 8122;41220 fast retransmits;812 retransmits in slow start;TCPTimeouts: 4122;TCPLossProbes: 8122;TCPBacklogCoalesce: 812204;81220 DSACKs sent for old packets;412 connections reset due to unexpected data;812 connections reset due to early user close;41 connections aborted due to timeout;TCPSackShifted: 8122;TCPRcvCoalesce: 4122044;TCPOFOQueue: 81220;TCPChallengeACK: 812;TCPSynRetrans: 4122;TCPOrigDataSent: 88122044;TCPHystartTrainDetect: 8122;TCPKeepAlive: 412204;TCPDelivered: 88122041;TCPAckCompressed: 8122"
    for title, body in (("Ip", ip), ("Icmp", icmp), ("Tcp", tcp), ("Udp", udp), ("TcpExt", more)):
        page.say(title + ":")
        for row in body.split(";"):
            if row == "FULL":
                page.plant(
                    "    1884291 times the listen queue of a socket overflowed",
                    "1884291",
                    "listen queue of a socket overflowed",
                    of="queue",
                )
            elif row == "DROP":
                page.plant(
                    "    1884291 SYNs to LISTEN sockets dropped",
                    "1884291",
                    "SYNs to LISTEN sockets dropped",
                    of="queue",
                )
            else:
                page.say("    " + row)
    page.say(
        "IpExt:",
        "    InMcastPkts: 412",
        "    OutMcastPkts: 41",
        "    InOctets: 88122044121",
        "    OutOctets: 91220441201",
        "    InNoECTPkts: 8812044121",
    )


@output("ethtool", "ethtool -S ens1f0", 64)
def ethtool(page: Page) -> None:
    page.say("NIC statistics:")
    for name in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_csum_complete", "tx_tso_packets"):
        page.say(f"     {name}: {page.rng.randrange(10**9, 10**12)}")
    zero = "rx_errors tx_errors rx_dropped tx_dropped collisions rx_over_errors rx_fifo_errors tx_aborted_errors rx_out_of_range_len_phy rx_jabbers_phy tx_errors_phy rx_discards_phy tx_discards_phy rx_pause_ctrl_phy link_down_events_phy rx_pcs_symbol_err_phy"
    for name in zero.split():
        page.say(f"     {name}: 0")
    page.plant("     rx_crc_errors_phy: 4812207", "rx_crc_errors_phy: 4812207")
    for name in (
        "rx_in_range_len_errors_phy",
        "rx_undersize_pkts_phy",
        "rx_symbol_err_phy",
        "module_bad_shorted",
        "module_high_temp",
    ):
        page.say(f"     {name}: 0")
    for queue in range(page.size):
        for name in (
            "packets",
            "bytes",
            "csum_unnecessary",
            "lro_packets",
            "xdp_drop",
            "buff_alloc_err",
            "wqe_err",
            "cache_full",
            "arfs_err",
        ):
            value = page.rng.randrange(10**6, 10**10) if name in {"packets", "bytes", "csum_unnecessary"} else 0
            page.say(f"     rx{queue}_{name}: {value}")


@output("ip-link", "ip -s link", 40)
def ip_link(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        name = f"ens{1 + index // 8}f{index % 8}"
        page.say(
            f"{index + 2}: {name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000"
        )
        page.say(f"    link/ether 3c:fd:fe:{index:02x}:11:{page.rng.randrange(256):02x} brd ff:ff:ff:ff:ff:ff")
        page.say("    RX:  bytes packets errors dropped  missed   mcast")
        traffic = f"    {page.rng.randrange(10**9, 10**12)} {page.rng.randrange(10**7, 10**9)}"
        if index == spot:
            page.plant(f"{traffic}  918204       0       0 41220", "918204")
        else:
            page.say(f"{traffic}      0       0       0 {page.fill('{n}')}")
        page.say(
            "    TX:  bytes packets errors dropped carrier collsns",
            f"    {page.rng.randrange(10**9, 10**12)} {page.rng.randrange(10**7, 10**9)}      0       0       0       0",
        )


@output("bonding", "cat /proc/net/bonding/*", 6)
def bonding(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        page.say(
            "Ethernet Channel Bonding Driver: v5.15.0-97-generic",
            "",
            "Bonding Mode: IEEE 802.3ad Dynamic link aggregation",
            "Transmit Hash Policy: layer3+4 (1)",
        )
        page.say(
            "MII Status: up",
            "MII Polling Interval (ms): 100",
            "Up Delay (ms): 0",
            "Down Delay (ms): 0",
            "",
            "802.3ad info",
            "LACP active: on",
            "LACP rate: fast",
            "",
        )
        for slave in range(2):
            bad = index == spot and slave == 1
            page.say(f"Slave Interface: ens{index}f{slave}")
            if bad:
                page.plant("MII Status: down", "MII Status: down", of="slave")
                page.say("Speed: Unknown", "Duplex: Unknown")
                page.plant("Link Failure Count: 37", "Link Failure Count: 37", of="slave")
            else:
                page.say("MII Status: up", "Speed: 25000 Mbps", "Duplex: full", "Link Failure Count: 0")
            page.say(
                f"Permanent HW addr: 3c:fd:fe:{index:02x}:{slave:02x}:41",
                "Slave queue ID: 0",
                f"Aggregator ID: {2 if bad else 1}",
                "",
            )


@output("ibstat", "ibstat", 8)
def ibstat(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        page.say(
            f"CA 'mlx5_{index}'",
            "\tCA type: MT4129",
            "\tNumber of ports: 1",
            "\tFirmware version: 28.39.1002",
            "\tHardware version: 0",
            f"\tNode GUID: 0x{page.fill('{long}')}",
            "\tPort 1:",
        )
        bad = index == spot
        if bad:
            page.plant("\t\tState: Down", "State: Down", of="port")
            page.plant("\t\tPhysical state: Polling", "Physical state: Polling", of="port")
        else:
            page.say("\t\tState: Active", "\t\tPhysical state: LinkUp")
        page.say(
            f"\t\tRate: {10 if bad else 400}",
            f"\t\tBase lid: {0 if bad else 40 + index}",
            "\t\tLMC: 0",
            "\t\tSM lid: 1",
            "\t\tCapability mask: 0xa651e848",
            f"\t\tPort GUID: 0x{page.fill('{long}')}",
            "\t\tLink layer: InfiniBand",
        )


_BASE64 = string.ascii_letters + string.digits + "+/"


@output("openssl-verify", "openssl s_client -showcerts -connect shop.example.com:443", 3)
def openssl_verify(page: Page) -> None:
    page.say("CONNECTED(00000003)", "---", "Certificate chain")
    for depth in range(page.size):
        page.say(
            f" {depth} s:CN = {('shop.example.com', 'R3', 'ISRG Root X1')[depth]}",
            "   i:C = US, O = Let's Encrypt, CN = R3",
            "-----BEGIN CERTIFICATE-----",
        )
        page.say(*("".join(page.rng.choices(_BASE64, k=64)) for _ in range(26)), "-----END CERTIFICATE-----")
    page.say(
        "---",
        "No client certificate CA names sent",
        "Peer signing digest: SHA256",
        "SSL handshake has read 4412 bytes and written 401 bytes",
    )
    page.plant("Verification error: certificate has expired", "certificate has expired", of="verify")
    page.say(
        "---",
        "New, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384",
        "Server public key is 2048 bit",
        "Secure Renegotiation IS NOT supported",
        "Early data was not sent",
    )
    page.plant(
        "Verify return code: 10 (certificate has expired)",
        "Verify return code: 10 (certificate has expired)",
        of="verify",
    )
    page.say("---", "DONE")


@output("certificate-dates", "for c in *.pem; do openssl x509 -noout -subject -enddate -in $c; done", 300)
def certificate_dates(page: Page) -> None:
    """All end within the coming two years, one ended six years ago."""
    (spot,) = page.spots(1)
    for index in range(page.size):
        page.say(page.fill(f"subject=O = Example, CN = {{word}}-{index:03d}.example.com"))
        if index == spot:
            page.plant("notAfter=Aug 11 23:59:59 2019 GMT", "Aug 11 23:59:59 2019")
        else:
            page.say(
                f"notAfter={page.rng.choice(('May', 'Jun', 'Sep', 'Dec'))} {page.rng.randrange(10, 29)} 23:59:59 {page.rng.choice((2026, 2027))} GMT"
            )


@output("clock-table", "clush -a 'chronyc -c tracking' | column -t", 320)
def clock_table(page: Page) -> None:
    page.say("HOST        REFERENCE       STRATUM  OFFSET        LEAP")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(f"node{index + 1:04d}    -               0        -             -", f"node{index + 1:04d}")
        else:
            page.say(
                f"node{index + 1:04d}    10.0.0.{page.rng.choice((11, 12, 13)):<9}{3:<9}{page.between(-0.0009, 0.0009):<+13.9f} Normal"
            )


@output("chronyc-sources", "chronyc -n sources (on 60 hosts)", 60)
def chronyc_sources(page: Page) -> None:
    page.say("MS Name/IP address         Stratum Poll Reach LastRx Last sample", "=" * 79)
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                f"^? 10.0.{index}.12                    0  10     0     -     +0ns[   +0ns] +/-    0ns",
                f"10.0.{index}.12",
                "^?",
            )
        for last in (11, 12, 13):
            if index == spot and last == 12:
                continue
            page.say(
                f"^{'*' if last == 11 else '+'} 10.0.{index}.{last}                    2  10   377   {page.rng.randrange(10, 900):3}    {page.rng.randrange(-90, 90):+d}us[{page.rng.randrange(-90, 90):+4d}us] +/-   {page.rng.randrange(4, 19)}ms"
            )
