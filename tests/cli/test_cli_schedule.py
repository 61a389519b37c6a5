"""`schedule`: what it prints, and what it puts where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Done, call_here, environment

PLAYBOOK = "- hosts: all\n  checks:\n    - {id: a, run: 'true'}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    return tmp_path


def schedule(folder: Path, *words: str, **more: str) -> Done:
    env = {**environment(folder), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **more}
    return call_here(["schedule", "play.yml", "-i", "web[1:2],", *words], folder=folder, env=env)


def program(folder: Path, name: str, text: str) -> None:
    path = folder / "bin" / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def test_units_are_printed_with_absolute_paths_and_the_next_times(folder: Path) -> None:
    (folder / "o").mkdir()
    done = schedule(
        folder,
        "--every",
        "5m",
        "-f",
        "7",
        "--deadline",
        "4m",
        "--jitter",
        "30s",
        CHECKRUNNER_FORKS="3",
        XDG_STATE_HOME="/s",
    )

    assert done.returncode == 0
    assert f'"sweep" "{folder}/play.yml" "--inventory" "web[1:2],"' in done.stdout
    assert '"--forks" "7" "--deadline" "4m" "--jitter" "30s"\n' in done.stdout
    assert f"WorkingDirectory={folder}\n" in done.stdout
    assert 'Environment="XDG_STATE_HOME=/s"' in done.stdout
    assert "TimeoutStartSec=390\n" in done.stdout
    assert "OnCalendar=*-*-* *:00/5:00\n" in done.stdout
    assert "NoNewPrivileges=yes" in done.stdout
    assert "runs next at " in done.stderr
    assert "warning: CHECKRUNNER_FORKS is set here" in done.stderr


def test_a_crontab_is_printed(folder: Path) -> None:
    done = schedule(folder, "--cron", "0 6 * * 1-5", "--format", "cron", "--report-format", "json", "--always")

    assert done.returncode == 0
    begin, _, line, end = done.stdout.splitlines()
    assert begin.startswith("# BEGIN checkrunner-play-")
    assert end == begin.replace("BEGIN", "END").split(" (")[0]
    assert line.startswith(f"0 6 * * 1-5 cd {folder} && exec ")
    assert line.endswith("--always --format json")


def test_a_secret_that_would_be_written_out_is_told(folder: Path) -> None:
    done = schedule(
        folder,
        "--every",
        "5m",
        "-e",
        "db_password=hunter2secret",
        "-e",
        "port=1",
        "-e",
        '{"x": {"token": "t0psecret"}}',
    )

    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if "is written out" in line]
    assert [line.split(" is written")[0] for line in told] == [
        "warning: the secret of -e db_password",
        "warning: the secret of -e x",
    ]
    assert "hunter2secret" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--every", "7m", "--format", "cron"], "The nearest that it can: 6m or 10m"),
        (["--every", "5m", "--format", "crn"], "Did you mean 'cron'?"),
        (["--every", "5m", "--report-format", "jsn"], "Did you mean 'json'?"),
        (["--every", "5m", "--if-running", "wit"], "Did you mean 'wait'?"),
        (["--every", "5m", "--name", "a/b"], "is not a name"),
        (["--every", "5m", "-l", "nobody"], "nobody"),
        (["--every", "5m", "--install", "--uninstall"], "do not go together"),
    ],
)
def test_what_would_go_wrong_later_is_said_now(folder: Path, words: list[str], said: str) -> None:
    done = schedule(folder, *words)

    assert done.returncode in {4, 64}
    assert done.stdout == ""
    assert said in done.stderr


def test_it_is_put_into_a_crontab_once_and_taken_out_again(folder: Path) -> None:
    table = folder / "table"
    program(
        folder,
        "crontab",
        f'if [ "$1" = -l ]; then [ -e {table} ] || {{ echo "no crontab for me" >&2; exit 1; }}; cat {table}; '
        f"else cat > {table}; echo x >> {folder}/writes; fi\n",
    )
    cron = ["--format", "cron"]

    first = schedule(folder, *cron, "--every", "5m", "--install")
    again = schedule(folder, *cron, "--every", "5m", "--install")
    other = schedule(folder, *cron, "--every", "10m", "--install")

    assert (first.returncode, first.stdout) == (0, "")
    assert "is in the crontab already" in again.stderr
    assert other.returncode == 0
    assert [line[:5] for line in table.read_text().splitlines() if line.startswith("*")] == ["*/10 "]
    assert (folder / "writes").read_text() == "x\nx\n"
    table.write_text("MAILTO=me\n" + table.read_text())
    assert schedule(folder, *cron, "--uninstall").returncode == 0
    assert table.read_text() == "MAILTO=me\n"
    assert "there is no checkrunner-play" in schedule(folder, *cron, "--uninstall").stderr


def test_a_crontab_that_cannot_be_read_is_not_overwritten(folder: Path) -> None:
    program(folder, "crontab", f'[ "$1" = -l ] || echo written > {folder}/written; echo "you may not" >&2; exit 1\n')

    done = schedule(folder, "--format", "cron", "--every", "5m", "--install")

    assert done.returncode == 64
    assert "`crontab -l` failed: you may not" in done.stderr
    assert not (folder / "written").exists()


def test_it_is_put_into_the_users_systemd_once_and_taken_out_again(folder: Path) -> None:
    program(folder, "systemctl", f'echo "$*" >> {folder}/calls\n')
    units = folder / "config" / "systemd" / "user"

    def call(*words: str) -> tuple[Done, list[str]]:
        (folder / "calls").write_text("")
        done = schedule(folder, *words, "--name", "nightly", XDG_CONFIG_HOME=str(folder / "config"))
        return done, (folder / "calls").read_text().splitlines()

    done, calls = call("--every", "5m", "--install")
    assert (done.returncode, done.stdout) == (0, "")
    assert calls == ["--user daemon-reload", "--user enable --now nightly.timer", "--user restart nightly.timer"]
    assert sorted(path.name for path in units.iterdir()) == ["nightly.service", "nightly.timer"]
    assert call("--every", "5m", "--install")[1] == ["--user enable --now nightly.timer"]
    assert call("--uninstall")[1] == ["--user disable --now nightly.timer", "--user daemon-reload"]
    assert list(units.iterdir()) == []
    assert call("--uninstall")[1] == []


def test_a_systemd_that_does_not_answer_is_told(folder: Path) -> None:
    program(folder, "systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1\n")

    done = schedule(folder, "--every", "5m", "--install", XDG_CONFIG_HOME=str(folder / "config"))

    assert done.returncode == 64
    assert "`systemctl --user daemon-reload` failed: Failed to connect to bus" in done.stderr
