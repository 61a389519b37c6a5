"""Model values as requests of the wire protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from checkrunner.link.wire import MAX_PAYLOAD, PROTOCOL_VERSION, encode_request
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import Command, Step
from checkrunner.model.playbook import OnInput
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.model.sources import Secret

__all__ = [
    "answer_request",
    "asks",
    "capped",
    "hello_request",
    "part_request",
    "run_request",
    "slice_request",
    "stay_request",
]


def hello_request(nonce: str, options: SessionOptions, *, linger_s: float = 0.0, resume: str = "") -> bytes:
    """The first request of a connection. `resume` names the agent to take over from."""
    keys: dict[str, int | str] = {
        "v": PROTOCOL_VERSION,
        "nonce": nonce,
        "host_bytes": options.host_bytes,
        "max_sessions": options.max_sessions,
    }
    if linger_s:
        keys["linger"] = math.ceil(linger_s)
    if resume:
        keys["resume"] = resume
    return encode_request("hello", 0, keys)


def asks(command: Command, somebody: bool) -> bool:
    """Whether questions of the command that it has no answer to come to us, where `somebody` can answer them."""
    return somebody and command.on_input is not OnInput.FAIL


def run_request(ident: int, step: Step, *, somebody: bool = False) -> bytes:
    """A command with its environment, its requirements, its probes and its answers. `somebody`: see `asks`.

    Raises ValueError where a name of the step has characters that the protocol has no room for.
    """
    command = step.command
    keys: dict[str, int | str] = {
        "session": command.session,
        "timeout_ms": _milliseconds(command.timeout_s),
        "cap": command.capture_bytes,
        **_input_keys(command, somebody),
        **_time_keys(command),
    }
    sections = [("command", _bytes(command.shell))]
    if command.cwd is not None:
        sections.append(("cwd", _bytes(command.cwd)))
    if command.become is not None:
        sections.append(("become", _bytes(command.become.user)))
    if command.requires:
        sections.append(("requires", _bytes("\n".join(command.requires))))
    for name, value in command.env.items():
        sections.append((f"env.{name}", _bytes(_plain(value))))
    sections += [(f"probe.{probe.name}.{probe.kind}.{probe.stream}", _bytes(probe.text)) for probe in step.probes]
    for number, prompt in enumerate(command.prompts):
        sections.append((f"prompt.{number}.match", _bytes(prompt.match)))
        sections.append((f"prompt.{number}.answer", _bytes(_plain(prompt.answer))))
    return encode_request("run", ident, keys, sections)


def _input_keys(command: Command, somebody: bool) -> dict[str, str]:
    """How questions are met. Standard input is said beside `input`, so that having somebody to ask changes nothing that
    the command can see."""
    keys = {}
    if asks(command, somebody):
        keys["input"] = "ask"
    elif command.prompts:
        keys["input"] = "answer"
    terminal = command.stdin_tty or bool(command.prompts) or command.on_input is OnInput.ASK
    if keys or terminal:
        keys["stdin"] = "tty" if terminal else "null"
    return keys


def _time_keys(command: Command) -> dict[str, int]:
    keys = {}
    if command.duration_s is not None:
        keys["duration_ms"] = _milliseconds(command.duration_s)
    if command.sample is not None:
        keys["sample_ms"] = _milliseconds(command.sample.every_s)
        keys["sample_count"] = command.sample.count
    if command.keep_children:
        keys["keep"] = 1
    return keys


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def answer_request(ident: int, of: int, answer: Secret | None) -> bytes:
    """What to type at the question of the run with the id `of`; None refuses."""
    if answer is None:
        return encode_request("answer", ident, {"of": of, "refuse": 1})
    return encode_request("answer", ident, {"of": of}, [("text", _bytes(answer.reveal()))])


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


def stay_request(ident: int, seconds: int, name: str, captures: Mapping[int, str]) -> bytes:
    """The captures of these runs are to stay after the end, for so long, in a directory of this name; each has a name
    of its own there."""
    listed = "\n".join(f"{of} {word}" for of, word in captures.items())
    return encode_request("stay", ident, {"seconds": seconds, "name": name}, [("captures", _bytes(listed))])


def capped(query: SliceQuery) -> SliceQuery:
    """The query, asking for no more than an answer may carry."""
    return query if query.max_bytes <= MAX_PAYLOAD else replace(query, max_bytes=MAX_PAYLOAD)


def _plain(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value


def _bytes(text: str) -> bytes:
    # Bytes that were not UTF-8 in a file travel in text as lone surrogates, and become the same bytes again.
    return text.encode("utf-8", "surrogateescape")
