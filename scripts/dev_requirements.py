#!/usr/bin/env python3
"""Print the `dev` group of pyproject.toml, one requirement a line (for a pip without `--group`)."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
print("\n".join(project["dependency-groups"]["dev"]))
