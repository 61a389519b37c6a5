"""Ansible's own templates as an oracle: many texts in one process. Only the oracle's own Python runs `main`.

Standard input is a JSON object: `variables` is a list of mappings, `cases` one of ``[kind, text, number of its
variables]``, kind ``expression``, ``condition`` or ``template``. Standard output is a JSON list of ``["value", value]`` or ``["error", message]`` in the same order.
"""

from __future__ import annotations

import datetime as dt
import importlib
import json
import sys
from typing import Any

__all__ = ["as_json"]


def as_json(value: Any) -> Any:
    """A value as both sides tell it: what JSON does not have as a list with its name."""
    if isinstance(value, dict):
        return {"dict": [[as_json(key), as_json(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return {"int": str(int(value))} if isinstance(value, int) else {"float": repr(float(value))}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, (dt.datetime, dt.date)):
        return {"time": value.isoformat()}
    if isinstance(value, str):
        return str(value)
    return {"other": type(value).__name__}


def main() -> None:
    """Answer standard input."""
    importlib.import_module("ansible.plugins.loader").init_plugin_loader()
    templating = importlib.import_module("ansible.template")
    loader = importlib.import_module("ansible.parsing.dataloader").DataLoader()
    given = json.load(sys.stdin)
    answers = []
    # Each set of variables is sent once: most cases share one.
    shared = [templating.Templar(loader, variables=variables) for variables in given["variables"]]
    for kind, text, number in given["cases"]:
        templar = shared[number]
        trusted = templating.trust_as_template(text)
        try:
            if kind == "template":
                value = templar.template(trusted)
            elif kind == "condition":
                value = templar.evaluate_conditional(trusted)
            else:
                value = templar.evaluate_expression(trusted)
            answers.append(["value", as_json(value)])
        except Exception as error:
            answers.append(["error", f"{type(error).__name__}: {error}"])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
