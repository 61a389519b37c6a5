"""Sessions in a shell that is no bash (dash, busybox ash), for hosts without one.

It is put behind agent.py when the agent is started there, with plain.sh in the place of wrapper.sh; same rules. A later
part could not do it: the first shell is started before hello.
"""

import posix as os

from agent import Agent, Broken, Session, State, path_word, process, quote, text

FIELDS = "head tag pwd oldpwd options variables exported readonlys aliases traps umask".split()

WORD = rb"((?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^\s'\"\\])*)"  # as a shell quotes a value that it prints
OWN = b"__checkrunner_"
# Of these, the shell says what they are.
SPECIAL = frozenset(b"_ LINENO PPID PWD OLDPWD RANDOM EPOCHSECONDS EPOCHREALTIME FUNCNAME".split())
LATE = (b"errexit", b"nounset", b"xtrace", b"verbose", b"monitor")
SHELLS = {"dash": "dash", "busybox": "busybox ash", "ash": "ash"}


class PlainState(State):
    """What a shell said of itself: see `report` in plain.sh."""

    version = b"sh"  # that it has one is what counts
    dirs = functions = function_flags = b""

    def __init__(self, fields):
        import re

        State.__init__(self, fields[:2])
        for name, value in zip(FIELDS[2:], fields[2:]):
            setattr(self, name, value)
        self.args = fields[len(FIELDS) + 1 : -1]
        self.exit_trap, self.kept_traps = b"", []
        for found in re.finditer(rb"trap -- " + WORD + rb" (\w+)\n", self.traps):
            if found.group(2) == b"EXIT":
                self.exit_trap = found.group(0)
            elif OWN not in found.group(1):
                self.kept_traps.append(found.group(0))

    @classmethod
    def parse(cls, fields):
        """The state, or None when it was not said to its end."""
        head = b"checkrunner-report"
        if len(fields) < 3 or fields[-2] != b"end" or head not in fields:
            return None
        fields = fields[len(fields) - 1 - fields[::-1].index(head) : -1]
        count = len(FIELDS)
        cut = len(fields) < count + 2 or fields[count] != b"%d" % (len(fields) - count - 2)
        if cut:  # too large: its middle was not kept
            fields = fields[:4] + [b""] * (count - 4) + [b"0", b"end"]
        try:
            state = cls(fields)
        except (ValueError, IndexError):
            return None
        state.cut = cut
        return state

    def is_whole(self):
        return self.cut or bool(self.options and self.variables and self.umask)

    @staticmethod
    def names(said, verb):
        """The names that `export -p` or `readonly -p` has printed."""
        import re

        return [found.group(1) for found in re.finditer(verb + rb" ([A-Za-z0-9_]+)(?:=" + WORD + rb")?\n", said)]

    def values(self):
        """(name, value as a word) of each variable."""
        import re

        return [found.groups() for found in re.finditer(rb"([A-Za-z_][A-Za-z0-9_]*)=" + WORD + rb"\n", self.variables)]

    def declared(self, name):
        exported = name in self.names(self.exported, b"export")
        flags = b"r" if name in self.names(self.readonlys, b"readonly") else b""
        for known, value in self.values():
            if known == name:
                return flags, b"%s=%s%s" % (name, value, b"\n\\export " + name if exported else b"")
        return flags, b"\\export " + name if exported else b""

    def restore(self, pwd):
        import re

        early, late = [], []
        for line in self.options.split(b"\n"):
            name = line.rpartition(b" ")[2]
            if name not in (b"noexec", b"interactive", b"stdin", b"privileged", b"nolog", b"debug"):
                (late if name in LATE else early).append(line)
        kept = [pair for pair in self.values() if not pair[0].startswith(OWN) and pair[0] not in SPECIAL]
        aliases = re.findall(rb"([^\s=']+)=" + WORD + rb"\n", self.aliases)
        readonlys = [name for name in self.names(self.readonlys, b"readonly") if not name.startswith(OWN)]
        out = [
            b"\n".join(early),
            b"\n".join([b"%s=%s" % pair for pair in kept]),
            b"\n".join([b"\\export " + name for name in self.names(self.exported, b"export")]),
            b"\n".join([b"\\command alias %s=%s" % pair for pair in aliases if OWN not in pair[1]]),
            b"\\command umask " + self.umask,
            b"".join([b"\\" + trap for trap in self.kept_traps if self.traps]),
            b"\\command cd -- " + quote(pwd),
            b"OLDPWD=" + quote(self.oldpwd[1:]) if self.oldpwd else b"\\unset OLDPWD",
            b"\\set -- " + b" ".join([quote(arg) for arg in self.args]),
            self.extra,
            b"\n".join([b"\\readonly " + name for name in readonlys]),
            b"\n".join(late),
        ]
        return b"".join([b"\\command eval " + quote(part) + b" >/dev/null 2>&1\n" for part in out if part])


BashSession = Session


class PlainSession(Session):
    """A named shell."""

    argv = (b"sh", b"-m")
    comm = "sh"
    by = b"\\command "
    unread = b""  # descriptors of two digits cannot be closed
    report_of = PlainState

    def hear(self, state):
        if self.phase == "boot":
            one = process(self.shell)
            self.comm = one.comm if one is not None else self.comm
        BashSession.hear(self, state)

    def word(self, data, newlines=0):
        """These shells read their script in large pieces: a long text needs no pipe of its own."""
        return quote(data)

    def evaluate(self, run):
        """An assignment before `command eval` would not be exported by all of them."""
        return b"".join([b"\\export %s=%s\n" % (name, quote(value)) for name, value in run.env]) + b"\\command eval"

    def exists(self, run, name):
        if b"/" in name:
            return b"\\command test -e " + path_word(name)
        exports = b"".join([b"\\export %s=%s; " % (key, quote(value)) for key, value in run.env])
        return b"( %s\\command -v -- %s ) >/dev/null 2>&1" % (exports, quote(name))

    def replace(self, state, pwd):
        BashSession.replace(self, state, pwd)
        if self.phase == "broken" and not self.agent.bash_version:
            raise Broken("no_bash", "no bash was found, and sessions cannot run in " + text(self.agent.bash))


class PlainAgent(Agent):
    """The agent, with such sessions."""

    session_of = PlainSession

    def find_bash(self):
        """The shell to use: one that is known to do, by whatever name, else what is called sh."""
        found = b""
        for name in (b"sh", b"dash", b"ash", b"busybox"):
            path = self.find_program(name)
            real = self.real_name(path) if path else ""
            if real in SHELLS:
                self.bash, self.shell_name = path, SHELLS[real]
                return
            if path and not found:
                found, self.shell_name = path, real
        if not found:
            raise Broken("no_bash", "neither bash nor sh was found")
        self.bash = found

    @staticmethod
    def real_name(path):
        """The name of the program behind links."""
        fd = os.open(path, os.O_RDONLY)
        try:
            return text(os.readlink(b"/proc/self/fd/%d" % fd)).rpartition("/")[2]
        except OSError:
            return text(path.rpartition(b"/")[2])
        finally:
            os.close(fd)

    def say(self, answer, payload=b""):
        if answer["t"] == "hello":
            answer.update(bash="", shell=self.shell_name, lacks=["bash", "functions"])
        Agent.say(self, answer, payload)
