"""The agent: the remote half of checkrunner, one file, standard library only, Python 3.6 and later.

It is executed from memory with its standard input and output as the byte stream of docs/protocol.md, keeps named bash
sessions, copies what commands write into captures, and answers questions about them. `WRAPPER`, the text of wrapper.sh,
`DIGEST`, the name of this source, and `assemble`, which makes a module of a part that comes later (states.py,
endings.py, prompts.py, archive.py), are globals that the loader sets.

Starting is most of what a host pays. So only what is needed at once is imported, JSON is written by hand, and each
function is compiled when it is called first (checkrunner/link/pieces.py). Hence two rules for this file: no statement
outside of functions calls a function of this file, and the default of an argument is a constant.

    Agent      the event loop: requests in, answers out, timers, the end
    Session    one bash: its pipes, its pseudo-terminal, the command that runs, how it is lost and replaced
    Run        one command and what is known of it
    Capture    one output of one command: counted and indexed while it is copied
    scans      generators that read captures in small steps (probes, slices), so that no question stops the loop
"""

import _signal as signal  # the `signal` module makes enums of these numbers, which costs more than all the rest
import errno
import fcntl
import posix as os  # the `os` module takes a millisecond to import, and these functions come from here anyway
import select
import sys
import time
from _codecs import utf_8_decode

WRAPPER = globals().get("WRAPPER", b"")
DIGEST = globals().get("DIGEST", "")
ASSEMBLE = globals().get("assemble")

VERSION = 1
CHUNK = 65536  # what a pipe holds: one read takes all of it
HEADER_MAX = 65536
SECTIONS_MAX = 32 << 20
STATE_MAX = 4 << 20  # of a session's variables and functions; a larger state is not kept
INLINE_MAX = 2048  # a longer command goes over a pipe of its own: bash reads its script byte by byte
SMALL = 4096  # an output up to this stays in memory
MEMORY_CAP = 256 << 10  # of a stream, where no directory can hold captures
MEMORY_HOST = 4 << 20
INDEX_STEP = 128 << 10  # bytes between two entries of a line index
FAST_DIGEST = 1 << 20  # from here on OpenSSL is worth its import
LINE_MAX = 1 << 20  # of a line, the bytes that a pattern is looked for in
RECENT = 64  # runs that have ended and stay as they are; twice as many, and the older half goes where archive.py says
LATE_MAX = 64  # outputs that background processes still hold and that are read to nowhere
TAIL_MAX = 4096  # of what was written to the terminal
BOOT_S = 10.0  # for bash to start, and for lines of ours to come back
NEED_S = 0.25  # what a command may take before the code that looks at processes and ends them is asked for
PART_S = 5.0  # for that code to come when a command has to be ended
QUIET_S = 1.0  # what a command may take before anybody looks at its processes
CONFIRM_S = 0.25  # from the first look to the second: what is seen in both is believed
LOOK_S = 1.0  # between two looks from then on
HURRY_S = 0.1  # the same three, where a question may be answered
REGEX_S = 3.0  # for one step of a pattern over at most CHUNK bytes and one line
END_S = 3.0  # for everything to end
MARKER = b"CHECKRUNNER_SHELL"  # in the environment of everything that a session starts

FIELDS = (
    "head tag version pwd oldpwd flags exit_trap options shopts variables functions function_flags aliases traps umask "
    "dirs positional end"
).split()

REPORT_HEAD = b"checkrunner-report"

HELLO_KEYS = {"v", "nonce", "host_bytes", "max_sessions", "linger", "resume"}
END_KEYS = ("duration_ms", "sample_ms", "sample_count", "keep")
RUN_KEYS = {"session", "timeout_ms", "cap", "input", "stdin"}.union(END_KEYS)
RUN_SECTIONS = {"command", "cwd", "become", "requires"}
SLICE_KEYS = set("of stream mode first last before after max_lines max_bytes line_bytes".split())
SLICE_MODES = "head tail lines bytes match salient".split()


class Refused(Exception):
    """A request that cannot be served; `kind` and the message go to the client."""

    def __init__(self, kind, message):
        Exception.__init__(self, message)
        self.kind = kind


class Broken(Exception):
    """The stream of requests cannot be understood any further."""

    def __init__(self, kind, message):
        Exception.__init__(self, message)
        self.kind = kind


class Gone(Exception):
    """The client is not there any more."""


class TooSlow(Exception):
    """A pattern takes too long."""


# --- text ------------------------------------------------------------------------------------------------------------


class Escapes(dict):
    """What `str.translate` puts for a character, worked out when it comes up."""

    def __missing__(self, code):
        named = {34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t", 13: "\\r"}
        if 0xD800 <= code < 0xE000:  # half of a pair, which UTF-8 cannot say
            new = "\ufffd"
        elif code < 32 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029):
            new = "\\u%04x" % code
        else:
            new = chr(code)
        return named.get(code, new)


ESCAPES = Escapes()


def json(value):
    """JSON text of str, int, float, bool, None, list, tuple and dict."""
    if isinstance(value, str):
        if value.isprintable() and '"' not in value and "\\" not in value:
            return '"' + value + '"'
        return '"' + value.translate(ESCAPES) + '"'
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "%.6f" % value
    if isinstance(value, dict):
        return "{" + ",".join([json(k) + ":" + json(v) for k, v in value.items()]) + "}"
    return "[" + ",".join([json(v) for v in value]) + "]"


def text(data):
    return data.decode("utf-8", "replace")


def quote(data):
    """`data` as one word of bash."""
    return b"'" + data.replace(b"'", b"'\\''") + b"'"


def path_word(data):
    """A path as one word of bash; a tilde at its start is the home directory."""
    if data == b"~" or data.startswith(b"~/"):
        return b'"${HOME-}"' + quote(data[1:])
    return quote(data)


def parts_of(wrapper):
    """The parts of wrapper.sh by name, without comments."""
    parts, lines = {}, []
    for line in wrapper.split(b"\n"):
        if line.startswith(b"#:"):
            lines = parts.setdefault(line[2:].strip().decode(), [])
        elif line and not line.startswith(b"#"):
            lines.append(line)
    return {name: b"\n".join(lines) + b"\n" for name, lines in parts.items()}


def fill(part, **words):
    """A part of the wrapper with its @WORDS@ put in; a value is never searched for further words."""
    out = []
    pieces = part.split(b"@")
    for i, piece in enumerate(pieces):
        if i % 2:
            out.append(words[piece.decode()])
        else:
            out.append(piece)
    return b"".join(out)


# --- the kernel's view -----------------------------------------------------------------------------------------------


def slurp(path, size=65536):
    """The first `size` bytes of a file; b"" where it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, size)
    except OSError:
        return b""
    finally:
        os.close(fd)


class Process(object):
    """A line of /proc/PID/stat."""

    __slots__ = ("pid", "comm", "state", "ppid", "pgrp", "sid", "tty", "front", "own", "ticks", "threads", "start")

    def __init__(self, pid, data):
        # The name is in parentheses and may hold spaces and parentheses itself: the last one closes it.
        left, right = data.index(b"("), data.rindex(b")")
        rest = data[right + 2 :].split()
        self.pid = pid
        self.comm = text(data[left + 1 : right])
        self.state = rest[0].decode()
        if self.state == "D" and slurp("/proc/%d/wchan" % pid).endswith((b"do_fork", b"kernel_clone")):
            # It waits for a child to start its program (`vfork`), and holds no lock. Under load shells do little else.
            self.state = "V"
        self.ppid = int(rest[1])
        self.pgrp = int(rest[2])
        self.sid = int(rest[3])
        self.tty = int(rest[4])  # the controlling terminal's device number
        self.front = int(rest[5])  # the foreground group of that terminal
        self.own = int(rest[11]) + int(rest[12])
        self.ticks = self.own + int(rest[13]) + int(rest[14])
        self.threads = int(rest[17])
        self.start = int(rest[19])


def process(pid, path=""):
    """The process, or None; with the path of its stat, a thread."""
    data = slurp(path or "/proc/%d/stat" % pid)
    try:
        return Process(pid, data)
    except (ValueError, IndexError):
        return None


def processes():
    """All processes that can be seen, by pid."""
    found = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            one = process(int(name))
            if one is not None:
                found[one.pid] = one
    return found


def kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def link_of(pid, fd):
    """What a descriptor is open on, "" when that cannot be seen. No file is touched for it."""
    try:
        return os.readlink("/proc/%d/fd/%d" % (pid, fd))
    except OSError:
        return ""


def grown(everything, pids):
    """These processes and all that descend from them."""
    found, more = set(pids), True
    while more:
        more = [one.pid for one in everything.values() if one.ppid in found and one.pid not in found]
        found.update(more)
    return found


def unread(fd):
    """How many bytes a pipe holds."""
    import termios

    if fd < 0:
        return 0
    try:
        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)
    except OSError:
        return 0


class PidCounter(object):
    """The kernel's last pid, for a cheap answer to "which processes are new?".

    The last word of /proc/loadavg is the last pid given out in this pid namespace. Between two reads around a command
    only a handful of pids were given out, so looking at these costs less than looking at all of /proc.
    """

    def __init__(self):
        try:
            self.fd = os.open("/proc/loadavg", os.O_RDONLY)
        except OSError:
            self.fd = -1

    def last(self):
        """The last pid, 0 when unknown."""
        if self.fd < 0:
            return 0
        try:
            return int(os.pread(self.fd, 128, 0).split()[-1])
        except (OSError, ValueError, IndexError):
            return 0

    @staticmethod
    def since(before, now):
        """Processes that live and whose pid was given out between the two."""
        if before and before <= now <= before + 1000:
            found = {}
            for pid in range(before + 1, now + 1):
                one = process(pid)
                if one is not None:
                    found[pid] = one
            return found
        # The counter wrapped round, or so many were started that one look at everything is cheaper.
        return {p: one for p, one in processes().items() if now < before or before < p <= now}


# --- captures --------------------------------------------------------------------------------------------------------


def new_sha256():
    """A SHA-256 from the interpreter itself: `hashlib` loads OpenSSL, which takes longer than most commands."""
    for name in ("_sha2", "_sha256"):
        try:
            return __import__(name).sha256()
        except ImportError:
            pass
    import hashlib

    return hashlib.sha256()


class Store(object):
    """Where captures lie, and how much room they may still take together."""

    def __init__(self, directory, limit):
        self.directory = directory  # None: memory only
        self.left = limit

    def limit(self, total):
        self.left = total if self.directory is not None else min(total, MEMORY_HOST)


class Capture(object):
    """One output of one command. `feed` it in any chunking; what it knows afterwards does not depend on that."""

    __slots__ = (
        "store", "path", "cap", "fd", "small", "state", "bytes", "kept", "newlines", "kept_newlines", "longest",
        "partial", "last", "binary", "invalid", "pending", "marks", "hash", "hashed", "digest", "full",
    )  # fmt: skip

    def __init__(self, store, path, cap):
        self.store = store
        self.path = path
        self.cap = cap if store.directory is not None else min(cap, MEMORY_CAP)
        self.fd = -1
        self.small = bytearray()
        self.state = "complete"
        self.bytes = self.kept = 0
        self.newlines = self.kept_newlines = 0
        self.longest = self.partial = 0
        self.last = 10
        self.binary = False
        self.invalid = 0
        self.pending = b""
        self.marks = ([0], [0])  # every INDEX_STEP bytes: newlines before, offset
        self.hash = None
        self.hashed = 0
        self.digest = ""
        self.full = ""  # "cap" or "host" once something was not kept for want of room

    def feed(self, chunk):
        """Count `chunk`, and keep what there is room for."""
        room = min(self.cap - self.kept, self.store.left)
        if self.state == "complete":
            if len(chunk) <= room:
                self._keep(chunk)
            else:
                self.full = "cap" if self.cap - self.kept <= self.store.left else "host"
                if room > 0:
                    self._keep(chunk[:room])
                if self.state == "complete":
                    self.state = "truncated"
        self._count(chunk)

    def _count(self, chunk):
        self.bytes += len(chunk)
        self.last = chunk[-1]
        if not self.binary and b"\0" in chunk:
            self.binary = True
        data = self.pending + chunk if self.pending else chunk
        decoded, used = utf_8_decode(data, "ignore", False)
        if len(decoded) != used:  # not all ASCII: what "ignore" dropped is what was not UTF-8
            self.invalid += used - len(decoded.encode("utf-8", "surrogatepass"))
        self.pending = data[used:]
        self._count_lines(chunk)

    def _count_lines(self, chunk):
        first = chunk.find(b"\n")
        if first < 0:
            self.partial += len(chunk)
            return
        last = chunk.rfind(b"\n")
        self.newlines += chunk.count(b"\n")
        longest = max(self.longest, self.partial + first)
        if last - first - 1 > longest:
            if longest < 256:
                longest = max(longest, max([len(line) for line in chunk[first + 1 : last].split(b"\n")]))
            else:  # leap: a newline within the next `longest` + 1 bytes means that no longer line starts here
                at = first
                while last - at - 1 > longest:
                    leap = chunk.rfind(b"\n", at + 1, at + longest + 2)
                    if leap < 0:
                        leap = chunk.find(b"\n", at + 1)
                        longest = leap - at - 1
                    at = leap
        self.longest = longest
        self.partial = len(chunk) - last - 1

    def _keep(self, chunk):
        if self.fd < 0 and (self.store.directory is None or self.kept + len(chunk) <= SMALL):
            self.small += chunk
        elif not self._write(chunk):
            return
        self._mark(chunk)

    def _mark(self, chunk):
        if self.kept - self.marks[1][-1] >= INDEX_STEP:
            self.marks[0].append(self.kept_newlines)
            self.marks[1].append(self.kept)
        self.kept += len(chunk)
        self.store.left -= len(chunk)
        self.kept_newlines += chunk.count(b"\n")

    def _write(self, chunk):
        try:
            if self.fd < 0:
                self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                self.hash = new_sha256()
                self._write_all(bytes(self.small))
                self.small = None
            self._write_all(chunk)
        except OSError:
            # A full disk costs the output, never the command: what is in the file so far stays readable.
            self.state = "failed"
            return False
        return True

    def _write_all(self, data):
        if self.hashed <= FAST_DIGEST < self.hashed + len(data):
            self._use_openssl()
        start = os.lseek(self.fd, 0, 2)  # SEEK_END
        done = 0
        try:
            while done < len(data):
                done += os.write(self.fd, data[done:] if done else data)
        except OSError:
            os.ftruncate(self.fd, start)
            raise
        self.hash.update(data)
        self.hashed += len(data)

    def _use_openssl(self):
        """Go on with a digest that is several times as fast; what was hashed so far is read once more."""
        try:
            import hashlib

            fast = hashlib.sha256()
        except (ImportError, AttributeError, ValueError):
            return
        at = 0
        while at < self.hashed:
            data = os.pread(self.fd, min(CHUNK, self.hashed - at), at)
            if not data:
                return
            fast.update(data)
            at += len(data)
        self.hash = fast

    def close(self):
        """No more will come."""
        if self.pending:
            decoded = utf_8_decode(self.pending, "ignore", True)[0]
            self.invalid += len(self.pending) - len(decoded.encode("utf-8", "surrogatepass"))
            self.pending = b""
        self.longest = max(self.longest, self.partial)
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        if self.kept and not self.digest:
            if self.small is not None:
                self.hash = new_sha256()
                self.hash.update(self.small)
            self.digest = self.hash.hexdigest()
        self.hash = None

    @property
    def lines(self):
        return self.newlines + (1 if self.bytes and self.last != 10 else 0)

    def kept_lines(self):
        """Lines of what was kept: a last one without a newline counts."""
        if not self.kept:
            return 0
        return self.kept_newlines + (0 if self.read(self.kept - 1, 1) == b"\n" else 1)

    def read(self, offset, size):
        """Up to `size` kept bytes; raises Refused when the file is not there any more."""
        size = min(size, self.kept - offset)
        if size <= 0:
            return b""
        if self.small is not None:
            return bytes(self.small[offset : offset + size])
        try:
            if self.fd < 0:
                self.fd = os.open(self.path, os.O_RDONLY)
            data = os.pread(self.fd, size, offset)
        except OSError as error:
            raise Refused("storage", "the captured output cannot be read: " + error.strerror)
        if not data:
            raise Refused("storage", "the captured output was cut on the host after it was written")
        return data

    def rest(self):
        """Let go of the file after reading."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def describe(self):
        out = {"lines": self.lines, "bytes": self.bytes}
        if self.kept != self.bytes:
            out["captured"] = self.kept
        out["longest"] = self.longest
        if self.last != 10:
            out["nl"] = False
        if self.binary:
            out["binary"] = True
        if self.invalid:
            out["invalid"] = self.invalid
        out["digest"] = self.digest
        if self.state != "complete":
            out["state"] = self.state
        return out


