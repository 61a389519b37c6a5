"""The wire protocol of docs/protocol.md as bytes: requests are encoded, answers decoded, nothing is sent or received.

The other end may be hostile: whatever it sends either decodes to typed values or raises ProtocolError with the offset
of the byte where the offending answer starts, and never makes the decoder hold more than a line and a payload.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

from checkrunner.link.answers import AgentFailure, Answer, NoInterpreter, Starting, read_answer
from checkrunner.link.fields import MalformedError, shown
from checkrunner.model.errors import ProtocolError

__all__ = [
    "MAX_HEADER",
    "MAX_LINE",
    "MAX_NOISE",
    "MAX_PAYLOAD",
    "NOISE_KEPT",
    "PROTOCOL_VERSION",
    "STARTING",
    "AnswerDecoder",
    "encode_request",
]

PROTOCOL_VERSION = 1
MAX_HEADER = 65_536
"""Bytes of a request's header line, newline included; the agent reads no longer one."""
MAX_LINE = 1 << 20
"""Bytes of an answer's line. Real ones are under 2 KiB; the longest part is the state text or a list of pids."""
MAX_PAYLOAD = 1 << 20
"""Bytes of an answer's payload; queries are capped so that no honest one is longer."""
STARTING = b"checkrunner-starting"
"""The line that a patient start prints once the login shell's start-up files are through."""
MAX_NOISE = 16 << 20
"""Bytes that may come before hello. A login shell that prints more will not stop."""
NOISE_KEPT = 4096
"""Bytes that are kept of what a login shell printed before hello."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NO_INTERPRETER = b"checkrunner-no-interpreter:"
_EARLY_ERROR = b'{"t":"error","id":0,'


def encode_request(
    verb: str,
    ident: int,
    keys: Mapping[str, int | str] | None = None,
    sections: Iterable[tuple[str, bytes]] = (),
) -> bytes:
    """One request: header line and sections.

    Raises ValueError for names and values that the header cannot hold; they would be read as something else.
    """
    words = [verb, str(ident)]
    bodies = []
    for key, value in (keys or {}).items():
        text = str(value)
        if not _NAME.fullmatch(key) or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError(f"a request header cannot hold {key}={text!r}")
        words.append(f"{key}={text}")
    for name, body in sections:
        if not _NAME.fullmatch(name):
            raise ValueError(f"a request header cannot hold a section called {name!r}")
        words.append(f"{name}:{len(body)}")
        bodies.append(body)
    header = (" ".join(words) + "\n").encode("ascii")
    if len(header) > MAX_HEADER:
        raise ValueError(f"the request's header has {len(header)} bytes, at most {MAX_HEADER} are allowed")
    return b"".join([header, *bodies])


class AnswerDecoder:
    """Turns the bytes of one connection into answers, however they are split.

    Until the hello with `nonce` has come, everything is a login shell's noise, except the two lines that say why no
    hello will come (an error of the agent as a whole, the first stage's report that there is no interpreter) and the
    line by which a patient start says that the login shell is through.
    """

    def __init__(self, nonce: str) -> None:
        self._marker = f'{{"t":"hello","nonce":"{nonce}"'.encode()
        self._buffer = bytearray()
        self._scanned = 0
        self._offset = 0
        self._answer_at = 0
        self._greeted = False
        self._noise = bytearray()
        self._pending: tuple[Mapping[str, object], int] | None = None

    @property
    def greeted(self) -> bool:
        """Whether hello has come."""
        return self._greeted

    @property
    def noise(self) -> bytes:
        """What came before hello, at most `NOISE_KEPT` bytes of it. Before hello: all that came so far."""
        held = b"" if self._greeted else bytes(self._buffer)
        return (bytes(self._noise) + held)[:NOISE_KEPT]

    @property
    def noise_bytes(self) -> int:
        """How much has come that is no answer, as long as hello has not come; 0 afterwards."""
        return 0 if self._greeted else self._offset + len(self._buffer)

    @property
    def unfinished(self) -> bytes:
        """The start of an answer that did not end yet: what was lost when the stream ended."""
        return bytes(self._buffer[:NOISE_KEPT])

    def feed(self, data: bytes) -> list[Answer]:
        """The answers that `data` completes, in order. Raises ProtocolError; the decoder is then of no further use."""
        self._buffer += data
        out: list[Answer] = []
        if not self._greeted:
            while (early := self._seek_hello()) is not None:
                out.append(early)
            if not self._greeted:
                return out
        while (answer := self._next()) is not None:
            out.append(answer)
        return out

    def _seek_hello(self) -> Answer | None:
        """Go through the lines before hello in order, however they were cut: the next one that says something."""
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            at = self._buffer.find(self._marker, 0, end if end >= 0 else len(self._buffer))
            if at >= 0:
                self._drop_noise(at)
                self._greeted = True
                self._scanned = 0
                return None
            if end < 0:
                break
            self._scanned = 0
            early = _early_answer(bytes(self._buffer[:end]))
            if isinstance(early, Starting):
                self._consume(end + 1)
            else:
                self._drop_noise(end + 1)
            if early is not None:
                return early
        self._scanned = len(self._buffer)
        if len(self._buffer) > MAX_LINE:
            self._drop_noise(len(self._buffer) - len(self._marker))
            self._scanned = len(self._buffer)
        return None

    def _drop_noise(self, count: int) -> None:
        room = NOISE_KEPT - len(self._noise)
        if room > 0:
            self._noise += self._buffer[: min(count, room)]
        self._consume(count)

    def _consume(self, count: int) -> None:
        del self._buffer[:count]
        self._offset += count

    def _next(self) -> Answer | None:
        if self._pending is None and not self._read_line():
            return None
        assert self._pending is not None
        fields, size = self._pending
        if len(self._buffer) < size:
            return None
        payload = bytes(self._buffer[:size])
        self._consume(size)
        self._pending = None
        try:
            return read_answer(fields, payload)
        except MalformedError as error:
            self._refuse(str(error))

    def _read_line(self) -> bool:
        self._answer_at = self._offset
        end = self._buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._buffer)
            if len(self._buffer) > MAX_LINE:
                self._refuse(f"a line of more than {MAX_LINE} bytes")
            return False
        if end > MAX_LINE:
            self._refuse(f"a line of more than {MAX_LINE} bytes")
        try:
            fields = _parse(bytes(self._buffer[:end]))
            size = _payload_size(fields)
        except MalformedError as error:
            self._refuse(str(error))
        self._consume(end + 1)
        self._scanned = 0
        self._pending = fields, size
        return True

    def _refuse(self, why: str) -> NoReturn:
        raise ProtocolError(f"the host sent what the protocol does not allow: {why} (at byte {self._answer_at})")


def _early_answer(line: bytes) -> Answer | None:
    """The answer that a line before hello amounts to, or None when it is noise."""
    line = line.rstrip(b"\r")
    if line.startswith(_NO_INTERPRETER):
        tried = line[len(_NO_INTERPRETER) :].decode("utf-8", "replace").strip()
        return NoInterpreter(tried=tried)
    if line == STARTING:
        return Starting()
    if line.startswith(_EARLY_ERROR):
        try:
            answer = read_answer(_parse(line), b"")
        except MalformedError:
            return None
        return answer if isinstance(answer, AgentFailure) else None
    return None


def _parse(line: bytes) -> Mapping[str, object]:
    try:
        fields = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise MalformedError("JSON that is nested too deeply") from None
    except ValueError as error:
        shown = line[:80].decode("utf-8", "backslashreplace")
        raise MalformedError(f"not a line of JSON: {shown!r} ({error})") from None
    if not isinstance(fields, dict):
        raise MalformedError("a line that is not a JSON object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise MalformedError(f"{name} is not a number")


def _payload_size(fields: Mapping[str, object]) -> int:
    size = fields.get("payload", 0)
    if type(size) is not int or size < 0:
        raise MalformedError(f"payload is {shown(size)}, not a number of bytes")
    if size > MAX_PAYLOAD:
        raise MalformedError(f"a payload of {size} bytes, at most {MAX_PAYLOAD} are allowed")
    return size
