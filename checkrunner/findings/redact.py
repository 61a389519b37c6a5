"""Secrets out of text before it leaves the run. What a secret looks like is data: see `RULES`.

Every pattern is linear in the length of a line: repeats either have an upper bound or cannot give back what the next
part could take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checkrunner.findings.keyblocks import redact_key_blocks
from checkrunner.findings.known import KnownValues
from checkrunner.findings.messages import is_message
from checkrunner.model.sources import Secret

__all__ = ["MARK", "RULES", "NullRedactor", "PatternRedactor", "Rule"]

MARK = "[redacted]"
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of secret. `hints` are lower-case texts of which a line must hold one before `pattern` is tried; `replace`
    makes the masked text of a match; `description` and `example` are for the documentation."""

    name: str
    description: str
    example: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]


def _all(_match: re.Match[str]) -> str:
    return MARK


def _value(match: re.Match[str]) -> str:
    """Mask the group `value`, keep what stands around it."""
    if MARK in match["value"] and not match["value"].replace(MARK, ""):
        return match.group()
    start, whole = match.start(), match.group()
    return whole[: match.start("value") - start] + MARK + whole[match.end("value") - start :]


_KEYWORD = (
    r"passwords?|passwd|passphrase|passwort|pwd|secrets?|tokens?|api[_-]?keys?|apikey|access[_-]?keys?|account[_-]?keys?"
    r"|private[_-]?keys?|auth[_-]?keys?|encryption[_-]?keys?|signing[_-]?keys?|shared[_-]?access[_-]?keys?|credentials?"
)
# The last word of names of settings that are about a secret without holding it.
_ABOUT = re.compile(
    r"files?|path|dir|url|uri|endpoint|types?|count|len|length|ttl|timeout|age|policy|history|lifetime|expir\w*|min\w*"
    r"|max\w*|chang\w*|used|limit|names?|authentication|required|enabled|reuse|bucket|rotation|issuer|ref|id|prompt|wrong"
)
_WORDS = re.compile(r"[_-]|(?<=[a-z0-9])(?=[A-Z])")
_KEY = rf"(?:{_KEYWORD}|(?<![A-Za-z])pass)(?P<suffix>(?:[_-][\w-]{{0,40}}+|[0-9]{{1,4}}+|(?-i:[A-Z])\w{{0,40}}+)?)"
# A bare value goes on over quotes, commas and semicolons unless these end it: before a space, or before the next key.
_BARE = (
    r"""[^\s&;,"'](?:[^\s&;,"']|["'](?![\s,;:)}\]]|$)"""
    r"""|[;,](?!["']?[\w.-]{1,40}["']?[=:]|\s|$|(?<=;)[ \t]{0,4}[\w. -]{1,40}=))*+"""
)
_ASSIGNMENT = re.compile(
    rf"(?P<key>{_KEY})(?P<sep>\\?[\"']?\]?[ \t]{{0,8}}+(?:=>|:=|==|[=:])[ \t]{{0,8}}+)"
    r"(?:\"(?P<dq>(?:[^\"\\]|\\.)*+)|'(?P<sq>(?:[^'\\]|\\.)*+)|\\\"(?P<eq>[^\"\\]*+)"
    rf"|(?P<bare>{_BARE}))",
    re.IGNORECASE,
)
_YAML = re.compile(
    rf"(?P<key>^[ \t]*+(?:-[ \t]++)?[\"']?[\w.-]{{0,60}}?{_KEY})[\"']?:[ \t]++(?P<value>[^\s\"'|>{{\[].*+)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(?i:true|false|yes|no|none|null|nil|on|off|not|n/a)|\*+|\$|\|[+-]?|>[+-]?|\$\{?[A-Z_][A-Z0-9_]*\}?|\$\(.*|\{\{.*"
    r"|\{[\w.]*\}|%\(\w+\)s|<[\w -]+>"
)


_CLOSING = ")}]>'\""


def _assignment(match: re.Match[str]) -> str:
    group = match.lastgroup or ""
    value = match[group]
    kept = value.rstrip(_CLOSING) if group == "bare" else value
    if not value.replace(MARK, "").strip(_CLOSING):
        return match.group()
    if not kept or _harmless(match["key"], match["suffix"], value):
        return match.group()
    if group == "bare" and match["sep"].startswith(":") and is_message(match.string, match.start(group)):
        return match.group()
    start, whole = match.start(), match.group()
    return whole[: match.start(group) - start] + MARK + value[len(kept) :] + whole[match.end(group) - start :]


