from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrunner.findings.known import KnownValues
from checkrunner.findings.redact import MARK, RULES, NullRedactor, PatternRedactor, Rule
from checkrunner.model.seams import Redactor
from checkrunner.model.sources import Secret
from checkrunner.testing import check_redactor

KEY = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"
BODY = (
    "\n".join("MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buVyb2IWXcQzS4NnXQ2gB4S0zB7x" + str(i) for i in range(3))
    + "\nAbc9+/=="
)

pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [*(rule.example for rule in RULES), "password", "token", "=", ":", ": ", '"', "'", "\\", "<secret>", "[", "]",
             ")", ",", ";", "&", " ", "\n", "-p", "--", "://", "@", "Bearer ", "hunter2", "<secret:0a1b>", "<secret:0a1b", "%3Csecret:0a1b%3E", "<", ">", "\0", "KEY", "_", "\t", "tokens", "5",
             "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", BODY, "mysql ", "Authorization: "]
        ),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(pieces)
@example("x=[password=abc]")
@example("password=<secret>hunter2")
@example("token=<secret>]]")
@example('password="<secret:0a1b>"')
@example("password=<secret:0a")
@settings(max_examples=250, deadline=None)
def test_twice_is_once_and_lines_stay(text: str) -> None:
    redactor: Redactor = PatternRedactor([Secret("hunter2"), Secret("secret"), Secret("0a1b"), "a b"])

    check_redactor(redactor, [text])
    keyed = PatternRedactor([Secret("hunter2"), Secret("secret"), Secret("0a1b"), "a b"], key=b"k")
    check_redactor(keyed, [text])
    assert "hunter2" not in keyed.redact(text)


@pytest.mark.parametrize(
    "line",
    [
        "bash: line 1: /etc/passwd: Permission denied",
        "cat: /run/secrets/db_password: No such file or directory",
        "/var/run/token: cannot open `/var/run/token' (No such file or directory)",
        "cp: /etc/passwd: Is a directory",
        "api_key: command not found",
        "password: Permission denied",
        "Password: Authentication failure",
        "su: Password: Authentication failure",
        "common-password: line 12: unknown module",
        "/etc/pam.d/common-password: line 12:",
        "passwd: Authentication token manipulation error",
        "passwd: password updated successfully",
        "password: incorrect for user bob",
        "password: expired on 2024-01-01",
        "token: expired",
        "secret: invalid format",
        "grep: /etc/passwd: binary file matches",
    ],
)
def test_what_a_program_says_of_a_file_stays(line: str) -> None:
    assert PatternRedactor().redact(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "password=Permission-denied",
        '"password": "not found"',
        "password: permissive",
        "password: incorrecthorse",
        "password: expired4ever",
        "password=expired",
        "password: line12",
        "password: wrong horse battery",
    ],
)
def test_only_a_message_is_taken_for_one(line: str) -> None:
    assert MARK in PatternRedactor().redact(line)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_masks_its_example(rule: Rule) -> None:
    masked = PatternRedactor().redact(rule.example)

    assert MARK in masked
    assert any(hint in rule.example.lower() for hint in (*rule.hints, *rule.guards))
    places = [place for match in rule.pattern.finditer(rule.example) for place in rule.find(match)]
    assert len(places) == 1
    assert masked == rule.example[: places[0][0]] + MARK + rule.example[places[0][1] :]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"password": "a\\"b", "user": "x"}', '{"password": "<secret>", "user": "x"}'),
        ('{\\"token\\":\\"abc\\"}', '{\\"token\\":\\"<secret>\\"}'),
        ("{'token': 'abc', 'user': 'b'}", "{'token': '<secret>', 'user': 'b'}"),
        ("password=ab,cd host=x", "password=<secret> host=x"),
        ("password=ab,host=x", "password=<secret>,host=x"),
        ("Password=abc;User Id=sa", "Password=<secret>;User Id=sa"),
        ("GET /x?token=abc&page=1", "GET /x?token=<secret>&page=1"),
        ('curl "http://h?token=abc" -o f', 'curl "http://h?token=<secret>" -o f'),
        ("call(secret=abc)", "call(secret=<secret>)"),
        ("password = hunter2 # note", "password = <secret> # note"),
        ("  db_password: correct horse", "  db_password: <secret>"),
        ("clientSecret: abc", "clientSecret: <secret>"),
        ("DB_PASS=abc", "DB_PASS=<secret>"),
        ("aws_secret_access_key = wJalr/XU+tn=", "aws_secret_access_key = <secret>"),
        ("redis://:p@ss@h/0", "redis://:<secret>@h/0"),
        ("amqp://u:p@h1,amqp://u:q@h2", "amqp://u:<secret>@h1,amqp://u:<secret>@h2"),
        ("Cookie: session=abc; theme=x", "Cookie: session=<secret>; theme=<secret>"),
        ("mysql --password hunter2 -h db", "mysql --password <secret> -h db"),
        ("curl -u me:pw http://x", "curl -u me:<secret> http://x"),
        ("cut off here: ghp_0123456789ab", "cut off here: <secret>"),
        ('password="no end of the quote', 'password="<secret>'),
    ],
)
def test_only_the_secret_goes(text: str, masked: str) -> None:
    assert PatternRedactor().redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Failed password for root from 192.0.2.7 port 22 ssh2",
        "TTY=pts/0 ; PWD=/home/ops ; USER=root ; COMMAND=/bin/ls",
        "password_file=/etc/app/pw",
        "PasswordAuthentication: yes",
        "max_tokens: 100",
        "password: $DB_PASSWORD",
        "password={{ vault_pw }}",
        "tokenizer: fast",
        "12 passed: 3, pass: 12",
        "ssh://git@example.com:22/x",
        "http://example.com:80/a@b",
        "/dev/sda1 97% /",
        "basic auth is on",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" * 3,
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_holds_no_secret_stays(text: str) -> None:
    assert PatternRedactor().redact(text) == text


