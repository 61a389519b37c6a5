"""A sweep for systemd and for cron: the same times, and the very words, through both of their notations."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.app.crontab import crontab_block, with_block, without_block
from checkrunner.app.periods import calendars, cron_line, next_times, period_of
from checkrunner.app.systemd import Job, systemd_units
from checkrunner.model.errors import UsageError

BASE = datetime(2024, 1, 30, 22, 58, 30)  # noqa: DTZ001 - a time by the wall
ODD = ["a b", "100%", "%h", "\\%", "$HOME", "${X}", "'", '"', "\\", "#x", "~", ";", "é", "*", ""]


def job(words: tuple[str, ...], folder: str = "/", every: str = "5m") -> Job:
    return Job(
        name="checkrunner-x",
        title="50% of it",
        words=words,
        folder=folder,
        environment={},
        period=period_of(every, None),
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_and_cron_mean_the_same_times() -> None:
    crons = [
        *("* * * * *", "*/5 * * * *", "0 */2 * * *", "7-59/10 0,12 * * *", "5,35 6-22/4 1 */3 1-5", "0 0 * * 0"),
        *("30 4 1,15 * 5", "0 9 * * 1-5", "0 0 13 * FRI", "15 3 */10 * sun", "59 23 31 12 *", "0 0 29 2 *", "@monthly"),
    ]
    events = {cron: calendars(period_of(None, cron)) for cron in crons}
    flat = [event for found in events.values() for event in found]
    said = subprocess.run(
        ["systemd-analyze", "calendar", f"--base-time={BASE} UTC", "--iterations=6", *flat],
        env={"TZ": "UTC", "LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    times = [
        {datetime.fromisoformat(at) for at in re.findall(r": \w{3} ([0-9-]+ [0-9:]+) UTC", part)}
        for part in said.split("\n\n")
    ]

    assert len(times) == len(flat)
    for cron, found in events.items():
        theirs = sorted(set().union(*(times[flat.index(event)] for event in found)))
        assert theirs[:6] == next_times(period_of(None, cron), BASE, 6)[: len(theirs[:6])], cron


@pytest.mark.parametrize(
    ("every", "cron"),
    [("1m", "* * * * *"), ("5m", "*/5 * * * *"), ("1h", "0 * * * *"), ("6h", "0 */6 * * *"), ("1d", "0 0 * * *")],
)
def test_distances_that_cron_has(every: str, cron: str) -> None:
    assert cron_line(period_of(every, None)) == cron
    first, second = next_times(period_of(every, None), BASE, 2)
    assert BASE < first < second


@pytest.mark.parametrize(
    ("every", "said"),
    [
        ("7m", "every 7m: it starts anew each hour, day and week. The nearest that it can: 6m or 10m"),
        ("90s", "every 90s: it knows whole minutes only. The nearest that it can: 1m or 2m"),
        ("30s", "The nearest that it can: 1m."),
        ("5h", "The nearest that it can: 4h or 6h"),
        ("8d", "The nearest that it can: 7d."),
    ],
)
def test_distances_that_it_has_not(every: str, said: str) -> None:
    period = period_of(every, None)

    with pytest.raises(UsageError, match=re.escape(said)):
        cron_line(period)
    assert calendars(period) == ()
    assert next_times(period, BASE, 2)[1] - BASE == timedelta(seconds=2 * (period.seconds or 0))


@pytest.mark.parametrize(
    ("every", "cron", "said"),
    [
        (None, None, "Give either --every"),
        ("5m", "* * * * *", "Give either --every"),
        ("soon", None, "expected a time such as"),
        ("0", None, "between 1s and 366d"),
        (None, "* * * *", "it has 4 fields"),
        (None, "61 * * * *", "bad minute"),
        (None, "* * L * *", "day of the month: 'L' is not"),
        (None, "5/10 * * * *", "minute: '5/10' is not"),
        (None, "0 0 31 2 *", "bad day-of-month"),
        (None, "@reboot", "it has 1 fields"),
    ],
)
def test_what_is_no_time(every: str | None, cron: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        period_of(every, cron)


def as_cron_reads(line: str) -> str:
    """The command of a line as cron hands it to the shell: its fields away, and its percent signs undone."""
    out, escaped = "", False
    for character in line.split(" ", 5)[5]:
        if escaped and character == "%":
            out = out[:-1]
        elif character == "%":
            break
        out += character
        escaped = character == "\\" and not escaped
    return out


@given(st.lists(st.one_of(st.sampled_from(ODD), st.text("a %\\'\"$")), min_size=1))
def test_cron_hands_the_shell_the_very_words(words: list[str]) -> None:
    block = crontab_block(job(("/bin/x", *words), folder="/tmp/50% \\%"))

    line = block.splitlines()[2]
    assert shlex.split(as_cron_reads(line)) == ["cd", "/tmp/50% \\%", "&&", "exec", "/bin/x", *words]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    folder = tmp_path / "a b%h \\q"
    folder.mkdir()
    program = folder / "check'runner"
    program.write_text("#!/bin/sh\n")
    plain = tmp_path / "50%n" / "checkrunner"
    plain.parent.mkdir()
    plain.write_text("#!/bin/sh\n")
    for each in (program, plain):
        each.chmod(0o755)
    for path in (program, plain):
        units = systemd_units(job((str(path), "sweep", *ODD), folder=str(folder)))
        files = [tmp_path / name for name, _ in units.files]
        for file, (_, text) in zip(files, units.files, strict=True):
            file.write_text(text)
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", *map(str, files)],
            env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")


@given(st.lists(st.one_of(st.sampled_from(ODD), st.text("a %\\'\"$")), min_size=1))
def test_words_of_a_unit_are_undone_by_the_rules_of_systemd(words: list[str]) -> None:
    line = systemd_units(job(("/bin/x", *words))).service.split("ExecStart=")[1].splitlines()[0]

    # Words in quotes with C's escapes; then specifiers, then variables, of which none may be left.
    found = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', line)]
    bare = [word.replace("%%", "").replace("$$", "") for word in found]
    assert not any("%" in word or "$" in word for word in bare)
    assert [word.replace("%%", "%").replace("$$", "$") for word in found] == ["/bin/x", *words]


def test_a_block_of_a_crontab_replaces_itself_and_nothing_else() -> None:
    first = with_block("MAILTO=ops\n0 1 * * * mine", "x", "# BEGIN x (written by `checkrunner schedule`)\na\n# END x\n")
    second = with_block(first + "# after\n", "x", "# BEGIN x (written by `checkrunner schedule`)\nb\n# END x\n")

    assert second.splitlines() == [
        "MAILTO=ops",
        "0 1 * * * mine",
        "# BEGIN x (written by `checkrunner schedule`)",
        "b",
        "# END x",
        "# after",
    ]
    assert without_block(second, "x") == "MAILTO=ops\n0 1 * * * mine\n# after\n"
    assert without_block(second, "other") == second
    with pytest.raises(UsageError, match="damaged"):
        without_block(second.replace("# END x", "# END y"), "x")


def test_a_unit_that_may_take_so_long_and_looks_at_this_machine() -> None:
    made = Job(
        name="n", title="t", words=("/x",), folder="/", environment={"A": "50%"}, period=period_of("7m", None),
        most_s=240.0, local=True,
    )  # fmt: skip

    units = systemd_units(made)

    assert 'Environment="A=50%%"' in units.service
    assert "TimeoutStartSec=360" in units.service
    assert "NoNewPrivileges" not in units.service
    assert "OnUnitActiveSec=420s" in units.timer
