"""How sessions get over a link that was lost. Sent to an agent once its connection has lasted a while; and to one that
is to go on where another was cut off, before anything else.

A module beside agent.py, under the same rules.

    begin     take over from the agent that `resume` of hello names
    save      when the stream has ended without bye: note what there is to hand on
    linger    wait for the agent that takes over

Hand-over: the new agent makes the file `wanted` in the old one's directory, and sends it SIGTERM, since an agent need
not know that its link is dead. The old one ends its commands, has its notes in the file `state`, and ends itself, which
frees the lock. Then the directory with its captures is the new one's, and so is a new lock.
"""

import fcntl
import marshal
import posix as os
import select
import time

from agent import CHUNK, MARKER, Capture, Refused, Run, kill, remove_tree, signal

TAKE_S = 5.0  # for the old agent to end
BYE_S = 1.0  # for the end of our input, once nobody reads our output
LOOK_S = 0.05
KEPT = ("path", "bytes", "kept", "newlines", "kept_newlines", "last", "marks", "small")  # of a capture
NOTES = []  # what is handed on, once there is something
TAKEN = []  # (directory, lock) of the agent that was taken over


# --- the old one -----------------------------------------------------------------------------------------------------


def save(agent):
    """Note results, captures and the sessions' states, where somebody may want them. Says nothing any more."""
    for path, lock in TAKEN:
        remove_tree(path)
        os.close(lock)
    if agent.directory is None:
        return
    wanted = os.access(agent.directory + b"/wanted", os.F_OK)
    if wanted or (agent.ending == "" and agent.linger and not agent.ended_by and not is_farewell(agent)):
        try:
            agent.outbox, agent.say = b"", lambda answer, payload=b"": None
            NOTES.append(notes_of(agent))
        except Exception as error:  # whatever it was: everything has to be ended and removed all the same
            os.write(2, ("checkrunner-agent: %s\n" % agent.explain(error)).encode("utf-8", "replace"))


def is_farewell(agent):
    """Whether `bye` is among what was not read yet: who says it may have closed our output before we saw it."""
    rest, until = bytes(agent.inbox), time.monotonic() + BYE_S
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    while time.monotonic() < until:
        waiting.poll(50)
        try:
            data = os.read(0, CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            data = b""
        if not data:
            break
        rest = rest[-CHUNK:] + data
    return rest.rstrip(b"\n").rpartition(b"\n")[2].startswith(b"bye ")


def notes_of(agent):
    until = time.monotonic() + 1.0
    while agent.jobs and time.monotonic() < until:  # probes: their results count as said
        agent.work()
    sessions, queued, lost, over = [], [], [], list(agent.ended)
    for session in agent.everyone():
        if session.run is not None and session.run.started:
            last_look(session, session.run)
        queued += [run.id for run in session.queue if not run.started]
        lost += [run for run in [session.run] + session.queue if run is not None and run.started]
        if session.held is not None:
            over.append(session.held[0])
        if session is not agent.spare and session.state is not None:
            sessions.append(session_notes(session))
    for run in lost + [job[2] for job in agent.jobs if not job[2].done]:
        run.execution, run.rc, run.elapsed = "lost", None, time.monotonic() - run.started
        run.note("link_lost")
        over.append(run)
    for run in over:
        for capture in run.captures.values():
            capture.close()
    return {
        "runs": [(run.id, run.result(), [captured(one) for one in run.captures.values()]) for run in over],
        "queued": queued,
        "idents": agent.idents,
        "sessions": sessions,
    }


def last_look(session, run):
    """What the command does that ends here, and what it has written so far."""
    if session.agent.states is not None and not run.ending:
        session.agent.states.look_last(session, run, time.monotonic())
    for name, pipe in session.streams.items():
        try:
            data = os.read(pipe.fd, CHUNK)
            while data:
                run.captures[name].feed(data)
                data = os.read(pipe.fd, CHUNK)
        except OSError:
            pass


def captured(capture):
    notes = [getattr(capture, name) for name in KEPT[:-1]]
    return notes + [None if capture.small is None else bytes(capture.small)]


def session_notes(session):
    """Its state as after the loss of its shell: that of before the command that ran."""
    state, run = session.state, session.run
    pwd = state.pwd
    if session.phase in ("boot", "restore") and session.restoring[0] is not None:
        state, pwd = session.restoring
    elif run is not None and run.came_from is not None and pwd == run.entered:
        pwd = run.came_from[0]
    return session.name, type(state).__name__, state.__dict__, pwd


def linger(agent):
    """Wait to be taken over; whether the directory is nobody's any more."""
    if not NOTES:
        return True
    try:
        write(agent.directory + b"/state", marshal.dumps(NOTES[0], 2))
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):  # whoever carries the stream need not wait for us
            os.dup2(null, fd)
    except (OSError, ValueError):
        return True
    agent.ended_by, until = 0, time.monotonic() + agent.linger
    signal.signal(signal.SIGTERM, agent.on_signal)
    while not os.access(agent.directory + b"/wanted", os.F_OK):
        if agent.ended_by or time.monotonic() > until or not os.access(agent.directory + b"/state", os.F_OK):
            return True
        time.sleep(LOOK_S)
    try:
        # Without a lock it is nobody's for a minute: other agents would remove one that nobody holds.
        os.unlink(agent.directory + b"/lock")
    except OSError:
        pass
    return False


