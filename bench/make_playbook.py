#!/usr/bin/env python3
"""Turn a list of commands, one a line on standard input, into a playbook on standard output.

    printf '%s\\n' hostname 'df -P /' | bench/make_playbook.py > checks.yml

Any return code is accepted, as tools that only run commands do. The output of `hostname` is shown, so that one can see
that every host answered, and answered for itself.
"""

from __future__ import annotations

import json
import sys

__all__ = ["playbook"]


def playbook(commands: list[str]) -> str:
    """The playbook's text. JSON is YAML, so no command needs quoting rules of its own."""
    checks = []
    for number, command in enumerate(commands):
        # raw: the text is shell, whatever braces it holds.
        check: dict[str, object] = {"id": f"c{number:02d}", "run": command, "raw": True, "expect": {"rc": ">= 0"}}
        if command == "hostname":
            check["slice"] = {"head": 1, "when": "always"}
        checks.append(check)
    return json.dumps([{"name": "lab", "hosts": "all", "checks": checks}], indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(playbook(sys.stdin.read().splitlines()))
