"""Encrypts many texts for the price of one start. Only the oracle's own Python runs this.

Standard input is a JSON list of ``[text, password, label or null]``, standard output a JSON list of encrypted texts.
"""

from __future__ import annotations

import importlib
import json
import sys

__all__: list[str] = []


def _main() -> None:
    vault = importlib.import_module("ansible.parsing.vault")
    found = []
    for text, password, label in json.load(sys.stdin):
        secret = vault.VaultSecret(password.encode())
        found.append(vault.VaultLib().encrypt(text.encode(), secret=secret, vault_id=label).decode())
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    _main()