def write(path, data):
    fd = os.open(path + b".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        done = 0
        while done < len(data):
            done += os.write(fd, data[done:])
    finally:
        os.close(fd)
    os.rename(path + b".new", path)


# --- the new one -----------------------------------------------------------------------------------------------------


def begin(agent):
    """Go on where the agent was cut off that hello names, if it names one. Raises Refused where that cannot be done."""
    token = agent.hello.get("resume", "").encode()
    if token:
        notes = take(agent, token)
        adopt_runs(agent, notes)
        for name, kind, values, pwd in notes["sessions"]:
            adopt_session(agent, name, kind, values, pwd)


def take(agent, token):
    """End the old agent and get its notes."""
    for base in agent.bases:
        path = base + b"/checkrunner-" + token
        try:
            if os.lstat(path).st_uid != os.getuid():
                continue
            lock = os.open(path + b"/lock", os.O_RDWR)
        except OSError:
            continue
        try:
            if not is_free(lock):
                os.close(os.open(path + b"/wanted", os.O_WRONLY | os.O_CREAT, 0o600))
                kill(int(token.split(b"-")[1]), signal.SIGTERM)
                until = time.monotonic() + TAKE_S
                while not is_free(lock):
                    if time.monotonic() > until:
                        raise Refused("storage", "the agent that was cut off does not end")
                    time.sleep(0.01)
                os.close(lock)
                lock = os.open(path + b"/lock", os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            TAKEN.append((path, lock))
            return marshal.loads(whole(path + b"/state"))
        except (OSError, ValueError, EOFError, IndexError, TypeError):
            break
    raise Refused("storage", "the agent that was cut off has left nothing")


def is_free(lock):
    """Whether its holder is gone; then it is ours."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False


def whole(path):
    data = b""
    fd = os.open(path, os.O_RDONLY)
    try:
        piece = os.read(fd, 1 << 20)
        while piece:
            data += piece
            piece = os.read(fd, 1 << 20)
    finally:
        os.close(fd)
    return data


def adopt_runs(agent, notes):
    """Old runs answer slices; and who asks for one of them again gets its result instead of another run."""
    results = {}
    for ident, result, captures in notes["runs"]:
        run = agent.runs[ident] = Run(ident, result["session"])
        run.done = True
        for name, values in zip(("stdout", "stderr"), captures):
            capture = run.captures[name] = Capture(agent.store, None, 0)
            for key, value in zip(KEPT, values):
                setattr(capture, key, value)
            agent.store.left -= capture.kept
        results[ident] = result

    def serve_run(ident, keys, values):
        known = notes["idents"].get(ident >> 10, 0) >> (ident & 1023) & 1
        if ident in results:
            agent.say(results.pop(ident))
        elif known and ident not in notes["queued"]:  # so long ago that its result is not kept
            session = keys.get("session", "")
            agent.say({"t": "result", "id": ident, "session": session, "execution": "lost", "notes": ["link_lost"]})
        else:
            type(agent).serve_run(agent, ident, keys, values)

    agent.serve_run = serve_run


def adopt_session(agent, name, kind, values, pwd):
    """A session that goes on as after the loss of its shell."""
    session = agent.session(name)
    if kind != session.report_of.__name__:
        raise Refused("storage", "the sessions were in another kind of shell")
    state = session.report_of.__new__(session.report_of)
    state.__dict__.update(values)
    # What the state says of the environment is the old agent's, down to the mark by which it knew its own.
    state.extra = state.extra + b"\n" + MARKER + b"=" + session.marker + b"\n"
    kill(session.shell, signal.SIGKILL)
    session.drop_shell()
    session.replace(state, pwd)
