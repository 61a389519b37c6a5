"""What a secret looks like: `RULES`, in the order in which they name a secret that several of them find."""

from __future__ import annotations

import re

from checkrunner.findings.redact_assignments import ASSIGNMENTS, KEYWORD
from checkrunner.findings.redact_rule import Rule, rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = (
    rule(
        "url-password",
        "the password in `scheme://user:password@host`",
        "postgres://app:hunter2@db1/main",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}+://[^\s/:@]{0,100}+:(?P<value>[^\s/\"'<>]+)@",
    ),
    rule(
        "slack-webhook",
        "Slack webhook addresses",
        "https://hooks.slack.com/services/T0000/B0000/abcdefgh",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[\w/+-]{6,}+)",
    ),
    rule(
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
    ),
    rule(
        "bearer",
        "`Bearer` and `Basic` credentials anywhere",
        "curl -H 'Bearer abcdef0123456789'",
        "bearer basic",
        re.compile(r"\b(?:bearer|basic)[ \t]{1,4}+(?P<value>[A-Za-z0-9._~+/-]{12,}+=*+)", re.IGNORECASE),
    ),
    rule(
        "header-key",
        "keys in headers such as `X-Api-Key` and `X-Auth-Token`",
        "X-Auth-Token: 0123456789abcdef",
        "x-",
        re.compile(
            r"\bx-[a-z-]{0,20}?(?:key|token|secret|password)[\"']?[ \t]{0,4}+:[ \t]{0,4}+[\"']?(?P<value>[^\s\"']++)",
            re.IGNORECASE,
        ),
    ),
    rule(
        "aws-key",
        "AWS access key ids (long-term and temporary)",
        "AKIAIOSFODNN7EXAMPLE",
        "akia asia abia acca",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{8,16}(?![A-Za-z0-9])",
        token=True,
    ),
    rule(
        "gcp-key",
        "Google API keys and OAuth access tokens",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "aiza ya29. gocspx-",
        r"(?<![A-Za-z0-9])(?:AIza[0-9A-Za-z_-]{12,60}+|ya29\.[0-9A-Za-z_-]{12,}+|GOCSPX-[0-9A-Za-z_-]{12,60}+)",
        token=True,
    ),
    rule(
        "github-token",
        "GitHub and GitLab tokens",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt-",
        r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9_]{8,}+|github_pat_[A-Za-z0-9_]{8,}+|gl(?:pat|dt|rt)-[\w-]{8,}+)",
        token=True,
    ),
    rule(
        "slack-token",
        "Slack tokens",
        "xoxb-123456789012-abcdefghijkl",
        "xox xapp-",
        r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{6,}+",
        token=True,
    ),
    rule(
        "service-token",
        "tokens of other services with a fixed prefix: Stripe, npm, PyPI, Hugging Face, Vault, LLM providers",
        "sk_live_0123456789abcdefghij",
        "sk_live_ rk_live_ sk_test_ npm_ pypi-ageii hf_ hvs. hvb. sk- dop_v1_",
        r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{8,}+|npm_[A-Za-z0-9]{20,}+|pypi-AgEI[\w-]{12,}+"
        r"|hf_[A-Za-z0-9]{20,}+|hv[sb]\.[\w-]{16,}+|sk-[A-Za-z0-9_-]{20,}+|dop_v1_[a-f0-9]{20,}+)",
        token=True,
    ),
    rule(
        "jwt",
        "JSON web tokens",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+){1,4}+",
        token=True,
    ),
    rule(
        "password-hash",
        "crypt(3) password hashes, as in /etc/shadow",
        "root:$6$saltsalt$abcdefghijklmnop:19000:0:99999:7:::",
        "$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $gy$ $7$ $argon2",
        r"\$(?:1|2[aby]|5|6|7|y|gy|argon2[a-z]{1,2})\$[./A-Za-z0-9$=,+]{8,}+",
    ),
    rule(
        "command-password",
        "passwords in command lines: `--password X`, `curl -u user:X`, `sshpass -p X`, `mysql -pX`",
        "mysql -uroot -phunter2 shop",
        "-p -u --",
        re.compile(
            rf"(?:(?<=\s)-{{1,2}}[\w-]{{0,30}}?(?:{KEYWORD}|pass)[ \t]{{1,4}}+|\bsshpass[ \t]{{1,4}}+-p[ \t]{{0,4}}+"
            r"|\b(?:curl|wget)\b[^|;\n]{0,200}?[ \t](?:-u|--user|--proxy-user)[ \t=]{0,4}[\"']?[^\s:\"']{1,60}:"
            r"|\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^|;\n]{0,200}?[ \t]-p(?=\S))"
            r"(?P<value>(?!-)\"[^\"]*+\"?|(?!-)'[^']*+'?|(?!-)[^\s\"']++)",
            re.IGNORECASE,
        ),
    ),
    *ASSIGNMENTS,
)