# --- scans: questions about captures ---------------------------------------------------------------------------------
# A scan is a generator. It yields None whenever it has read about CHUNK bytes, and its answer, in a tuple of one, last.


def scan_lines(capture, first, keep):
    """Yield None between chunks, and for each line from number `first` on: (number, its first `keep` bytes, length).

    Lines come without their newline. Only the index entry before `first` and what follows is read.
    """
    numbers, offsets = capture.marks
    low, high = 0, len(numbers)
    while high - low > 1:  # the last entry that is surely not behind the start of the line
        middle = (low + high) // 2
        if numbers[middle] < first - 1:
            low = middle
        else:
            high = middle
    number, at = numbers[low] + 1, offsets[low]
    head, length = b"", 0
    while True:
        chunk = capture.read(at, CHUNK)
        if not chunk:
            break
        at += len(chunk)
        start = 0
        while True:
            end = chunk.find(b"\n", start)
            stop = end if end >= 0 else len(chunk)
            if number >= first:
                if len(head) < keep:
                    head += chunk[start : min(stop, start + keep - len(head))]
                length += stop - start
            if end < 0:
                break
            if number >= first:
                yield number, head, length
            number += 1
            head, length = b"", 0
            start = end + 1
        yield None
    if length and number >= first:
        yield number, head, length


def scan_contains(capture, needle):
    """Lines that hold `needle`, or, when it has newlines, places where it occurs."""
    if not needle:
        lines = capture.kept_lines()
        yield ({"count": lines, "first": 1 if lines else 0},)
        return
    if "\ufffd" in text(needle):  # the slow way, for a text that holds the replacement character itself
        import re

        for step in scan_matches(capture, re.escape(text(needle)).encode()):
            yield step
        return
    per_line = b"\n" not in needle
    count = found = counted = at = 0
    number = 1  # of the line in which `data` starts
    data = held = b""
    while True:
        chunk = capture.read(at, CHUNK)
        at += len(chunk)
        ended = not chunk
        # A carriage return before a newline, or at the very end, belongs to the end of its line.
        chunk = held + chunk
        held = b""
        if chunk.endswith(b"\r"):
            chunk, held = chunk[:-1], b"\r"
        data += chunk.replace(b"\r\n", b"\n") if b"\r" in chunk else chunk
        position = seen = 0
        while True:
            hit = data.find(needle, position)
            if hit < 0:
                break
            number += data.count(b"\n", seen, hit)
            seen = hit
            if not per_line or number != counted:
                count += 1
                counted = number
                found = found or number
            position = hit + len(needle)
            if per_line:  # one hit a line is enough
                position = data.find(b"\n", position) + 1 or len(data)
        if ended:
            break
        # The last bytes may be the beginning of the needle; what was matched does not come again.
        rest = max(len(data) - len(needle) + 1, position)
        number += data.count(b"\n", seen, rest)
        data = data[rest:]
        yield None
    yield ({"count": count, "first": found},)


def decode_line(data):
    return text(data[:-1] if data.endswith(b"\r") else data)


def compile_pattern(pattern):
    import re

    try:
        return re.compile(text(pattern))
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused("bad_request", "the pattern %r is not a regular expression: %s" % (text(pattern), error))


def scan_matches(capture, pattern):
    """Lines in whose first LINE_MAX bytes the pattern is found."""
    search = compile_pattern(pattern).search
    count = found = 0
    for line in scan_lines(capture, 1, LINE_MAX):
        if line is None:
            yield None
        elif search(decode_line(line[1])):
            count += 1
            found = found or line[0]
    yield ({"count": count, "first": found},)


def scan_equals(capture, wanted):
    def plain(data):
        data = data.replace(b"\r\n", b"\n")
        for end in (b"\n", b"\r"):
            if data.endswith(end):
                data = data[:-1]
        return text(data)

    same = False
    # Every character of the wanted text stands for a byte at least; each line may have a carriage return more.
    if capture.kept <= 2 * len(wanted) + 8:
        data = b""
        while len(data) < capture.kept:
            data += capture.read(len(data), CHUNK)
            yield None
        same = plain(data) == plain(wanted)
    yield ({"count": int(same), "first": int(same)},)


PROBES = {"contains": scan_contains, "matches": scan_matches, "equals": scan_equals}


def scan_probes(run):
    """Answer all probes of a run."""
    answers = {}
    for name, kind, stream, question in run.probes:
        capture = run.captures[stream]
        try:
            for step in PROBES[kind](capture, question):
                if step is None:
                    yield None
                else:
                    answers[name] = step[0]
        except (Refused, TooSlow) as error:
            answers[name] = {"error": str(error)}
        capture.rest()
    yield (answers,)


class Picker(object):
    """Collects lines under the caps of a slice, and counts the ones that find no room."""

    def __init__(self, query):
        self.lines, self.payload = [], []
        self.size = self.more = 0
        self.max_lines, self.max_bytes = query["max_lines"], query["max_bytes"]
        self.keep = min(query["line_bytes"], self.max_bytes)

    def add(self, number, data, length):
        data = data[: self.keep]
        if self.more or len(self.lines) >= self.max_lines or self.size + len(data) > self.max_bytes:
            self.more += 1
            return
        self.lines.append([number, len(data), length - len(data)])
        self.payload.append(data)
        self.size += len(data)

    def drop_first(self):
        """Make room at the front: a tail keeps its end."""
        self.size -= len(self.payload[0])
        del self.lines[0], self.payload[0]
        self.more += 1


def scan_range(capture, first, last, pick):
    """Lines `first` to `last`."""
    for line in scan_lines(capture, first, pick.keep):
        if line is None:
            yield None
            continue
        if line[0] > last:
            break
        pick.add(*line)
        if pick.more:  # the rest needs no reading
            pick.more = last - line[0] + 1
            break


def scan_tail(capture, count, pick):
    total = capture.kept_lines()
    if count <= 0 or not total:
        return
    limit, pick.max_bytes = pick.max_bytes, 1 << 62
    for line in scan_lines(capture, max(1, total - count + 1), pick.keep):
        if line is None:
            yield None
            continue
        more, pick.more = pick.more, 0
        pick.add(*line)
        pick.more += more
        while pick.size > limit and len(pick.lines) > 1:
            pick.drop_first()


def scan_match(capture, query, pick):
    """Lines that match, and their neighbours."""
    search = compile_pattern(query["pattern"]).search
    before, after = query["before"], query["after"]
    recent, follow = [], 0
    for line in scan_lines(capture, 1, max(LINE_MAX, pick.keep)):
        if line is None:
            yield None
            continue
        number, data, length = line
        if search(decode_line(data[:LINE_MAX])):
            for kept in recent:
                pick.add(*kept)
            recent = []
            pick.add(number, data, length)
            follow = after
        elif follow:
            pick.add(number, data, length)
            follow -= 1
        elif before:
            recent.append((number, data[: pick.keep], length))
            if len(recent) > before:
                del recent[0]


def scan_slice(run, query):
    """Answer a slice request."""
    capture = run.captures[query["stream"]]
    pick = Picker(query)
    mode = query["mode"]
    if mode == "bytes":
        first = query["first"]
        size = max(0, min(query["last"] - first, query["max_bytes"]))
        data = b""
        while len(data) < size:
            piece = capture.read(first + len(data), min(CHUNK, size - len(data)))
            if not piece:
                break
            data += piece
            yield None
        pick.lines, pick.payload = [[0, len(data), 0]], [data]
    else:
        if mode == "head":
            steps = scan_range(capture, 1, min(pick.max_lines, capture.kept_lines()), pick)
        elif mode == "tail":
            steps = scan_tail(capture, pick.max_lines, pick)
        elif mode == "lines":
            steps = scan_range(capture, max(1, query["first"]), min(query["last"], capture.kept_lines()), pick)
        else:
            steps = scan_match(capture, query, pick)
        for _ in steps:
            yield None
    capture.rest()
    yield (pick,)