@pytest.mark.parametrize("prefix", ["", "    ", "+", "deploy.key:"])
def test_a_private_key_keeps_its_markers_and_its_line_count(prefix: str) -> None:
    text = "before\n" + "\n".join(prefix + line for line in KEY.format(BODY).split("\n")) + "\nafter"

    masked = PatternRedactor().redact(text)

    assert masked.split("\n") == [
        "before",
        prefix + "-----BEGIN RSA PRIVATE KEY-----",
        *[MARK] * 4,
        prefix + "-----END RSA PRIVATE KEY-----",
        "after",
    ]


def test_parts_of_a_private_key_are_masked_too() -> None:
    lines = KEY.format(BODY).split("\n")
    redactor = PatternRedactor()

    assert redactor.redact("\n".join(lines[:3])) == "\n".join([lines[0], MARK, MARK])
    assert redactor.redact("\n".join(lines[3:])) == "\n".join([MARK, MARK, lines[-1]])
    assert redactor.redact("\n".join(lines[1:3])) == f"{MARK}\n{MARK}"


def test_a_key_in_one_line_is_masked_and_a_mention_of_one_is_not() -> None:
    redactor = PatternRedactor()

    masked = redactor.redact('{"k": "' + KEY.format(BODY).replace("\n", "\\n") + '", "x": 1}')

    assert "MIIE" not in masked
    assert masked.endswith('-----END RSA PRIVATE KEY-----", "x": 1}')
    mention = "a.py:-----BEGIN RSA PRIVATE KEY-----\nb.py:an ordinary line\nc"
    assert redactor.redact(mention) == mention


words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=4, max_size=8)


@given(st.lists(words, max_size=5), st.text(max_size=40))
def test_many_known_values_are_masked_as_few_are(values: list[str], around: str) -> None:
    text = around.join(["", *values, ""])
    others = [f"{{other{at}}}" for at in range(300)]

    few, many = (NullRedactor().redact(text, known) for known in (values, [*values, *others]))

    assert many == few


