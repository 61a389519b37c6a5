"""Where the outputs of commands lie that ended a while ago. Sent to a host when it has had some hundred commands.

A module beside agent.py, under the same rules. Memory must not grow with the number of commands: of a run that is older
than the last RECENT ones remain a record in one of the files `old.N`, each of about SEGMENT bytes, and 8 bytes in the
file `index`, which say where. Memory holds a number for every PAGE of these. Where there is no directory, the "files"
are in memory, as the outputs have been before.

A record is a line of numbers, in decimal: the ID, and for each stream its lines, kept bytes, newlines in these, and
how many bytes of it follow the line: of the output, or, negative, of the line index of an output that has a file of
its own. Of a run without output there is no record at all.
"""

import posix as os

from agent import CHUNK, RECENT, Capture, Refused, Run, process, processes

PAGE = 512  # IDs
EMPTY = 1  # in the index; 0: no such run, else the number of the segment, from 1 on, and the place in it
SEGMENT = 1 << 20
HEAD_MAX = 256  # bytes of a record's line
STREAMS = ("stdout", "stderr")
ROOM = 1 << 20  # bytes that are made free at once
LATEST = 3  # runs that ended last, whose outputs never give way
SIDS_MAX = 64  # ended shells before anybody looks which of them have left processes


def retire(agent):
    """Archive the runs that have ended but for the last ones, and forget what sessions know of processes long gone."""
    shelf = shelf_of(agent)
    busy = [job[2] for job in agent.jobs + agent.parked]
    old = [run for run in agent.ended[:-RECENT] if run not in busy]
    agent.ended = [run for run in agent.ended[:-RECENT] if run in busy] + agent.ended[-RECENT:]
    shelf.add(old)
    for run in old:
        del agent.runs[run.id]
    if agent.kept:
        began = agent.kept.get(0, 1 << 62)  # not there where all that kept something had to be ended
        agent.kept = living(agent.kept)
        agent.kept[0] = began
    for session in agent.everyone():
        forget_ended(session)


def find(agent, ident):
    """An old run, as far as slices need it; None when there is none of that ID. Raises Refused for one that is lost."""
    shelf = shelf_of(agent)
    run = shelf.find(ident)
    if run is None and shelf.lost and agent.idents.get(ident >> 10, 0) >> (ident & 1023) & 1:
        raise gone()
    return run


def make_room(agent):
    """Outputs give way to new ones: those of the runs that ended first, but none of the last LATEST runs, and none that
    is just being read."""
    shelf, store = shelf_of(agent), agent.store
    busy = [job[2] for job in agent.jobs + agent.parked]
    while store.left < ROOM:
        freed = shelf.give_way()
        if not freed:
            break
        store.left += freed
    for run in agent.ended[:-LATEST]:
        if store.left >= ROOM:
            break
        if run not in busy:
            shelf.drop(run)
            agent.ended.remove(run)
            del agent.runs[run.id]


def gone():
    return Refused("storage", "the output of this run is not kept any more: others needed the room")


def shelf_of(agent):
    shelf, directory = agent.shelf, agent.store.directory
    if shelf is None or shelf.directory != directory:
        agent.shelf = Shelf(agent.store, directory, shelf is not None)
    return agent.shelf


def living(known):
    """Those of the processes (pid -> start time) that live. Never nothing: what the others have started since may live,
    and is looked for at the end for their sake."""
    found = {}
    for pid, start in known.items():
        one = process(pid)
        if one is not None and one.start == start:
            found[pid] = start
    return found or {0: 0}


def forget_ended(session):
    """Forget what has ended of the processes and shells that a session has left."""
    if session.known:
        session.known = living(session.known)
    if len(session.old_shells) > SIDS_MAX:
        sids = {one.sid for one in processes().values()}
        session.old_shells = [sid for sid in session.old_shells if sid in sids]


