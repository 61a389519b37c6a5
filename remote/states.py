"""What a command waits for, as the kernel shows it. Sent to a host when a command there lasts, and not before.

A module beside agent.py, under the same rules. Nothing here runs before a command has taken QUIET_S. A process is
looked at through /proc/PID/{stat,wchan,syscall,fd} and, for the calls that take a path or a set of descriptors,
/proc/PID/mem: see docs/sessions.md.

    Look       one look at all processes of a session, from its shell on: who waits for whom
    Sight      what one process is doing, and what tells so
"""

import errno
import posix as os
import sys
import time

from agent import (
    BOOT_S,
    CHUNK,
    LOOK_S,
    QUIET_S,
    SMALL,
    Refused,
    json,
    kill,
    link_of,
    process,
    processes,
    signal,
    slurp,
    text,
)

REPEAT_S = 10.0  # between two frames that say the same
FAMILY_MAX = 200  # processes of a command that are looked at
THREADS_MAX = 32
FDS_MAX = 64  # descriptors of one call, or
HOLDERS_S = 0.02  # for finding who holds the other end of a pipe among all processes
TABLE_MAX = 4 << 20  # of a table of sockets
OWN_FDS = 1024  # more descriptors than we ever have open
BLOCKS = "looking at its system call blocks"
GUARD_S = 0.1  # for a look at a process that may hold a lock while it waits

# From what explains least why a command does not end to what explains most.
KINDS = ("idle", "unknown", "running", "io_wait", "stopped", "waiting_input")


# --- what the session asks -------------------------------------------------------------------------------------------


def is_asking(session, run, now):
    """Look at the command once more, tell what it does, and whether it has to be ended as one that waits for input."""
    prompts = session.agent.prompts if run.input != "fail" else None
    if prompts is not None:
        prompts.listen(session, run)
    observe(session, run, now)
    sight = run.sight
    asking = sight is run.raw and sight is not None and sight.kind == "waiting_input"
    line = line_seen(session, run)
    run.prompt = line.strip() if asking else ""
    if (asking or run.looks > 1) and now >= run.started + QUIET_S:
        say_running(session, run, now)
    if prompts is not None:
        return prompts.is_unanswered(session, run, now, line)
    # Where it was to be answered, but the code for that does not come.
    return asking and (run.input == "fail" or now >= run.started + BOOT_S)


def line_now(session, run):
    """The line that asks right now, None where nobody waits for the terminal."""
    session.agent.prompts.listen(session, run)
    session.agent.scanned_at = -1.0  # what was seen a moment ago is not enough
    run.raw = None
    observe(session, run, time.monotonic())
    return line_seen(session, run)


def line_seen(session, run):
    """The same, as of the last look."""
    if run.raw is None or run.raw.kind != "waiting_input":
        return None
    if run.dialog is None:
        return prompt(session, run)
    # Who is seen waiting has written its question by now: what is still on its way would else be taken for the next.
    session.agent.prompts.listen(session, run)
    return session.agent.prompts.without_echo(run, prompt(session, run))


def look_last(session, run, now):
    """What a command that is about to be ended was doing."""
    if now >= run.looked_at + LOOK_S / 2:
        observe(session, run, now)
    if run.sight is not None:
        keep_sight(run, now, run.sight, run.sight_since)
    elif run.raw is not None:
        keep_sight(run, now, run.raw, run.raw_since)


def observe(session, run, now):
    """One more look. What two in a row agree on is believed; of two that differ, that something goes on."""
    run.looks += 1
    run.looked_at = now
    sight = Look(session, all_processes(session.agent, session.shell, now)).find()
    if sight is None:
        return
    before, run.raw = run.raw, sight
    same = before is not None and before.kind == sight.kind
    if not same or before.one.pid != sight.one.pid:
        run.raw_since = now
        same = same and sight.kind != "waiting_input"
    if same:
        if run.sight is None or (run.sight.kind, run.sight.one.comm) != (sight.kind, sight.one.comm):
            run.sight_since = run.raw_since
        run.sight = sight


def say_running(session, run, now):
    """Tell what the command is doing, when that has changed or long not been told."""
    if run.sight is None and run.raw is not None:  # the first looks differ
        run.sight, run.sight_since = Sight(run.raw.one), now
        run.sight.kind, run.sight.echo = "running", run.raw.echo
    sight = run.sight
    what = (sight.kind, sight.one.comm) if sight is not None else None
    if run.said is not None and run.said[0] == what and now < run.said[1] + REPEAT_S:
        return
    run.said = (what, now)
    answer = {"t": "running", "id": run.id, "elapsed_s": now - run.started}
    if sight is not None:
        answer["state"] = sight.line(now - run.started)
        answer["seen"] = sight.fields(now - run.sight_since)
    session.agent.say(answer)


def keep_sight(run, now, sight, since):
    """What the result says of a command that did not end by itself."""
    run.seen = sight.fields(max(0.0, now - since))
    run.state = sight.line(now - run.started)
    if run.prompt:
        run.state += ", the terminal shows " + json(run.prompt)


