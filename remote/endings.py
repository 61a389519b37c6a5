"""How commands end that do not end by themselves, and what a command may ask for about its end. Sent to a host when a
command there lasts, has to be ended, or asks for one of these, and not before.

A module beside agent.py, under the same rules.

    the force        INT, TERM, KILL; what survives these is named, and its session replaced
    Readings         a command that is run several times (sample_ms, sample_count)
    keep             what a command leaves and is to stay (keep=1)
"""

import posix as os
import time

from agent import BOOT_S, CHUNK, CONFIRM_S, LOOK_S, grown, kill, process, processes, signal, slurp, unread

CLOCK_BOOTTIME = 7  # Python 3.6 has no name for it
OWN_FDS = 1024  # more descriptors than we ever have open
STEPS_S = (1.0, 1.0, 0.2, 0.8)  # from INT to TERM, to KILL of the command, to KILL of its shell, to giving up
HELD_S = 1.0  # what a shell may take to die of KILL
SHELL_S = 0.05  # for a shell in the foreground, which may be about to say that all has ended: INT would cut it short


# --- the force -------------------------------------------------------------------------------------------------------


def look(session, run, now):
    """A command that lasts: what is it doing?"""
    run.next_look = now + (LOOK_S if run.looks else CONFIRM_S)
    if run.hushed or session.phase == "prepare":
        return
    if is_deaf(session):
        if run.suspect == "deaf":
            # All was read and nothing done (`set -n`; an extdebug DEBUG trap that forbids every command). The end of
            # its script ends the shell. The status that it has then is not the command's: lines of ours may have
            # failed since, or done nothing and succeeded.
            run.hushed = True
            run.ending, run.stage, run.next_stage = "lost", 2, now + 1.0
            session.agent.forget(session.script)
            os.close(session.script)
            session.script = -1
            session.to_write = b""
            return
        run.suspect = "deaf"
        run.next_look = now + 0.1
        return
    run.suspect = ""
    states = session.agent.states
    if states is None:
        run.next_look = now + CONFIRM_S
    asking = states is not None and states.is_asking(session, run, now)
    shell = process(session.shell)
    if shell is not None and shell.state == "T":
        kill(session.shell, signal.SIGCONT)
    if asking:
        session.end(run, "waiting_input")


def is_deaf(session):
    """Whether the shell waits for its script although it was told to run a command and has not reported."""
    if session.to_write or session.long_text is not None or unread(session.script):
        return False
    # A shell in execve, which may wait for a dead file server, is not asked for its system call: see Look.is_safe.
    wchan = slurp("/proc/%d/wchan" % session.shell)
    if wchan not in (b"", b"0") and b"pipe" not in wchan:
        return False
    words = slurp("/proc/%d/syscall" % session.shell).split()
    try:
        reads = os.readlink("/proc/%d/fd/%d" % (session.shell, int(words[1], 16) & 0xFFFF))
        return reads == os.readlink("/proc/self/fd/%d" % session.script)
    except (OSError, IndexError):
        return False


def force(session, run, now):
    """The steps of an ending: INT to the foreground group now, TERM in a second, KILL in two.

    A foreground process that dies of INT makes bash end the whole check, and itself with it. That is right, since what
    follows in the check must not run, and costs nothing: its EXIT trap says its state, as after TERM. Only a shell that
    must be killed is restored from its last report.
    """
    try:
        group = os.tcgetpgrp(session.tty)
    except OSError:
        group = 0
    if run.stage == 0 and group == session.shell and now < run.ended + SHELL_S:
        run.next_stage = run.ended + SHELL_S
        return
    stage, run.stage = run.stage, run.stage + 1
    run.signalled = True
    if stage < len(STEPS_S):
        run.next_stage = now + STEPS_S[stage]
    if stage == 0:
        for name, pipe in session.streams.items():
            session.listen(run, name, pipe)  # one that was full was left alone; last words must not wait for room in it
        if group > 0:
            kill(-group, signal.SIGINT)
            kill(-group, signal.SIGCONT)
        kill(session.shell, signal.SIGCONT)
    elif stage == 1:
        # The shell first, or it would go on to the next command of the check when this one dies.
        kill(session.shell, signal.SIGTERM)
        kill_family(session, signal.SIGTERM)
    elif stage == 2:
        kill_family(session, signal.SIGKILL)
    elif stage == 3:
        kill(session.shell, signal.SIGKILL)
    else:
        give_up(session, run, now)


