"""Conformance checks for the seams of `model.seams`, and in-memory twins of the parts that touch the world.

A check takes what makes an implementation, and raises AssertionError where the contract is not kept. The twins pass
the same checks as the real thing, so what is tested with them holds for it. For tests only; nothing imports this.
"""

from __future__ import annotations

from checkrunner.testing.checks import (
    ASKS,
    check_channel,
    check_driver,
    check_queues,
    check_session,
    check_transport,
    make_step,
)
from checkrunner.testing.past import MemoryPast, check_past
from checkrunner.testing.pure_checks import (
    check_observer,
    check_redactor,
    check_renderer,
    check_script,
    check_templates,
    check_token_counter,
)
from checkrunner.testing.twins import (
    CLOGGED,
    COMPLAIN,
    COMPLAIN_FOREVER,
    ECHO,
    END,
    FLOOD,
    MemoryChannel,
    MemoryTransport,
    Program,
    Scripted,
    ScriptedSession,
)

__all__ = [
    "ASKS",
    "CLOGGED",
    "COMPLAIN",
    "COMPLAIN_FOREVER",
    "ECHO",
    "END",
    "FLOOD",
    "MemoryChannel",
    "MemoryPast",
    "MemoryTransport",
    "Program",
    "Scripted",
    "ScriptedSession",
    "check_channel",
    "check_driver",
    "check_observer",
    "check_past",
    "check_queues",
    "check_redactor",
    "check_renderer",
    "check_script",
    "check_session",
    "check_templates",
    "check_token_counter",
    "check_transport",
    "make_step",
]
