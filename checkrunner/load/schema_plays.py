"""The mapping of a play, and what a playbook as a whole can be set from outside with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from checkrunner.load.forms import OneOrMany, problem
from checkrunner.load.leaves import Choice, Count, Flag, Hosts, PlainText, PlayVars, Seconds, Words
from checkrunner.load.leaves_flow import AnyValue, FilePath, NameKey, ShareOfHosts, SharesOfHosts
from checkrunner.load.schema_base import (
    BecomeMethodKey,
    BecomeUserKey,
    BecomeValue,
    Entries,
    StrictModel,
    up_to,
    words,
)
from checkrunner.model.playbook import ParamType

__all__ = ["ParamModel", "PlayModel"]

_MOST_FORKS = 10_000
_TYPES = tuple(str(word) for word in ParamType)
_Type = Annotated[str, Choice(*_TYPES), words(*_TYPES)]


class ParamModel(StrictModel):
    """A variable that is meant to be set with `-e`."""

    type: _Type | None = Field(
        default=None,
        description="`string`, `integer`, `number`, `boolean`, `duration`, `size`, `percent` or `list`; "
        "that of the default when absent.",
    )
    default: AnyValue = Field(default=None, description="What it is where nobody sets it; needed unless `required`.")
    required: Flag = Field(default=False, description="It has to be set.")
    choices: Annotated[list[AnyValue], OneOrMany()] | None = Field(
        default=None, description="The only values it may have."
    )
    help: PlainText | None = Field(default=None, description="What `--help-params` says of it.")

    @model_validator(mode="after")
    def _one_source(self) -> ParamModel:
        if self.required and self.default is not None:
            hint = "Drop `required`, or the default."
            raise problem(key="default", message="a parameter that has to be set needs no default", hint=hint)
        if not self.required and self.default is None:
            raise problem("a parameter has a default or is required", "Write `{default: ...}` or `{required: true}`.")
        return self


class PlayModel(StrictModel):
    """Checks for a pattern of hosts."""

    name: PlainText | None = Field(default=None, description="What people read; `hosts` when absent.")
    hosts: Annotated[list[Hosts], OneOrMany()] = Field(description="Host pattern, or list of patterns.")
    params: dict[NameKey, ParamModel] | None = Field(
        default=None, description="Variables to be set with `-e`, by name: mapping as below."
    )
    vars: PlayVars = Field(default_factory=dict, description="Variables of this play; any YAML.")
    vars_files: Annotated[list[FilePath], OneOrMany()] | None = Field(
        default=None, description="Files of variables, beside the playbook; they win over `vars`."
    )
    pre_checks: Entries | None = Field(
        default=None, description="Checks that come first; where one is critical or unknown, the others are skipped."
    )
    checks: Entries = Field(description="The checks, at least one; a session runs its own in this order.")
    timeout: Seconds | None = Field(default=None, description="Default for its checks.")
    tags: Words | None = Field(default=None, description="Labels of all its checks.")
    serial: SharesOfHosts | None = Field(
        default=None, description="Batches of hosts, one after another: `2`, `30%`, or a list of sizes."
    )
    forks: Annotated[int, Count(1, _MOST_FORKS), WithJsonSchema(up_to(_MOST_FORKS))] | None = Field(
        default=None, description="Hosts at the same time; the run's `--forks` when absent."
    )
    max_fail: ShareOfHosts | None = Field(
        default=None,
        description="No further host is begun once so many are critical or could not be looked at: `3`, `30%`.",
    )
    become: BecomeValue = None
    become_user: BecomeUserKey = None
    become_method: BecomeMethodKey = None
