"""Secrets that a name gives away: ``DB_PASSWORD=hunter2``, in the forms of shells, JSON, YAML, INI, XML, URLs.

Every pattern is linear in the length of a line: repeats either have an upper bound or cannot give back what the next
part could take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrunner.findings.harmless import is_about, is_harmless
from checkrunner.findings.messages import is_message
from checkrunner.findings.redact_rule import Rule, rule

__all__ = ["ASSIGNMENTS", "KEYWORD", "KEY_HINTS"]

KEYWORD = (
    r"passwords?|passwd|passphrase|passwort|passcode|pwd|secrets?|tokens?|(?:api|app|access|account|private|auth|license|licence"
    r"|encryption|signing|master|subscription|storage|shared[_-]?access|preshared|pre-shared|deploy)[_ -]?keys?"
    r"|credentials?|pass4symmkey|(?<![A-Za-z])psk|wpa_psk|(?:bind|root|user|admin|ldap)[_-]?pw"
)
KEY_HINTS = "pass pwd pw secret token key credential psk"
# What may follow such a word in a name: `_file`, `2`, `Name`.
_KEY = rf"(?:{KEYWORD}|(?<![A-Za-z])pass)(?P<suffix>(?:[_-][\w-]{{0,40}}+|[0-9]{{1,4}}+|(?-i:[A-Z])\w{{0,40}}+)?)"
# A bare value goes on over quotes, commas and semicolons unless these end it: before a space, or before the next key.
_BARE = (
    r"""[^\s&;,"'\\](?:[^\s&;,"']|["'](?![\s,;:)}\]]|$)"""
    r"""|[;,](?!["']?[\w.-]{1,40}["']?[=:]|\s|$|(?<=;)[ \t]{0,4}[\w. -]{1,40}=))*+"""
)
_ASSIGNMENT = re.compile(
    rf"(?P<key>{_KEY})(?P<sep>\\{{0,8}}+[\"']?\]?[ \t]{{0,8}}+(?:=>|:=|==|::|[=:])[ \t]{{0,8}}+)"
    r"(?:\"(?P<dq>(?:[^\"\\]|\\.)*+)|'(?P<sq>(?:[^'\\]|\\.)*+)"
    r"|(?P<open>\\{1,8}[\"'])(?P<eq>(?:(?!(?<!\\)(?P=open)).)*+)"
    rf"|(?P<bare>{_BARE}))",
    re.IGNORECASE,
)
_YAML = re.compile(
    rf"(?P<key>^[ \t]*+(?:-[ \t]++)?[\"']?[\w.-]{{0,60}}?{_KEY})[\"']?:[ \t]++(?P<value>[^\s\"'|>{{\[].*+)",
    re.IGNORECASE,
)
_CLOSING = ")}]>'\"`\0"


def _assigned(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    group = next(name for name in ("dq", "sq", "eq", "bare") if match[name] is not None)
    text = match[group]
    kept = text.rstrip(_CLOSING) if group == "bare" else text
    if not kept or is_about(match["key"], match["suffix"], text) or is_harmless(text):
        return
    if group == "bare" and match["sep"].startswith(":") and is_message(match.string, match.start(group)):
        return
    yield match.start(group), match.start(group) + len(kept)


def _in_yaml(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    text = match["value"]
    program = match["key"].strip() == "passwd"  # speaks in the log, in sentences
    if program or is_message(text) or is_about(match["key"], match["suffix"], text) or is_harmless(text):
        return
    yield match.span("value")


ASSIGNMENTS: tuple[Rule, ...] = (
    rule(
        "yaml-value",
        "the values of such keys in YAML, where an unquoted value runs to the end of the line",
        "password: correct horse battery",
        KEY_HINTS,
        _YAML,
        _in_yaml,
    ),
    rule(
        "assignment",
        "values of password, passwd, secret, token, api key, access key, credential and the like, in shell, JSON, INI"
        " and query-string form",
        'DB_PASSWORD="hunter2"',
        KEY_HINTS,
        _ASSIGNMENT,
        _assigned,
    ),
)
