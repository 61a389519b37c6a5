"""Runs many calls of Ansible's inventory commands for the price of one start. Only the oracle's own Python runs this.

Standard input is a JSON list of calls: ``{"argv": [...], "cwd": path, "env": {...}}``. Each is the program's own
`main`, in a child that was forked after the imports (or, with `env`, the program): a call knows nothing of the ones
before. Standard output is a JSON list of ``{"rc": n, "stdout": text, "stderr": text}`` in the same order.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import tempfile
import traceback
from typing import Any, BinaryIO

__all__: list[str] = []

# What a first call would import, besides the program itself: nothing of it reads a setting.
_BESIDES = (
    "ansible.inventory.manager",
    "ansible.plugins.inventory",
    "ansible.plugins.loader",
    "ansible.parsing.vault",
    "ansible.parsing.yaml.dumper",
    "ansible.vars.manager",
    "cryptography.hazmat.primitives.ciphers",
)

_INVENTORY_PLUGINS = ("host_list", "script", "auto", "yaml", "ini", "toml")


def _in_child(call: dict[str, Any], stdout: BinaryIO, stderr: BinaryIO) -> None:
    """Be the program, to its end: never returns."""
    rc = 70
    try:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(stdout.fileno(), 1)
        os.dup2(stderr.fileno(), 2)
        os.chdir(call["cwd"])
        if call["env"]:  # settings were read at the imports: this one needs a start of its own
            os.execve(sys.executable, [sys.executable, *call["argv"]], {**os.environ, **call["env"]})
        sys.argv = call["argv"]
        importlib.import_module("ansible.cli.inventory").main(sys.argv)
    except SystemExit as exc:
        rc = exc.code if isinstance(exc.code, int) else 1
    except BaseException:  # a child must not go on as a second parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(rc)


def _answer(call: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if not child:
            _in_child(call, stdout, stderr)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for stream in (stdout, stderr):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
        return {"rc": status, "stdout": texts[0], "stderr": texts[1]}


def _main() -> None:
    calls = json.load(sys.stdin)
    importlib.import_module("ansible.cli.inventory")
    for name in _BESIDES:
        importlib.import_module(name)
    # Most of a call's time goes into finding plugins: they are found once, for all.
    loader = importlib.import_module("ansible.plugins.loader")
    loader.init_plugin_loader()
    for name in _INVENTORY_PLUGINS:
        loader.inventory_loader.get(name)
    gc.freeze()
    json.dump([_answer(call) for call in calls], sys.stdout)


if __name__ == "__main__":
    _main()
