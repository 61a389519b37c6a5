"""What lint warns of in a command beside changes to the host: what never ends, and what sleeps for long."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrunner.plan.changing import Habit
from checkrunner.plan.shellwords import SimpleCommand, commands_in

__all__ = ["ENDLESS", "endless"]

ENDLESS: tuple[Habit, ...] = (
    Habit(("watch", "htop", "atop", "btop", "nmon"), "", "never ends"),
    Habit(("less", "more", "most", "man", "vi", "vim", "nano", "view"), r"^(?!.*--version)", "waits for keys"),
    Habit(("tail",), r"(^|\s)(-\w*[fF]\w*|--follow\S*)(\s|$)", "never ends with -f"),
    Habit(("journalctl",), r"(^|\s)(-\w*f\w*|--follow)(\s|$)", "never ends with -f"),
    Habit(("dmesg",), r"(^|\s)(-\w*[wW]|--follow\S*)(\s|$)", "never ends with -w"),
    Habit(("top", "iotop", "xentop"), r"^(?!.*(^|\s)-\w*b)", "needs -b (and -n) to end without a terminal"),
    Habit(("top", "iotop"), r"^(?=.*(^|\s)-\w*b)(?!.*(^|\s)-\w*n)", "never ends without -n"),
    Habit(("ping", "ping6"), r"^(?!.*(^|\s)-\w*[cw])", "never ends without -c or -w"),
    Habit(
        ("vmstat", "iostat", "mpstat", "pidstat"), r"^([^\d\s]\S*\s+)*\d+$", "never ends with an interval and no count"
    ),
    Habit(("tcpdump", "tshark"), r"^(?!.*(^|\s)-\w*c)", "never ends without -c"),
)
"""Commands that end only by the check's timeout. Under `timeout` they are not warned of."""

_ENDLESS_HINT = "It would be ended by the check's timeout; after a `duration:` that is success"
_LONG_SLEEP_S = 30.0
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def endless(text: str, *, bounded: bool = False) -> Iterator[tuple[str, str, str, int]]:
    """What takes too long in a command's text: rule, message, hint, offset. `bounded`: the check ends it after a
    time."""
    for command in commands_in(text):
        if bounded or command.bounded:
            continue
        for row in ENDLESS:
            if row.fits(command):
                yield "endless-command", f"`{command.name}` {row.does}", _ENDLESS_HINT, command.offset
                break
        if (seconds := _sleep_s(command)) > _LONG_SLEEP_S:
            yield "long-sleep", f"sleeps {seconds:g} s", "Everything after it in its session waits", command.offset


def _sleep_s(command: SimpleCommand) -> float:
    if command.name != "sleep":
        return 0.0
    total = 0.0
    for arg in command.args:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", arg)
        if arg in ("inf", "infinity"):
            return float("inf")
        total += float(found[1]) * _UNITS[found[2]] if found else 0.0
    return total