def test_known_values_of_thousands_of_hosts_cost_little() -> None:
    known = KnownValues(f"pw-{at:05d}-{at * 7919:x}" for at in range(10_000))
    line = "host 17 of rack 4: login with pw-00042-51336 refused, 3 attempts left, see the log"
    began = time.process_time()
    found = {line[spot.start : spot.end] for _ in range(1000) for spot in known.spots(line)}

    assert found == {"pw-00042-51336"}
    assert time.process_time() - began < 1


def test_known_values_are_masked_in_every_form() -> None:
    redactor = PatternRedactor([Secret("p@ss w/ö\nsecond line"), "xyz"])

    masked = redactor.redact('p@ss w/ö|p%40ss%20w%2F%C3%B6|"p@ss w/\\u00f6"|cEBzcyB3L8O2|second line|xyz|xyzzy')

    assert masked == '<secret>|<secret>|"<secret>"|<secret>|<secret>|<secret>|xyzzy'
    assert NullRedactor().redact("a p@ss w/ö password=x", [Secret("p@ss w/ö")]) == "a <secret> password=x"
    assert NullRedactor().redact("same") == "same"


def test_an_empty_secret_masks_nothing() -> None:
    assert PatternRedactor([Secret(""), Secret(" "), "\n"]).redact("a b") == "a b"


def test_null_redactor_changes_nothing() -> None:
    check_redactor(NullRedactor(), ["password=hunter2", "a\nb\n", ""])
    redactor: Redactor = NullRedactor()

    assert redactor.redact("password=x") == "password=x"


HOSTILE = [
    "password" * 12_500, "password=" * 11_000, "a" * 100_000, "://" * 33_000, "a://b:" * 16_000, "eyJ" * 33_000,
    'password="' + "\\" * 100_000, "token" + "_" * 100_000, "token:" + " " * 100_000, "-----BEGIN PRIVATE KEY-----" * 3_700,
    "mysql " * 16_000 + "-p", "curl " + "-u a" * 25_000, "Authorization: " * 6_600, "bearer " * 14_000, "x-" * 50_000,
    "secret=a,b=" * 9_000, "secret=" + ",a" * 50_000, "$6$" * 33_000, "a." * 50_000 + "://", "--token " * 12_500,
    "-" + "a" * 100_000 + " password", "\n".join(["-----BEGIN PRIVATE KEY-----"] * 3_700), "A/" * 50_000,
    'name="password" ' * 6_000, "<password>" * 10_000, "machine a login b " * 5_500, "value\n" * 16_000, "docker login " * 7_600,
    "Set-Cookie: a=b; " * 6_000, "sessionid=" * 10_000, "echo " + "a" * 100_000 + " | sudo -S", "echo 'a' | " * 9_000 + "sudo -S",
    "identified by " * 7_000, "com2sec a b " * 8_000, "snmpget " * 12_000 + "-c", "a-" * 50_000, "ghp_" * 25_000,
    "A1" * 50_000, ".abcdef." * 12_500, "eyJ." * 25_000, "\\" * 100_000 + '"', 'token:\\"' + "\\" * 99_000, "secret: <" * 11_000,
    "password\0" * 11_000, "\0" * 100_000, "://a:" * 20_000 + "\0", "LS0tLS1CRUdJTi" * 7_000, "requirepass " * 8_000,
    "<secret:" * 12_500, "<secret:0a1b>" * 7_600, "password=<secret:0a1b>" * 4_500, "AUTH PLAIN " * 9_000, "PSK " * 25_000,
    "\n".join(["-----BEGIN PRIVATE KEY-----", *["x y"] * 25_000] * 1), "\n".join(["password "] * 11_000), "secret=" + "'a" * 50_000, "password:" + "(" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: str(text[:12]))
def test_hostile_text_takes_linear_time(text: str) -> None:
    redactor = PatternRedactor([Secret("hunter2")])
    start = time.process_time()

    redactor.redact(text)

    assert time.process_time() - start < 5
