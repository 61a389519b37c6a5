"""Tokens and keys that their own form gives away, by the services that they are for.

A token that is cut short, at a `GAP`, needs no more than its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrunner.findings.redact_rule import Rule, rule

__all__ = ["TOKENS"]

_BEFORE = r"(?<![A-Za-z0-9])"
_CUT = r"{2,}+(?=\0)"


def _token(
    name: str,
    description: str,
    example: str,
    hints: str,
    *forms: tuple[str, str, int],
    more: str = "",
    guards: str = "",
) -> Rule:
    """A rule for tokens: each form is a beginning, the characters that may follow, and how many there must be."""
    parts = [rf"{start}(?:[{chars}]{{{least},}}+|[{chars}]{_CUT})" for start, chars, least in forms]
    if more:
        parts.append(more)
    pattern = re.compile(f"{_BEFORE}(?:{'|'.join(parts)})")
    return rule(name, description, example, hints, pattern, token=True, guards=guards)


_WORD, _DASHED, _HEX = "A-Za-z0-9", r"\w-", "a-f0-9"
_MIXED = r"(?=[\w-]{0,80}[0-9])(?=[\w-]{0,80}[A-Z])"

_BOT = re.compile(r"(?<![\w-])[MNO][DTjz](?=[\w-]{0,25}[0-9])[\w-]{21,26}\Z")


def _of_discord(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """With the part before the first dot, which is a number in base64."""
    if bot := _BOT.search(match.string, max(0, match.start() - 29), match.start()):
        yield bot.start(), match.end()


TOKENS: tuple[Rule, ...] = (
    rule(
        "aws-key",
        "AWS access key ids (long-term and temporary), and the secret key beside one",
        "AKIAIOSFODNN7EXAMPLE",
        "akia asia abia acca",
        r"(?<![A-Za-z0-9])(?P<value_a>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{8,16})(?![A-Za-z0-9])"
        r"(?:[\"']?[ \t]{0,8}[:,;| \t][ \t]{0,8}[\"']?(?P<value_b>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+]))?",
        token=True,
    ),
    _token(
        "gcp-key",
        "Google API keys, OAuth secrets and tokens",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "aiza ya29. gocspx-",
        ("AIza", _DASHED, 12),
        (r"ya29\.", _DASHED, 12),
        ("GOCSPX-", _DASHED, 12),
        (r"1//0", _DASHED, 30),
        guards="1//0",
    ),
    rule(
        "azure-key",
        "Azure client secrets and storage, service bus and other account keys",
        "Abc8Q~0123456789abcdefghijklmnopqrstuvwx",
        "",
        r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{20,}+|(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{30,80}\+A(?:St|SbT|EhC|IoT|Zu)[A-Za-z0-9/+]{4,12}={0,2}",
        token=True,
        guards="q~ +a",
    ),
    _token(
        "github-token",
        "GitHub tokens",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        ("gh[pousr]_", r"\w", 8),
        ("github_pat_", r"\w", 8),
    ),
    _token(
        "gitlab-token",
        "GitLab tokens",
        "glpat-0123456789ab",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- gr1348941",
        ("gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-", r"\w.-", 8),
        ("GR1348941", _DASHED, 8),
    ),
    _token(
        "slack-token",
        "Slack tokens",
        "xoxb-123456789012-abcdefghijkl",
        "xoxa xoxb xoxc xoxd xoxe xoxo xoxp xoxr xoxs xapp-",
        (r"xox[a-z](?:\.xox[a-z])?-", "A-Za-z0-9%-", 6),
        ("xapp-", "A-Za-z0-9-", 6),
    ),
    _token(
        "payment-token",
        "keys of Stripe, Square, Shopify and PayPal",
        "sk_live_0123456789abcdefghij",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_ sq0 shpat_ shpss_ shpca_ shppa_",
        ("[sr]k_(?:live|test)_", _WORD, 8),
        ("whsec_", "A-Za-z0-9+/=", 16),
        ("sq0(?:atp|csp|idp)-", _DASHED, 16),
        ("shp(?:at|ss|ca|pa)_", "A-Fa-f0-9", 24),
        (r"access_token\$(?:production|sandbox)\$", r"\w$", 16),
        guards="$",
    ),
    _token(
        "mail-token",
        "keys of SendGrid, Mailgun, Mailchimp and Brevo",
        "SG.0123456789ghijkl.MNOPQRSTUVWXYZ0123",
        "sg. key- xkeysib- xsmtpsib-",
        (r"SG\.[\w-]{8,40}\.", _DASHED, 16),
        (r"SG\.", _DASHED, 22),
        ("key-(?=[a-f]{0,30}[0-9])", _HEX, 32),
        ("x(?:key|smtp)sib-", _DASHED, 20),
        more=r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])",
        guards="-us",
    ),
    rule(
        "twilio-key",
        "API keys of Twilio",
        "SK0123456789abcdef",
        "sk",
        r"(?<![A-Za-z0-9])SK[0-9a-f]{16,32}(?![A-Za-z0-9])",
        token=True,
    ),
    _token(
        "registry-token",
        "tokens of npm, PyPI, Docker Hub, RubyGems, NuGet, crates.io and Artifactory",
        "npm_0123456789abcdefghijklmnopqrstuvwxyz",
        "npm_ pypi-agei dckr_pat_ dckr_oat_ rubygems_ oy2 cio akcp cmvmdgtu",
        ("npm_", _WORD, 20),
        ("pypi-AgEI", _DASHED, 12),
        ("dckr_[po]at_", _DASHED, 12),
        ("rubygems_", _HEX, 20),
        ("oy2(?=[a-z]{0,40}[0-9])", "a-z0-9", 43),
        ("cio(?=[A-Za-z]{0,32}[0-9])(?=[a-z0-9]{0,32}[A-Z])", _WORD, 32),
        ("AKCp[0-9]", _WORD, 40),
        ("cmVmdGtu", _WORD, 30),
    ),
    _token(
        "hosting-token",
        "tokens of DigitalOcean, Heroku, Netlify, Fly, Tailscale, Doppler, PlanetScale, Supabase, Linode and"
        " Databricks",
        "dop_v1_0123456789abcdef0123456789abcdef",
        "dop_v1_ doo_v1_ dor_v1_ hrku- nfp_ fm1_ fm2_ fo1_ tskey- pscale_ sbp_ sb_secret_ dapi",
        ("do[opr]_v1_", _HEX, 20),
        ("HRKU-", _DASHED, 20),
        ("nfp_", _WORD, 30),
        ("f(?:m[12]|o1)_", r"\w+/=-", 24),
        ("tskey-(?:[a-z]{2,10}-)?", _DASHED, 12),
        (r"dp\.(?:pt|st|ct|scim|audit|sa)\.(?:[a-z0-9_-]{1,35}\.)?", _WORD, 30),
        ("pscale_(?:tkn|pw|oauth)_", r"\w.=-", 24),
        ("sbp_", _HEX, 30),
        ("sb_secret_", _DASHED, 20),
        ("dapi(?=[a-f]{0,30}[0-9])", "a-f0-9-", 32),
        guards="dp.",
    ),
    _token(
        "vault-token",
        "tokens of Vault, Terraform Cloud and Pulumi, and 1Password secret keys",
        "hvs.CAESIJ0123456789abcdefghij",
        "hvs. hvb. hvr. s. .atlasv1. pul- a3- ops_ey",
        (r"hv[sbr]\.", _DASHED, 16),
        (r"(?<![\w./-])s\.(?=[a-z0-9]{0,23}[A-Z])(?=[A-Za-z]{0,23}[0-9])", _WORD, 24),
        (r"[A-Za-z0-9]{14}\.atlasv1\.", _DASHED, 30),
        ("pul-(?=[a-f]{0,38}[0-9])", _HEX, 40),
        ("ops_ey", "A-Za-z0-9+/=", 60),
        more=r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    _token(
        "monitoring-token",
        "tokens of Grafana, New Relic, Datadog, Dynatrace and Sentry",
        "glsa_0123456789abcdefghijABCDEFGHIJ01_0123abcd",
        "glsa_ glc_ eyjrijoi nrak- nrii- nrra- nrsp- nriq- sntrys_ sntryu_",
        ("glsa_", r"\w", 24),
        ("glc_", "A-Za-z0-9+/=", 30),
        ("eyJrIjoi", "A-Za-z0-9=", 30),
        ("NR(?:AK|II|RA|SP|IQ)-", "A-Za-z0-9_-", 20),
        (r"dt0[a-z][0-9]{2}\.[A-Z0-9]{8,40}\.", "A-Z0-9", 16),
        ("sntry[su]_", r"\w+/=", 30),
        more=r"(?:[a-z]{2}[0-9]{2}xx)?[a-f0-9]{24,40}(?:FFFF)?NRAL(?![A-Za-z0-9])",
        guards="nral dt0",
    ),
    rule(
        "telegram-token",
        "tokens of Telegram bots",
        "123456789:AAE0123456789abcdefghijklmnopqrs",
        "aa",
        r"(?<![0-9])[0-9]{8,10}:AA(?:[\w-]{30,}+|[\w-]{2,}+(?=\0))",
        token=True,
    ),
    rule(
        "sentry-key",
        "keys in addresses of Sentry",
        "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2",
        "sentry",
        r"(?<![0-9a-f])[0-9a-f]{32}(?::[0-9a-f]{32})?(?=@[\w.-]{0,60}sentry)",
    ),
    rule(
        "discord-token",
        "tokens of Discord bots",
        "MTAxMjM0NTY3ODkwMTIzNDU2.Gabcde.0123456789abcdefghijklmnopqr",
        ".",
        # It begins where it can be looked for: at the first of its two dots.
        r"\.[\w-]{6}\.(?=[\w-]{0,40}[0-9])[\w-]{27,40}(?![\w.-])",
        _of_discord,
        token=True,
    ),
    _token(
        "llm-key",
        "keys of OpenAI, Anthropic, Hugging Face, Groq, Replicate, xAI, Perplexity and others",
        "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ",
        "sk-proj- sk-ant- sk- hf_ gsk_ r8_ xai- pplx- nvapi- lsv2_",
        ("sk-(?:ant|proj|svcacct|admin|or-v1|lf|kimi)-", _DASHED, 12),
        (rf"sk-{_MIXED}", _DASHED, 20),
        ("sk-", _HEX, 32),
        ("hf_", _WORD, 20),
        ("gsk_", _WORD, 30),
        ("r8_", _WORD, 30),
        ("xai-", _WORD, 40),
        ("pplx-", _WORD, 30),
        ("nvapi-", _DASHED, 40),
        ("lsv2_(?:pt|sk)_", r"\w", 24),
    ),
    _token(
        "work-token",
        "tokens of Atlassian, Linear, Notion, Postman, Figma, SonarQube, CircleCI, Buildkite and Snyk",
        "ATATT3xFfGF00123456789abcdefghijklmnopqrs",
        "atatt3 atctt3 atbb lin_api_ lin_oauth_ ntn_ secret_ pmak- figd_ sqp_ squ_ sqa_ ccipat_ ccipr bkua_ clojars_",
        ("AT[AC]TT3", r"\w=-", 20),
        ("ATBB", _WORD, 28),
        ("lin_(?:api|oauth)_", _WORD, 24),
        ("ntn_", _WORD, 30),
        ("secret_(?=[A-Za-z]{0,42}[0-9])", _WORD, 43),
        ("PMAK-", "a-f0-9-", 30),
        ("figd_", _DASHED, 24),
        ("sq[pua]_", _HEX, 30),
        ("CCIP(?:AT|RJ)_", r"\w", 24),
        ("bkua_", _HEX, 30),
        ("CLOJARS_", _HEX, 40),
    ),
    _token(
        "asian-cloud-key",
        "key ids of Alibaba Cloud and Tencent Cloud, static keys of Yandex Cloud",
        "LTAI5t0123456789abcdefgh",
        "ltai akid aqvn",
        ("LTAI(?=[A-Za-z]{0,20}[0-9])", _WORD, 12),
        ("AKID(?=[A-Za-z]{0,30}[0-9])", _WORD, 28),
        ("AQVN", _DASHED, 30),
    ),
    _token(
        "age-key",
        "secret keys of age",
        "AGE-SECRET-KEY-10123456789ABCDEFGHJ",
        "age-secret-key- age-plugin-",
        ("AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{1,20})-1", "A-Z0-9", 8),
    ),
    rule(
        "jwt",
        "JSON web tokens, among them those of Kubernetes service accounts",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ(?:[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+){1,4}+"
        r"|(?:hbGci|0eXAi|raWQi|lbmMi|qa3Ui|jdHki|4NWMi|4NXQi)[A-Za-z0-9_-]{4,}+)",
        token=True,
    ),
)
