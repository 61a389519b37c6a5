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

__all__ = ["ASSIGNMENTS", "KEYWORD", "named"]

KEYWORD = (
    r"passwords?|passwd|passphrase|passwort|passcode|pwd|secrets?|tokens?|credentials?|pass4symmkey"
    r"|(?:api|app|access|account|private|auth|licen[sc]e|encryption|signing|master|subscription|storage|shared[_-]?access"
    r"|pre-?shared|deploy)[_ -]?keys?|(?<![A-Za-z])psk|(?:bind|root|user|admin|ldap)[_-]?pw|snmp[_-]?community"
    r"|community[_-]?string"
)
_HINTS = "pass pwd pw secret token key credential psk community"
# What may follow such a word in a name: `_file`, `2`, `Name`.
_KEY = rf"(?:{KEYWORD}|(?<![A-Za-z])pass)(?P<suffix>(?:[_.-][\w-]{{0,40}}+|[0-9]{{1,4}}+|(?-i:[A-Z])\w{{0,40}}+)?)"
# A bare value goes on over quotes, commas and semicolons unless these end it: before a space, or before the next key.
_BARE = (
    r"""(?![{\[][ \t]{0,4}\\{0,4}["'{\[])[^\s&;,"'\\](?:[^\s&;,"']|["'](?![\s,;:)}\]]|$)"""
    r"""|[;,](?!["']?[\w.-]{1,40}["']?[=:]|\s|$|(?<=;)[ \t]{0,4}[\w. -]{1,40}=))*+"""
)
_ASSIGNMENT = re.compile(
    rf"(?P<key>{_KEY})(?P<sep>\\{{0,8}}+[\"']?\]?[ \t]{{0,20}}+(?:=>|:=|==|::|[=:])[ \t]{{0,20}}+)"
    r"(?:[bru]?\"(?P<dq>(?:[^\"\\]|\\.)*+)|[bru]?'(?P<sq>(?:[^'\\]|\\.)*+)"
    r"|(?P<open>\\{1,8}[\"'])(?P<eq>(?:(?!(?<!\\)(?P=open)).)*+)"
    rf"|(?P<bare>{_BARE}))",
    re.IGNORECASE,
)
_NEAR = r"(?:pass|pwd|pw|secret|token|key|credential|psk|community)[\w.-]{0,60}\\{0,8}[\"']?\]?[ \t]{0,20}[=:]"
_YAML = re.compile(
    rf"(?P<key>^[ \t]*+(?:-[ \t]++)?[\"']?[\w.-]{{0,60}}?{_KEY})[\"']?:[ \t]++(?P<value>[^\s\"'|>{{\[].*+)",
    re.IGNORECASE,
)
_CLOSING = ")}]>'\"`\0"
_PARSER = re.compile(
    r"(?:unexpected|invalid|expected|illegal|unknown|next|last|current|bad|near|parsing|ring)\s+\Z", re.I
)
_NOTE = re.compile(r"<[A-Za-z][^<>]{0,200}>|\([A-Za-z][\w ./-]{0,60}\)|\[[A-Za-z][\w ./-]{0,60}\]")
_FIRST = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?[\w.-]{0,60}\Z")
_LOGIN = re.compile(r"://[^\s/@]{0,80}\Z")
_LEXEME = re.compile(r"[^\w]{1,4}|[`']?[A-Za-z_]{1,20}'?|\d{1,40}")