def kill_family(session, number):
    for one in family(session, processes()):
        kill(one.pid, number)
        kill(one.pid, signal.SIGCONT)


def family(session, everything):
    """Live processes of the running command: of the shell's session, or descended from it, and not left over from
    earlier commands."""
    old = {pid for pid, start in session.known.items() if pid in everything and everything[pid].start == start}
    old = grown(everything, old)
    return [one for one in session.members(everything) if one.pid not in old]


def give_up(session, run, now):
    """KILL was a second ago, and the shell has not reported and not died, or not everything has."""
    remaining = family(session, processes())
    shell = process(session.shell)
    if shell is not None and shell.state not in "ZX":
        remaining.append(shell)
    if remaining:
        name_stuck(session, run, now, remaining)
        run.ending = "stuck"
        run.note("session_abandoned")
    else:  # it is dead, but whoever traces it has not let it go
        run.note("shell_replaced")
    for one in remaining:
        session.known[one.pid] = one.start
    session.drop_shell()
    session.run = None
    state = session.state
    pwd = run.came_from[0] if run.came_from is not None else state.pwd
    session.settle(run)
    run.where = pwd.decode("utf-8", "replace")
    session.replace(state, pwd)
    session.agent.conclude(run)


def name_stuck(session, run, now, alive):
    """What is left after KILL."""
    if session.agent.states is not None:
        session.agent.states.name_stuck(session, run, now, alive)
    else:
        run.state = "%s (pid %d) %d s" % (alive[0].comm, alive[0].pid, now - run.started)


def tick_held(session, now):
    """A result waits for the end of what its command had to leave behind."""
    run, killing, giving_up = session.held
    alive = []
    for pid, start in run.remains.items():
        one = process(pid)
        if one is not None and one.start == start and one.state not in "ZX":
            alive.append(one)
            if now >= killing:
                kill(pid, signal.SIGKILL)
    if alive and now < giving_up:
        return [now + 0.02]
    if alive:
        run.execution, run.rc = "stuck", None
        name_stuck(session, run, now, alive)
        run.note("session_abandoned")
    session.held = None
    run.remains = {}
    session.agent.conclude(run)
    session.next()
    return []


def tick_start(session, now):
    """A shell that does not come up, perhaps because it is to enter a directory whose file server is dead; when to
    look again."""
    if not session.killing:
        if now < session.since + BOOT_S and not is_held_up(session, now):
            return now + 0.5
        kill(session.shell, signal.SIGKILL)
        session.killing = now + HELD_S
    elif now >= session.killing:
        state, pwd = session.restoring
        session.drop_shell()
        session.replace(state or session.state, pwd)
        return now + 0.5
    return session.killing


def is_held_up(session, now):
    """Whether it waits for a file system."""
    states = session.agent.states
    if states is None:
        shell = process(session.shell)
        return shell is not None and shell.state == "D"
    sight = states.Look(session, states.all_processes(session.agent, session.shell, now)).find()
    return sight is not None and sight.kind == "io_wait"


# --- readings --------------------------------------------------------------------------------------------------------


class Readings(object):
    """A command that is run several times."""

    __slots__ = ("every", "left", "total", "started", "started_at", "until", "next", "lines", "rc")

    def __init__(self, run):
        self.every, self.total = run.readings
        self.left = self.total
        self.started, self.started_at = run.started, run.started_at
        self.until = run.started + run.timeout
        self.next = run.started  # when the last one was due
        self.lines = 0  # of standard output, of all so far
        self.rc = 0