# --- runs ------------------------------------------------------------------------------------------------------------


class Run(object):
    """One command: what was asked, what is known, and how far its end has come."""

    def __init__(self, ident, session):
        self.id = ident
        self.session = session
        self.command = b""
        self.timeout = 60.0
        self.cap = 64 << 20
        self.cwd = None
        self.requires = []
        self.become = False
        self.duration = 0.0  # after which it is ended as one that is done
        self.readings = None  # see endings.py
        self.samples = []
        self.keep = False  # whether what it leaves stays
        self.due = 0.0  # not before
        self.input = "fail"  # what to do when it asks
        self.stdin = b"/dev/null"  # or b"", the terminal
        self.prompts = []  # (pattern, answer)
        self.dialog = None  # what it has asked so far: see prompts.py
        self.marks = {}  # output -> its bytes that were there when the last question was answered
        self.terminal = None  # the terminal's settings before it
        self.answered = 0
        self.env = []  # (name, value)
        self.probes = []  # (name, kind, stream, text)
        self.captures = {}
        self.done = False
        self.waiting = []  # slices asked for before the result
        self.execution = "done"
        self.rc = self.signal = None
        self.started = self.started_at = self.elapsed = self.cpu = 0.0
        self.where = ""
        self.answers = {}
        self.leftover = []
        self.notes = []
        self.missing = []
        self.state = ""
        self.seen = None  # the observation for its result
        self.prompt = ""
        # While it runs:
        self.ending = ""  # the execution it is being ended with
        self.ended = 0.0  # since then
        self.signalled = False  # the shell may have a signal of ours pending
        self.stage = 0
        self.next_stage = 0.0
        self.next_look = 0.0
        self.looks = 0
        self.looked_at = -LOOK_S
        self.raw = self.sight = None  # the last look, and the last one that another one confirmed
        self.raw_since = self.sight_since = 0.0
        self.said = None  # (what, when) of the last `running`
        self.last_pid = 0
        self.ticks = 0
        self.remains = {}  # processes that are being ended after the command: pid -> start time
        self.before = []  # declarations of the names in env, as they were
        self.came_from = None  # (pwd, oldpwd) to go back to
        self.entered = b""
        self.trapped = False
        self.suspect = ""
        self.hushed = False
        self.rounds = 0
        self.sent = 0

    def is_special(self):
        """Whether it needs the code of endings.py from its start."""
        return self.duration or self.readings or self.keep

    def reset(self):
        """It has not begun after all."""
        self.started = self.started_at = 0.0
        self.missing, self.before = [], []
        self.came_from, self.trapped = None, False

    def note(self, word):
        if word not in self.notes:
            self.notes.append(word)

    def result(self):
        out = {"t": "result", "id": self.id, "session": self.session, "execution": self.execution}
        if self.rc is not None and self.execution == "done":
            out["rc"] = self.rc
        if self.signal is not None:
            out["signal"] = self.signal
        if self.started_at and self.execution != "not_run":
            out["elapsed_s"] = self.elapsed
            out["cpu_s"] = self.cpu
            out["started_at"] = self.started_at
        out["cwd"] = self.where
        for name, capture in self.captures.items():
            if capture.bytes or capture.state != "complete":
                out[name] = capture.describe()
        for name, value in (
            ("probes", self.answers), ("leftover", self.leftover), ("notes", self.notes),
            ("missing", self.missing), ("state", self.state), ("seen", self.seen), ("prompt", self.prompt),
            ("answered", self.answered), ("samples", self.samples),
        ):  # fmt: skip
            if value:
                out[name] = value
        return out


class State(object):
    """What a shell said of itself: see `report` in wrapper.sh."""

    cut = False
    extra = b""  # lines that come after everything else was restored

    def __init__(self, fields):
        for name, value in zip(FIELDS, fields):
            setattr(self, name, value)
        self.exited = self.tag.startswith(b"x ")
        self.rc = int(self.tag.split()[-1])

    @classmethod
    def parse(cls, fields):
        """The state, or None when it was not said to its end."""
        if len(fields) < 3 or fields[-2] != b"end" or REPORT_HEAD not in fields:
            return None
        # The last one counts: before the last words of a shell there may be a report that a signal cut short.
        fields = fields[len(fields) - 1 - fields[::-1].index(REPORT_HEAD) :]
        if len(fields) != len(FIELDS) + 1:  # too large: its middle was not kept
            fields = fields[:6] + [b""] * (len(FIELDS) - 7) + [b"end"]
        try:
            state = cls(fields)
        except (ValueError, IndexError):
            return None
        state.cut = len(fields) == len(FIELDS)
        return state

    def is_whole(self):
        """Whether every builtin did its part: none of these is ever empty."""
        return self.cut or bool(self.options and self.shopts and self.variables and self.umask)

    def declared(self, name):
        """(flags, declaration) of a variable, (b"", b"") when there is none."""
        lines = self.variables.split(b"\n")
        for number, line in enumerate(lines):
            words = line.split(b" ", 2)
            if len(words) == 3 and words[0] == b"declare" and words[2].partition(b"=")[0] == name:
                end = number + 1  # a value may have several lines
                while end < len(lines) and not lines[end].startswith(b"declare -"):
                    end += 1
                return words[1], b"\n".join(lines[number:end]).rstrip(b"\n")
        return b"", b""

    def restore(self, pwd):
        """Text that makes a new shell what this one was. Each part is evaluated on its own: one that fails (a readonly
        variable of bash's own) takes nothing else with it. Options that could end or silence us come last."""
        early, late = [], []
        for line in self.options.split(b"\n"):
            name = line.rpartition(b" ")[2]
            if name in (b"noexec", b"onecmd", b"privileged", b"history", b"interactive-comments"):
                continue
            dangerous = name in (b"errexit", b"nounset", b"xtrace", b"verbose", b"posix", b"monitor")
            (late if dangerous else early).append(line)
        flags = [line for line in self.function_flags.split(b"\n") if not line.startswith(b"declare -f ")]
        out = [
            self.shopts, b"\n".join(early), self.variables, self.functions, b"\n".join(flags), self.aliases,
            self.umask, self.traps, b"\\builtin cd -- " + quote(pwd),
        ]  # fmt: skip
        if self.oldpwd:
            out.append(b"OLDPWD=" + quote(self.oldpwd[1:]))
        stack = self.dirs.split(b" ")[1:-1]
        out.extend([b"\\builtin pushd -n -- " + word for word in reversed(stack)])
        if self.positional != b" ''":
            out.append(b"\\builtin set -- " + self.positional)
        out.append(self.extra)
        out.append(b"\n".join(late))
        return b"".join([b"\\builtin eval " + quote(part) + b" >/dev/null 2>&1\n" for part in out])


# --- sessions --------------------------------------------------------------------------------------------------------


class Pipe(object):
    """A pipe that a shell opens by name to write into, and that we read.

    A FIFO in our directory; or, where none can be made, an anonymous pipe under its name in /proc. Of the latter we
    must keep the writing end, so it never hangs up; who needs that looks at `named`.
    """

    def __init__(self, agent):
        self.path = agent.fresh_fifo()
        self.named = self.path is not None
        self.other = -1
        if self.named:
            self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        else:
            self.fd, self.other = os.pipe()
            os.set_blocking(self.fd, False)
            self.path = b"/proc/%d/fd/%d" % (os.getpid(), self.other)

    def fresh(self):
        """Forget that there ever was a writer: a FIFO whose last writer has closed reports a hang-up until it is opened
        anew. The new descriptor comes first: with none open, bytes in the pipe would be lost. False where the name is
        gone: a check has removed our files."""
        if not self.is_there():
            return False
        if self.named:
            fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            os.close(self.fd)
            self.fd = fd
        return True

    def is_there(self):
        """Whether its name still leads to it."""
        if not self.named:
            return True
        try:
            return os.stat(self.path).st_ino == os.fstat(self.fd).st_ino
        except OSError:
            return False

    def close(self):
        self.unlink()
        os.close(self.fd)
        self.fd = -1

    def unlink(self):
        """No new writer from now on."""
        if self.other >= 0:
            os.close(self.other)
            self.other = -1
        elif self.path is not None:
            try:
                os.unlink(self.path)
            except OSError:
                pass
        self.path = None