def _yaml(match: re.Match[str]) -> str:
    value = match["value"]
    program = match["key"].strip() == "passwd"  # speaks in the log, in sentences
    if program or value.startswith(MARK) or is_message(value) or _harmless(match["key"], match["suffix"], value):
        return match.group()
    return match.group()[: match.start("value") - match.start()] + MARK


def _harmless(key: str, suffix: str, value: str) -> bool:
    """Whether the assignment is about a secret, or holds none: a path, a number of tokens, a placeholder."""
    if _HARMLESS.fullmatch(value) or _ABOUT.fullmatch(_WORDS.split(suffix)[-1].lower()):
        return True
    low = key.lower()
    if low.endswith(("pwd", "passwd")) and value.startswith(("/", "~")):
        return True  # a working directory, or a path to the file of that name
    return low.endswith(("tokens", "pass")) and value.isdigit()


def _rule(
    name: str,
    description: str,
    example: str,
    hints: str,
    pattern: str | re.Pattern[str],
    replace: Callable[[re.Match[str]], str] = _all,
) -> Rule:
    compiled = re.compile(pattern) if isinstance(pattern, str) else pattern
    return Rule(
        name=name,
        description=description,
        example=example,
        hints=tuple(hints.split()),
        pattern=compiled,
        replace=replace,
    )


RULES: tuple[Rule, ...] = (
    _rule(
        "url-password",
        "the password in `scheme://user:password@host`",
        "postgres://app:hunter2@db1/main",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}+://[^\s/:@]{0,100}+:(?P<value>[^\s/\"'<>]+)@",
        _value,
    ),
    _rule(
        "slack-webhook",
        "Slack webhook addresses",
        "https://hooks.slack.com/services/T0000/B0000/abcdefgh",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[\w/+-]{6,}+)",
        _value,
    ),
    _rule(
        "authorization",
        "credentials in `Authorization`, `Proxy-Authorization` and `Cookie` headers",
        "Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l",
        "authorization cookie",
        re.compile(
            r"(?:authorization|(?<![A-Za-z])(?:set-)?cookie)[\"']?[ \t]{0,4}+[:=][ \t]{0,4}+[\"']?"
            r"(?:(?:basic|bearer|token|digest|negotiate|ntlm|aws4-hmac-sha256|apikey)[ \t]{1,4}+)?"
            r"(?P<value>[^\r\n\"']++)",
            re.IGNORECASE,
        ),
        _value,
    ),
    _rule(
        "bearer",
        "`Bearer` and `Basic` credentials anywhere",
        "curl -H 'Bearer abcdef0123456789'",
        "bearer basic",
        re.compile(r"\b(?:bearer|basic)[ \t]{1,4}+(?P<value>[A-Za-z0-9._~+/-]{12,}+=*+)", re.IGNORECASE),
        _value,
    ),
    _rule(
        "header-key",
        "keys in headers such as `X-Api-Key` and `X-Auth-Token`",
        "X-Auth-Token: 0123456789abcdef",
        "x-",
        re.compile(
            r"\bx-[a-z-]{0,20}?(?:key|token|secret|password)[\"']?[ \t]{0,4}+:[ \t]{0,4}+[\"']?(?P<value>[^\s\"']++)",
            re.IGNORECASE,
        ),
        _value,
    ),
    _rule(
        "aws-key",
        "AWS access key ids (long-term and temporary)",
        "AKIAIOSFODNN7EXAMPLE",
        "akia asia abia acca",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{8,16}(?![A-Za-z0-9])",
    ),
    _rule(
        "gcp-key",
        "Google API keys and OAuth access tokens",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "aiza ya29. gocspx-",
        r"(?<![A-Za-z0-9])(?:AIza[0-9A-Za-z_-]{12,60}+|ya29\.[0-9A-Za-z_-]{12,}+|GOCSPX-[0-9A-Za-z_-]{12,60}+)",
    ),
    _rule(
        "github-token",
        "GitHub and GitLab tokens",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt-",
        r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9_]{8,}+|github_pat_[A-Za-z0-9_]{8,}+|gl(?:pat|dt|rt)-[\w-]{8,}+)",
    ),
    _rule(
        "slack-token",
        "Slack tokens",
        "xoxb-123456789012-abcdefghijkl",
        "xox xapp-",
        r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{6,}+",
    ),
    _rule(
        "service-token",
        "tokens of other services with a fixed prefix: Stripe, npm, PyPI, Hugging Face, Vault, LLM providers",
        "sk_live_0123456789abcdefghij",
        "sk_live_ rk_live_ sk_test_ npm_ pypi-ageii hf_ hvs. hvb. sk- dop_v1_",
        r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{8,}+|npm_[A-Za-z0-9]{20,}+|pypi-AgEI[\w-]{12,}+"
        r"|hf_[A-Za-z0-9]{20,}+|hv[sb]\.[\w-]{16,}+|sk-[A-Za-z0-9_-]{20,}+|dop_v1_[a-f0-9]{20,}+)",
    ),
    _rule(
        "jwt",
        "JSON web tokens",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+){1,4}+",
    ),
    _rule(
        "password-hash",
        "crypt(3) password hashes, as in /etc/shadow",
        "root:$6$saltsalt$abcdefghijklmnop:19000:0:99999:7:::",
        "$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $gy$ $7$ $argon2",
        r"\$(?:1|2[aby]|5|6|7|y|gy|argon2[a-z]{1,2})\$[./A-Za-z0-9$=,+]{8,}+",
    ),
    _rule(
        "command-password",
        "passwords in command lines: `--password X`, `curl -u user:X`, `sshpass -p X`, `mysql -pX`",
        "mysql -uroot -phunter2 shop",
        "-p -u --",
        re.compile(
            rf"(?:(?<=\s)-{{1,2}}[\w-]{{0,30}}?(?:{_KEYWORD}|pass)[ \t]{{1,4}}+|\bsshpass[ \t]{{1,4}}+-p[ \t]{{0,4}}+"
            r"|\b(?:curl|wget)\b[^|;\n]{0,200}?[ \t](?:-u|--user|--proxy-user)[ \t=]{0,4}[\"']?[^\s:\"']{1,60}:"
            r"|\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^|;\n]{0,200}?[ \t]-p(?=\S))"
            r"(?P<value>(?!-)\"[^\"]*+\"?|(?!-)'[^']*+'?|(?!-)[^\s\"']++)",
            re.IGNORECASE,
        ),
        _value,
    ),
    _rule(
        "yaml-value",
        "the values of such keys in YAML, where an unquoted value runs to the end of the line",
        "password: correct horse battery",
        "pass pwd secret token key credential",
        _YAML,
        _yaml,
    ),
    _rule(
        "assignment",
        "values of password, passwd, secret, token, api key, access key, credential and the like, in shell, JSON, INI"
        " and query-string form",
        'DB_PASSWORD="hunter2"',
        "pass pwd secret token key credential",
        _ASSIGNMENT,
        _assignment,
    ),
)


