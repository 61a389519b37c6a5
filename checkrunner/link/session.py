"""The remote side of one host over a byte stream: many requests in flight, told apart by their ids.

Knows the protocol; nothing of SSH, processes or when to start over (`starting` does).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Sequence

from checkrunner.link.answers import AgentFailure, Answer, Bye, Done, Hello, Need, NoInterpreter, ResultAnswer, Starting
from checkrunner.link.calls import Calls, raw_slice, slice_or_error
from checkrunner.link.outbox import Outbox
from checkrunner.link.payload import LATER, Payload, load_part
from checkrunner.link.questions import Questions
from checkrunner.link.requests import answer_request, asks, capped, part_request
from checkrunner.link.resuming import RESUME_PART, Comeback, take_over, token_of
from checkrunner.link.shapes import each_alone, in_whole
from checkrunner.link.starting import Link, Starter
from checkrunner.link.staying import KEEPING_PART
from checkrunner.link.wire import MAX_NOISE, encode_request
from checkrunner.model.errors import HostError, ProtocolError, SessionLostError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import OnPrompt, Step
from checkrunner.model.results import RawSlice, Result, SliceMode, SliceQuery
from checkrunner.model.seams import Transport
from checkrunner.model.sources import Secret

__all__ = ["FramedSession", "open_session"]

# How long `aclose` waits for a peer that does not read to take the last request. Closing ends it anyway.
_BYE_S = 1.0
# How long an agent that was started may take to its hello before its input counts as swallowed. Far more than Python
# needs to start on a busy host; and a patient start then has all of the time for hello.
_EAGER_HELLO_S = 3.0
# How often a start-up file that reads gets an empty line.
_NUDGE_S = 0.3
# How long a connection lasts before the agent gets what it needs to outlast it: most runs are over by then.
_LASTING_S = 0.5


async def open_session(
    transport: Transport,
    host: Host,
    *,
    options: SessionOptions,
    timeout_s: float,
    payload: Payload | None = None,
) -> FramedSession:
    """Connect and start the agent, without waiting for its hello: requests go out behind ours at once.

    Raises ConnectError members. What goes wrong later (no interpreter, no hello, a hello that is none) is raised by
    `ready`, and by every call in flight: BootstrapError members. `payload` is what is started there, if not the agent.
    """
    session = FramedSession(Starter(transport, host, options, timeout_s, payload))
    await session.start()
    return session


class FramedSession:
    """Implements `model.seams.Session` over the channels that a `Starter` opens.

    A link that is lost is replaced once: calls in flight then go on, but for the commands that ran.
    """

    def __init__(self, starter: Starter) -> None:
        self.agent, self.user, self.uid = "", "", -1
        self.notes: list[str] = []
        self._starter = starter
        self._link: Link | None = None
        self._calls = Calls()
        self._back = Comeback(starter.reconnect_s)
        self._token, self._last_id, self._parts = "", 0, set(LATER)
        self._out = Outbox(self._sending_failed)
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        self._ready: asyncio.Future[None] = loop.create_future()
        self._error: HostError | None = None
        self._reader: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """Open the first channel. Called once, by `open_session`."""
        self._link = await self._starter.first()
        self._greet(self._link)
        self._reader = asyncio.ensure_future(self._read())

    async def over(self, within_s: float) -> HostError | None:
        """What has ended it, or does within that time; None where it stands."""
        if self._error is None and self._reader is not None:
            await asyncio.wait({self._reader}, timeout=within_s)
        return self._error

    async def ready(self) -> None:
        """Return when the agent has said hello; `agent` is then set. Raises what kept it from doing so.

        Costs a round trip that `run` does not need: call it only where the answer matters by itself.
        """
        await asyncio.shield(self._ready)

    @property
    def began(self) -> bool:
        """Whether the agent has said hello, or is known not to."""
        return self._ready.done()

    def when_ready(self, tell: Callable[[], None]) -> None:
        """Call `tell` once the agent has said hello, or will not; soon where that is so already."""
        self._ready.add_done_callback(lambda _: tell())

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step; see the seam. Its early slices are asked for right behind it."""
        ident = self._next_id()
        if on_prompt is None or not asks(step.command, somebody=True):
            return await self._run(ident, step, on_state, None)
        questions = Questions(on_prompt, functools.partial(self._reply, ident))
        async with contextlib.aclosing(questions):
            return await self._run(ident, step, on_state, questions)

    async def _run(
        self, ident: int, step: Step, on_state: Callable[[Observation], None] | None, questions: Questions | None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        self._starter.stay.ran(ident, step)
        queries = [capped(query) for query in step.early]
        frame, run = self._calls.ask_run(ident, step, on_state, questions)
        frames, slices = [frame], []
        for query in queries:
            frame, future = self._calls.ask_slice(self._next_id(), ident, query)
            frames.append(frame)
            slices.append(future)
        self._send(b"".join(frames))
        try:
            answer = await run
            assert isinstance(answer, ResultAnswer)
            result = self._back.told(answer.result)  # before its slices, which may have to come over another link
            early = [await slice_or_error(future, query) for future, query in zip(slices, queries, strict=True)]
        finally:
            for future in slices:
                future.cancel()
        return result, early

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output; see the seam."""
        if query.mode is SliceMode.PACKED:
            self._give(KEEPING_PART)
        asked = in_whole(capped(query), result.output(query.stream))
        frame, future = self._calls.ask_slice(self._next_id(), result.seq, asked)
        self._send(frame)
        return each_alone(raw_slice(await future, asked), query)

    async def cancel(self) -> None:
        """End every command and wait until the host has said so; see the seam."""
        ident = self._next_id()
        if self._back.under_way:
            raise SessionLostError(self._back.why)  # what ran there has been ended, or will be without us
        frame = encode_request("cancel", ident)
        future = self._calls.expect(ident, Done, frame=frame)
        self._send(frame)
        await future

    async def aclose(self) -> None:
        """Say bye and close. The answer matters only where the end of its input would not make the agent clean up."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    def _next_id(self) -> int:
        if self._error is not None:
            raise self._error
        if self._closing is not None:
            raise SessionLostError("the session is closed")
        self._last_id += 1
        return self._last_id

    # ---- sending

    def _greet(self, link: Link) -> None:
        """Queue what starts the agent, and behind it what was asked already unless the start is a patient one."""
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.ensure_future(self._starter.watch(link))
        if link.way.password:
            return  # who watches it has to say something first
        if link.patient:
            self._nudge(link)
            return
        self._out.waiting = [link.greeting, *self._out.held]
        self._out.flush(self._link)

    def _nudge(self, link: Link) -> None:
        """Feed a start-up file that reads with empty lines, until it is through. What is left of them is ignored."""
        if link is self._link and not link.starting and not link.ended and self._closing is None:
            self._out.waiting = [b"\n"]
            self._out.flush(self._link)
            asyncio.get_running_loop().call_later(_NUDGE_S, self._nudge, link)

    def _send(self, frame: bytes) -> None:
        link = self._link
        if self._back.under_way:
            return  # it is among the calls that are sent again
        if link is None or not link.decoder.greeted:
            self._out.held.append(frame)
            if link is None or link.patient:
                return
        self._out.waiting.append(frame)
        self._out.flush(self._link)

    def _sending_failed(self, link: Link, error: SessionLostError) -> None:
        if link is self._link and self._closing is None:
            link.broken = error.message
            link.closing = asyncio.ensure_future(link.channel.aclose())  # which its reader gets to know

    # ---- receiving

    async def _read(self) -> None:
        try:
            while self._link is not None:
                ending = await self._read_link(self._link)
                if self._error is not None:
                    return
                await self._go_on(self._link, ending)
        except HostError as error:
            self._fail(self._back.failed(error))
        except BaseException:
            self._fail(SessionLostError("the reading of answers was ended"))
            raise

    async def _read_link(self, link: Link) -> str:
        """Read to the end of a link; returns why it ended, "" when the peer simply ended its output."""
        try:
            while data := await self._starter.receive(link):
                for answer in link.decoder.feed(data):
                    self._take(link, answer)
                    if link.ended:
                        return ""
                if link.decoder.noise_bytes > MAX_NOISE:
                    raise self._starter.too_noisy(link)
        except SessionLostError as error:
            return error.message or "the link broke"
        return link.broken

    def _take(self, link: Link, answer: Answer) -> None:
        if isinstance(answer, Hello):
            self._greeted(link, answer)
        elif isinstance(answer, Starting):
            self._started(link)
        elif isinstance(answer, Bye | NoInterpreter) or (isinstance(answer, AgentFailure) and not answer.id):
            link.ending = answer
        elif self._closing is not None:
            pass  # nobody waits for it any more
        elif isinstance(answer, Need):
            self._send_part(answer.part)
        else:
            self._calls.take(answer)

    def _send_part(self, name: str) -> None:
        """Send a part of the agent that it asks for. Each can be asked for once: more would be a flood."""
        if name not in self._parts:
            raise ProtocolError(f"the host asked for a part {name!r}, which it has or which does not exist")
        self._parts.discard(name)
        self._tell(lambda ident: part_request(ident, name, load_part(name)))

    def _reply(self, of: int, answer: Secret | None) -> None:
        """Send what to type. It is refused where the command has ended meanwhile."""
        self._tell(lambda ident: answer_request(ident, of, answer))

    def _tell(self, request: Callable[[int], bytes]) -> None:
        """Send a request, made of its id, whose answer nobody waits for."""
        if self._closing is None and self._error is None:
            ident = self._next_id()
            future = self._calls.expect(ident, Done)
            future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
            self._send(request(ident))

    def _started(self, link: Link) -> None:
        if link.starting:
            return
        link.starting = True
        if link.patient:
            self._out.waiting = [link.greeting]
            self._out.flush(self._link)
        else:
            link.hello_by = min(link.hello_by, asyncio.get_running_loop().time() + _EAGER_HELLO_S)

    def _greeted(self, link: Link, hello: Hello) -> None:
        if link.hello is not None:
            raise ProtocolError("the host said hello twice")
        self._starter.check_hello(link, hello)
        link.hello = hello
        self.agent, self.user, self.uid = hello.summary, hello.user, hello.uid
        self.notes += [note for note in self._starter.notes(link, hello) if note not in self.notes]
        self._token = token_of(hello.directory)
        if self._back.under_way:
            if self._starter.resume is None or link.way.in_shell:
                self._come_back(whole=False)
            return
        if self._starter.linger_s and not link.way.in_shell:
            asyncio.get_running_loop().call_later(_LASTING_S, self._lasting, link)
        if link.patient:
            self._out.waiting += self._out.held
            self._out.flush(self._link)
        self._out.held = []
        if not self._ready.done():
            self._ready.set_result(None)

    async def _go_on(self, link: Link, broken: str) -> None:
        """A link has ended: start over where that can help, else raise what to tell."""
        if link.decoder.greeted or broken:
            lost = self._calls.lost(broken or link.why_ended(), self._began)
            known = link.decoder.greeted or self._back.under_way
            if self._closing is not None or not known or not self._back.possible(link):
                raise lost
            await self._reconnect(link, lost.message)
            return
        again = self._starter.next_way(link)
        await self._leave(link)
        self._link = await self._starter.again(again)
        self._greet(self._link)

    async def _leave(self, link: Link) -> None:
        self._link = None
        await self._out.stop()
        await link.channel.aclose(kill=not link.decoder.greeted)

    # ---- a lost link

    def _lasting(self, link: Link) -> None:
        """Give the agent what it needs to outlast this link."""
        if link is self._link and not self._back.under_way:
            self._give(RESUME_PART)

    def _give(self, name: str) -> None:
        """Send a part of the agent that it does not ask for, once. The one in shell has no parts."""
        if name in self._parts and self._link is not None and not self._link.way.in_shell:
            self._parts.discard(name)
            self._tell(lambda ident: part_request(ident, name, load_part(name)))

    async def _reconnect(self, link: Link, why: str) -> None:
        self._back.begin(why)
        await self._leave(link)
        if self._token:
            ident = self._next_id()
            self._calls.expect(ident, Done).add_done_callback(self._taken_over)
            self._starter.resume = take_over(self._token, ident)
        self._token, self._parts = "", set(LATER) - {RESUME_PART}
        self._link = await self._back.connect(self._starter, link)
        self._greet(self._link)

    def _taken_over(self, done: asyncio.Future[object]) -> None:
        if not done.cancelled() and self._error is None:
            self._come_back(whole=done.exception() is None)

    def _come_back(self, *, whole: bool) -> None:
        """The new agent is ready: go on with all calls in flight, but for what must not be run twice."""
        self.notes += self._back.succeed(self._calls, whole=whole)
        requests = self._calls.requests()
        if self._calls.packed:
            self._give(KEEPING_PART)
        self._out.waiting.append(requests)
        self._out.flush(self._link)

    # ---- endings

    def _fail(self, error: HostError) -> None:
        self._error = self._error or error
        self._calls.fail(self._error)
        if not self._ready.done():
            self._ready.set_exception(self._error)
            self._ready.exception()

    async def _close(self) -> None:
        link, reader = self._link, self._reader
        if link is not None:
            if self._error is None and link.decoder.greeted:
                self._out.waiting += self._starter.stay.farewell(link, self._parts, self._last_id)
                self._out.flush(self._link)
            await self._out.stop(within_s=_BYE_S)
        outlasts = RESUME_PART not in self._parts and not self._back.done
        lasts = self._error is None and (outlasts or self._starter.stay.is_wanted)
        self._fail(SessionLostError("the session was closed"))
        if reader is not None and link is not None and lasts:
            # A server that loses its client may drop what it did not hand on, and without bye the agent would wait.
            await asyncio.wait({reader}, timeout=self._starter.stay.farewell_s)
        running = {task for task in (reader, self._watching) if task is not None}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        # The reader may have been about to start over: whichever channel there is now.
        link = self._link or link
        if link is not None:
            # Without hello there may be a login shell that hangs in its start-up files: it does not see our end.
            await link.channel.aclose(kill=not link.decoder.greeted)
