"""What ansible-playbook, the real one, says of a playbook: the verdict of each task on each host."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle import find_oracle

__all__ = ["Answer", "Verdict", "ask_ansible"]

HERE = Path(__file__).parent
PLAYBOOKS = HERE / "playbooks"
_SECONDS = 120


@dataclass(frozen=True)
class Verdict:
    """What came of a task on a host. `state` is ok, failed, ignored, skipped or unreachable; `rescued` is a failure,
    and is not told apart from one."""

    state: str
    changed: bool = False
    said: str = ""

    def __str__(self) -> str:
        return f"{self.state}{', changed' if self.changed else ''}"


@dataclass(frozen=True)
class Answer:
    """`verdicts` by host and task, each a list: a task of a file that is included several times has several. `summaries`
    by host: how many tasks were ``ok``, ``changed``, ``failures``, ``skipped``, ``rescued``, ``ignored``."""

    rc: int
    verdicts: Mapping[tuple[str, str], Sequence[Verdict]]
    summaries: Mapping[str, Mapping[str, int]]
    output: str
    elapsed_s: float = 0.0


def ask_ansible(playbook: Path, inventory: Path, folder: Path, env: Mapping[str, str], *args: str) -> Answer:
    """Run a playbook. `folder` takes what the run leaves; connections of one folder are shared."""
    program = find_oracle().inventory.with_name("ansible-playbook")
    log = folder / f"{playbook.stem}.jsonl"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [str(program), "-i", str(inventory), str(playbook), *args],
        env=_environment(folder, env, log, program),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    verdicts: dict[tuple[str, str], list[Verdict]] = {}
    summaries: dict[str, dict[str, int]] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        event: dict[str, Any] = json.loads(line)
        if "summary" in event:
            summaries[event["host"]] = event["summary"]
            continue
        if event["action"] == "meta":  # it is no task for most callbacks
            continue
        verdict = Verdict(event["state"], event["changed"], event["said"])
        verdicts.setdefault((event["host"], event["task"]), []).append(verdict)
    return Answer(done.returncode, verdicts, summaries, done.stdout + done.stderr)


def _environment(folder: Path, env: Mapping[str, str], log: Path, program: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    # The name of a socket has room for about a hundred characters.
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_CONFIG": str(program.parents[1] / "ansible.cfg"),
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "verdicts",
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_HOST_KEY_CHECKING": "0",
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder / "cp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VERDICTS_FILE": str(log),
        **env,
    }