class NullRedactor:
    """Changes nothing: for output that a person has declared free of secrets."""

    def redact(self, text: str) -> str:
        """The text itself."""
        return text


class PatternRedactor:
    """The `Redactor` of a run: private key blocks, `RULES`, and the values of `secrets` in any of their usual forms.

    Cost: a few microseconds for a line without a hint of a secret. A match becomes ``[redacted]``, so a line grows by
    at most ten characters a secret.
    """

    def __init__(self, secrets: Iterable[Secret | str] = ()) -> None:
        self._known = KnownValues(secrets, MARK)
        self._learnt: dict[Secret | str, None] = {}
        self._later = KnownValues((), MARK)

    def learn(self, secret: Secret) -> None:
        """One more value, which became known during the run; masked from now on."""
        if secret not in self._learnt:
            self._learnt[secret] = None
            self._later = KnownValues(self._learnt, MARK)

    def redact(self, text: str) -> str:
        """Mask what looks like a secret. Idempotent; the number of newlines stays."""
        for _ in range(_ROUNDS):
            masked = self._pass(text)
            if masked == text:
                break
            text = masked
        return text

    def _pass(self, text: str) -> str:
        text = self._later.mask(self._known.mask(redact_key_blocks(text, MARK)))
        return "\n".join(_redact_line(line) for line in text.split("\n"))


def _redact_line(line: str) -> str:
    low = line.lower()
    for rule in RULES:
        if any(hint in low for hint in rule.hints):
            line = rule.pattern.sub(rule.replace, line)
    return line