def name_stuck(session, run, now, alive):
    """What is left after KILL: name the one that explains it best."""
    look = Look(session, {one.pid: one for one in alive})
    sight = look.finish(max([look.examine(one) for one in alive], key=look.rank))
    since = run.sight_since if run.sight is not None and run.sight.one.pid == sight.one.pid else now
    keep_sight(run, now, sight, since)
    run.state = sight.line(now - run.started, True)


def asks(session):
    """Whether an open line was written, as a prompt is."""
    run = session.run
    return bool(last_line(session.tail, True)) or run is not None and any([open_end(run, n) for n in run.captures])


def open_end(run, name):
    """The end of an output, if its last line is open and was begun since the last answer; else b""."""
    capture = run.captures[name]
    if capture.partial and capture.state == "complete":
        return output_end(run, name)
    return b""


def output_end(run, name):
    """The end of what was written to an output since the last answer."""
    capture = run.captures[name]
    try:
        return capture.read(max(0, capture.kept - SMALL, run.marks.get(name, 0)), SMALL)
    except Refused:  # somebody has cut the file
        return b""


def prompt(session, run):
    """The line that asks, blanks at its end included: an open one of the terminal, else of an output; else the last
    one of the terminal; and where questions may be answered, else the last one of an output."""
    tail = session.tail
    ends = [tail] if last_line(tail, True) else []
    ends += [open_end(run, name) for name in ("stderr", "stdout")] + [tail]
    if run.input != "fail":
        ends += [output_end(run, name) for name in ("stdout", "stderr")]
    return next((line for line in [last_line(end) for end in ends] if line), "")


def calls(agent):
    """The system calls of this machine; empty for one that is not known."""
    if agent.call_table is None:
        agent.call_table = known_calls(os.uname().machine)
    return agent.call_table


def all_processes(agent, shell, now):
    """All processes, as long as looking at them takes a hundredth of the time at most; else those that descend from
    a shell, and those of its session that the last look at all has found."""
    if now < agent.scanned_at + 0.05:
        return agent.snapshot
    if now >= agent.next_scan:
        begun = time.monotonic()
        agent.snapshot = processes()
        agent.scanned_at = time.monotonic()
        agent.next_scan = begun + 100 * (agent.scanned_at - begun)
        return agent.snapshot
    found = descendants(shell)
    if found is None:
        return agent.snapshot
    for one in agent.snapshot.values():
        if one.sid == shell and one.pid not in found:
            again = process(one.pid)
            if again is not None:
                found[one.pid] = again
    return found


# --- one look ---------------------------------------------------------------------------------------------------------


def descendants(pid):
    """A process and what descends from it, by pid; None where the kernel does not list children."""
    found, waiting = {}, [pid]
    while waiting and len(found) < FAMILY_MAX:
        parent = waiting.pop()
        one = process(parent)
        if one is None:
            continue
        found[parent] = one
        base = "/proc/%d/task" % parent
        try:
            threads = [str(parent)] if one.threads == 1 else os.listdir(base)[:FAMILY_MAX]
            if parent == pid:
                os.stat("%s/%d/children" % (base, pid))
        except OSError:
            if parent == pid:
                return None
            continue
        for thread in threads:
            waiting.extend([int(word) for word in whole("%s/%s/children" % (base, thread)).split()])
    return found


def whole(path):
    """A list of the kernel's, of which one read gives a page at most."""
    data = b""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return data
    try:
        while len(data) < TABLE_MAX:
            more = os.read(fd, CHUNK)
            if not more:
                break
            data += more
    except OSError:
        pass
    finally:
        os.close(fd)
    return data


