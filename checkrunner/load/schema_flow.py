"""The parts of the playbook format that speak of the course of things: questions, readings, loops."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from checkrunner.load.forms import problem
from checkrunner.load.leaves import Answer, Count, Pattern, Seconds, Variable, WholeText
from checkrunner.load.leaves_flow import Pause
from checkrunner.load.schema_base import StrictModel, up_to
from checkrunner.model.results import MOST_READINGS

__all__ = ["LoopControlModel", "PromptModel", "SampleModel"]

_SHORTEST_PAUSE_S = 0.1
_Readings = Annotated[int, Count(1, MOST_READINGS), WithJsonSchema(up_to(MOST_READINGS))]


class PromptModel(StrictModel):
    """The answer to a question that the command asks on its terminal."""

    match: Pattern = Field(description="Regular expression that is found in the line that asks (`re.search`).")
    answer: Answer = Field(description="The line to type then; its newline is added. Never shown in a report.")


class SampleModel(StrictModel):
    """Readings: the command is run several times."""

    every: Seconds = Field(description="From one start to the next: seconds, or `500ms`, `2s`, `1m`.")
    count: _Readings = Field(description="How many times, 1 to 1,000.")

    @model_validator(mode="after")
    def _not_too_often(self) -> SampleModel:
        if self.every < _SHORTEST_PAUSE_S:
            hint = "Write 100ms, or loop within the command."
            raise problem(key="every", message="a command is started every 100 ms at most", hint=hint)
        return self


class LoopControlModel(StrictModel):
    """How a loop names its items."""

    loop_var: Variable = Field(default="item", description="What the item is called in the check's texts.")
    index_var: Variable | None = Field(default=None, description="Variable for the item's number, from 0.")
    label: WholeText | None = Field(
        default=None, description="What the item is called in reports; itself, shortened, when absent."
    )
    pause: Pause | None = Field(default=None, description="Time between two items: seconds, or `500ms`, `2s`.")

    @model_validator(mode="after")
    def _two_names(self) -> LoopControlModel:
        if self.index_var == self.loop_var:
            hint = "Give the number a name of its own."
            raise problem(key="index_var", message=f"{self.loop_var!r} is the item already", hint=hint)
        return self
