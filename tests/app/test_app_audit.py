"""The audit log: every command is in it, nothing secret is, and it stays within its bounds whoever writes."""

from __future__ import annotations

import json
import os
import resource
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import call_here, environment

from checkrunner.app.audit_file import OLDER, AppendFile

PLAYBOOK = """\
- hosts: all
  vars: {password: hunter2-and-more}
  checks:
    - {id: quick, run: "true {{ password }}", env: {DB_PASSWORD: "{{ password }}"}, cwd: /}
    - {id: fails, run: "exit 3"}
    - {id: absent, run: nosuchtool, requires: [nosuchtool]}
    - {id: huge, run: "true # {{ 'x' * 5000 }}"}
"""


def lines_of(*files: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def run(folder: Path, playbook: str = PLAYBOOK, **settings: str) -> tuple[int, dict[str, Any]]:
    (folder / "play.yml").write_text(playbook, encoding="utf-8")
    env = {**environment(folder), "XDG_STATE_HOME": str(folder / "state"), **settings}
    done = call_here(["run", "play.yml", "--format", "json"], folder=folder, env=env)
    return done.returncode, json.loads(done.stdout)


def test_each_command_has_a_line_that_says_who_where_what_and_how_it_ended(tmp_path: Path) -> None:
    code, report = run(tmp_path, SUDO_USER="alice")

    log = tmp_path / "state" / "checkrunner" / "audit.jsonl"
    found = lines_of(log)
    assert [line["event"] for line in found] == ["run", "command", "command", "command", "end"]
    quick, fails, huge = found[1:4]
    assert all(line["run"] == report["run"]["id"] for line in found)
    assert all(line["by"]["sudo_user"] == "alice" and line["by"]["pid"] == os.getpid() for line in found)
    assert (quick["host"], quick["check"], quick["cwd"], quick["env"]) == ("localhost", "quick", "/", ["DB_PASSWORD"])
    assert quick["command"].startswith("true <secret")
    assert (quick["rc"], fails["rc"], fails["command"], fails["execution"]) == (0, 3, "exit 3", "done")
    assert (len(huge["command"]), huge["command_chars"]) == (4096, 5007)
    assert (found[-1]["exit_code"], found[-1]["ended"]) == (code, "normal")
    assert "hunter2" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_what_takes_a_while_is_on_record_before_it_ends(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    # The command itself waits for its line, and fails where there is none in time.
    wait = f'for n in $(seq 600); do grep -q \'"sent".*"check":"waits"\' {log} && exit 0; sleep 0.1; done; exit 9'
    playbook = "- hosts: all\n  checks:\n    - {id: waits, timeout: 61s, run: " + json.dumps(wait) + "}\n"

    code, _ = run(tmp_path, playbook, CHECKRUNNER_AUDIT_LOG=str(log))

    assert code == 0
    assert [line["event"] for line in lines_of(log)] == ["run", "sent", "command", "end"]


def test_a_run_does_without_its_log(tmp_path: Path) -> None:
    quick = "- hosts: all\n  checks:\n    - {id: quick, run: 'true'}\n"
    (tmp_path / "folder").mkdir()

    code, report = run(tmp_path, quick, CHECKRUNNER_AUDIT_LOG=str(tmp_path / "folder"))

    assert code == 0
    assert [text.split(": ", 1)[1] for text in report["warnings"]] == [
        "2 lines could not be written: Is a directory. The setting audit_log names another file, or none"
    ]
    assert run(tmp_path, quick, CHECKRUNNER_AUDIT_LOG="none")[1]["warnings"] == []
    assert not (tmp_path / "state").exists()


def parts(log: Path) -> list[Path]:
    """The log and its older files, the oldest first."""
    names = [*(log.with_name(f"{log.name}.{number}") for number in range(OLDER, 0, -1)), log]
    return [path for path in names if path.exists()]


def append(file: AppendFile, texts: Sequence[str]) -> None:
    for text in texts:
        while not file.append(f'{{"text":"{text}"}}\n'.encode()):
            pass


def test_it_is_bounded_and_loses_the_oldest_lines_alone(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    file = AppendFile(log, 8192)

    append(file, [f"{number:04}" for number in range(2000)])
    file.close()

    assert [path.name for path in parts(log)] == ["audit.jsonl.3", "audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"]
    assert sum(path.stat().st_size for path in parts(log)) <= 8192
    kept = [line["text"] for line in lines_of(*parts(log))]
    assert kept == [f"{number:04}" for number in range(2000 - len(kept), 2000)]


def test_several_that_write_and_rotate_lose_nothing(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    everything = [f"{writer}-{number}" for writer in range(4) for number in range(250)]
    size = sum(len(f'{{"text":"{text}"}}\n') for text in everything)

    with ThreadPoolExecutor(4) as pool:
        # Each has the file open by itself, as processes do. The parts are so large that all of it has room in them.
        done = [pool.submit(append, AppendFile(log, 2 * size), everything[at : at + 250]) for at in range(0, 1000, 250)]
        for each in done:
            each.result()

    assert len(parts(log)) > 1
    assert sorted(line["text"] for line in lines_of(*parts(log))) == sorted(everything)


def test_whoever_renames_it_gets_what_was_written_so_far(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    file = AppendFile(log, 0)

    append(file, ["before"])
    log.rename(tmp_path / "rotated")
    append(file, ["after"])
    log.unlink()
    append(file, ["again"])

    assert [line["text"] for line in lines_of(tmp_path / "rotated", log)] == ["before", "again"]


def test_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text('{"text":"ha')

    append(AppendFile(log, 0), ["whole"])

    assert log.read_text().splitlines() == ['{"text":"ha', '{"text":"whole"}']


def test_a_batch_that_has_no_room_is_not_there_at_all(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    file = AppendFile(log, 0)
    append(file, ["first"])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 5, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            file.append(b'{"text":"second"}\n')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    append(file, ["third"])

    assert [line["text"] for line in lines_of(log)] == ["first", "third"]


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    log = tmp_path / "audit.jsonl"
    if kind == "link":
        log.symlink_to(tmp_path / "x")
    elif kind == "fifo":
        os.mkfifo(log)
    else:
        log.mkdir()

    with pytest.raises(OSError):
        AppendFile(log, 0).append(b"{}\n")
    assert not (tmp_path / "x").exists()
