"""The requests of one session that are not answered yet, and which answers they allow.

The other end may be hostile: an answer that nobody asked for, a second one, one that is larger than what was asked for,
or a flood of reports is a ProtocolError.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from checkrunner.link.answers import AgentFailure, Answer, Asking, Done, ResultAnswer, Running, SliceAnswer
from checkrunner.link.questions import Questions
from checkrunner.link.requests import run_request, slice_request
from checkrunner.model.errors import AgentError, HostError, ProtocolError, SessionLostError
from checkrunner.model.observation import Observation
from checkrunner.model.plan import PromptText, Step
from checkrunner.model.results import Execution, RawSlice, Result, SliceMode, SliceQuery

__all__ = ["Calls", "raw_slice", "slice_or_error"]

# An agent reports a command's state once a second at most. These are bounds for one that does not keep to that: so many
# reports at once, and so many a second.
_REPORTS_AT_ONCE = 100
_REPORTS_A_SECOND = 10

_MOST_PROMPTS = 100
"""Questions of one command. Somebody has to answer each of them, so this is far more than any command has."""

_OnState = Callable[[Observation], None]
_Asked = Callable[[PromptText], None]


_Routed = ResultAnswer | SliceAnswer | Done | Running | Asking | AgentFailure


@dataclass(slots=True)
class _Call:
    """A request; `query` is set for slices, `on_state` and `asked` may be for commands. `frame` is what was sent, where
    it is to be sent again over another link; `session`, `began` and `seen` are of commands: when it began as far as is
    known, and what it was last seen doing."""

    future: asyncio.Future[object]
    kind: type[Answer]
    since: float
    query: SliceQuery | None = None
    on_state: _OnState | None = None
    asked: _Asked | None = None
    frame: bytes = b""
    session: str = ""
    began: float = 0.0
    seen: Observation | None = None
    reports: int = 0
    prompts: int = 0


class Calls:
    """What is in flight, by the requests' ids. A call whose caller has gone stays until its answer comes."""

    def __init__(self) -> None:
        self._open: dict[int, _Call] = {}
        self._answered_at: dict[str, float] = {}

    @property
    def outstanding(self) -> int:
        """How many answers somebody waits for."""
        return sum(not call.future.done() for call in self._open.values())

    def expect(
        self,
        ident: int,
        kind: type[Answer],
        *,
        query: SliceQuery | None = None,
        on_state: _OnState | None = None,
        asked: _Asked | None = None,
        frame: bytes = b"",
        session: str = "",
    ) -> asyncio.Future[object]:
        """The future of the answer, which is of `kind`; AgentError where the host refuses the request. `asked` is told
        what a command asks; without it none may. `frame` is the request, unless it concerns this link alone; `session`
        the one that a command runs in."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[object] = loop.create_future()
        self._open[ident] = _Call(future, kind, loop.time(), query, on_state, asked, frame, session)
        return future

    def ask_run(
        self, ident: int, step: Step, on_state: _OnState | None, questions: Questions | None
    ) -> tuple[bytes, asyncio.Future[object]]:
        """The request of a command, and the future of its answer. Raises AgentError for one that cannot be sent."""
        try:
            frame = run_request(ident, step, somebody=questions is not None)
        except ValueError as error:
            raise AgentError(f"the command cannot be sent: {error}") from error
        asked = questions.asked if questions else None
        name = step.command.session
        return frame, self.expect(ident, ResultAnswer, on_state=on_state, asked=asked, frame=frame, session=name)

    def ask_slice(self, ident: int, of: int, query: SliceQuery) -> tuple[bytes, asyncio.Future[object]]:
        """The same for a slice of the run `of`."""
        try:
            frame = slice_request(ident, of, query)
        except ValueError as error:
            raise AgentError(f"the query cannot be sent: {error}") from error
        return frame, self.expect(ident, SliceAnswer, query=query, frame=frame)

    def take(self, answer: _Routed) -> None:
        """Hand an answer to whoever waits for it. Raises ProtocolError for one that nobody can have asked for."""
        call = self._open.get(answer.id)
        if isinstance(answer, Running):
            self._report(call, answer)
            return
        if isinstance(answer, Asking):
            _ask(call, answer)
            return
        refused = isinstance(answer, AgentFailure)
        if call is None or not (refused or isinstance(answer, call.kind)):
            raise _unasked(answer)
        if isinstance(answer, SliceAnswer) and call.query is not None:
            _check_slice(answer, call.query)
        del self._open[answer.id]
        if call.session:
            self._answered_at[call.session] = asyncio.get_running_loop().time()
        if call.future.done():
            return
        if isinstance(answer, AgentFailure):
            call.future.set_exception(AgentError(answer.message or answer.kind))
        elif isinstance(answer, ResultAnswer) and answer.result.execution is Execution.LOST:
            seen = answer.result.seen or call.seen
            call.future.set_result(replace(answer, result=replace(answer.result, seen=seen)))
        else:
            call.future.set_result(answer)

    def requests(self) -> bytes:
        """What is to be sent over another link: the requests whose answers somebody waits for, in their order. What
        concerned the old link alone is forgotten."""
        self._open = {ident: call for ident, call in self._open.items() if call.frame and not call.future.done()}
        return b"".join(call.frame for call in self._open.values())

    @property
    def packed(self) -> bool:
        """Whether somebody waits for a packed part of an output."""
        return any(call.query is not None and call.query.mode is SliceMode.PACKED for call in self._open.values())

    @property
    def sessions(self) -> set[str]:
        """The sessions in which a command has ended or may have begun."""
        return {call.session for call in self._open.values() if call.session} | set(self._answered_at)

    def give_up_begun(self, note: str, at: float) -> None:
        """End the commands that may have begun when the link was lost, at the time `at`: in each session the first one
        without an answer. They must not be run again."""
        sessions = set()
        for ident, call in list(self._open.items()):
            sent = call.kind is ResultAnswer and call.since <= at
            if sent and call.session not in sessions and not call.future.done():
                sessions.add(call.session)
                began = call.began or max(call.since, self._answered_at.get(call.session, 0.0))
                elapsed = round(max(0.0, at - began), 3)
                result = Result(
                    seq=ident,
                    session=call.session,
                    execution=Execution.LOST,
                    elapsed_s=elapsed,
                    notes=(note,),
                    seen=call.seen,
                )
                del self._open[ident]
                call.future.set_result(ResultAnswer(id=ident, result=result))

    def fail(self, error: HostError) -> None:
        """End every call with the same error."""
        calls, self._open = self._open, {}
        for call in calls.values():
            if not call.future.done():
                call.future.set_exception(error)
                # A slice's future may have nobody waiting yet; its run tells the caller.
                call.future.exception()

    def lost(self, why: str, began: float) -> SessionLostError:
        """The error for a link that was opened at the time `began` and has ended."""
        elapsed = asyncio.get_running_loop().time() - began
        return SessionLostError(
            f"the link ended {elapsed:.1f} s after it was opened, with {self.outstanding} answers outstanding: {why}"
        )

    def _report(self, call: _Call | None, answer: Running) -> None:
        if call is None or call.kind is not ResultAnswer:
            raise _unasked(answer)
        call.reports += 1
        elapsed = asyncio.get_running_loop().time() - call.since
        if call.reports > _REPORTS_AT_ONCE + _REPORTS_A_SECOND * elapsed:
            raise ProtocolError(f"the host reported the state of request {answer.id} {call.reports} times")
        call.began = asyncio.get_running_loop().time() - answer.elapsed_s
        call.seen = answer.seen or call.seen
        if call.on_state is not None and answer.seen is not None and not call.future.done():
            call.on_state(answer.seen)


def raw_slice(answer: object, query: SliceQuery) -> RawSlice:
    """The slice that an answer to `query` holds."""
    assert isinstance(answer, SliceAnswer)
    return RawSlice(
        query=query,
        lines=answer.lines,
        total_lines=answer.total_lines,
        more_lines=answer.more_lines,
        more_shapes=answer.more_shapes,
    )


async def slice_or_error(future: asyncio.Future[object], query: SliceQuery) -> RawSlice:
    """The slice once its answer is there; one with an error where the host refuses it."""
    try:
        return raw_slice(await future, query)
    except AgentError as error:
        return RawSlice(query=query, lines=(), total_lines=0, error=error.message)


def _ask(call: _Call | None, answer: Asking) -> None:
    if call is None or call.asked is None:
        raise _unasked(answer)
    call.prompts += 1
    if call.prompts > _MOST_PROMPTS:
        raise ProtocolError(f"the command of request {answer.id} asked more than {_MOST_PROMPTS} questions")
    if not call.future.done():
        call.asked(answer.prompt)


def _unasked(answer: _Routed) -> ProtocolError:
    kind = type(answer).__name__
    return ProtocolError(f"the host answered {kind} to request {answer.id}, which asked no such thing")


def _check_slice(answer: SliceAnswer, query: SliceQuery) -> None:
    if answer.size > query.max_bytes:
        raise ProtocolError(f"the host sent {answer.size} bytes where at most {query.max_bytes} were asked for")
    most = 1 if query.mode in {SliceMode.BYTES, SliceMode.PACKED} else max(query.max_lines, 0)
    if len(answer.lines) > most:
        raise ProtocolError(f"the host sent {len(answer.lines)} lines where at most {most} were asked for")
    if any(line.number >= after.number for line, after in itertools.pairwise(answer.lines)):
        raise ProtocolError("the host sent the lines of a slice out of order")
    if query.mode is SliceMode.SALIENT:
        _check_shapes(answer, query)
    elif answer.more_shapes or any(line.tail or line.last or line.count != 1 for line in answer.lines):
        raise ProtocolError(f"the host sent shapes where {query.mode} was asked for")


def _check_shapes(answer: SliceAnswer, query: SliceQuery) -> None:
    """Each line of the output is of one shape; what is told of a shape cannot be more than there is room for."""
    for line in answer.lines:
        room = line.last - line.number
        if not 1 <= line.number <= line.last <= answer.total_lines or not (room > 0) < line.count <= room + 1:
            raise ProtocolError(
                f"the host counted {line.count} lines of a shape from line {line.number} to {line.last}"
                f" of {answer.total_lines}"
            )
        if len(line.data) + len(line.tail) > query.line_bytes:
            raise ProtocolError(f"the host sent more of a line than the {query.line_bytes} bytes that were asked for")
    counted = sum(line.count for line in answer.lines) + answer.more_lines
    if counted > answer.total_lines or answer.more_shapes > answer.more_lines:
        raise ProtocolError(
            f"the host counted {counted} lines, {answer.more_lines} of them of {answer.more_shapes} shapes that it did"
            f" not send, where the output has {answer.total_lines}"
        )
