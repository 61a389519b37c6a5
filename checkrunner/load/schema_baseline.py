"""The part of the playbook format that speaks of baselines."""

from __future__ import annotations

from pydantic import Field

from checkrunner.load.leaves import Flag
from checkrunner.load.schema_base import Patterns, StrictModel

__all__ = ["BaselineModel"]


class BaselineModel(StrictModel):
    """The output has to be the one that was accepted for this host."""

    ignore: Patterns | None = Field(
        default=None, description="Regular expression, or list: lines in which one is found do not count."
    )
    ordered: Flag = Field(default=True, description="`false`: it does not matter where a line stands.")
