"""Secrets in files of a known form: password databases, .netrc, .pgpass, configuration of SNMP, VPNs and networks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from checkrunner.findings.redact_rule import Rule, rule

__all__ = ["FILES"]


def _encoded_key(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Base64 of a file that begins with the marker of a private key."""
    head = match["value"][:64]
    try:
        begin = base64.b64decode(head[: len(head) // 4 * 4])
    except binascii.Error:
        return
    if b"PRIVATE KEY" in begin:
        yield match.span("value")


FILES: tuple[Rule, ...] = (
    rule(
        "encoded-key",
        "private keys in base64, as Kubernetes keeps them",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVB",
        "ls0tls1crudjti",
        r"(?<![A-Za-z0-9+/])(?P<value>LS0tLS1CRUdJTi[A-Za-z0-9+/]{16,}+={0,2})",
        _encoded_key,
        token=True,
    ),
    rule(
        "password-hash",
        "password hashes: of crypt(3), Apache, LDAP, Django, PostgreSQL, MySQL and Windows",
        "root:$6$saltsalt$abcdefghijklmnop:19000:0:99999:7:::",
        "$1$ $2$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $8$ $9$ $y$ $gy$ $p$ $h$ $a$00 $apr1$ $sha1$ $argon2 $scrypt$ $pbkdf2"
        " $bcrypt pbkdf2_ scram- md5 {sha {ssha {crypt {md5 {smd5 {bcrypt {pbkdf2 {argon2 :::",
        re.compile(
            r"\$(?:1|2[abxy]?|5|6|7|8|9|y|gy|P|H|apr1|sha1|argon2[a-z]{1,2}|scrypt|pbkdf2(?:-sha\d{1,3})?|bcrypt-sha256)\$"
            r"(?=[^\s]{0,80}[A-Za-z./])[./A-Za-z0-9$=,+-]{8,}+|\$A\$00\d\$[^\s'\"]{20,}+|pbkdf2_sha\d{1,3}\$\d{1,8}\$[\w+/$=.-]{16,}+"
            r"|\{(?i:sha|ssha|sha256|ssha256|sha384|ssha384|sha512|ssha512|md5|smd5|crypt|bcrypt|pbkdf2[\w-]{0,10}|argon2)\}[./A-Za-z0-9+$=,]{8,}+"
            r"|SCRAM-SHA-(?:1|256)\$\d{1,8}:[A-Za-z0-9+/=]{8,}+\$[A-Za-z0-9+/=:]{20,}+"
            r"|(?<![A-Za-z0-9])md5[0-9a-f]{32}(?![0-9a-f])"
            r"|(?<![0-9a-f])[0-9a-f]{32}:[0-9a-f]{32}(?=:::)"
            r"|(?<=:)[./A-Za-z0-9]{13}(?=:\d{4,6}:\d{1,5}:\d{1,6}:\d{1,4}:)"
        ),
        guards="$ { md5 :::",
    ),
    rule(
        "mysql-hash",
        "password hashes of MySQL and MariaDB",
        "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
        "*",
        r"\*(?<![\w*]\*)[0-9A-F]{40}(?![0-9A-F])",
    ),
    rule(
        "netrc",
        "passwords in .netrc",
        "machine api.example login bob password hunter2",
        "password␣",
        r"(?:^|[ \t])(?:login|account)\s{1,20}[^\s]{1,100}\s{1,20}password[ \t]{1,20}(?P<value_a>[^\s\0]{1,200})"
        r"|(?:^|[ \t])machine\s{1,20}[^\s]{1,100}\s{1,20}password[ \t]{1,20}(?P<value_b>[^\s\0]{1,200})",
        across=True,
    ),
    rule(
        "pgpass",
        "passwords in .pgpass",
        "db1.example:5432:shop:app:hunter2",
        "543 :*:",
        r"^[ \t]*(?:[\w-]{0,40}"
        r"[ \t])?[\w./*-]{1,100}:(?:\d{0,2}543\d|\*):(?:[\w-]{1,60}|\*):(?:[\w.@-]{1,60}"
        r"|\*):(?P<value>[^\s:]{1,200})$",
    ),
    rule(
        "snmp",
        "communities and keys of SNMP",
        "rocommunity s3cr3tcomm 10.0.0.0/8",
        "community com2sec snmp createuser",
        re.compile(
            r"\b(?:r[ow]community6?|trapcommunity|snmp-server community|snmp community)"
            r"[ \t]{1,8}[\"']?(?P<value_a>[^\s\"']{1,100})"
            r"|\bcom2sec6?[ \t]+(?:-Cn[ \t]+\S{1,40}[ \t]+)?\S{1,60}[ \t]+\S{1,60}[ \t]+(?P<value_b>[^\s#]{1,100})"
            r"|\bsnmp(?:walk|get|getnext|bulkwalk|bulkget|set|table|trap|inform|status|df"
            r"|delta)\b[^|;\n]{0,200}?[ \t]-[cAX][ \t]{0,4}[\"']?(?P<value_c>[^\s\"']{1,100})"
            r"|\bcreateUser[ \t]+(?:-e[ \t]+\S{1,60}[ \t]+)?\S{1,60}[ \t]+(?:MD5|SHA(?:-\d{3})?)"
            r"[ \t]+\"?(?P<value_d>[^\s\"]{1,100})\"?"
            r"(?:[ \t]+(?:DES|AES(?:-?\d{3})?)[ \t]+\"?(?P<value_e>[^\s\"]{1,100}))?",
            re.IGNORECASE,
        ),
    ),
    rule(
        "vpn-key",
        "keys and passwords of WireGuard, IPsec, PPP and WLANs, and of TLS sessions",
        'gw.example : PSK "hunter2"',
        "psk ␣eap␣ xauth␣ client_random _secret␣ _secret_",
        r"\b(?:PSK|EAP|XAUTH|NTLM)[ \t]{1,4}(?:\"(?P<value_a>[^\"]{1,200})|(?P<value_f>0[sx][A-Za-z0-9+/=]{8,}))"
        r"|\b(?:CLIENT_RANDOM|CLIENT_(?:HANDSHAKE_)?TRAFFIC_SECRET(?:_\d)?|SERVER_(?:HANDSHAKE_)?TRAFFIC_SECRET(?:_\d)?|EXPORTER_SECRET)"
        r" [0-9a-f]{64} (?P<value_c>[0-9a-f]{32,128})",
    ),
    rule(
        "wireguard-key",
        "private keys where `wg show ... dump` prints them",
        "dGhpcyBpcyBub3QgYSByZWFsIGtleSBidXQgYSBsaW4= cHVibGljIGtleSBvZiB0aGUgc2FtZSBpbnRlcmZhY2U= 51820 off",
        "",
        r"^[ \t]*(?:[\w.-]{1,20}[ \t]+)?(?P<value>[A-Za-z0-9+/]{43}=)[ \t]+[A-Za-z0-9+/]{43}=[ \t]+\d{1,5}"
        r"[ \t]+(?:off|0x)",
        token=True,
        guards="␣off ␣0x",
    ),
    rule(
        "directive",
        "passwords in the configuration of keepalived, LDAP and rsync, where a space stands before them",
        "bindpw hunter2",
        "auth_pass bindpw rootpw authtok sst_auth",
        r"^[ \t]*(?:auth_pass|bindpw|rootbindpw|rootpw)[ \t]{1,8}(?P<value_a>[^\s#]{3,200})"
        r"|\b(?:ldap_default_authtok|wsrep_sst_auth)[ \t]{0,8}=[ \t]{0,8}[\"']?(?P<value_b>[^\s\"'#]{3,200})",
    ),
    rule(
        "device-password",
        "passwords in the configuration of routers and switches",
        "enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0",
        "password␣ secret␣ key-string -key␣ server␣key isakmp␣key",
        re.compile(
            r"\b(?:enable[ \t]+)?(?:password|secret)[ \t]+(?:[0579]|encrypted|level \d{1,2})"
            r"[ \t]+(?P<value_a>\S{4,200})"
            r"|\b(?:key-string|tacacs-server key|crypto isakmp key|radius-server key|pre-shared-key)[ \t]+(?:[067]"
            r"[ \t]+)?(?:address \S+ key )?(?P<value_b>\S{3,200})"
            r"|^[ \t]*username[ \t]+\S{1,60}[ \t]+(?:privilege[ \t]+\d{1,2}[ \t]+)?password"
            r"[ \t]+(?P<value_c>\S{3,200})",
            re.IGNORECASE,
        ),
        near=r"(?:password|secret) +(?:[0579]|encrypted|level) |-?key(?:-string)? +|username +\S+ .*password",
    ),
)
