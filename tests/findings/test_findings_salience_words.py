"""What counts as trouble said, and what only looks like it."""

from __future__ import annotations

import pytest

from checkrunner.findings.salience.levels import level_of_token, spoken_level
from checkrunner.findings.salience.severity import told

QUIET = [
    "0 errors",
    "no errors found",
    "no error",
    "Total: 12 passed, 0 failed",
    "12 passed, 0 tests failed",
    "without errors",
    "failed: 0",
    "failed=0 ok=12",
    "errors: 0, warnings: 0",
    "error=0",
    "err=<nil>",
    '"error": null, "path": "/a"',
    "error: none",
    "error_count=0",
    "db1 : ok=0 changed=0 unreachable=0 failed=0",
    "4 packets transmitted, 4 received, 0% packet loss, time 3004ms",
    "rc=0",
    "exit code 0",
    "exited with status 0",
    "/var/log/error.log rotated",
    "reading /usr/share/panic/readme",
    "--fail-fast is set",
    "error_log /var/log/nginx/x.log;",
    "fail2ban.service loaded active running",
    "default gateway is 10.0.0.1",
    "GET /error.html",
    "EXT4-fs (sda1): mounted. Opts: errors=remount-ro",
    "BOOT_IMAGE=/vmlinuz ro panic=30",
    "a fault-tolerant, error-free and non-fatal design",
    "ERROR_LOG=/srv/x",
    "status=200",
    '"GET / HTTP/1.1" 200 500',
    "information for warnings.py",
]
LOUD = [
    ("kernel: Out of memory: Killed process 4321 (mysqld)", 5),
    ("Kernel panic - not syncing: Fatal exception", 5),
    ("segfault at 0 ip 00007f", 5),
    ("write failed: No space left on device", 5),
    ("blk_update_request: I/O error, dev sda", 5),
    ("Remounting filesystem read-only", 5),
    ("3 errors", 4),
    ("failed: 3", 4),
    ("10 errors", 4),
    ("error=5", 4),
    ("errno: connection refused", 4),
    ("error: no such file or directory", 4),
    ("db1 : ok=0 changed=0 unreachable=1 failed=0", 4),
    ("java.lang.NullPointerException: x is null", 4),
    ("Caused by: java.net.ConnectException", 4),
    ("make: *** [all] Error 2", 4),
    ("process exited with code 137", 4),
    ("exit status 1", 4),
    ("killed by signal 9", 4),
    ('"GET / HTTP/1.1" 503 12', 4),
    ("status=500", 4),
    ("STATUS_ACCESS_DENIED", 4),
    ("[UU_]", 4),
    ("Permission denied (publickey)", 4),
    ("WARNING: certificate expires", 3),
    ("nf_conntrack: table full, dropping packet", 3),
    ("2 packets lost? 50% packet loss", 3),
    ("could not resolve host", 3),
    ("process <defunct>", 3),
]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_denied_or_only_named_is_no_trouble(text: str) -> None:
    assert told(text).grade < 2


@pytest.mark.parametrize(("text", "least"), LOUD)
def test_trouble_is_heard(text: str, least: float) -> None:
    said = told(text)

    assert said.grade >= least
    assert text[said.start : said.end]


def test_trouble_that_was_put_right_is_less_of_it() -> None:
    assert told("memory error detected and corrected").grade < told("memory error detected").grade


@pytest.mark.parametrize(
    ("token", "level"),
    [
        ("[error]", 4),
        ("WARN:", 3),
        ("<info>", 0),
        ("E0131", 4),
        ("I1201", 0),
        ("level=warning", 3),
        ("FATAL", 5),
        ("LOG:", 0),
        ("errors", None),
        ("x=error", None),
        ("E", None),
        ("", None),
    ],
)
def test_levels_of_level_columns(token: str, level: int | None) -> None:
    assert level_of_token(token) == level


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ('time=x level=error msg="y"', 4),
        ('{"severity": "WARNING", "message": "y"}', 3),
        ("the water level: high", None),
        ("priority=5", None),
        ("nothing", None),
    ],
)
def test_levels_that_a_line_names(text: str, level: int | None) -> None:
    assert spoken_level(text) == level