class Shelf(object):
    """The records of one capture directory."""

    def __init__(self, store, directory, lost):
        self.store = store
        self.directory = directory
        self.lost = lost  # whether there were runs that are in no index any more
        self.files = {}  # without a directory: name -> content
        self.pages = {}  # ID // PAGE -> the place of its page in the index
        self.oldest = self.newest = 1  # segments
        self.size = 0  # of the newest one
        self.weight = 0  # of the newest one with all files of the outputs in it

    # -- in

    def add(self, runs):
        """Write records of runs; where that fails, their outputs are lost: memory is not for keeping them."""
        data, places = b"", []
        for run in runs:
            record = self.record(run)
            places.append((run, (self.newest << 32) + self.size + len(data) if record else EMPTY))
            data += record
            self.weight += sum([capture.kept for capture in run.captures.values()])
            if self.size + len(data) >= SEGMENT or self.weight >= SEGMENT:
                self.put(data, places)
                data, places = b"", []
                self.newest += 1
                self.size = self.weight = 0
        self.put(data, places)

    def put(self, data, places):
        try:
            if data:
                self.write(b"old.%d" % self.newest, self.size, data)
                self.size += len(data)
            for run, place in places:
                page = self.pages.setdefault(run.id // PAGE, len(self.pages))
                self.write(b"index", 8 * (page * PAGE + run.id % PAGE), place.to_bytes(8, "little"))
        except OSError:
            for run, _place in places:
                self.drop(run)

    def drop(self, run):
        """Give up the outputs of a run."""
        self.lost = True
        for capture in run.captures.values():
            capture.rest()
            self.store.left += capture.kept
            if capture.small is None:
                self.remove(capture.path)

    @classmethod
    def record(cls, run):
        """Its bytes; none for a run without output."""
        words, bodies = [run.id], b""
        for name in STREAMS:
            capture = run.captures[name]
            body, own = cls.body(capture)
            words += [capture.lines, capture.kept, capture.kept_newlines, -len(body) if own else len(body)]
            bodies += body
        if not any(words[1:]):
            return b""
        return " ".join([str(word) for word in words]).encode() + b"\n" + bodies

    @staticmethod
    def body(capture):
        """(what follows in the record, whether it is a line index)."""
        if capture.small is not None:
            return bytes(capture.small), False
        if capture.kept <= CHUNK:
            data = b""
            try:
                while len(data) < capture.kept:
                    data += capture.read(len(data), CHUNK)
                os.unlink(capture.path)
                return data, False
            except (Refused, OSError):  # then the file stays where it is
                pass
            finally:
                capture.rest()
        return b"".join([n.to_bytes(8, "little") for mark in zip(*capture.marks) for n in mark]), True

    # -- out

    def find(self, ident):
        page = self.pages.get(ident // PAGE)
        if page is None:
            return None
        place = int.from_bytes(self.read(b"index", 8 * (page * PAGE + ident % PAGE), 8), "little")
        if not place:
            return None
        run = Run(ident, "")
        run.done = True
        words, at, segment = [ident] + 8 * [0], 0, place >> 32
        if place != EMPTY:
            at = place & 0xFFFFFFFF
            words, head = self.head(segment, at)
            if words[:1] != [ident]:
                raise gone()
            at += head
        for number, name in enumerate(STREAMS):
            lines, kept, newlines, size = words[4 * number + 1 : 4 * number + 5]
            run.captures[name] = self.capture(run, name, self.read(b"old.%d" % segment, at, abs(size)), size, kept)
            run.captures[name].newlines, run.captures[name].kept_newlines = lines, newlines
            at += abs(size)
        return run

    def capture(self, run, name, body, size, kept):
        if len(body) != abs(size):
            raise gone()
        capture = Capture(self.store, self.path(run.id, name), kept)
        capture.bytes = capture.kept = kept
        if size < 0:
            numbers = [int.from_bytes(body[at : at + 8], "little") for at in range(0, len(body), 8)]
            capture.small, capture.marks = None, (numbers[::2], numbers[1::2])
        else:
            capture.small = body
        return capture

    def path(self, ident, name):
        return b"%s/c%d.%s" % (self.directory or b"", ident, name[3:].encode())

    def head(self, segment, at):
        """(the numbers of a record's line, its length); ([], 0) where there is none."""
        line, newline, _ = self.read(b"old.%d" % segment, at, HEAD_MAX).partition(b"\n")
        try:
            words = [int(word) for word in line.split()]
        except ValueError:
            words = []
        return (words, len(line) + 1) if newline and len(words) == 9 else ([], 0)

    def give_way(self):
        """Drop the oldest segment, and the files of the outputs in it; the bytes of these outputs."""
        segment, at, freed = self.oldest, 0, 0
        if segment == self.newest:
            if not self.size:
                return 0
            self.newest += 1
            self.size = self.weight = 0
        self.oldest += 1
        while True:
            words, head = self.head(segment, at)
            if not head:
                break
            for name, kept, size in ((STREAMS[0], words[2], words[4]), (STREAMS[1], words[6], words[8])):
                freed += kept
                at += abs(size)
                if size < 0:
                    self.remove(self.path(words[0], name))
            at += head
        if self.directory is not None:
            self.remove(b"%s/old.%d" % (self.directory, segment))
        self.files.pop(b"old.%d" % segment, None)
        return freed

    # -- files

    def write(self, name, at, data):
        if self.directory is None:
            held = self.files.setdefault(name, bytearray())
            held.extend(bytes(max(0, at - len(held))))
            held[at : at + len(data)] = data
            return
        fd = os.open(self.directory + b"/" + name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(fd, data[done:], at + done)
        finally:
            os.close(fd)

    def read(self, name, at, size):
        """What is there, b"" where nothing is."""
        if self.directory is None:
            return bytes(self.files.get(name, b"")[at : at + size])
        data = b""
        try:
            fd = os.open(self.directory + b"/" + name, os.O_RDONLY)
        except OSError:
            self.lost = True
            return data
        try:
            while len(data) < size:
                piece = os.pread(fd, size - len(data), at + len(data))
                if not piece:
                    break
                data += piece
        except OSError:  # what is missing is noticed by who asked for so much
            pass
        finally:
            os.close(fd)
        return data

    @staticmethod
    def remove(path):
        try:
            os.unlink(path)
        except OSError:  # gone already, or it goes with the directory
            pass