class Session(object):
    """A named bash. `phase` says whose turn it is:

    boot      bash was started and has not reported yet
    restore   it is being given its predecessor's state
    idle      it waits for a command
    prepare   it answers what must be known before the command: `cwd`, `requires`, what `env` will hide
    run       the command runs
    finish    lines of ours put back what the command may not keep
    broken    no bash can be started here

    What stands before its methods is what another shell has otherwise: see plain.py.
    """

    argv = (b"bash", b"--norc", b"--noprofile", b"-m")
    comm = "bash"  # the kernel's name for it
    by = b"\\builtin "
    unread = b"\\builtin exec N<&-\n"
    report_of = State

    def __init__(self, agent, name):
        self.agent = agent
        self.name = name
        self.number = agent.next_session()
        self.marker = agent.token + b"." + str(self.number).encode()
        self.queue = []
        self.run = None
        self.phase = ""
        self.since = 0.0
        self.seq = 0
        self.shell = 0
        self.start_pwd = b""
        self.old_shells = []  # session ids whose processes may still live
        self.state = None  # the last report
        self.last_words = None  # the report of the EXIT trap
        self.armed = None  # how `trap -p EXIT` prints our trap
        self.pending_notes = []
        self.failures = 0
        self.repairs = 0
        self.tty = self.script = self.long_fd = -1
        self.to_write = b""
        self.long_text = None
        self.report = Pipe(agent)
        self.heard = b""
        self.next_drain = 0.0
        self.script_path = self.long_path = None
        self.pipes = []
        self.streams = {}  # name -> Pipe, of the command that runs
        self.tail = b""
        self.ticks = 0
        self.progress = {}  # of the processes at the last look
        self.pipe_ends = {}  # pipe -> pid at its other end, or below zero: see Look.search_holder
        self.known = {}  # processes that earlier commands left: pid -> start time
        self.ended = 0.0  # when its last command did
        self.held = None  # (run, when to kill, when to give up): its result waits for the end of its processes
        self.restoring = (None, b"")
        self.same = None  # two paths of one directory
        self.start(None)

    # -- the shell's life

    def start(self, state):
        """Start a bash; with a state it gets nothing from our own environment but is given that."""
        agent = self.agent
        agent.keep_directory()
        self.script_path = self.script_fifo()
        if not self.report.fresh():
            os.close(self.report.fd)
            self.report = Pipe(agent)
        master, slave = os.openpty()
        tty = self.tty_name = os.ttyname(slave)
        if self.script_path is not None:
            name = self.argv[0]  # opened for both, so that it never ends before we do
            self.script = os.open(self.script_path + b"/" + name, os.O_RDWR | os.O_NONBLOCK)
            reader = -1
        else:
            reader, self.script = os.pipe()
            os.set_blocking(self.script, False)
            name = b"/proc/self/fd/%d" % reader
            os.set_inheritable(reader, True)
            self.to_write = self.unread.replace(b"N", b"%d" % reader)  # bash has opened it once more for itself
        environ = agent.environment(MARKER, self.marker, state is not None)
        here = self.start_pwd = self.start_pwd or os.getcwdb()
        if self.failures > 2:
            here = b"/"
        pid = os.fork()
        if pid == 0:
            self._become_bash(tty, slave, name, environ)
        os.close(slave)
        if reader >= 0:
            os.close(reader)
        self.shell = pid
        self.tty = master
        os.set_blocking(master, False)
        self.tail = b""
        self.heard = b""
        self.next_drain = 0.0
        self.last_words = None
        self.ticks = 0
        self.repairs = 0
        agent.shells[pid] = self
        agent.watch(master, self.on_tty)
        agent.watch(self.report.fd, self.on_report)
        report = agent.parts["report"]
        self.exit_text = fill(agent.parts["exit"], AGENT=b"%d" % os.getpid(), REPORT=self.report.path)
        self.enter("boot")
        self.send(
            fill(agent.parts["start"], REPORT_TEXT=quote(report), EXIT_TEXT=quote(self.exit_text), CWD=quote(here))
        )
        self.say()

    def script_fifo(self):
        """A directory with a FIFO called "bash" in it: bash is started there as `bash bash`, so that `$0` and all error
        messages of bash say "bash". None where it cannot be made."""
        path = self.agent.fresh_path(b"s%d" % self.number)
        if path is None:
            return None
        try:
            os.mkdir(path, 0o700)
            os.mkfifo(path + b"/" + self.argv[0], 0o600)
            return path
        except OSError:
            remove_tree(path)
            return None

    def _become_bash(self, tty, slave, name, environ):
        """The child: a new session whose controlling terminal is the pty. Never returns."""
        try:
            os.setsid()
            fd = os.open(tty, os.O_RDWR)  # the first terminal that a session leader opens becomes its own
            for target in (0, 1, 2):
                os.dup2(fd, target)
            if fd > 2:
                os.close(fd)
            # Ignored signals stay ignored through exec: Python ignores SIGPIPE, and `yes | head` would never end.
            for number in range(1, signal.NSIG):
                if signal.getsignal(number) == signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            signal.set_wakeup_fd(-1)
            os.umask(self.agent.login_umask)
            if self.script_path is not None:
                os.chdir(self.script_path)
            # -m here and not `set -m` later: only then does bash hand the terminal to each foreground pipeline.
            os.execve(self.agent.bash, self.argv + (name,), environ)
        except BaseException:
            pass
        os._exit(127)

    def enter(self, phase):
        self.phase = phase
        self.since = time.monotonic()
        self.killing = 0.0

    def drop_shell(self):
        """Let go of everything that belonged to the shell."""
        agent = self.agent
        for fd in (self.tty, self.script, self.long_fd):
            if fd >= 0:
                agent.forget(fd)
                os.close(fd)
        self.tty = self.script = self.long_fd = -1
        self.long_text = None
        self.to_write = b""
        agent.forget(self.report.fd)
        agent.shells.pop(self.shell, None)
        self.old_shells.append(self.shell)
        if self.script_path is not None:
            remove_tree(self.script_path)

    def replace(self, state, pwd):
        """A new shell in the place of the one that was dropped."""
        self.failures += 1
        if self.failures > 3:
            self.enter("broken")
            return
        # What hangs may be a directory whose file server is dead; what ends each new shell, its own traps or options.
        # The next command is told.
        if self.failures == 2 and (self.killing or state is None):
            pwd = self.start_pwd
            self.pending_notes.append("directory_lost")
        elif self.failures == 2:
            state.traps = state.options = b""
            self.pending_notes.append("traps_lost")
        elif self.failures == 3:
            state = None
            self.pending_notes.append("state_lost")
        self.restoring = (state, pwd)
        try:
            self.start(self.restoring[0])
        except OSError as error:
            self.pending_notes.append("no new shell: " + str(error.strerror))
            self.enter("broken")

    # -- talking to it

    def send(self, data):
        """Write to the shell's script without ever waiting: it may be busy, and a pipe holds 64 KiB."""
        self.to_write += data
        self.on_script(0)

    def on_script(self, _events):
        try:
            while self.to_write:
                self.to_write = self.to_write[os.write(self.script, self.to_write[:CHUNK]) :]
        except BlockingIOError:
            self.agent.watch(self.script, self.on_script, select.POLLOUT)
            return
        except OSError:
            self.to_write = b""
        self.agent.forget(self.script)

    def word(self, data, newlines=0):
        """How `data` is written as one word into the script: quoted, or as the content of another pipe when it is long.
        `$(<...)` drops newlines at the end; they are put behind it."""
        if len(data) <= INLINE_MAX:
            return quote(data)
        self.long_path = self.agent.fresh_fifo()
        if self.long_path is None:
            return quote(data)
        self.long_text = memoryview(data.rstrip(b"\n"))
        return b'"$(<' + self.long_path + b")" + b"\n" * (len(data) - len(self.long_text)) + b'"'

    def push_long(self):
        """Open the pipe of a long text as soon as the shell reads it (before, opening it fails), and write."""
        if self.long_fd < 0:
            try:
                self.long_fd = os.open(self.long_path, os.O_WRONLY | os.O_NONBLOCK)
                os.unlink(self.long_path)  # both have it open now
            except OSError:
                if self.long_fd < 0:
                    return
        self.on_long(0)

    def on_long(self, _events):
        try:
            while self.long_text:
                self.long_text = self.long_text[os.write(self.long_fd, self.long_text[:CHUNK]) :]
        except BlockingIOError:
            self.agent.watch(self.long_fd, self.on_long, select.POLLOUT)
            return
        except OSError:
            pass
        self.agent.forget(self.long_fd)
        os.close(self.long_fd)
        self.long_fd = -1
        self.long_text = None

    def say(self, lines=b""):
        """Send lines of ours and ask for a report."""
        self.seq += 1
        self.send(lines + fill(self.agent.parts["say"], SEQ=b"%d" % self.seq, REPORT=self.report.path))

    # -- listening to it

    def on_tty(self, _events):
        """What is written to the terminal is kept at its end only. It is always read: nobody may block on it."""
        try:
            data = os.read(self.tty, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:  # no process has the terminal open any more
            self.agent.forget(self.tty)
            return
        self.tail = (self.tail + data)[-TAIL_MAX:]

    def on_report(self, _events):
        """Read what is there. bash writes a report line by line, and only the hang-up after it means anything, so after
        the first bytes the pipe is watched for that alone; `tick` looks in case the report is longer than the pipe."""
        fields = self.hear_fields()
        if fields is None:
            if self.report.named:
                self.agent.watch(self.report.fd, self.on_report, 0)
                self.next_drain = time.monotonic() + 0.002
            return
        self.next_drain = 0.0
        self.agent.forget(self.report.fd)
        if self.report.fresh():
            self.agent.watch(self.report.fd, self.on_report)
        state = self.report_of.parse(fields)
        if state is None or not state.is_whole():
            self.on_silence()
        elif state.exited:
            self.last_words = state
        elif state.tag.split()[0] == b"%d" % self.seq:
            self.repairs = 0
            self.hear(state)
        else:  # an older number: our variable cannot be set any more (readonly), and with it no return code is said
            self.lose()

    def hear_fields(self):
        """The fields of the report once it has ended, else None."""
        hung_up = False
        while True:
            try:
                data = os.read(self.report.fd, CHUNK)
            except BlockingIOError:
                break
            if not data:
                hung_up = True
                break
            self.heard += data
            if len(self.heard) > STATE_MAX:  # keep the frame's fixed fields and its end
                self.heard = self.heard[:CHUNK] + self.heard[-CHUNK:]
        if not hung_up and (self.report.named or not self.heard.endswith(b"\0end\0")):
            return None
        heard, self.heard = self.heard, b""
        return heard.split(b"\0")

    def on_silence(self):
        """The report pipe was opened and closed without a whole report: parts of the wrapper do not work."""
        if self.phase == "idle" or self.last_words is not None:
            return
        self.repairs += 1
        repair = self.agent.parts["repair"]
        again = fill(self.agent.parts["again"], REPORT=self.report.path)
        if self.run is not None:
            self.run.note("wrapper_restored")
        if self.repairs == 1:
            self.send(repair + again)
        elif self.repairs == 2:
            # In POSIX mode `unset` is found before a function of that name. An assignment turns the mode on.
            self.send(b"POSIXLY_CORRECT=y\n" + repair + b"\\unset POSIXLY_CORRECT\n" + again)
        else:
            if self.run is not None:
                self.run.notes.remove("wrapper_restored")
            self.lose()

    def lose(self):
        """The shell does not say any more what we must know. What became of its command is unknown, never a success."""
        run = self.run
        if self.phase == "run" and run is not None and not run.ending:
            run.ending, run.stage = "lost", 3
            self.end_further(run, time.monotonic())
        else:
            kill(self.shell, signal.SIGKILL)

    def hear(self, state):
        """The report that was waited for."""
        previous, self.state = self.state, state
        if self.phase == "boot":
            self.armed = state.exit_trap
            if previous is None and not self.agent.bash_version:
                self.agent.bash_version = text(state.version).partition("(")[0]
            if self.failures and self.restoring[0] is not None:
                old, pwd = self.restoring
                self.state = old
                self.enter("restore")
                self.send(self.by + b"eval " + self.word(old.restore(pwd)) + b" >/dev/null 2>&1\n")
                arm = fill(self.agent.parts["arm"], EXIT_TEXT=quote(self.exit_text))
                self.say(arm)
                return
            self.ready()
        elif self.phase == "restore":
            self.ready()
        elif self.phase == "prepare":
            self.prepared(state)
        elif self.phase == "run" and self.long_text is not None and not self.run.ending:
            self.lose()  # the pipe with the command's text was removed: nothing was run
        elif self.phase == "run":
            self.run.rc = state.rc
            self.put_back()
        elif self.phase == "finish":
            self.put_back()

    def ready(self):
        self.failures = 0
        self.enter("idle")
        self.agent.shell_ready()
        self.next()

    # -- commands

    def next(self):
        """Start the next command if there is one and the shell is free."""
        if self.phase == "broken":
            while self.queue:
                run = self.queue.pop(0)
                run.execution = "lost"
                run.notes.extend(self.pending_notes)
                self.agent.answer_run(run)
            return
        while self.queue and self.queue[0].become and self.run is None:
            # Better not run than run with other privileges than were asked for.
            run = self.queue.pop(0)
            run.execution = "not_run"
            run.note("become_unavailable")
            self.agent.answer_run(run)
        if self.phase != "idle" or self.run is not None or self.held is not None or not self.queue:
            return
        run = self.queue[0]
        if run.due > time.monotonic() or run.is_special() and self.agent.endings is None:
            return
        if not self.report.is_there():
            # A check has removed our files, so the shell could not answer. A new one has the state of its last report.
            self.enter("gone")
            kill(self.shell, signal.SIGKILL)
            return
        run = self.run = self.queue.pop(0)
        if self.pending_notes:
            for note in self.pending_notes:
                run.note(note)
            self.pending_notes = []
        if run.cwd is not None or run.requires or run.env:
            self.prepare(run)
        else:
            self.begin(run)

    def prefix(self, run):
        return b"".join([name + b"=" + quote(value) + b" " for name, value in run.env])

    def evaluate(self, run):
        """The command that evaluates the check's text, with its environment."""
        return self.prefix(run) + b"\\eval" if run.env else b"\\builtin eval"

    def exists(self, run, name):
        """A condition: whether there is what `requires` says."""
        if b"/" in name:
            return b"[[ -e %s ]]" % path_word(name)
        return b"%s\\builtin type -t -- %s >/dev/null 2>&1" % (self.prefix(run), quote(name))

    def prepare(self, run):
        """Ask what must be known before the command. The answers come in the report's tag, between the number and the
        status: assignments collect them, which cannot fail."""
        self.enter("prepare")
        self.clock(run)
        self.seq += 1
        lines, more = [b'__checkrunner_rc="%d "' % self.seq], b"__checkrunner_rc=${__checkrunner_rc}"
        if run.cwd is not None:
            run.came_from = (self.state.pwd, self.state.oldpwd)
            # CDPATH has no say in a path that begins with a slash or a dot.
            target = path_word(run.cwd if run.cwd[:1] in (b"/", b"~") else b"./" + run.cwd)
            lines.append(self.by + b"cd -- " + target + b" >/dev/null 2>&1 || %scd," % more)
        for number, name in enumerate(run.requires):
            lines.append(self.exists(run, name) + b" || %s%d," % (more, number))
        lines.append(more + b'" 0"\n')
        self.send(b"\n".join(lines) + fill(self.agent.parts["again"], REPORT=self.report.path))

    def prepared(self, state):
        run = self.run
        words = state.tag.split()
        answers = words[1].rstrip(b",").split(b",") if len(words) > 2 else []
        run.entered = state.pwd
        if b"cd" in answers:
            run.came_from = None
            run.note("cwd_failed")
        run.missing = [text(run.requires[int(number)]) for number in answers if number != b"cd"]
        for name, _value in run.env:
            flags, declaration = state.declared(name)
            run.before.append((name, declaration))
            # An assignment before a command cannot hide a readonly variable. bash keeps such assignments for all of an
            # `eval` that is called by its own name, but drops them when it is called as `builtin eval`.
            if b"r" in flags or b" eval\n" in state.function_flags:
                run.note("env_failed")
        if run.ending or run.missing or "cwd_failed" in run.notes or "env_failed" in run.notes:
            run.execution = "not_run"
            run.where = text(run.came_from[0] if run.came_from else state.pwd)
            self.put_back()
        else:
            self.begin(run)

    def begin(self, run):
        agent = self.agent
        pipes = [self.output_pipe(), self.output_pipe()]
        self.streams = dict(zip(("stdout", "stderr"), pipes))
        for name, pipe in self.streams.items():
            self.listen(run, name, pipe)
        lines = b""
        # Only a text that speaks of an EXIT trap gets our `trap` function; one that sets another trap too does without,
        # because a DEBUG, RETURN or ERR trap that is set inside a function has other rules.
        command = run.command
        if b"trap" in command and (b"EXIT" in command or b" 0" in command or b"exit" in command):
            others = [word for word in (b"DEBUG", b"RETURN", b"ERR") if word in command]
            if not others and b" trap\n" not in self.state.function_flags:
                lines = agent.parts["trap"]
                run.trapped = True
        if not run.stdin or run.input != "fail":
            import termios

            run.terminal = termios.tcgetattr(self.tty)
        self.tail = b""
        self.seq += 1
        lines += fill(
            agent.parts["run"],
            EVAL=self.evaluate(run),
            TEXT=self.word(command),
            OUT=pipes[0].path,
            ERR=pipes[1].path,
            IN=run.stdin or self.tty_name.encode(),
            SEQ=b"%d" % self.seq,
            REPORT=self.report.path,
        )
        run.sent = len(lines)
        self.clock(run)
        self.enter("run")
        self.send(lines)

    def clock(self, run):
        """It begins now."""
        run.last_pid = self.agent.pids.last()
        run.started_at = time.time()
        run.started = time.monotonic()
        run.next_look = run.started + (QUIET_S if run.input == "fail" else HURRY_S)
        self.progress, self.pipe_ends = {}, {}

    def output_pipe(self):
        while self.pipes:
            pipe = self.pipes.pop()
            if pipe.is_there():
                return pipe
            os.close(pipe.fd)
        return Pipe(self.agent)

    def listen(self, run, name, pipe):
        capture = run.captures[name]

        def on_output(_events):
            for _ in range(4):
                try:
                    data = os.read(pipe.fd, CHUNK)
                except BlockingIOError:
                    return
                if not data:
                    self.agent.forget(pipe.fd)
                    return
                self.take(run, capture, data)
                if capture.full and run.duration and not run.ending:
                    self.agent.forget(pipe.fd)  # it may wait until its time is over: nobody wants more of it
                    return
                if len(data) < CHUNK:
                    return

        self.agent.watch(pipe.fd, on_output)

    def take(self, run, capture, data, ended=False):
        """Keep a piece of output. One that is too much ends the command; if that has `ended` already, nobody may get a
        signal: it would hit the shell, and through it the next command."""
        if self.agent.store.left < len(data) and self.agent.archive is not None:
            self.agent.archive.make_room(self.agent)
        capture.feed(data)
        if capture.full and not run.ending and not run.done and not run.duration:
            run.note("capped" if capture.full == "cap" else "host_capped")
            if ended:
                run.ending = "killed"
            else:
                self.end(run, "killed")

    def put_back(self):
        """After the command: what it may not keep goes back to what it was, in lines of ours if there is any."""
        run, state = self.run, self.state
        lines = b""
        if self.streams:
            out, err = self.streams["stdout"], self.streams["stderr"]
            if run.trapped:
                run.trapped = False
                status = b"%d" % (run.rc or 0)
                lines += fill(self.agent.parts["untrap"], STATUS=status, OUT=out.path, ERR=err.path)
            if state.exit_trap != self.armed:
                arm = fill(self.agent.parts["arm"], EXIT_TEXT=quote(self.exit_text))
                lines += arm if state.exit_trap else self.agent.parts["repair"] + arm
                if state.exit_trap.startswith(b"trap -- "):
                    # The check's own trap, as `trap -p` prints it: its text is quoted already.
                    action = state.exit_trap[len(b"trap -- ") : state.exit_trap.rindex(b" ")]
                    lines += self.by + b"eval %s </dev/null >>%s 2>>%s\n" % (action, out.path, err.path)
                else:
                    run.note("wrapper_restored")
        if run.came_from is not None and state.pwd == run.entered:
            pwd, oldpwd = run.came_from
            lines += self.by + b"cd -- " + quote(pwd) + b" >/dev/null 2>&1 || __checkrunner_rc=\n"
            lines += b"OLDPWD=" + quote(oldpwd[1:]) + b"\n" if oldpwd else self.by + b"unset OLDPWD\n"
        run.came_from = None
        if run.execution != "not_run":
            lines += b"".join([undo for name, undo in self.undo_env(run, state)])
        run.rounds += 1
        # A signal that we sent may have reached the shell after it was done with the command. It must not hit the next
        # one: a shell that reports once more has dealt with it.
        lines_due = bool(lines) or run.signalled
        run.signalled = False
        if not lines_due or run.rounds > 6:
            self.finish()
            return
        for name, pipe in self.streams.items():
            self.agent.forget(pipe.fd)
            pipe.fresh()
            self.listen(run, name, pipe)
        self.enter("finish")
        self.say(lines)

    def undo_env(self, run, state):
        """bash takes back what `NAME=value eval` set, unless the command unset and set it; then lines of ours do."""
        out = []
        for name, before in run.before:
            if state.declared(name)[1] != before:
                out.append((name, self.by + b"unset -v %s\n%s\n" % (name, before)))
        run.before = []
        return out

    # -- ends of commands

    def finish(self):
        """The shell has reported, and is ready for the next one."""
        run = self.run
        self.settle(run)
        run.where = text(self.directory_now())
        self.run = None
        self.enter("idle")
        self.conclude(run, time.monotonic())

    def settle(self, run):
        """Collect what is known of a command that has ended."""
        self.ended = now = time.monotonic()
        for name, pipe in self.streams.items():
            self.drain(run, run.captures[name], pipe)
        self.streams = {}
        if run.started:
            run.elapsed = now - run.started
            shell = process(self.shell)
            if shell is not None:
                run.cpu += max(0, shell.ticks - self.ticks) / self.agent.ticks_per_s
                self.ticks = shell.ticks
            self.find_leftover(run)
        if run.ending:
            run.execution, run.rc, run.signal = run.ending, None, None
            if run.ending == "done":
                run.note("duration_ended")
        if run.started and (run.ending or run.terminal):
            self.reset_terminal(run.terminal)

    def reset_terminal(self, flags):
        """What had turned off the echo may have been killed: the next command does not ask for a password for that.
        And what was typed and not read is nobody's answer any more."""
        import termios

        try:
            if not flags:
                flags = termios.tcgetattr(self.tty)
                flags[0] |= termios.ICRNL
                flags[1] |= termios.OPOST
                flags[3] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
            termios.tcflush(self.tty, termios.TCOFLUSH)  # what the terminal's input queue has not got yet
            termios.tcsetattr(self.tty, termios.TCSAFLUSH, flags)
        except (OSError, ValueError, termios.error):
            pass

    def drain(self, run, capture, pipe):
        """Read what the pipe holds now, which is all that the command wrote before its end. Where a process still has
        it open, the pipe is read to nowhere from now on, so that the process neither blocks nor dies of it."""
        self.agent.forget(pipe.fd)
        free = False
        try:
            data = os.read(pipe.fd, CHUNK)
            held = unread(pipe.fd) if len(data) == CHUNK else 0  # a pipe can be made to hold more
            while data:
                self.take(run, capture, data, ended=True)
                data = os.read(pipe.fd, min(held, CHUNK) or 1)
                if not held:
                    break
                held -= len(data)
            free = not data
        except BlockingIOError:
            pass
        if free and len(self.pipes) < 4 and pipe.fresh():
            self.pipes.append(pipe)
        elif free:
            pipe.close()
        elif run.keep:
            self.agent.endings.leave_reader(self.agent, pipe)
        else:
            self.agent.read_to_nowhere(pipe)

    def find_leftover(self, run):
        """Processes of this session that were started while the command ran, and live."""
        agent = self.agent
        found, ours = agent.pids.since(run.last_pid, agent.pids.last()), set()
        # Of several commands that ran at the same time, nobody knows whose a process is that has wiped everything out.
        others = [other for other in agent.everyone() if other is not self]
        alone = not [other for other in others if other.run is not None or other.ended > run.started]
        for pid, one in found.items():
            if one.sid == self.shell:
                ours.add(pid)
            elif one.state not in "ZXD" and pid not in agent.shells:
                environ = slurp("/proc/%d/environ" % pid, 1 << 20) + b"\0"
                lost = one.ppid == os.getpid() and one.sid not in agent.shells and agent.token not in environ
                if self.marker + b"\0" in environ or alone and lost and pid not in agent.kept:
                    ours.add(pid)
        busy = {one.ppid for one in found.values() if one.state not in "ZX"}
        earlier = {pid for pid in found if found[pid].ppid in self.known}  # what an earlier one has left goes on
        for pid in grown(found, ours) - grown(found, earlier):
            one = found[pid]
            if pid == self.shell or one.state in "ZX" or self.known.get(pid) == one.start:
                continue
            self.known[pid] = one.start
            if run.ending:  # it had its time
                kill(pid, signal.SIGTERM)
                kill(pid, signal.SIGCONT)
                run.remains[pid] = one.start
            elif not (one.comm == "sudo" and one.ppid not in found and one.ppid != self.shell and pid not in busy):
                run.leftover.append(pid)  # what is left out is the half of a sudo with a terminal, about to end
        if run.keep and not run.ending:
            agent.endings.keep(agent, run, found)

    def directory_now(self):
        """The working directory as the shell would say it, if that is where it is; else as the kernel says it."""
        link = b"/proc/%d/cwd" % self.shell
        said = target = self.state.pwd
        try:
            # Nothing is asked of the file system where that can be helped: its server may be dead.
            target = os.readlink(link)
            if target == said or (target, said) == self.same:
                return said
            here, there = os.stat(link), os.stat(said)
            if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
                return target
            self.same = (target, said)
        except (OSError, ValueError):
            return target
        return said

    def on_death(self, status, comm):
        """The shell has ended: by the command, by a signal, or because a command took its place (`exec`)."""
        words, run, phase = self.last_words, self.run, self.phase
        if words is None:
            words = self.last_words = self.report_of.parse(self.hear_fields() or [])
            if words is not None and not (words.exited and words.is_whole()):
                words = self.last_words = None
        untouched = phase == "run" and not self.repairs and unread(self.script) + len(self.to_write) >= run.sent
        state = words or self.state
        self.drop_shell()
        self.note_death(status, comm, phase if not untouched else "idle")
        if run is None:
            pwd = self.restoring[1] if phase in ("boot", "restore") else state.pwd
            if phase in ("boot", "restore") and self.restoring[0] is not None:
                state = self.restoring[0]
            self.replace(state, pwd)
            return
        pwd = state.pwd
        if run.came_from is not None and pwd == run.entered:
            pwd = run.came_from[0]
        self.run = None
        if (untouched or phase == "prepare") and not run.ending:
            for name, pipe in self.streams.items():
                self.drain(run, run.captures[name], pipe)
            self.streams = {}
            run.reset()
            self.queue.insert(0, run)
            self.replace(state, pwd)
            return
        if os.WIFSIGNALED(status):
            run.rc, run.signal = None, os.WTERMSIG(status)
        else:
            run.rc = os.WEXITSTATUS(status)
        if words is not None:
            words.extra = b"".join([undo for _name, undo in self.undo_env(run, words)])
            if run.trapped:
                words.extra += self.by + b"unset -f trap\n__checkrunner_trap=\n"
        self.settle(run)
        run.where = text(pwd)
        self.replace(state, pwd)
        self.conclude(run, time.monotonic())

    def note_death(self, status, comm, phase):
        # Where we ended the command, a shell that said its state is as good as one that stayed.
        notes = [] if self.run is not None and self.run.ending else ["shell_exited"]
        if self.last_words is None:
            notes = ["shell_replaced"]
            run = self.run
            by_itself = os.WIFEXITED(status) and not (run is not None and run.hushed)
            if phase == "run" and (comm != self.comm or by_itself):
                notes.append("shell_exec")
            elif phase == "run" and run is not None and run.seen is None:
                run.seen = {"kind": "lost", "pid": self.shell, "name": comm}
        if phase in ("boot", "restore"):
            return
        if self.run is not None and phase in ("run", "finish"):
            for note in notes:
                self.run.note(note)
        else:
            self.pending_notes.extend(notes)

    # -- time

    def tick(self, now):
        """Do what is due; the time at which to come back, or None."""
        due = []
        if self.next_drain:
            if now >= self.next_drain:
                self.on_report(0)
            if self.next_drain:
                due.append(self.next_drain)
        if self.long_text is not None and self.long_fd < 0:
            self.push_long()
            if self.long_text is not None and self.long_fd < 0:
                due.append(now + 0.0005)
        if self.held is not None:
            due.extend(self.agent.endings.tick_held(self, now))
        if self.queue and self.queue[0].due:
            self.next()
            if self.queue and self.queue[0].due > now:
                due.append(self.queue[0].due)
        run = self.run
        if self.phase in ("boot", "restore"):
            due.append(self.tick_start(now))
        elif self.phase in ("prepare", "run", "finish") and run is not None and run.started:
            due.append(self.tick_run(run, now))
        return min(due) if due else None

    def tick_start(self, now):
        """A shell that does not come up."""
        if now < self.since + 2.0:
            return self.since + 2.0
        if self.agent.endings is not None:
            return self.agent.endings.tick_start(self, now)
        if self.agent.greeted:
            self.agent.need("endings")
        if now >= self.since + BOOT_S:
            if not self.agent.bash_version:
                raise Broken("internal", "%s did not start within %d s" % (self.comm, BOOT_S))
            kill(self.shell, signal.SIGKILL)
            self.since = now
        return now + 0.5

    def conclude(self, run, now):
        """Pass a command's result on, as soon as the processes are gone that it had to leave behind."""
        if run.readings is not None and self.agent.endings.read_again(self, run, now):
            return
        if run.remains and self.agent.endings is not None:
            self.held = (run, now + 0.5, now + 1.0)
        else:
            self.agent.conclude(run)
            self.next()

    def tick_run(self, run, now):
        if run.ending:
            if now >= run.next_stage:
                self.end_further(run, now)
            return run.next_stage
        limit, execution = run.started + run.timeout, "timed_out"
        if 0 < run.duration <= run.timeout and self.phase != "prepare":
            limit, execution = run.started + run.duration, "done"
        if now >= limit:
            self.end(run, execution)
            return run.next_stage
        endings = self.agent.endings
        if now >= run.next_look:
            if endings is not None:
                endings.look(self, run, now)
            else:
                run.next_look = now + CONFIRM_S
        due = min(limit, run.next_stage if run.ending else run.next_look)
        if "states" not in self.agent.needed:
            asking = run.started + min(NEED_S, run.timeout / 2)
            if now >= asking:
                self.agent.need("states")
                self.agent.need("endings")
            else:
                due = min(due, asking)
        return due

    # -- force: see endings.py

    def end(self, run, execution):
        """Begin to end the running command."""
        now = time.monotonic()
        run.ending, run.stage, run.ended = execution, 0, now
        states = self.agent.states
        if states is not None and run.started and (execution not in ("killed", "done") or "cancelled" in run.notes):
            states.look_last(self, run, now)
        if self.phase == "prepare":  # usually it is over before a signal would be
            run.next_stage = now + 0.5
        else:
            self.end_further(run, now)

    def end_further(self, run, now):
        if self.agent.endings is not None:
            self.agent.endings.force(self, run, now)
            return
        self.agent.need("endings")
        run.next_stage = now + 0.02
        if run.ending == "lost" or ASSEMBLE is None or now >= run.ended + PART_S:
            kill(self.shell, signal.SIGKILL)

    def members(self, everything):
        """Live processes of the session but its shell."""
        found = grown(everything, {one.pid for one in everything.values() if self.shell in (one.sid, one.ppid)})
        return [everything[pid] for pid in found if pid != self.shell and everything[pid].state not in "ZX"]

    def cancel(self):
        """End what runs and answer what waits."""
        queue, self.queue = self.queue, []
        for run in queue:
            run.execution = "killed" if run.started else "not_run"
            run.note("cancelled")
            run.where = text(self.state.pwd) if self.state else ""
            self.agent.answer_run(run)
        run = self.run
        if run is not None and not run.ending:
            run.note("cancelled")
            self.end(run, "not_run" if self.phase == "prepare" else "killed")


# --- the agent -------------------------------------------------------------------------------------------------------


class Agent(object):
    """The event loop. Everything that waits, waits here."""

    session_of = Session

    def __init__(self):
        self.token = b"%d-%d-%s" % (os.getuid(), os.getpid(), os.urandom(6).hex().encode())
        self.parts = parts_of(WRAPPER)
        self.pids = PidCounter()
        self.ticks_per_s = float(os.sysconf("SC_CLK_TCK"))
        self.poll = select.poll()
        self.handlers = {}
        self.watched = {}
        self.sessions = {}
        self.spare = None
        self.shells = {}
        self.late = []
        self.numbers = 0
        self.paths = 0
        self.bash = self.bash_version = b""
        self.directory = self.lock = None
        self.notes = []
        self.store = Store(None, 1 << 62)
        self.runs = {}
        self.ended = []  # runs, in the order of their ends, that are not archived yet
        self.shelf = None  # the older ones, see archive.py
        self.idents = {}  # a bit for each that was used, 1024 a number
        self.jobs = []
        self.scanning = False
        self.inbox = bytearray()
        self.scanned = 0
        self.header = None
        self.outbox = b""
        self.hello = None
        self.greeted = False
        self.max_sessions = 16
        self.canceling = []
        self.parked = []  # slices that groups.py answers
        # Modules, once they are here:
        self.states = self.prompts = self.archive = self.endings = self.resume = self.groups = None
        self.needed = set()  # those that were asked for
        self.kept = {}  # processes that stay: pid -> start time; 0 -> when the first command that keeps began
        self.call_table = None
        self.looked = {}  # waits that were found safe to look at, or not
        self.snapshot = {}
        self.next_scan = 0.0
        self.scanned_at = -1.0
        self.ending = None  # "": end of input, else the ID of bye
        self.ended_by = 0

    # -- start

    def run(self):
        """Serve until the stream ends; the exit code."""
        for fd in (0, 1):
            os.set_blocking(fd, False)
        awake, wake = os.pipe()
        os.set_blocking(awake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self.on_signal)
        signal.signal(signal.SIGALRM, self.on_alarm)
        self.watch(awake, lambda _events: os.read(awake, 4096))
        try:
            try:
                self.find_bash()
                # Files of ours are for us alone, and can be opened again: the login's own may forbid either.
                self.login_umask = os.umask(0o077)
                self.open_directory()
                try:
                    self.spare = self.session_of(self, "")
                except BlockingIOError:
                    raise Broken("internal", "no process can be started: the limit of processes (ulimit -u) is reached")
                self.adopt()
                self.remove_stale()
                self.watch(0, self.on_input)
                self.loop()
            except Broken as error:
                self.fatal(error.kind, str(error))
            except Gone:
                if self.ending is None:
                    self.ending = ""
            except Exception as error:
                self.fatal("internal", self.explain(error))
                return 70
        finally:
            self.finish()
        return 0

    @staticmethod
    def explain(error):
        lines = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            # A function that was compiled alone has its place in this file in the name of its file.
            line = trace.tb_lineno + int(code.co_filename.partition("+")[2] or 0)
            if code.co_name != "stand_in":
                lines.append("%s:%d" % (code.co_name, line))
            trace = trace.tb_next
        return "%s: %s (%s)" % (type(error).__name__, error, " ".join(lines[-6:]))

    def on_signal(self, number, _frame):
        self.ended_by = number

    def on_alarm(self, _number, _frame):
        if self.scanning:
            raise TooSlow("it takes longer than %d s on a piece of the output" % REGEX_S)

    @staticmethod
    def adopt():
        """Become the parent of every process whose own parent ends: who leaves its session, its parents and its
        environment behind is still found. `_ctypes` is what `ctypes` is made of, and imported in no time."""
        try:
            import _ctypes

            _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"), (36, 1, 0, 0, 0))
        except Exception:
            pass

    def open_directory(self):
        """Make our private directory in the first place that works: enough room first, any room second."""
        environ = os.environ  # bytes, in this module
        bases = [environ.get(b"XDG_RUNTIME_DIR"), b"/dev/shm", b"/var/tmp", b"/tmp", environ.get(b"HOME")]
        self.bases = [base for base in bases if base and base.startswith(b"/")]
        for wanted in (16 << 20, 0):
            for base in self.bases:
                try:
                    if wanted:
                        room = os.statvfs(base)
                        if room.f_bavail * room.f_frsize < wanted:
                            continue
                    self.try_directory(base)
                    return
                except OSError:
                    continue
        kept = "no directory can hold captures: outputs are kept in memory, up to %d KiB each"
        self.notes.append(kept % (MEMORY_CAP >> 10))

    def try_directory(self, base):
        path = base + b"/checkrunner-" + self.token
        os.mkdir(path, 0o700)
        try:
            lock = os.open(path + b"/lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                # As long as we live we hold this lock: who can take it has found a dead agent's directory.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(lock, self.token.ljust(SMALL, b"\n"))
                if os.pread(lock, len(self.token), 0) != self.token:
                    raise OSError  # what was written does not come back
                os.mkfifo(path + b"/probe", 0o600)
                os.unlink(path + b"/probe")
            except OSError:
                os.close(lock)
                raise
        except OSError:
            remove_tree(path)
            raise
        self.directory, self.lock = path, lock
        self.store = Store(path, 1 << 62)

    def keep_directory(self):
        """Make our directory anew where a check has removed it. Captures in it are lost, sessions need not be."""
        if self.directory is None or os.access(self.directory + b"/lock", os.F_OK):
            return
        store = self.store
        remove_tree(self.directory)
        os.close(self.lock)
        self.directory = self.lock = None
        self.open_directory()
        store.directory = self.directory
        store.limit(store.left)
        self.store = store

    def find_bash(self):
        most = os.sysconf("SC_OPEN_MAX")
        if most < 20:  # the wrapper uses descriptor 19
            raise Broken("internal", "the limit of open files (ulimit -n) is %d, and 20 are needed" % most)
        self.bash = self.find_program(b"bash")
        if not self.bash:
            raise Broken("no_bash", "no bash in %s" % text(b", ".join(self.places())))

    @staticmethod
    def places():
        return [b"/bin", b"/usr/bin", b"/usr/local/bin"] + os.environ.get(b"PATH", b"").split(b":")

    def find_program(self, name):
        for place in self.places():
            path = place + b"/" + name
            if place.startswith(b"/") and os.access(path, os.X_OK) and not os.access(path + b"/.", os.F_OK):
                return path
        return b""

    def remove_stale(self):
        """Remove what an agent left that could not clean up: its directory, and processes with its marker."""
        mine = b"checkrunner-%d-" % os.getuid()
        for base in self.bases:
            try:
                names = [name for name in os.listdir(base) if name.startswith(mine)]
            except OSError:
                continue
            for name in names:
                path = base + b"/" + name
                if path != self.directory:
                    self.remove_if_stale(path, name[len(b"checkrunner-") :])

    def remove_if_stale(self, path, token):
        try:
            if os.lstat(path).st_uid != os.getuid():
                return
            lock = os.open(path + b"/lock", os.O_RDWR)
        except OSError as error:
            # No lock: it died between two steps, or is between them right now.
            try:
                if error.errno == errno.ENOENT and time.time() - os.lstat(path).st_mtime > 60:
                    remove_tree(path)
            except OSError:
                pass
            return
        try:
            found = os.fstat(lock)
            if not found.st_size and time.time() - found.st_mtime < 60:
                return  # it is being made: its owner takes the lock, then writes into it
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(lock).st_nlink:
                return  # it was leaving, and has removed its directory itself by now
            kept = {int(name[5:]) for name in os.listdir(path) if name.startswith(b"kept.")}
            end_processes(lambda everything: marked(everything, token) - kept, 1.0)
            remove_tree(path)
            self.notes.append("removed what a killed agent had left: " + text(path))
        except OSError:
            pass  # it lives
        finally:
            os.close(lock)

    def environment(self, name, marker, restored):
        """The environment of a shell. A restored one gets its variables from its predecessor instead."""
        base = {} if restored else dict(os.environ)
        for key in list(base):
            if key in (b"BASH_ENV", b"ENV", b"PROMPT_COMMAND", b"SHELLOPTS", b"BASHOPTS", b"BASH_XTRACEFD") or (
                key in (b"BASH_FUNC_builtin%%", b"BASH_FUNC_builtin()")
            ):
                del base[key]
        # Where the locale is C, Python sets another, for itself and all that it starts. The kernel still knows.
        given = b"\0" + slurp("/proc/self/environ", 1 << 20)
        if base.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8") and len(given) > 1:
            del base[b"LC_CTYPE"]
            if b"\0LC_CTYPE=" in given:
                base[b"LC_CTYPE"] = given.partition(b"\0LC_CTYPE=")[2].partition(b"\0")[0]
        if not restored:
            for pager in (b"PAGER", b"GIT_PAGER", b"SYSTEMD_PAGER", b"MANPAGER"):
                base[pager] = b"cat"
            base.setdefault(b"TERM", b"dumb")
        base[name] = marker
        return base

    def fresh_path(self, name=None):
        """A new name in our directory; None where there is no directory."""
        if self.directory is None:
            return None
        self.paths += 1
        return self.directory + b"/" + (name or b"p%d" % self.paths)

    def fresh_fifo(self):
        """The path of a new FIFO in our directory; None where none can be made: no directory, a full disk."""
        path = self.fresh_path()
        try:
            if path is not None:
                os.mkfifo(path, 0o600)
            return path
        except OSError:
            return None

    def next_session(self):
        self.numbers += 1
        return self.numbers

    # -- the loop

    def watch(self, fd, handler, events=select.POLLIN):
        self.handlers[fd] = handler
        if self.watched.get(fd) != events:
            self.watched[fd] = events
            self.poll.register(fd, events)

    def forget(self, fd):
        if self.watched.pop(fd, None) is not None:
            self.poll.unregister(fd)
            del self.handlers[fd]

    def loop(self):
        while self.ending is None:
            now = time.monotonic()
            due = None
            for session in self.everyone():
                at = session.tick(now)
                if at is not None and (due is None or at < due):
                    due = at
            if self.canceling:  # before the wait: what ends by time alone wakes nobody
                self.check_cancelled()
            if self.jobs:
                timeout = 0
            else:
                timeout = None if due is None else max(0.0, (due - time.monotonic()) * 1000.0 + 0.5)
            ready = [(fd, events, self.handlers.get(fd)) for fd, events in self.poll.poll(timeout)]
            for fd, events, handler in ready:
                # One of these may close a descriptor of the others and open another one of the same number.
                if handler is not None and self.handlers.get(fd) is handler:
                    handler(events)
            if self.ended_by:
                return
            self.collect_shells()
            if self.jobs:
                self.work()

    def everyone(self):
        if self.spare is not None:
            return [self.spare] + list(self.sessions.values())
        return list(self.sessions.values())

    def collect_shells(self):
        for pid, session in list(self.shells.items()):
            try:
                # Looked at before it is collected: a zombie still has its name, which tells an `exec` from an end.
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                    continue
                one = process(pid)
                status = os.waitpid(pid, 0)[1]
            except ChildProcessError:
                one, status = None, 0
            session.on_death(status, one.comm if one is not None else session.comm)
        try:
            while True:  # those that were given to us
                one = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if one is None or one.si_pid in self.shells:
                    return
                os.waitpid(one.si_pid, 0)
        except ChildProcessError:
            pass

    def shell_ready(self):
        if self.hello is not None and not self.greeted:
            self.greet()

    # -- requests

    def on_input(self, _events):
        while True:
            try:
                data = os.read(0, CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.ending = ""
                return
            self.inbox += data
            if len(data) < CHUNK:
                break
        self.read_requests()
        if len(self.outbox) > SECTIONS_MAX:  # who does not read answers may not ask more
            self.forget(0)

    def read_requests(self):
        while self.ending is None and (self.greeted or self.hello is None):
            if self.header is None:
                end = self.inbox.find(b"\n", self.scanned)
                if end < 0:
                    self.scanned = len(self.inbox)
                    if self.hello is None and not b"hello ".startswith(self.inbox[:6].lstrip()):
                        raise Broken("lost_input", "the first words are no hello but %r" % text(self.inbox[:80]))
                    if self.scanned > HEADER_MAX:
                        kind = "bad_request" if self.hello else "lost_input"
                        raise Broken(kind, "a header has more than %d bytes" % HEADER_MAX)
                    return
                if self.hello is None and not self.inbox[:end].strip():
                    # Left over from what a start-up file of the login shell was given to read.
                    self.inbox = self.inbox[end + 1 :]
                    self.scanned = 0
                    continue
                self.header = self.parse_header(bytes(self.inbox[:end]))
                del self.inbox[: end + 1]
                self.scanned = 0
            verb, ident, keys, sections, size = self.header
            if len(self.inbox) < size:
                return
            values, at = {}, 0
            with memoryview(self.inbox) as body:  # each copy of a large command counts
                for name, length in sections:
                    values[name] = bytes(body[at : at + length])
                    at += length
            del self.inbox[:size]
            self.header = None
            try:
                self.serve(verb, ident, keys, values)
            except Refused as error:
                self.say({"t": "error", "id": ident, "kind": error.kind, "message": str(error)})

    def parse_header(self, line):
        if self.hello is None and not line.startswith(b"hello "):
            raise Broken("lost_input", "the first words are no hello but %r" % text(line[:80]))
        try:
            words = line.decode("ascii").split(" ")
            verb, ident = words[0], int(words[1])
            keys, sections, size = {}, [], 0
            for word in words[2:]:
                name = word.split("=", 1)[0].split(":", 1)[0]
                sign, value = word[len(name)], word[len(name) + 1 :]
                if sign == "=":
                    keys[name] = value
                else:
                    length = int(value)
                    if length < 0:
                        raise ValueError(value)
                    sections.append((name, length))
                    size += length
        except (ValueError, IndexError):
            raise Broken("bad_request", "this is not a header: %r" % text(line[:200]))
        if size > SECTIONS_MAX:
            raise Broken("bad_request", "a request has more than %d bytes" % SECTIONS_MAX)
        return verb, ident, keys, sections, size

    def serve(self, verb, ident, keys, values):
        if self.hello is None:
            self.serve_hello(keys)
            return
        block, bit = ident >> 10, 1 << (ident & 1023)
        used = self.idents.get(block, 0)
        if used & bit or ident <= 0:
            raise Refused("bad_request", "the id %d was used before" % ident)
        self.idents[block] = used | bit
        if verb == "run":
            self.serve_run(ident, keys, values)
        elif verb == "slice":
            self.serve_slice(ident, keys, values)
        elif verb == "part":
            self.serve_part(ident, keys, values)
        elif verb == "answer" and self.prompts is not None:
            self.prompts.serve_answer(self, keys, values)
            self.say({"t": "ok", "id": ident})
        elif verb == "cancel":
            self.only(keys, (), values, ())
            self.canceling.append(ident)
            for session in self.everyone():
                session.cancel()
        elif verb == "bye":
            self.only(keys, (), values, ())
            self.ending = ident
        else:
            raise Refused("bad_request", "unknown verb %r" % verb)

    def need(self, name):
        """Ask, once, for a part of the agent that most hosts never need."""
        if name not in self.needed and ASSEMBLE is not None:
            self.say({"t": "need", "part": name})
        self.needed.add(name)

    def serve_part(self, ident, keys, values):
        self.only(keys, ("name",), values, ("code",))
        name = keys.get("name")
        if name not in self.needed or ASSEMBLE is None:
            raise Refused("bad_request", "there is no such part: %r" % name)
        from zlib import decompress

        module = type(sys)(name)
        ASSEMBLE(module.__dict__, decompress(values.get("code", b"")).split(b"\0"))
        setattr(self, name, module)
        if name in ("resume", "groups", "keeping"):
            module.begin(self)
        self.say({"t": "ok", "id": ident})
        for session in self.everyone():
            session.next()

    @staticmethod
    def only(keys, known_keys, values, known_values):
        unknown = [name for name in keys if name not in known_keys] + [n for n in values if n not in known_values]
        if unknown:
            raise Refused("bad_request", "unknown: " + ", ".join(sorted(unknown)))

    @staticmethod
    def number(keys, name, default=None):
        try:
            value = int(keys[name]) if name in keys or default is None else default
        except (KeyError, ValueError):
            value = -1
        if value < 0:
            raise Refused("bad_request", "%s must be a whole number, not %r" % (name, keys.get(name, "nothing")))
        return value

    def serve_hello(self, keys):
        try:
            self.only(keys, HELLO_KEYS, (), ())
            version = self.number(keys, "v")
            self.store.limit(self.number(keys, "host_bytes", 1 << 62))
            self.max_sessions = self.number(keys, "max_sessions", 16)
            self.linger = self.number(keys, "linger", 0)
        except Refused as error:
            raise Broken(error.kind, str(error))
        if version != VERSION:
            raise Broken("version", "the agent speaks version %d, the client %d" % (VERSION, version))
        self.hello = keys
        self.needed.update(("resume", "keeping"))  # they come unasked
        if self.bash_version:
            self.greet()

    def greet(self):
        user = text(os.environ.get(b"USER") or os.environ.get(b"LOGNAME") or b"")
        if not user:
            import pwd

            try:
                user = pwd.getpwuid(os.getuid()).pw_name
            except KeyError:
                user = str(os.getuid())
        self.greeted = True
        self.say(
            {
                "t": "hello",
                "nonce": self.hello.get("nonce", ""),
                "v": VERSION,
                "agent": DIGEST,
                "python": "%d.%d.%d" % sys.version_info[:3],
                "bash": self.bash_version,
                "uid": os.getuid(),
                "user": user,
                "host": os.uname().nodename,
                "pid": os.getpid(),
                "clock": time.time(),
                "dir": text(self.directory or b""),
                "notes": self.notes,
            }
        )
        self.read_requests()

    def session(self, name):
        if name in self.sessions:
            return self.sessions[name]
        if len(self.sessions) >= self.max_sessions:
            raise Refused("too_many_sessions", "there are %d sessions, as max_sessions says" % len(self.sessions))
        session, self.spare = self.spare, None  # the first name takes the shell that was started before hello
        if session is None:
            try:
                session = self.session_of(self, name)
            except OSError as error:
                raise Refused("internal", "no new session: %s" % error.strerror)
        session.name = name
        self.sessions[name] = session
        return session

    def serve_run(self, ident, keys, values):
        extra = [name for name in values if not name.startswith(("env.", "probe.", "prompt."))]
        self.only(keys, RUN_KEYS, dict.fromkeys(extra), RUN_SECTIONS)
        if "session" not in keys or "command" not in values:
            raise Refused("bad_request", "a run needs session= and command:")
        for name, value in values.items():
            if b"\0" in value and not name.startswith("probe."):
                raise Refused("bad_request", "%s holds a NUL byte, which no shell can take" % name)
        run = Run(ident, keys["session"])
        run.command = values["command"]
        run.timeout = self.number(keys, "timeout_ms", 60000) / 1000.0
        run.cap = self.number(keys, "cap", 64 << 20)
        duration, every, count, run.keep = [self.number(keys, name, 0) for name in END_KEYS]
        if bool(every) != bool(count) or duration and count or count > 1000:
            raise Refused("bad_request", "sample_ms and sample_count (1 to 1000) go together, and without duration_ms")
        run.duration = duration / 1000.0
        if count:
            run.readings = (every / 1000.0, count)
        run.cwd = values.get("cwd")
        run.become = "become" in values and not self.is_user(values["become"])
        run.requires = [name for name in values.get("requires", b"").split(b"\n") if name]
        for name in values:
            if name.startswith("env."):
                run.env.append((self.variable(name[4:]), values[name]))
            elif name.startswith("probe."):
                run.probes.append(self.probe(name, values[name]))
        self.take_prompts(run, keys, values)
        session = self.session(run.session)
        if run.keep:
            run.env.append((MARKER, b"k" + session.marker))
        if run.is_special():
            self.need("endings")
        for stream in ("stdout", "stderr"):
            path = self.fresh_path(b"c%d.%s" % (ident, stream[3:].encode()))
            run.captures[stream] = Capture(self.store, path, run.cap)
        self.runs[ident] = run
        session.queue.append(run)
        session.next()

    def take_prompts(self, run, keys, values):
        """What a command may be told when it asks."""
        for name in values:
            start, _dot, end = name.rpartition(".")
            if name.startswith("prompt."):
                other = {"match": ".answer", "answer": ".match"}.get(end)
                if other is None or start + other not in values:
                    raise Refused("bad_request", "%s is not one of a pair prompt.N.match, prompt.N.answer" % name)
                if end == "match":
                    run.prompts.append((compile_pattern(values[name]), values[start + other]))
        run.input = keys.get("input", "fail")
        stdin = keys.get("stdin", "tty" if run.prompts or run.input == "ask" else "null")
        if run.input not in ("fail", "answer", "ask") or stdin not in ("null", "tty"):
            raise Refused("bad_request", "there is no input=%s or no stdin=%s" % (run.input, stdin))
        if stdin == "tty":
            run.stdin = b""
        if run.input != "fail":
            for name in ("states", "prompts", "endings"):
                self.need(name)

    @staticmethod
    def is_user(name):
        """Whether we are the user of that name. One that the host does not know is none that we could be."""
        import pwd

        try:
            return pwd.getpwnam(name.decode("utf-8", "surrogateescape")).pw_uid == os.getuid()
        except KeyError:
            return False

    @staticmethod
    def variable(name):
        plain = name.replace("_", "a")
        if not plain.isalnum() or plain[0].isdigit() or not all([ord(c) < 128 for c in plain]):
            raise Refused("bad_request", "%r is not a name that a variable can have" % name)
        return name.encode()

    @staticmethod
    def probe(word, question):
        parts = word.split(".")
        if len(parts) < 4 or parts[-2] not in PROBES or parts[-1] not in ("stdout", "stderr"):
            raise Refused("bad_request", "%s is not probe.NAME.KIND.STREAM" % word)
        return ".".join(parts[1:-2]), parts[-2], parts[-1], question

    def serve_slice(self, ident, keys, values):
        self.only(keys, SLICE_KEYS, values, ("pattern",))
        query = {"mode": keys.get("mode", "head"), "stream": keys.get("stream", "stdout")}
        if query["mode"] not in SLICE_MODES or query["stream"] not in ("stdout", "stderr"):
            raise Refused("bad_request", "no mode %(mode)r of a stream %(stream)r" % query)
        if (query["mode"] == "match") != ("pattern" in values):
            raise Refused("bad_request", "mode=match has a pattern, and no other has")
        query["pattern"] = values.get("pattern", b"")
        for name, default in (
            ("first", 0), ("last", 0), ("before", 0), ("after", 0),
            ("max_lines", 20), ("max_bytes", 4096), ("line_bytes", 500),
        ):  # fmt: skip
            query[name] = self.number(keys, name, default)
        of = self.number(keys, "of")
        run = self.runs.get(of)
        if run is None and self.archive is not None:
            run = self.archive.find(self, of)
        if run is None:
            raise Refused("no_such_run", "there is no run %d" % of)
        if run.done:
            self.start_slice(ident, query, run)
        else:
            run.waiting.append((ident, query))

    # -- answers

    def say(self, answer, payload=b""):
        self.outbox += json(answer).encode("utf-8", "replace") + b"\n" + payload
        self.on_output(0)

    def on_output(self, _events):
        try:
            while self.outbox:
                self.outbox = self.outbox[os.write(1, self.outbox[: 1 << 20]) :]
        except BlockingIOError:
            self.watch(1, self.on_output, select.POLLOUT)
            return
        except OSError:
            self.outbox = b""
            raise Gone
        self.forget(1)
        if self.hello is not None and 0 not in self.watched:
            self.watch(0, self.on_input)

    def conclude(self, run):
        """A command has ended: answer its probes, then itself."""
        if not run.probes or run.execution == "not_run":
            self.answer_run(run)
            return

        def answered(answers, error):
            run.answers = answers or {probe[0]: {"error": error} for probe in run.probes}
            self.answer_run(run)

        self.jobs.append((scan_probes(run), answered, run))

    def answer_run(self, run):
        run.done = True
        for capture in run.captures.values():
            capture.close()
        run.command, run.env, run.probes, run.prompts, run.dialog = b"", [], [], [], None
        self.say(run.result())
        waiting, run.waiting = run.waiting, []
        for ident, query in waiting:
            self.start_slice(ident, query, run)
        self.ended.append(run)
        if self.archive is not None and len(self.ended) >= 2 * RECENT:
            self.archive.retire(self)
        elif len(self.ended) >= 2 * RECENT or self.store.left < 2 * run.cap:
            self.need("archive")

    def start_slice(self, ident, query, run):
        if query["mode"] == "salient":
            self.parked.append((ident, query, run))
            self.need("groups")
            if self.groups:
                self.groups.begin(self)
            return

        def answered(pick, error):
            run.captures[query["stream"]].rest()
            if pick is None:
                self.say({"t": "error", "id": ident, "kind": error.kind, "message": str(error)})
                return
            payload = b"".join(pick.payload)
            total = run.captures[query["stream"]].lines
            answer = {"t": "slice", "id": ident, "total": total, "more": pick.more, "lines": pick.lines}
            self.say(dict(answer, payload=len(payload)), payload)

        self.jobs.append((scan_slice(run, query), answered, run))

    def work(self):
        """A step of the first scan: about one chunk, so that nothing else waits long. Then it is another's turn."""
        steps, answered, _run = self.jobs[0]
        self.scanning = True
        signal.setitimer(signal.ITIMER_REAL, REGEX_S)
        try:
            # The regular expression engine looks for signals while it works: even one that would never end stops.
            answer, error = next(steps), None
            until = time.monotonic() + 0.01
            while not isinstance(answer, tuple):
                if time.monotonic() > until:
                    self.jobs.append(self.jobs.pop(0))
                    return
                answer = next(steps)
        except Refused as refused:
            answer, error = None, refused
        except TooSlow as slow:
            answer, error = None, Refused("bad_request", str(slow))
        finally:
            self.scanning = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        del self.jobs[0]
        answered(answer and answer[0], error)

    def check_cancelled(self):
        if self.jobs or [one for one in self.everyone() if one.held or (one.run is not None and one.run.ending)]:
            return
        for ident in self.canceling:
            self.say({"t": "ok", "id": ident})
        self.canceling = []

    def read_to_nowhere(self, pipe):
        """Keep an output open whose command has ended. The oldest goes when there are too many."""
        pipe.unlink()

        def on_late(_events):
            try:
                for _ in range(4):
                    if not os.read(pipe.fd, CHUNK):
                        drop()
                        return
            except BlockingIOError:
                pass
            except OSError:
                drop()

        def drop():
            self.forget(pipe.fd)
            self.late.remove(pipe)
            pipe.close()

        if len(self.late) >= LATE_MAX:
            oldest = self.late.pop(0)
            self.forget(oldest.fd)
            oldest.close()
        self.late.append(pipe)
        self.watch(pipe.fd, on_late)

    # -- the end

    def fatal(self, kind, message):
        try:
            self.say({"t": "error", "id": 0, "kind": kind, "message": message})
        except Gone:
            pass

    def finish(self):
        """End every process, remove the directory, say bye. Called once, on every way out."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if isinstance(self.ending, int):
            self.answer_rest()
        if self.resume is not None:
            self.resume.save(self)
        if self.pids.fd >= 0:
            os.close(self.pids.fd)  # where there are no descriptors left, one is enough to look at /proc and clear up
            self.pids.fd = -1
        sids, known = set(self.shells), {}
        children = slurp("/proc/self/task/%d/children" % os.getpid()).split()
        for session in self.everyone():
            sids.update(session.old_shells)
            known.update(session.known)
            if session.run is not None or session.held is not None:
                children.append(b"0")
        if known or len(children) > len(self.shells):
            end_processes(lambda everything: self.offspring(everything, sids, known), END_S - 0.5)
        else:  # nothing but idle shells, which have nothing to say: no need to look at all of /proc
            for pid in self.shells:
                kill(pid, signal.SIGKILL)
        if self.directory is not None and (self.resume is None or self.resume.linger(self)):
            remove_tree(self.directory)
        try:
            if isinstance(self.ending, int):
                self.say({"t": "bye", "id": self.ending})
            self.flush(2.0)
        except Gone:
            pass

    def offspring(self, everything, sids, known):
        """Processes of our sessions: by session, by descent, by the marker in their environment; or because nobody else
        is their parent any more. Without those that are to stay."""
        found = {pid for pid, start in known.items() if pid in everything and everything[pid].start == start}
        # The number of a session that is gone may have been given to another one.
        sids = {sid for sid in sids if sid not in everything or sid in found or sid in self.shells}
        for one in everything.values():
            # What has wiped everything out since a command began that keeps, may be that command's.
            if one.sid in sids or one.ppid == os.getpid() and one.start < self.kept.get(0, 1 << 62):
                found.add(one.pid)
        found = grown(everything, found | marked(everything, self.token))
        if self.kept:
            found -= self.endings.staying(self, everything, found)
        return found

    def answer_rest(self):
        """Every run has its answer before bye."""
        try:
            for session in self.everyone():
                rest = (
                    ([session.held[0]] if session.held else []) + ([session.run] if session.run else []) + session.queue
                )
                for run in rest:
                    run.note("cancelled")
                    run.execution = "killed" if run.started else "not_run"
                    if run.started:
                        run.elapsed = time.monotonic() - run.started
                    self.answer_run(run)
            deadline = time.monotonic() + 1.0
            while self.jobs and time.monotonic() < deadline:
                self.work()
        except Gone:
            pass

    def flush(self, seconds):
        deadline = time.monotonic() + seconds
        while self.outbox and time.monotonic() < deadline:
            waiting = select.poll()
            waiting.register(1, select.POLLOUT)
            waiting.poll(100)
            self.on_output(0)


def remove_tree(path):
    """Remove a directory of ours. Nothing in it is followed."""
    try:
        for name in os.listdir(path):
            inner = path + b"/" + name
            try:
                os.unlink(inner)
            except OSError:
                remove_tree(inner)
        os.rmdir(path)
    except OSError:
        pass


def marked(everything, token):
    """Processes in whose environment an agent's marker is."""
    # (Of one in state D it is not read: the lock for that may be held by the one that waits.)
    needle = MARKER + b"=" + token + b"."
    return {p for p in everything if everything[p].state != "D" and needle in slurp("/proc/%d/environ" % p, 1 << 20)}


def end_processes(select_from, seconds):
    """TERM, and half a second later KILL, whatever `select_from` finds among all processes, until nothing is left."""
    deadline = time.monotonic() + seconds
    killing = time.monotonic() + min(0.5, seconds / 2)
    asked = set()
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        everything = processes()
        now = time.monotonic()
        # What has had its KILL and waits in the kernel is not worth waiting for.
        gone = "ZXD" if now > killing + 0.5 else "ZX"
        living = [pid for pid in select_from(everything) if everything[pid].state not in gone]
        if not living:
            return
        for pid in living:
            if now >= killing:
                kill(pid, signal.SIGKILL)
            elif pid not in asked:
                asked.add(pid)
                kill(pid, signal.SIGTERM)
                kill(pid, signal.SIGCONT)
        if now >= deadline:  # a host so busy that one look takes all the time: it had its KILL all the same
            return
        time.sleep(0.005 if len(asked) < 3 else 0.02)


def main():
    """Run the agent; the process ends without the interpreter's own leave-taking, which takes longer than ours."""
    code = 70
    try:
        code = globals().get("PlainAgent", Agent)().run()  # plain.py, where it was sent along
    except BaseException as error:  # in the clean-up itself: the client's error messages show the last of our stderr
        os.write(2, ("checkrunner-agent: %s\n" % Agent.explain(error)).encode("utf-8", "replace"))
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