def known_calls(machine):
    """System calls that processes are found waiting in, by number: (name, what is known of its arguments).

    r, w: reads, writes the descriptor in the first; f: some other use of it; p: a path in the first; q: a directory and
    a path; P: poll; Q: ppoll; S: select; e: epoll; c: wait4; i: waitid; t: a clock; x: a futex; s: a signal; m: others.
    """
    column = {"x86_64": 2, "aarch64": 3}.get(machine)
    table = {}
    if column is not None:
        for word in (
            "r.read.0.63 r.readv.19.65 r.pread64.17.67 r.recvfrom.45.207 r.recvmsg.47.212 r.recvmmsg.299.243 "
            "r.preadv.295.69 r.accept.43.202 r.accept4.288.242 w.write.1.64 w.writev.20.66 w.pwrite64.18.68 "
            "w.pwritev.296.70 w.sendto.44.206 w.sendmsg.46.211 w.sendmmsg.307.269 w.connect.42.203 f.ioctl.16.29 "
            "f.fcntl.72.25 f.flock.73.32 f.fsync.74.82 f.fdatasync.75.83 f.ftruncate.77.46 f.getdents.78. "
            "f.getdents64.217.61 f.lseek.8.62 f.fstat.5.80 f.fstatfs.138.44 f.syncfs.306.267 f.fallocate.285.47 "
            "f.close.3.57 w.sendfile.40.71 r.splice.275.76 r.tee.276.77 w.vmsplice.278.75 r.copy_file_range.326.285 "
            "p.open.2. p.stat.4. p.lstat.6. p.access.21. p.mkdir.83. p.rmdir.84. p.unlink.87. p.rename.82. "
            "p.readlink.89. p.truncate.76.45 p.statfs.137.43 p.chdir.80.49 p.execve.59.221 p.umount2.166.39 "
            "p.getxattr.191.8 p.lgetxattr.192.9 p.chmod.90. q.openat.257.56 q.openat2.437.437 q.newfstatat.262.79 "
            "q.statx.332.291 q.unlinkat.263.35 q.renameat.264.38 q.mkdirat.258.34 q.readlinkat.267.78 "
            "q.faccessat.269.48 q.faccessat2.439.439 q.execveat.322.281 q.mount.165.40 P.poll.7. Q.ppoll.271.73 "
            "S.select.23. S.pselect6.270.72 e.epoll_wait.232. e.epoll_pwait.281.22 e.epoll_pwait2.441.441 "
            "c.wait4.61.260 i.waitid.247.95 t.nanosleep.35.101 t.clock_nanosleep.230.115 x.futex.202.98 "
            "x.futex_waitv.449.449 s.pause.34. s.rt_sigsuspend.130.133 s.rt_sigtimedwait.128.137 "
            "m.restart_syscall.219.128 m.sync.162.81 m.msgrcv.70.188 m.semop.65.193 m.semtimedop.220.192 "
            "m.io_getevents.208.4 m.io_uring_enter.426.426 m.mq_timedreceive.243.183 m.mmap.9.222 m.munmap.11.215 "
            "m.exit_group.231.94 m.clone.56.220 m.clone3.435.435 m.vfork.58."
        ).split():
            parts = word.split(".")
            if parts[column]:
                table[int(parts[column])] = (parts[1], parts[0])
    return table


def is_ordinary(wchan):
    """Whether a process that waits in this function of the kernel holds none of the locks that looking at it takes."""
    return wchan in ("", "0") or wchan.startswith(
        (
            "wait_woken", "pipe_", "anon_pipe_", "do_wait", "hrtimer_nanosleep", "do_nanosleep", "futex_", "poll_sched",
            "do_sys_poll", "do_poll", "do_select", "ep_poll", "do_epoll_wait", "unix_", "inet_csk_", "sk_wait", "skb_",
            "__skb_", "n_tty_", "sigsuspend", "do_sigtimedwait", "locks_lock", "flock_lock", "wait_for_partner",
            "do_signal_stop", "inotify_read", "eventfd_", "signalfd_", "timerfd_",
        )
    )  # fmt: skip


def is_frozen(wchan):
    return wchan in ("__refrigerator", "do_freezer_trap")


def is_vfork(sight):
    """Whether it waits, in state D, for a child that has not started its program yet."""
    return sight.wchan in ("kernel_clone", "_do_fork", "do_fork") or sight.call in ("vfork", "clone", "clone3")


def signed(word):
    """A C int in a register."""
    return (word & 0xFFFFFFFF) - ((word & 0x80000000) << 1)


def peek(pid, address, size):
    """Bytes of a process's memory; b"" where they cannot be read."""
    try:
        fd = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.pread(fd, size, address)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(fd)


def peek_path(pid, address, directory):
    """The path at an address; a relative one from a directory, a descriptor's number or None for the current one."""
    # A read across the end of what is mapped fails as a whole.
    data = peek(pid, address, 4096 - address % 4096)
    if data and b"\0" not in data:
        data += peek(pid, address + len(data), 4096)
    path = text(data.partition(b"\0")[0])
    if path and not path.startswith("/"):
        try:
            inner = "cwd" if directory is None or directory < 0 else "fd/%d" % directory
            path = os.readlink("/proc/%d/%s" % (pid, inner)) + "/" + path
        except OSError:
            pass
    return path


def terminal_flags(fd):
    """ECHO and ICANON of a terminal; both True when it cannot be asked."""
    import termios

    try:
        flags = termios.tcgetattr(fd)[3]
    except (OSError, ValueError, termios.error):
        return True, True
    return bool(flags & termios.ECHO), bool(flags & termios.ICANON)