def read_again(session, run, now):
    """After a reading: note it, and queue the next one; False when that was the last."""
    if run.execution == "not_run" and not run.samples:
        return False
    if not isinstance(run.readings, Readings):
        run.readings = Readings(run)
    readings = run.readings
    note_reading(run, readings)
    run.elapsed = max(0.0, now - readings.started)
    run.rc = run.rc if run.execution == "done" and run.rc is None else readings.rc
    if run.execution != "done" or run.rc is None or not readings.left:
        run.started_at = readings.started_at
        return False
    for capture in run.captures.values():
        if capture.bytes and capture.last != 10:
            session.take(run, capture, b"\n", True)  # the next one begins a line of its own
    readings.next = max(readings.next + readings.every, now)
    if readings.next >= readings.until or run.ending:
        run.execution = run.ending or "timed_out"
        run.state = run.state or "%d of %d readings" % (len(run.samples), readings.total)
        run.started_at = readings.started_at
        return False
    run.due, run.timeout = readings.next, readings.until - readings.next
    run.rc, run.rounds, run.looks, run.suspect = None, 0, 0, ""
    run.raw = run.sight = run.said = run.dialog = None  # this one may ask what the last one has asked
    run.marks = {name: capture.kept for name, capture in run.captures.items()}
    session.queue.insert(0, run)
    session.next()
    return True


def note_reading(run, readings):
    lines = run.captures["stdout"].lines
    more = lines - readings.lines
    run.samples.append(
        {
            "at_s": run.started - readings.started,
            "rc": run.rc,
            "elapsed_s": run.elapsed,
            "first": readings.lines + 1 if more else 0,
            "lines": more,
        }
    )
    readings.lines = lines
    readings.left -= 1
    readings.rc = readings.rc or run.rc or 0


# --- what stays ------------------------------------------------------------------------------------------------------


def keep(agent, run, found):
    """What the command leaves is to stay. The files tell an agent that clears up after us, should we be killed: of a
    shell's own child the environment is that of the shell."""
    try:  # as the kernel notes the start of processes: in ticks since boot, suspensions included
        began = int((time.clock_gettime(CLOCK_BOOTTIME) - time.monotonic() + run.started) * agent.ticks_per_s)
    except OSError:
        began = 0
    agent.kept[0] = min(began, agent.kept.get(0, began))
    for pid in found:
        if pid not in run.leftover:
            continue
        agent.kept[pid] = found[pid].start
        path = agent.fresh_path(b"kept.%d" % pid)
        try:
            if path is not None:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError:  # no room for a file: it stays all the same, as long as an agent of this run is there
            pass


def staying(agent, everything, found):
    """Of these processes, those that are to stay, and what descends from them."""
    stay = {pid for pid, start in agent.kept.items() if pid in everything and everything[pid].start == start}
    stay.update([pid for pid in found if b"=k" + agent.token in slurp("/proc/%d/environ" % pid, 1 << 20)])
    return grown(everything, stay)


def leave_reader(agent, pipe):
    """An output that is held by what stays gets a reader that stays as long: a `cat`. Without one, the first word that
    is written after our end would be the writer's end, too."""
    pipe.unlink()
    try:
        pid = os.fork()
    except OSError:  # no room for another process: what stays is read for as long as we are there
        agent.read_to_nowhere(pipe)
        return
    if pid == 0:
        try:
            os.setsid()
            os.chdir("/")
            os.set_blocking(pipe.fd, True)
            null = os.open("/dev/null", os.O_RDWR)
            for target, fd in enumerate((pipe.fd, null, null)):
                os.dup2(fd, target)
            for path in ("/bin/cat", "/usr/bin/cat"):
                if os.access(path, os.X_OK):
                    os.execve(path, ["cat"], {})
            os.closerange(3, OWN_FDS)
            while os.read(0, CHUNK):
                pass
        except BaseException:  # in a child of ours, which has nobody to tell
            pass
        os._exit(0)
    pipe.close()
    one = process(pid)
    agent.kept[pid] = one.start if one is not None else 0
