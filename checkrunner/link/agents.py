"""Which agent a host is to be started with: the host variable `checkrunner_agent`."""

from __future__ import annotations

from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.inventory import Host

__all__ = ["AGENTS", "VARIABLE", "agent_of"]

AGENTS = ("auto", "python", "shell")
"""`auto`: the one in Python, or the one in shell where there is no Python for it."""

VARIABLE = "checkrunner_agent"


def agent_of(host: Host) -> str:
    """A member of `AGENTS`. Raises InventoryError for another word."""
    word = host.vars.get(VARIABLE, "auto")
    if word not in AGENTS:
        close = nearest(str(word), AGENTS)
        hint = f"Did you mean {close!r}?" if close else f"Known: {', '.join(AGENTS)}"
        raise InventoryError(f"host {host.name}: {VARIABLE} is {word!r}", source=host.source, hint=hint)
    return str(word)