def _assigned(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    group = next(name for name in ("dq", "sq", "eq", "bare") if match[name] is not None)
    text, start = match[group], match.start(group)
    if not text:
        return
    kept = text.rstrip(_CLOSING) if group == "bare" else text.rstrip("\\") if group == "eq" else text
    colon = match["sep"].strip("\\\"' \t]") == ":"
    if kept and group == "bare" and _is_bracketed(match, kept, start):
        return
    if not kept or is_about(match["key"], match["suffix"], kept) or is_harmless(kept) or is_harmless(text):
        return
    if group == "bare" and colon and (is_message(match.string, start) or _is_verdict(match) or _is_yaml(match)):
        return
    if colon and _LEXEME.fullmatch(kept) and _PARSER.search(match.string, max(0, match.start() - 20), match.start()):
        return
    yield start, start + len(kept)


def _is_bracketed(match: re.Match[str], text: str, start: int) -> bool:
    """A note in brackets, as in ``<set to the key 'x'>``; and in an address what another rule knows better."""
    if text[0] in "<([":
        return _NOTE.match(match.string, start) is not None
    return "@" in text and _LOGIN.search(match.string, max(0, match.start() - 100), match.start()) is not None


def _is_verdict(match: re.Match[str]) -> bool:
    """``PASS: test_name`` of a test, and ``passwd:`` of a program that speaks in the log."""
    rest = match.string[match.start("bare") :].strip()
    return match["key"] == "PASS" or (match["key"] == "passwd" and " " in rest)


def _is_yaml(match: re.Match[str]) -> bool:
    """What begins its line as a key of YAML does is left to the other rule, which knows the whole value."""
    if match["sep"][-1] not in " \t" or match["bare"][0] in "|>{[":
        return False
    return _FIRST.match(match.string, 0, match.start()) is not None


def _in_yaml(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    text, key = match["value"].rstrip(",\0"), match["key"].strip(" \t-\"'")
    program = key.endswith("passwd") and " " in text.strip()  # speaks in the log, in sentences
    if program or key in {"passwd", "PASS"} or is_message(text):
        return
    comment = re.search(r"\s#", text)
    text = text[: comment.start()] if comment else text
    if not is_about(match["key"], match["suffix"], text) and not is_harmless(text):
        yield match.start("value"), match.start("value") + len(text.rstrip())


def named(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The groups `value...` of a match whose groups `key` and `suffix` are the name, unless it is no secret."""
    for name in match.re.groupindex:
        text = match[name] if name.startswith("value") else ""
        if text and not is_about(match["key"], match["suffix"], text) and not is_harmless(text):
            yield match.span(name)


def _keyed(pattern: str) -> re.Pattern[str]:
    key = rf"[\w.:-]{{0,60}}?(?P<key>{_KEY})"
    return re.compile(pattern.replace("KEY", key), re.IGNORECASE | re.MULTILINE)


ASSIGNMENTS: tuple[Rule, ...] = (
    rule(
        "xml-value",
        "the same in XML: elements, and attributes `name` or `key` with a `value`",
        "<db.password>hunter2</db.password>",
        "</",
        _keyed(r"<(?:KEY(?:[ \t][^<>]{0,200})?>(?P<value_a>[^<>]++)(?=</|\0|$))"),
        named,
    ),
    rule(
        "named-value",
        "the value beside such a name: `name` or `key`, and `value`, in JSON, XML and YAML",
        '{"name": "DB_PASSWORD", "value": "hunter2"}',
        'value ">',
        _keyed(
            r"(?<![A-Za-z])(?:name|key|id)\\{0,4}[\"']?\s{0,4}[=:]\s{0,4}\\{0,4}[\"']?KEY\\{0,4}[\"']?(?![\w.-])"
            r"(?:\s{0,4},?\s{0,40}\\{0,4}[\"']?\bvalue\\{0,4}[\"']?[ \t]{0,4}[=:][ \t]{0,4}"
            r"(?:\\{0,4}\"(?P<value_a>[^\"\\\n]++)|'(?P<value_b>[^'\n]++)|(?P<value_c>[^\s\"'\\,}{\[|>][^\n\"',}]*+))"
            r"|[^<>\n]{0,100}>(?P<value_d>[^<>\n]++)(?=</))"
        ),
        named,
        across=True,
    ),
    rule(
        "yaml-value",
        "the values of such keys in YAML, where an unquoted value runs to the end of the line",
        "password: correct horse battery",
        _HINTS,
        _YAML,
        _in_yaml,
        near=_NEAR,
    ),
    rule(
        "assignment",
        "values of password, passwd, secret, token, api key, access key, credential and the like, in shell, JSON, INI"
        " and query-string form",
        'DB_PASSWORD="hunter2"',
        _HINTS,
        _ASSIGNMENT,
        _assigned,
        near=_NEAR,
    ),
)
