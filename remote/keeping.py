"""Outputs that are kept when the run is over. Sent to a host before the client first asks for any.

A module beside agent.py, under the same rules.

    packed slices   a range of bytes of an output, compressed
    stay            once all is over, the captures that have names lie for a while in a directory of their own, and
                    a process that does nothing but wait removes it

That directory is locked by the process that waits: agents that start meanwhile leave it alone, and remove it like that
of any dead agent once nobody holds the lock.
"""

import fcntl
import posix as os
from zlib import compressobj

from agent import CHUNK, Refused, remove_tree, signal

# `sleep` has no part in the lock: whoever kills the shell alone leaves a directory that the next agent removes.
REAPER = b'trap \'kill $! 2>/dev/null; rm -rf "$2"; exit\' HUP INT TERM; sleep "$1" 3>&- & wait $!; rm -rf "$2"'
PATH = b":/usr/bin:/bin:/usr/sbin:/sbin"


def begin(agent):
    """Serve what only this part can."""
    kind, packed = type(agent), set()

    def serve(verb, ident, keys, values):
        if verb == "stay":
            serve_stay(agent, ident, keys, values)
        else:
            kind.serve(agent, verb, ident, keys, values)

    def serve_slice(ident, keys, values):
        if keys.get("mode") == "packed":
            packed.add(ident)
            keys = dict(keys, mode="bytes")
        kind.serve_slice(agent, ident, keys, values)

    def start_slice(ident, query, run):
        if ident in packed:
            packed.discard(ident)
            agent.jobs.append(
                (pack(agent, run.captures[query["stream"]], query), answered(agent, ident, query, run), run)
            )
        else:
            kind.start_slice(agent, ident, query, run)

    agent.serve, agent.serve_slice, agent.start_slice = serve, serve_slice, start_slice


def answered(agent, ident, query, run):
    """What is called with the answer, or with what kept it from coming."""
    capture = run.captures[query["stream"]]

    def tell(answer, error):
        capture.rest()
        if answer is None:
            agent.say({"t": "error", "id": ident, "kind": error.kind, "message": str(error)})
        else:
            words, data = answer
            agent.say(dict({"t": "slice", "id": ident, "total": capture.lines}, **words), data)

    return tell


def pack(agent, capture, query):
    """Compress a range of a capture. Yields None between chunks; a cancel ends it."""
    first = query["first"]
    size = max(0, min(query["last"] - first, query["max_bytes"]))
    newlines, offsets = capture.marks
    mark = len(offsets) - 1
    while mark and offsets[mark] > first:
        mark -= 1
    number, at = newlines[mark] + 1, offsets[mark]
    while at < first:
        piece = capture.read(at, min(CHUNK, first - at))
        if not piece:
            break
        number += piece.count(b"\n")
        at += len(piece)
        yield None
    packer, plain, packed, done = compressobj(6), [], [], 0
    while done < size:
        if agent.canceling:
            raise Refused("cancelled", "all was cancelled before the output was read")
        piece = capture.read(first + done, min(CHUNK, size - done))
        if not piece:
            break
        plain.append(piece)
        packed.append(packer.compress(piece))
        done += len(piece)
        yield None
    data = b"".join(packed) + packer.flush()
    words = {"more": 0, "lines": [[number, done, 0]]}
    if len(data) < done:
        words["unpacked"] = done
    else:
        data = b"".join(plain)
    words["payload"] = len(data)
    yield ((words, data),)


# --- captures that stay ----------------------------------------------------------------------------------------------


class Leaving(object):
    """Stands in the place of the part `resume` once the agent ends."""

    def __init__(self, inner, stay):
        self.inner = inner
        self.stay = stay

    def save(self, agent):
        for run in agent.runs.values():  # what was taken over lies in the directory of another agent, which goes now
            for stream, capture in run.captures.items():
                path = b"%s/c%d.%s" % (agent.directory or b"", run.id, stream[3:].encode())
                if capture.path is not None and capture.path != path:
                    try:
                        os.rename(capture.path, path)
                        capture.path = path
                    except OSError:
                        pass
        if self.inner is not None:
            self.inner.save(agent)

    def linger(self, agent):
        """Whether the directory is nobody's any more."""
        if self.inner is not None and not self.inner.linger(agent):
            return False
        return not hand_over(agent, *self.stay)


def serve_stay(agent, ident, keys, values):
    agent.only(keys, ("seconds", "name"), values, ("captures",))
    seconds, name = agent.number(keys, "seconds"), keys.get("name", "")
    if not name.replace("-", "a").replace("_", "a").replace(".", "a").isalnum():
        raise Refused("bad_request", "%r is no name for a directory" % name)
    captures = {}
    for line in values.get("captures", b"").split(b"\n"):
        of, _, word = line.partition(b" ")
        if not of.isdigit() or not word.strip(b".") or b"/" in word or b"\0" in word:
            raise Refused("bad_request", "captures: a line is the ID of a run and a name")
        captures[int(of)] = word

    def finish():
        agent.resume = Leaving(agent.resume, (seconds, name.encode(), captures))
        type(agent).finish(agent)

    agent.finish = finish
    agent.say({"t": "ok", "id": ident})


def hand_over(agent, seconds, name, captures):
    """Start the process that moves the captures, waits and removes them; whether there is one."""
    try:
        if os.fork():
            return True
    except OSError:
        return False
    target = None
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)  # a shell cannot trap what is ignored
        target, lock = make(name)
        if move(agent, captures, target):
            remove_tree(agent.directory)
            if lock != 3:
                os.dup2(lock, 3)
            os.set_inheritable(3, True)
            os.closerange(4, 256)
            path = os.environ.get(b"PATH", b"") + PATH
            os.execve(b"/bin/sh", [b"sh", b"-c", REAPER, b"sh", b"%d" % seconds, target], {b"PATH": path})
    finally:
        for path in (agent.directory, target):
            if path is not None:
                remove_tree(path)
        os._exit(0)


def make(name):
    """A new directory, and its lock. Not where the login's end takes everything with it, as in $XDG_RUNTIME_DIR and,
    for some users, in /dev/shm."""
    for base in (b"/var/tmp", b"/tmp", os.environ.get(b"HOME", b"")):
        for number in range(1, 10):
            path = b"%s/checkrunner-%d-kept-%s%s" % (base, os.getuid(), name, b"-%d" % number if number > 1 else b"")
            try:
                os.mkdir(path, 0o700)
                lock = os.open(path + b"/lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(lock, b"kept\n")
                return path, lock
            except FileExistsError:
                continue
            except OSError:
                break
    raise OSError


def move(agent, captures, target):
    """Give the captures their names; how many there are."""
    count = 0
    for ident, word in sorted(captures.items()):
        try:
            run = agent.runs.get(ident)
            if run is None and agent.archive is not None:
                run = agent.archive.find(agent, ident)
        except Refused:
            run = None
        for stream, capture in run.captures.items() if run is not None else ():
            if capture.kept:
                count += put(capture, b"%s/%s.%s" % (target, word, stream.encode()))
    return count


def put(capture, path):
    """Whether the capture is there now, as far as it is kept."""
    try:
        if capture.small is None:
            try:
                os.rename(capture.path, path)
                return True
            except OSError:  # another file system
                pass
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return False
    try:
        at = 0
        while at < capture.kept:
            data = capture.read(at, 1 << 20)
            while data:
                done = os.write(fd, data)
                at, data = at + done, data[done:]
        return True
    except (OSError, Refused):
        try:
            os.unlink(path)
        except OSError:
            pass
        return False
    finally:
        os.close(fd)
        capture.rest()
