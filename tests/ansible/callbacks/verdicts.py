"""A callback of ansible-playbook: what came of each task on each host, as JSON, one line an event. See playbook_oracle.

It is loaded by the other Ansible's Python and knows nothing of checkrunner.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase  # type: ignore[import-not-found]  # of the other Python

DOCUMENTATION = """
    name: verdicts
    type: aggregate
    short_description: writes what came of tasks
    description: writes what came of tasks
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]  # as above
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "verdicts"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._file = os.environ["VERDICTS_FILE"]

    def _say(self, **event: Any) -> None:
        with open(self._file, "a", encoding="utf-8") as out:
            out.write(json.dumps(event) + "\n")

    def _result(self, state: str, result: Any) -> None:
        task = result._task
        values = result._result
        self._say(
            task=task.name or task.action.removeprefix("ansible.builtin."),
            host=result._host.get_name(),
            state=state,
            changed=bool(values.get("changed")),
            action=task.action.removeprefix("ansible.builtin."),
            said=str(values.get("msg", ""))[:500],
        )

    def v2_runner_on_ok(self, result: Any) -> None:
        self._result("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._result("ignored" if ignore_errors else "failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._result("skipped", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._result("unreachable", result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        for host in sorted(stats.processed):
            self._say(host=host, summary=stats.summarize(host))
