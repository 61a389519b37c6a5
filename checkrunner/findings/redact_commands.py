"""Secrets where they are given to programs: on command lines, in requests, in statements of SQL."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from checkrunner.findings.harmless import is_harmless
from checkrunner.findings.redact_assignments import KEYWORD
from checkrunner.findings.redact_rule import Rule, rule, value

__all__ = ["COMMANDS", "HEADERS"]

_ARGUMENT = r"(?P<value>(?!-)\"[^\"]*+\"?|(?!-)'[^']*+'?|(?!-)[^\s\"'|;&)]++)"
_REST = r"[^|;\n]{0,200}?"


def _argument(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The word without its quotes."""
    start, end = match.span("value")
    text = match["value"]
    if text[0] in "\"'":
        start, end = start + 1, end - (len(text) > 1 and text[-1] == text[0])
    text = match.string[start:end]
    if text and not is_harmless(text):
        yield start, end


def _kept(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The groups `value...` that are no variables and the like."""
    for start, end in value(match):
        if not is_harmless(match.string[start:end]):
            yield start, end


def _cookies(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The value of each cookie; of ``Set-Cookie`` that of the first, since its attributes are no secrets."""
    text, at = match["value"], match.start("value")
    pairs = list(re.finditer(r"[^=;,\s]{1,100}=(?P<value>[^;\s]*)", text))
    if not pairs:
        yield match.span("value")
    for pair in pairs[:1] if match["set"] else pairs:
        if pair["value"]:
            yield at + pair.start("value"), at + pair.end("value")


def _credentials(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """What follows ``Basic`` and ``Bearer`` anywhere, if it does not look like a word of a sentence."""
    text = match["value"]
    if re.search(r"[0-9+/=_.~]", text) or (text.lower() != text and text.upper() != text and not text.istitle()):
        yield match.span("value")


def _coded_login(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Base64 of ``user:password``, as Docker and npm keep it."""
    text = match["value"]
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return
    if b":" in plain or match["sure"]:
        yield match.span("value")


HEADERS: tuple[Rule, ...] = (
    rule(
        "url-password",
        "the password in `scheme://user:password@host`",
        "postgres://app:hunter2@db1/main",
        "://  :\\/\\/",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}+:(?:\\?/){2}[^\s/:@\"'<>]{0,100}+:"
        r"(?:(?P<value_a>[^\s/\"'<>]{1,300})@|(?P<value_b>(?!\d{1,5}[/?#])[^\s@\"'<>]{1,100}+)@"
        r"|(?P<value_c>(?!\d{1,5}(?![^\0\s]))[^\s/@\"'<>\0]{1,300}+)(?=\0))",
    ),
    rule(
        "oracle-password",
        "the password in Oracle's `user/password@database`",
        "jdbc:oracle:thin:scott/tiger@//db1:1521/shop",
        "jdbc:oracle sqlplus␣",
        re.compile(
            r"(?:jdbc:oracle:[a-z0-9]{1,10}:|\bsqlplus\b[^|;\n]{0,100}?[ \t=])"
            r"[\w$#.-]{1,60}/(?P<value>[^\s@/\"']{1,100})@",
            re.IGNORECASE,
        ),
    ),
    rule(
        "webhook",
        "addresses of webhooks that need no more than themselves: Slack, Discord, Teams, Zapier, Google Chat",
        "https://hooks.slack.com/services/T0000/B0000/abcdefgh",
        "hooks.slack.com/ /webhooks/ webhook.office.com/ hooks.zapier.com/ chat.googleapis.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value_a>[\w/+-]{6,}+)"
        r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/(?P<value_b>[\w-]{10,}+)"
        r"|webhook\.office\.com/webhookb?2?/(?P<value_c>[\w@/-]{20,}+)"
        r"|hooks\.zapier\.com/hooks/catch/(?P<value_d>\d+/\w{4,}+)"
        r"|chat\.googleapis\.com/v1/spaces/[\w-]{1,40}/messages\?(?P<value_e>[^\s\"']{10,}+)",
    ),
    rule(
        "signed-url",
        "signatures and codes in addresses: Azure SAS, presigned S3 and Google Cloud addresses, OAuth codes",
        "https://x.blob.core.windows.net/c/f?sv=2022-11-02&sig=abcdefghijklmnopqrstuvwxyz0123456789%3D",
        "sig= signature= code= auth=",
        re.compile(
            r"(?:[?&;]|\\u0026|&amp;)(?:sig|signature|x-(?:amz|goog|oss)-signature|code|auth)="
            r"(?P<value>[\w%+/.~-]{12,}+=*+)",
            re.IGNORECASE,
        ),
    ),
    rule(
        "authorization",
        "credentials in `Authorization` and `Proxy-Authorization` headers",
        "Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l",
        "authorization",
        re.compile(
            r"authorization\\{0,4}[\"']?[ \t]{0,4}+(?:=>|[:=])[ \t]{0,4}+\\{0,4}[\"'\[]?"
            r"(?:(?:basic|bearer|token|digest|negotiate|ntlm|aws4-hmac-sha256|apikey|key|oauth|splunk|bot)[ \t]{1,4}+)?"
            r"(?P<value>[^\r\n\"'\\\]]++)",
            re.IGNORECASE,
        ),
        lambda match: iter(() if _said(match["value"]) else (match.span("value"),)),
    ),
    rule(
        "cookie",
        "the values of cookies in `Cookie` and `Set-Cookie` headers",
        "Cookie: theme=0123456789abcdef",
        "cookie",
        re.compile(
            r"(?<![A-Za-z])(?P<set>set-)?cookie\\{0,4}[\"']?[ \t]{0,4}+[:=]"
            r"[ \t]{0,4}+\\{0,4}[\"']?(?P<value>[^\r\n\"'\\=]{1,100}=[^\r\n\"'\\]++)",
            re.IGNORECASE,
        ),
        _cookies,
    ),
    rule(
        "session-id",
        "session ids of web applications",
        "PHPSESSID=0123456789abcdef0123456789",
        'sessid sessionid session_id session-id session_key session-key session_cookie _session .sid sid= sid: sid"',
        re.compile(
            r"(?<![A-Za-z])(?:PHPSESSID|J?SESSIONID|ASP\.NET_SessionId|ASPSESSIONID[A-Z]{0,10}|connect\.sid|sess(?:ion)?[_-]?id"
            r"|session[_-]?(?:key|cookie)|[a-z]{1,20}_session|(?<!_)sid)\\{0,4}[\"']?[ \t]{0,2}[=:]"
            r"[ \t]{0,2}\\{0,4}[\"']?"
            r"(?!0x[0-9a-f]{1,16}(?![0-9a-f]))(?=[A-Za-z_%.-]{0,40}[0-9])(?P<value>[\w%.+/-]{16,}+=*+)",
            re.IGNORECASE,
        ),
        near=r"(?:sess|sid)[\w.-]{0,20}\\{0,4}[\"']?[ \t]{0,2}[=:]",
    ),
    rule(
        "bearer",
        "`Bearer` and `Basic` credentials anywhere",
        "curl -H 'Bearer abcdef0123456789'",
        "bearer basic",
        re.compile(r"\b(?:bearer|basic)[ \t]{1,4}+(?P<value>[A-Za-z0-9._~+/-]{12,}+=*+)", re.IGNORECASE),
        _credentials,
    ),
    rule(
        "header-key",
        "keys in headers such as `X-Api-Key`, `X-Auth-Token` and `Private-Token`",
        "X-Auth-Token: 0123456789abcdef",
        "x- -key -token",
        re.compile(
            r"(?<![/\w])(?:x-(?!cache|sort|request|trace|idempotency)[a-z-]{0,30}?(?:key|token|secret|password|auth|signature)|(?:private|job|deploy|auth)-token|api-?key"
            r"|dd-(?:api|application)-key)\\{0,4}[\"']?[ \t]{0,4}+:[ \t]{0,4}+\\{0,4}[\"']?(?P<value>[^\s\"'\\]++)",
            re.IGNORECASE,
        ),
        _argument,
    ),
    rule(
        "coded-login",
        "base64 of `user:password` as Docker, npm and mail servers keep or send it",
        '"auth": "YWxhZGRpbjpvcGVuc2VzYW1l"',
        "auth= auth: auth␣= auth\" auth' auth\\ auth␣plain auth␣login auth␣xoauth2 auth␣cram",
        re.compile(
            r"(?:(?<![A-Za-z])_?auth\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,4}[\"']?"
            r"|(?P<sure>\bAUTH (?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)[ \t]{1,4}))(?P<value>[A-Za-z0-9+/]{8,}+={0,2})",
            re.IGNORECASE,
        ),
        _coded_login,
    ),
)

_NOT_A_CREDENTIAL = re.compile(
    r"[\s,;]*(?:(?:failed|required|denied|missing|invalid|header|error|none|is|was|not|for|request|successful|succeeded|granted)\b.*)?\Z",
    re.IGNORECASE | re.DOTALL,
)


def _said(text: str) -> bool:
    return _NOT_A_CREDENTIAL.match(text) is not None or is_harmless(text)


COMMANDS: tuple[Rule, ...] = (
    rule(
        "command-password",
        "passwords in command lines: `--password X`, `curl -u user:X`, `sshpass -p X`, `mysql -pX`, `redis-cli -a X`",
        "mysql -uroot -phunter2 shop",
        "pass pwd secret␣ token␣ key␣ credential curl␣ wget␣ mysql mariadb docker␣ podman␣ helm␣ skopeo␣ mongo"
        " redis-cli valkey-cli ldap smbclient"
        " mount.cifs sqlcmd␣ rabbitmqctl␣ unzip␣ zip␣ 7z htpasswd ipmitool␣ configure␣set --from-literal"
        " az␣login cqlsh␣ influx␣",
        re.compile(
            rf"(?:(?<=\s)-{{1,2}}[\w-]{{0,30}}?(?:{KEYWORD}|pass)[ \t]{{1,4}}+(?=[^\s-])|\bsshpass"
            rf"[ \t]{{1,4}}+-p[ \t]{{0,4}}+"
            rf"|\b(?:curl|wget|lynx)\b{_REST}"
            rf"[ \t](?:-u|--user|--proxy-user|-U|-a|--auth)[ \t=]{{0,4}}[\"']?[^\s:\"']{{0,60}}:(?!//)"
            rf"|\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlshow|mariadb|mariadb-dump|mariadb-admin"
            rf"|7z[ar]?)\b{_REST}[ \t]-p(?=[^\s-])"
            rf"|\b(?:docker|podman|helm|buildah|skopeo|crane|nerdctl|az)\b{_REST}[ \t]login\b{_REST}[ \t]-p[ \t]{{1,4}}"
            rf"|\b(?:mongo(?:sh|dump|restore|import|export)?|influx|cqlsh)\b{_REST}[ \t]-p[ \t]{{1,4}}"
            rf"|\b(?:redis-cli|valkey-cli|keydb-cli)\b{_REST}[ \t](?:-a|--pass)[ \t]{{1,4}}"
            rf"|\bldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)\b{_REST}[ \t]-[wsa]"
            rf"[ \t]{{1,4}}(?!(?:base|one|sub|children)\b)"
            rf"|\b(?:smbclient|rpcclient|net|mount\.cifs)\b{_REST}"
            rf"[ \t](?:-U|--user)[ \t=]{{0,4}}[\"']?[^\s%\"']{{1,60}}%"
            rf"|\b(?:sqlcmd|bcp|isql|osql|zip|unzip|unrar)\b{_REST}[ \t]-P[ \t]{{0,4}}"
            rf"|\bhtpasswd\b[ \t]{{1,4}}-[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}[ \t]{_REST}(?<="
            rf"[ \t])[^\s/]{{0,60}}[\w.][ \t]{{1,4}}(?=\S+\s*$)"
            rf"|\bipmitool\b{_REST}[ \t]-P[ \t]{{0,4}}"
            rf"|\brabbitmqctl\b{_REST}[ \t](?:add_user|change_password|authenticate_user)[ \t]{{1,4}}\S{{1,60}}"
            r"[ \t]{1,4}"
            rf"|\bconfigure set [\w.-]{{0,60}}?(?:{KEYWORD})"
            rf"[ \t]{{1,4}}|--from-literal[= ][\"']?(?!user|host|name|url|port)[\w.-]{{1,60}}="
            r")" + _ARGUMENT,
            re.IGNORECASE,
        ),
        _argument,
        guards="␣-p ␣-u ␣-a ␣-w ␣-k ␣-s ␣-- configure␣set htpasswd␣ rabbitmqctl␣",
    ),
    rule(
        "piped-password",
        "passwords that are piped to `chpasswd`, `passwd --stdin`, `sudo -S`, `docker login` and their like",
        "echo 'root:hunter2' | chpasswd",
        "chpasswd passwd␣--stdin sudo␣- --password-stdin",
        r"\b(?:echo|printf)(?:[ \t]-[a-z]{1,2})?[ \t]{1,4}(?:['\"]?%s\\n['\"]?[ \t]{1,4})?"
        r"(?:[\"']?[\w.-]{1,40}:(?P<value_a>[^\s\"'|]{1,100})[\"']?(?=[ \t]{0,4}\|[ \t]{0,4}(?:sudo"
        r"[ \t]{1,4})?chpasswd)"
        r"|\"(?P<value_b>[^\"|]{1,200})\"(?=_PIPE)|'(?P<value_c>[^'|]{1,200})'(?=_PIPE)|(?P<value_d>[^\s\"'|$]{1,200})(?=_PIPE))".replace(
            "_PIPE",
            r"[ \t]{0,4}\|[^|;\n]{0,80}?(?:passwd --stdin|sudo (?:-\w+ )*-S|--password-stdin"
            r"|openssl passwd -stdin)",
        )
        + r"|\bchpasswd\b[ \t]{0,4}<<<[ \t]{0,4}[\"']?[\w.-]{1,40}:(?P<value_e>[^\s\"']{1,100})",
        _kept,
    ),
    rule(
        "sql-password",
        "passwords in SQL: `IDENTIFIED BY`, `WITH PASSWORD`, `PASSWORD(...)`",
        "ALTER USER app WITH PASSWORD 'hunter2';",
        "identified password",
        re.compile(
            r"\bidentified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,60}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:password"
            r"[ \t]{1,4})?\\{0,4}"
            r"(?:['\"](?P<value_a>[^'\"\\]{1,200})|(?P<value_c>[^\s'\";\\]{1,100}))"
            r"|\bset[ \t]{1,4}password\b[^=\n]{0,80}=[ \t]{0,4}\\{0,4}'(?P<value_d>[^'\\]{1,200})"
            r"|\bpassword(?:[ \t]{1,4}|[ \t]{0,4}\("
            r"[ \t]{0,4})\\{0,4}'(?P<value_b>[^'\\]{1,200})\\{0,4}'(?![\w ]*\bin secret\b)",
            re.IGNORECASE,
        ),
        near=r"identified[ \t]|set[ \t]+password|password[ \t]*\(?[ \t]*\\{0,4}'",
    ),
    rule(
        "redis-password",
        "passwords in Redis: `AUTH`, `requirepass`, `masterauth`, `user ... >X`",
        "requirepass hunter2hunter2",
        '"auth" requirepass masterauth auth-pass setuser on␣> on␣#',
        re.compile(
            r"^[ \t]*(?:(?:config set )?(?:requirepass|masterauth)|sentinel[ \t]+auth-pass[ \t]+\S+)"
            r"[ \t]+\"?(?P<value_a>[^\s\"]+)"
            r"|\"auth\" (?:\"[^\"]{1,60}\" )?\"(?P<value_b>[^\"]{1,200})\""
            r"|\b(?:acl setuser|user) [\w.-]{1,60} [^\n]{0,100}?[ \t][>#](?P<value_c>\S{4,})",
            re.IGNORECASE,
        ),
    ),
)