class Sight(object):
    """What one process is doing, and what tells so."""

    __slots__ = ("one", "kind", "wchan", "call", "form", "args", "fd", "on", "why", "fds", "path", "endless", "echo")

    def __init__(self, one):
        self.one = one
        self.kind = "unknown"
        self.wchan = self.call = self.form = self.on = self.why = self.path = ""
        self.args = []
        self.fd = -1
        self.fds = []  # (number, link) of what it waits for
        self.endless = False  # a wait without a time limit
        self.echo = True

    def read(self, base, table):
        """The system call and what it works on. Takes locks of the process: see Look.is_safe."""
        pid = self.one.pid
        try:
            fd = os.open(base + "/syscall", os.O_RDONLY)
            try:
                words = os.read(fd, 512).split()
            finally:
                os.close(fd)
        except OSError as error:
            self.why = self.explain(error)
            return
        if len(words) < 9:  # it runs, or waits outside of a call: for a page of memory
            return
        if not table:
            self.why = "the system calls of %s are not known here" % os.uname().machine
            return
        if int(words[7], 16) < 1 << 32:
            self.why = "a 32-bit program, whose system calls are not known here"
            return
        number = int(words[0])
        args = self.args = [int(word, 16) for word in words[1:7]]
        self.call, form = table.get(number, ("call %d" % number, "m"))
        self.form = form
        if form in "rwf":
            self.fd = signed(args[0])
            self.fds = [(self.fd, link_of(pid, self.fd))]
            self.path = self.fds[0][1]
        elif form == "p":
            self.path = peek_path(pid, args[0], None)
        elif form == "q":
            self.path = peek_path(pid, args[1], signed(args[0]))
        elif form in "PQSe":
            self.read_set(pid, form, args)

    def read_set(self, pid, form, args):
        """The descriptors of a poll, select or epoll, read from where the process keeps them."""
        wanted = []
        if form == "e":
            for line in slurp("/proc/%d/fdinfo/%d" % (pid, signed(args[0]))).split(b"\n"):
                words = line.split()
                if words[:1] == [b"tfd:"] and int(words[3], 16) & 7:
                    wanted.append(int(words[1]))
            self.endless = self.call != "epoll_pwait2" and signed(args[3]) < 0 or not args[3]
        elif form == "S":
            count = min(args[0], 1024)
            for address in args[1:3]:
                bits = int.from_bytes(peek(pid, address, (count + 63) // 64 * 8) if address else b"", sys.byteorder)
                wanted.extend([fd for fd in range(count) if bits >> fd & 1])
            self.endless = not args[4]
        else:
            data = peek(pid, args[0], 8 * min(args[1], FDS_MAX))
            for at in range(0, len(data), 8):
                if int.from_bytes(data[at + 4 : at + 6], sys.byteorder) & 7:  # else it waits for errors only
                    wanted.append(int.from_bytes(data[at : at + 4], sys.byteorder))
            self.endless = signed(args[2]) < 0 if form == "P" else not args[2]
        self.fds = [(fd, link_of(pid, fd)) for fd in wanted[:FDS_MAX] if fd < 1 << 31]

    def explain(self, error):
        """Why the system call cannot be read."""
        try:
            owner = os.stat("/proc/%d" % self.one.pid).st_uid
        except OSError:
            return "it has just ended"
        if owner != os.getuid():
            return "it runs as uid %d, and what it waits for is not shown to uid %d" % (owner, os.getuid())
        scope = slurp("/proc/sys/kernel/yama/ptrace_scope").strip()
        if scope not in (b"", b"0"):
            return "Yama forbids a look (kernel.yama.ptrace_scope=%s)" % text(scope)
        return "what it waits for is not shown (%s)" % error.strerror

    def fields(self, since):
        out = {"kind": self.kind, "pid": self.one.pid, "name": self.one.comm}
        for name, value in (("wchan", self.wchan), ("syscall", self.call), ("on", self.on)):
            if value and value != "0":
                out[name] = value
        if self.fd >= 0:
            out["fd"] = self.fd
        out["echo"] = self.echo
        out["since_s"] = since
        return out

    def line(self, seconds, pid=False):
        """The same for people, in one line."""
        words = [self.one.comm + (" (pid %d)" % self.one.pid if pid else ""), "%d s" % seconds, self.kind]
        words.extend([word for word in (self.wchan, self.on) if word not in ("", "0")])
        return " ".join(words)


class Look(object):
    """One look at the processes of a session: which of them explains that its command has not ended?

    That is found by following who waits for whom, from the shell on: from a parent to the children that it waits for,
    from the reader of a pipe to those who write into it and the other way round. Where this ends is a process that
    waits for something else, or runs. Of several ends (a pipeline waits for all its parts) the kind decides, see KINDS,
    then the age: the youngest is named.
    """

    def __init__(self, session, everything):
        self.session = session
        self.everything = everything
        self.children = {}
        for one in everything.values():
            self.children.setdefault(one.ppid, []).append(one)
        try:
            self.group = os.tcgetpgrp(session.tty)
        except OSError:
            self.group = 0
        self.echo, self.canonical = terminal_flags(session.tty)
        self.ends = {}  # pid -> the Sight at the end of its chain, None while that is looked for
        self.holders = None
        self.progress = {}

    def find(self):
        """The Sight of the process to name, None when there is nothing to be seen."""
        shell = self.everything.get(self.session.shell)
        if shell is None or shell.state in "ZX":
            return None
        sight = self.follow(shell)
        self.session.progress = self.progress
        return self.finish(sight)

    def finish(self, sight):
        sight.echo = self.echo
        if not sight.on:
            sight.on = sight.why if sight.kind == "unknown" else self.target(sight)
        return sight

    def follow(self, one):
        if one.pid in self.ends:
            return self.ends[one.pid]
        self.ends[one.pid] = None
        sight = self.examine(one)
        found = []
        if len(self.ends) < FAMILY_MAX:
            found = [end for end in [self.follow(other) for other in self.awaited(sight)] if end is not None]
        if found:
            sight = max(found, key=self.rank)
        elif sight.kind in ("idle", "unknown") and one.state == "S" and self.has_progressed(one, sight.why != BLOCKS):
            sight.kind = "running"
        self.ends[one.pid] = sight
        return sight

    @staticmethod
    def rank(sight):
        return KINDS.index(sight.kind), sight.one.start, sight.one.pid

    # -- one process

    def examine(self, one):
        sight = Sight(one)
        if one.state in "Tt":
            sight.kind = "stopped"
            sight.wchan = text(slurp("/proc/%d/wchan" % one.pid)).partition(".")[0]
            for line in slurp("/proc/%d/status" % one.pid, 4096).split(b"\n"):
                if one.state == "t" and line.startswith(b"TracerPid:"):
                    sight.on = "its tracer, pid " + text(line.split()[1])
        elif one.state == "R":
            sight.kind = "running"
        else:
            self.examine_thread(sight, "/proc/%d" % one.pid, one.state)
            # What a program waits for in one thread it does in another.
            if one.threads > 1 and sight.form in ("x", "c", "s") and sight.kind == "idle":
                sight = max([sight] + self.others(one), key=self.thread_rank)
        return sight

    def others(self, one):
        base = "/proc/%d/task" % one.pid
        try:
            names = os.listdir(base)[: THREADS_MAX + 1]
        except OSError:
            return []
        found = []
        for name in names:
            thread = None if int(name) == one.pid else process(int(name), "%s/%s/stat" % (base, name))
            if thread is None:
                continue
            sight = Sight(one)
            if thread.state == "R":
                sight.kind = "running"
            elif thread.state in "SDV":
                self.examine_thread(sight, "%s/%s" % (base, name), thread.state)
            found.append(sight)
        return found

    @staticmethod
    def thread_rank(sight):
        return KINDS.index(sight.kind), "mxtsceiSQPfqpwr".find(sight.form or "m")

    def examine_thread(self, sight, base, state):
        wchan = sight.wchan = text(slurp(base + "/wchan")).partition(".")[0]  # .constprop.0 and the like
        if is_frozen(wchan):
            sight.kind, sight.on = "stopped", "its control group, which is frozen"
            return
        if state in "DV":
            sight.kind = "io_wait"
        if not self.is_safe(sight, base, state):
            sight.why = BLOCKS
            return
        sight.read(base, calls(self.session.agent))
        if state not in "DV":
            self.judge(sight)
        elif is_vfork(sight):
            sight.kind, sight.form, sight.args = "idle", "c", []

    def is_safe(self, sight, base, state):
        """Whether reading what `Sight.read` reads returns.

        Kernels before 5.11 make one who asks for a process's system call wait while that process is in execve, which
        may wait for a dead file server; reading memory waits for a thread that changes its map. So where there is
        reason to doubt, a child of ours does it first, once for each wait.
        """
        if state == "S" and sight.one.threads == 1 and is_ordinary(sight.wchan):
            return True
        known = self.session.agent.looked
        key = (base, slurp(base + "/status", 8192).rpartition(b"\nvoluntary")[2])  # which counts the waits
        if key not in known:
            if len(known) > 1000:
                known.clear()
            known[key] = ends_in_time(lambda: Sight(sight.one).read(base, calls(self.session.agent)))
        return known[key]

    def judge(self, sight):
        """The kind of a process that sleeps and can be woken."""
        one, form = sight.one, sight.form
        terminal = [(fd, link) for fd, link in sight.fds if self.is_terminal(one, link)]
        if sight.call:
            # A file system in user space makes its clients wait like this, the others in state D.
            sight.kind = "io_wait" if sight.wchan.startswith(("request_wait_answer", "fuse_")) else "idle"
        if form == "r" and terminal:
            sight.kind = "waiting_input"
        elif form in "PQSe" and [link for _fd, link in sight.fds if link.endswith("ptmx")]:
            # It runs a terminal of its own (`script`, `sudo`): what counts is what is done there.
            sight.form = "c"
        elif form in ("P", "Q", "S", "e") and terminal and (sight.endless or not self.canonical):
            # A program that waits for other things as well, and of these for a socket, may be busy with these.
            if not [link for _fd, link in sight.fds if link.startswith("socket:")]:
                sight.kind = "waiting_input"
                sight.fd, sight.on = terminal[0]
        elif not sight.call:
            self.judge_unseen(sight)

    def judge_unseen(self, sight):
        """The same for one whose system call is not shown: by the kernel's function if that has only one meaning, or,
        in the foreground, by the terminal: who turns the echo off and writes an open line asks for a password."""
        wchan, one = sight.wchan, sight.one
        in_front = one.pgrp == self.group or one.front == one.pgrp and one.tty != 0
        if wchan.startswith("n_tty_read") and in_front:
            sight.kind, sight.on = "waiting_input", self.session.tty_name
        elif one.pgrp == self.group and not self.echo and self.canonical and asks(self.session):
            sight.kind, sight.on = "waiting_input", self.session.tty_name
        else:
            for start, form in (
                ("do_wait", "c"), ("hrtimer_nanosleep", "t"), ("do_nanosleep", "t"), ("futex_", "x"),
                ("sigsuspend", "s"), ("do_sigtimedwait", "s"), ("pipe_read", "r"), ("anon_pipe_read", "r"),
            ):  # fmt: skip
                if wchan.startswith(start):
                    sight.kind, sight.form = "idle", form
        if sight.kind != "unknown" and sight.form != "x":
            sight.why = ""

    def is_terminal(self, one, link):
        """Whether the link is our terminal, or its own (`script`, `sudo`) while it is in the foreground there."""
        if link == self.session.tty_name:
            return one.tty == 0 or one.front == one.pgrp
        if one.tty == 0 or one.front != one.pgrp:
            return False
        if link.startswith("/dev/pts/") and link[9:].isdigit():
            number = int(link[9:])
            # The kernel's way to put a device's two numbers into one: unix98 terminals have the majors from 136.
            return one.tty == (136 + (number >> 20) << 8 | number & 0xFF | (number & 0xFFF00) << 12)
        return link == "/dev/tty"

    def has_progressed(self, one, may_look):
        """Whether it did anything since the last look: used the processor, or read or wrote, if that may be looked at
        (it takes the same lock as the system call)."""
        moved = 0
        for line in slurp("/proc/%d/io" % one.pid).split(b"\n")[:2] if may_look else []:
            moved += int(line.split()[1]) if line else 0
        now = self.progress[one.pid] = (one.start, one.own, moved)
        before = self.session.progress.get(one.pid)
        return before is not None and before[0] == one.start and before != now

    # -- who waits for whom

    def awaited(self, sight):
        """The processes that it waits for."""
        if sight.kind in ("running", "io_wait", "stopped", "waiting_input") or sight.form in ("t", "f", "m"):
            return []
        found = []
        for fd, link in sight.fds:
            if link.startswith("pipe:") or "pipe" in sight.wchan and link:
                found.extend(self.others_of_pipe(sight.one.pid, fd, link)[0])
        if sight.form in ("r", "w"):
            return found
        return found + self.children_of(sight)

    def children_of(self, sight):
        """Its children; those in the terminal's foreground where there are any, as others run in the background."""
        pid, args = sight.one.pid, sight.args
        alive = [one for one in self.children.get(pid, []) if one.state not in "ZX" and not self.is_old(one)]
        wanted = 0
        if sight.form == "c" and args:
            wanted = signed(args[0])
        elif sight.form == "i" and args and args[0] == 1:  # P_PID
            wanted = args[1]
        chosen = [one for one in alive if wanted > 0 and one.pid == wanted]
        chosen = chosen or [one for one in alive if one.pgrp == self.group] or alive
        if not chosen and sight.form in ("c", "i"):
            hidden = [int(word) for word in whole("/proc/%d/task/%d/children" % (pid, pid)).split()]
            hidden = [other for other in hidden if other not in self.everything and process(other) is None]
            if hidden and hidden[0] not in self.ends:
                self.ends[hidden[0]] = None
                sight.kind = "unknown"
                sight.why = "it waits for pid %d, which /proc does not show (hidepid)" % hidden[0]
        return chosen

    def is_old(self, one):
        return self.session.known.get(one.pid) == one.start

    def others_of_pipe(self, pid, fd, link):
        """Processes that hold the other end of a pipe, and whether they are its readers."""
        if self.holders is None:
            self.holders = {}
            for one in self.session.members(self.everything):
                self.add_holder(one)
        if link not in self.holders:
            self.search_holder(link)
        mode, found = access_mode(pid, fd), []
        for one, other in self.holders.get(link, []):
            if one.pid != pid and one not in found and (mode == 2 or access_mode(one.pid, other) != mode):
                found.append(one)
        return found, mode == 1

    def add_holder(self, one):
        try:
            names = os.listdir("/proc/%d/fd" % one.pid)[:256]
        except OSError:
            return
        for name in names:
            link = link_of(one.pid, int(name))
            if link[:1] != "a" and link != "/dev/null":
                self.holders.setdefault(link, []).append((one, int(name)))

    def search_holder(self, link):
        """Who holds the other end, among all processes: for a limited time, and the next look goes on from there."""
        known, everything = self.session.pipe_ends, self.session.agent.snapshot
        found = known.get(link, 0)  # the pid, or below zero how many were looked at in vain
        if found <= 0:
            until = time.monotonic() + HOLDERS_S
            for pid in sorted(everything, key=lambda pid: everything[pid].start, reverse=True)[-found:]:
                self.add_holder(everything[pid])
                found = pid if link in self.holders else found - 1
                if found > 0 or time.monotonic() > until:
                    break
            known[link] = found
        else:
            one = process(found)
            if one is not None:
                self.add_holder(one)

    # -- names

    def target(self, sight):
        """What it waits for, for people."""
        pid, form = sight.one.pid, sight.form
        if sight.call in ("flock", "fcntl"):
            holder = self.lock_keeper(sight.path, lock_holder(pid))
            if holder:
                return "%s, locked by pid %d%s" % (sight.path, holder, self.called(holder))
        if sight.path and form in ("f", "p", "q"):
            return sight.path
        if sight.fds:
            names = [self.name(pid, fd, link) for fd, link in sight.fds[:3] if link]
            more = len(sight.fds) - 3
            return ", ".join(names) + (" and %d more" % more if more > 0 else "")
        return {
            "t": "a timer",
            "x": "another thread",
            "s": "a signal",
            "r": "a pipe",
            "c": "a child",
            "i": "a child",
        }.get(form, "")

    def called(self, pid):
        one = self.everything.get(pid) or process(pid)
        return " (%s)" % one.comm if one is not None else ""

    def name(self, pid, fd, link):
        if link.startswith("socket:["):
            return socket_name(pid, link[8:-1], self.partner)
        if link.startswith("pipe:"):
            others, readers = self.others_of_pipe(pid, fd, link)
            if not others:
                return "a pipe (nobody is seen at its other end)"
            return "a pipe %s pid %d (%s)" % ("to" if readers else "from", others[0].pid, others[0].comm)
        return link

    def lock_keeper(self, path, pid):
        """The process that took a lock; once that has ended, one that holds what it opened, the oldest of its line."""
        if pid and lives(pid):
            return pid
        everything, until = self.everything, time.monotonic() + HOLDERS_S
        for one in sorted(everything.values(), key=lambda one: one.start, reverse=True):
            if has_lock(one.pid, path):
                while one.ppid in everything and has_lock(one.ppid, path):
                    one = everything[one.ppid]
                return one.pid
            if time.monotonic() > until:
                break
        return 0

    def partner(self, link):
        """The process at the other end of a pair of sockets, for people."""
        self.others_of_pipe(0, 0, link)
        return "".join(["pid %d (%s)" % (one.pid, one.comm) for one, _fd in self.holders.get(link, [])[:1]])


def access_mode(pid, fd):
    """0 for a descriptor that reads, 1 for one that writes, 2 for both or where it cannot be seen."""
    words = slurp("/proc/%d/fdinfo/%d" % (pid, fd)).partition(b"flags:")[2].split()
    return int(words[0], 8) & 3 if words else 2


def ends_in_time(action):
    """Whether an action comes to its end in GUARD_S: a child of ours tries it. What hangs for ever in there must hold
    none of our descriptors: the channel would not end with us."""
    child = os.fork()
    if child == 0:
        try:
            os.closerange(0, OWN_FDS)
            action()
        except BaseException:
            pass
        os._exit(0)
    deadline = time.monotonic() + GUARD_S
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.001)
    kill(child, signal.SIGKILL)
    try:
        os.waitpid(child, os.WNOHANG)
    except OSError:
        pass
    return False


def lives(pid):
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH  # one of another user's, which may be hidden
    return True


def has_lock(pid, path):
    """Whether a process has a file open that a lock belongs to."""
    try:
        names = os.listdir("/proc/%d/fd" % pid)[:256]
    except OSError:
        return False
    return any(
        [link_of(pid, int(fd)) == path and b"\nlock:" in slurp("/proc/%d/fdinfo/%s" % (pid, fd)) for fd in names]
    )


def lock_holder(pid):
    """The process that holds the lock that this one waits for, 0 when unknown."""
    held = {}
    for line in whole("/proc/locks").split(b"\n"):
        words = line.split()
        if len(words) > 5 and words[1] == b"->":
            if words[5] == b"%d" % pid:
                return held.get(words[0], 0)
        elif len(words) > 4:
            held[words[0]] = max(0, int(words[4]))
    return 0


def socket_name(pid, inode, partner):
    """A socket by its peer, as far as a bounded search of the tables of its network finds it."""
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        words = table_line("/proc/%d/net/%s" % (pid, kind), inode, 9)
        if words:
            here, there = address(words[1]), address(words[2])
            if words[3] == b"0A":
                return "%s listening on %s" % (kind[:3], here)
            if words[3] == b"02":
                return "%s connecting to %s" % (kind[:3], there)
            if words[2].endswith(b":0000"):
                return "%s at %s" % (kind[:3], here)
            return "%s to %s" % (kind[:3], there)
    words = table_line("/proc/%d/net/unix" % pid, inode, 6)
    if words:
        peer, path = unix_peer(inode)
        if peer and not path:
            path = partner("socket:[%d]" % peer)
        if peer:
            return "unix socket to " + (path or "a socket without a name")
        return "unix socket " + text(words[7]) if len(words) > 7 else "unix socket"
    for kind, column in (("netlink", 9), ("packet", 8), ("raw", 9), ("icmp", 9)):
        if table_line("/proc/%d/net/%s" % (pid, kind), inode, column):
            return kind + " socket"
    return "a socket that is not in the tables"


def table_line(path, inode, column):
    """The words of the line of a table in which the inode stands, [] when it is not in its first TABLE_MAX bytes."""
    wanted = b" " + inode.encode()
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return []
    try:
        rest, size = b"", 0
        while size < TABLE_MAX:
            data = os.read(fd, CHUNK)
            if not data:
                break
            size += len(data)
            data = rest + data
            at = data.find(wanted)
            while at >= 0:
                end = data.find(b"\n", at)
                if end < 0:
                    break
                words = data[data.rfind(b"\n", 0, at) + 1 : end].split()
                if len(words) > column and words[column] == wanted[1:]:
                    return words
                at = data.find(wanted, at + 1)
            rest = data[data.rfind(b"\n") + 1 :]
    except OSError:
        pass
    finally:
        os.close(fd)
    return []


def address(word):
    """host:port of a word like 0100007F:0016."""
    import _socket

    digits, _colon, port = text(word).partition(":")
    raw = bytearray.fromhex(digits)
    if sys.byteorder == "little":
        for at in range(0, len(raw), 4):
            raw[at : at + 4] = raw[at : at + 4][::-1]
    if len(raw) == 16 and raw[:12] == b"\0" * 10 + b"\xff\xff":
        raw = raw[12:]
    if len(raw) == 4:
        return "%s:%d" % (_socket.inet_ntop(_socket.AF_INET, bytes(raw)), int(port, 16))
    return "[%s]:%d" % (_socket.inet_ntop(_socket.AF_INET6, bytes(raw)), int(port, 16))


def unix_peer(inode):
    """(inode, path) of the other end of a unix socket, which only the kernel's socket diagnosis tells; or (0, "")."""
    for found in unix_diagnosis(int(inode), False):
        peer = int.from_bytes(found.get(2, b""), sys.byteorder)
        if peer:
            return peer, "".join([socket_path(other) for other in unix_diagnosis(peer, False)])
    # One that nobody has accepted has no other end yet, but stands in the queue of a socket that listens.
    wanted = int(inode).to_bytes(4, sys.byteorder)
    for found in unix_diagnosis(0, True):
        queue = found.get(3, b"")
        if wanted in [queue[at : at + 4] for at in range(0, len(queue), 4)]:
            return int(inode), socket_path(found) + ", which has not accepted it"
    return 0, ""


def socket_path(attributes):
    name = attributes.get(0, b"")
    return text(b"@" + name[1:] if name[:1] == b"\0" else name.rstrip(b"\0"))


def unix_diagnosis(inode, listening):
    """What the kernel says of one unix socket, or of all that listen: for each, number of the attribute -> bytes. 0 is
    the name, 2 the peer, 3 the queue."""
    import _socket

    def word(value, size=4):
        return value.to_bytes(size, sys.byteorder)

    # struct nlmsghdr with SOCK_DIAG_BY_FAMILY and NLM_F_REQUEST, or also NLM_F_DUMP; struct unix_diag_req with the
    # states (TCP_LISTEN is 10), the inode, what is to be shown, and no cookie.
    request = word(40) + word(20, 2) + word(0x301 if listening else 1, 2) + word(0) * 2
    request += b"\1\0\0\0" + word(1 << 10 if listening else 0xFFFFFFFF) + word(inode)
    request += word(9 if listening else 5) + word(0xFFFFFFFF) * 2
    found, data = [], b""
    try:
        kernel = _socket.socket(16, _socket.SOCK_RAW, 4)  # AF_NETLINK, NETLINK_SOCK_DIAG
    except OSError:
        return found
    try:
        kernel.settimeout(0.1)
        kernel.sendto(request, (0, 0))
        while len(data) < TABLE_MAX:
            part = kernel.recv(CHUNK)
            data += part
            if not listening or part[4:6] != word(20, 2):
                break
    except OSError:
        pass
    finally:
        kernel.close()
    at = 0
    while at + 32 <= len(data):
        end = at + int.from_bytes(data[at : at + 4], sys.byteorder)
        if data[at + 4 : at + 6] == word(20, 2):
            found.append(attributes_of(data[at + 32 : end]))
        at = max(end, at + 4) + 3 & ~3
    return found


def attributes_of(data):
    found, at = {}, 0
    while at + 4 <= len(data):
        size = max(4, int.from_bytes(data[at : at + 2], sys.byteorder))
        found[int.from_bytes(data[at + 2 : at + 4], sys.byteorder)] = data[at + 4 : at + size]
        at += size + 3 & ~3
    return found


def shown(data):
    """The lines that a terminal would show for these bytes: escape sequences left out, overwriting done."""
    lines, line, column = [], [], 0
    skip = ""  # "e" after an escape, "c" in a control sequence, "s" in a string such as a window's title
    for char in text(data):
        if skip == "e":
            skip = {"[": "c", "]": "s", "P": "s", "(": "1", ")": "1"}.get(char, "")
        elif skip == "1":
            skip = ""
        elif skip == "c":
            skip = "" if "@" <= char <= "~" else "c"
        elif skip == "s" and char not in "\a\x1b":
            pass
        elif char == "\x1b":
            skip = "e"
        elif char == "\a":
            skip = ""
        elif char == "\n":
            lines.append("".join(line))
            line, column = [], 0
        elif char == "\r":
            column = 0
        elif char == "\b":
            column = max(0, column - 1)
        elif char.isprintable() or char == "\t":
            line[column : column + 1] = [char]
            column += 1
    return lines + ["".join(line)]


def last_line(data, is_open=False):
    """The last line with anything in it, "" where there is none; with `is_open`, where that is not the very last."""
    lines = shown(data)
    for line in lines[-1:] if is_open else reversed(lines):
        if line.strip():
            return line.lstrip()[-500:]
    return ""
