"""Write what the agent says of each of `state_cases.CASES` into docs/sessions.md: run this file to measure anew."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from agent_process import AgentProcess, Answer, Times
from state_cases import CASES, CannotProvokeError, StateCase, watch_case

__all__ = ["measure", "read_table"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sessions.md"
BEGIN, END = "<!-- states: measured -->\n", "<!-- states: end -->\n"
HEAD = (
    "| | command | said | process | wchan | system call, descriptor | on | ECHO |\n|---|---|---|---|---|---|---|---|\n"
)


def row(what: str, command: str, seen: Answer) -> str:
    call = seen.get("syscall", "") + (f", {seen['fd']}" if "fd" in seen else "")
    on = re.sub(
        r"/(?:var/)?tmp/tmp\w+", "/tmp/x", re.sub(r"pid \d+", "pid N", re.sub(r":\d{4,5}\b", ":N", seen.get("on", "")))
    )
    on = re.sub(r"/dev/pts/\d+", "/dev/pts/N", re.sub(r"checkrunner-states-\d+", "x", on))
    echo = {True: "on", False: "OFF", None: ""}[seen.get("echo")]
    if len(command) > 60:
        command = command[:57] + "..."
    command = command.replace("|", "\\|").replace("\n", "; ").replace("`", "'")
    return f"| {what} | `{command}` | {seen['kind']} | {seen.get('name', '')} | {seen.get('wchan', '')} | {call} | {on} | {echo} |\n"


def seen_of(case: StateCase) -> Answer:
    """What is said of a case, here and now."""
    with ExitStack() as stack:

        def start(*, prefix: Sequence[str], python: str, times: Times) -> AgentProcess:
            agent = AgentProcess(prefix=prefix, python=python, times=times)
            stack.callback(agent.close)
            return agent

        try:
            seen: Answer = watch_case(case, start)[0]["seen"]
        except CannotProvokeError as why:
            return {"kind": case.kind, "on": f"not measured: {why}"}
        return seen


def measure() -> str:
    """The table, as this machine gives it."""
    rows = [row(case.what, case.command.replace("/usr/bin/python3", "python3"), seen_of(case)) for case in CASES]
    agent = AgentProcess()
    rows.append(row("the end of the command", "true", {"kind": agent.run("true")["execution"]}))
    rows.append(row("a killed shell", "kill -9 $$", agent.run("kill -9 $$")["seen"]))
    agent.close()
    return f"Linux {platform.release().split('-')[0]}, {platform.machine()}:\n\n{HEAD}{''.join(rows)}\n"


def read_table() -> list[list[str]]:
    """The cells of the table in the manual, row by row."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = text.partition(HEAD)[2].splitlines()
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + measure() + END + rest.partition(END)[2], encoding="utf-8")
