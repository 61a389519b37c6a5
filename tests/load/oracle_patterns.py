"""Asks Ansible which hosts patterns mean: many patterns in one process. Only the oracle's own Python runs this.

Standard input is a JSON list of ``{"sources": [path], "asked": [[pattern, limit or null], ...]}``; standard output has,
for each, a list of ``{"hosts": [names]}`` or ``{"error": text}``, with ``"unmatched": n``, the number of terms that
named nobody, which Ansible passes over.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

__all__: list[str] = []


def _main() -> None:
    importlib.import_module("ansible.cli")
    display_class = importlib.import_module("ansible.utils.display").Display
    loader_class = importlib.import_module("ansible.parsing.dataloader").DataLoader
    manager_class = importlib.import_module("ansible.inventory.manager").InventoryManager
    importlib.import_module("ansible.plugins.loader").init_plugin_loader()
    warned: list[str] = []
    display_class.warning = lambda self, msg, *more, **words: warned.append(str(msg))

    def answer(manager: Any, pattern: str, limit: str | None) -> dict[str, Any]:
        warned.clear()
        manager.clear_caches()
        manager._inventory.localhost = manager.own_localhost
        try:
            manager.subset(limit)
            hosts = [host.name for host in manager.get_hosts(pattern)]
        except Exception as exc:  # every refusal is an answer
            return {"error": str(exc), "unmatched": 0}
        return {"hosts": hosts, "unmatched": sum("Could not match" in text for text in warned)}

    answers = []
    for job in json.load(sys.stdin):
        manager = manager_class(loader=loader_class(), sources=job["sources"])
        manager.own_localhost = manager._inventory.localhost
        answers.append([answer(manager, pattern, limit) for pattern, limit in job["asked"]])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    _main()
