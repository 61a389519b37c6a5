"""Model values as requests of the wire protocol."""

from __future__ import annotations

from dataclasses import replace

from checkrunner.link.wire import MAX_PAYLOAD, PROTOCOL_VERSION, encode_request
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import Step
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.model.sources import Secret

__all__ = ["capped", "hello_request", "part_request", "run_request", "slice_request"]


def hello_request(nonce: str, options: SessionOptions) -> bytes:
    """The first request of a connection."""
    keys: dict[str, int | str] = {
        "v": PROTOCOL_VERSION,
        "nonce": nonce,
        "host_bytes": options.host_bytes,
        "max_sessions": options.max_sessions,
    }
    return encode_request("hello", 0, keys)


def run_request(ident: int, step: Step) -> bytes:
    """A command with its environment, its requirements and its probes.

    Raises ValueError where a name of the step has characters that the protocol has no room for.
    """
    command = step.command
    keys: dict[str, int | str] = {
        "session": command.session,
        "timeout_ms": max(1, round(command.timeout_s * 1000)),
        "cap": command.capture_bytes,
    }
    sections = [("command", _bytes(command.shell))]
    if command.cwd is not None:
        sections.append(("cwd", _bytes(command.cwd)))
    if command.become is not None:
        sections.append(("become", _bytes(command.become)))
    if command.requires:
        sections.append(("requires", _bytes("\n".join(command.requires))))
    for name, value in command.env.items():
        sections.append((f"env.{name}", _bytes(value.reveal() if isinstance(value, Secret) else value)))
    sections += [(f"probe.{probe.name}.{probe.kind}.{probe.stream}", _bytes(probe.text)) for probe in step.probes]
    return encode_request("run", ident, keys, sections)


def slice_request(ident: int, of: int, query: SliceQuery) -> bytes:
    """A part of the output of the run with the id `of`."""
    keys: dict[str, int | str] = {
        "of": of,
        "stream": str(query.stream),
        "mode": str(query.mode),
        "first": query.first,
        "last": query.last,
        "before": query.before,
        "after": query.after,
        "max_lines": query.max_lines,
        "max_bytes": query.max_bytes,
        "line_bytes": query.line_bytes,
    }
    sections = [("pattern", _bytes(query.pattern))] if query.mode is SliceMode.MATCH else []
    return encode_request("slice", ident, keys, sections)


def part_request(ident: int, name: str, code: bytes) -> bytes:
    """A part of the agent's source that it has asked for, as the payload has it."""
    return encode_request("part", ident, {"name": name}, [("code", code)])


def capped(query: SliceQuery) -> SliceQuery:
    """The query, asking for no more than an answer may carry."""
    return query if query.max_bytes <= MAX_PAYLOAD else replace(query, max_bytes=MAX_PAYLOAD)


def _bytes(text: str) -> bytes:
    # Bytes that were not UTF-8 in a file travel in text as lone surrogates, and become the same bytes again.
    return text.encode("utf-8", "surrogateescape")
