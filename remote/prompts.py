"""Questions that commands ask at their terminal, and the answers. Sent to a host where a command may be answered.

A module beside agent.py, under the same rules. It is told of each look that states.py takes at such a command, and
types an answer when two looks in a row have shown the same process waiting for the same line. An answer goes to the
terminal and nowhere else.

    Dialog     what one command has asked so far
"""

from agent import HURRY_S, Refused, TooSlow, os, signal, text

LIVELY_S = 2.0  # for so long after something has happened it is looked at every HURRY_S
LOOK_S = 0.25  # and then
ASK_S = 0.3  # for so long a line that the client is asked about has stayed the same
UNKNOWN_S = 1.0  # and one that nobody answers
CHANGING_S = 2.0  # a line that never stays the same (it shows the time) counts when its reader has waited for so long
MATCH_S = 0.5  # for a pattern over one line
ANSWER_MAX = 4094  # the terminal cuts a longer line
SECRET_MIN = 3  # a shorter secret is not looked for in what is shown: it would be found everywhere


class Dialog(object):
    """What one command has asked so far."""

    __slots__ = ("line", "pid", "since", "done", "asked", "end", "reader", "typed", "echo", "secrets")

    def __init__(self):
        self.line = None  # that was seen at the last look, where somebody waited; not stripped
        self.pid = 0  # of who waited
        self.since = 0.0  # when this line was seen first
        self.done = None  # the line of the last question that was answered
        self.asked = None  # the line that the client was asked about and has not answered
        self.end = b""  # what ends the last answer, if that was not typed yet
        self.reader = 0  # the pid of who got that
        self.typed = ""  # the last answer
        self.echo = []  # what the terminal may show at its start because of our last answer
        self.secrets = []  # answers that were given with the echo off


def listen(session, run):
    """Read what was written until now, and forget what the terminal shows of our own answer."""
    session.on_tty(0)
    for pipe in session.streams.values():
        if pipe.fd in session.agent.handlers:
            session.agent.handlers[pipe.fd](0)
    dialog = run.dialog
    if dialog is None:
        dialog = run.dialog = Dialog()
    for echo in dialog.echo:
        if session.tail.startswith(echo):
            session.tail = session.tail[len(echo) :]
            dialog.echo = []
            break
    for secret in dialog.secrets:
        session.tail = session.tail.replace(secret, b"")


def without_echo(run, line):
    """The line that asks; "" for what a program that reads key by key shows of our answer while it wants more."""
    dialog = run.dialog
    return "" if dialog.end and (line.strip() == dialog.typed or not line.strip(" *")) else line


def is_unanswered(session, run, now, line):
    """After a look: answer what can be answered. Whether the command asks what nobody will answer.

    `line` is the line that asks, or None where nobody waits for the terminal.
    """
    dialog, raw = run.dialog, run.raw
    pid = 0 if line is None else raw.one.pid
    same = line is not None and (pid, line) == (dialog.pid, dialog.line)
    if (pid, line) != (dialog.pid, dialog.line):
        dialog.pid, dialog.line, dialog.since = pid, line, now
    quiet = now >= max(run.started, dialog.since) + LIVELY_S
    run.next_look = now + (LOOK_S if quiet else HURRY_S)
    if run.ending or line is None or not (same or now >= run.raw_since + CHANGING_S):
        return False
    echo, canonical = session.agent.states.terminal_flags(session.tty)
    if dialog.end and not line and pid == dialog.reader and not canonical:
        end, dialog.end = dialog.end, b""
        return not type_bytes(session, run, end)
    settled = max(now - dialog.since, now - run.raw_since - CHANGING_S + UNKNOWN_S)  # for how long, in seconds
    # While the client thinks, its command may have gone on by itself.
    if line.strip() not in (dialog.done, dialog.asked):
        answer = known_answer(session.agent, run, line)
        if answer is not None and type_answer(session, run, line, answer):
            return False
        if answer is None and run.input == "ask":
            if settled >= ASK_S and dialog.asked is None:
                dialog.asked = line.strip()
                session.agent.say({"t": "prompt", "id": run.id, "text": line.strip(), "secret": not echo})
            return False
    return dialog.asked is None and settled >= UNKNOWN_S


def known_answer(agent, run, line):
    """The answer of the first prompt whose pattern is found in the line, with or without the blanks at its ends."""
    agent.scanning = True  # a pattern that takes too long ends with TooSlow
    signal.setitimer(signal.ITIMER_REAL, MATCH_S)
    try:
        for pattern, answer in run.prompts:
            if pattern.search(line) or pattern.search(line.strip()):
                return answer
    except TooSlow:  # what cannot be matched in time does not match
        pass
    finally:
        agent.scanning = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def is_one_line(answer):
    """Whether it can be typed as one line: more than that would answer questions that nobody has seen. At a terminal a
    control character is a key, which may end the input or the program."""
    return len(answer) <= ANSWER_MAX and not [c for c in bytearray(answer) if c < 32 and c != 9 or c == 127]


def type_answer(session, run, line, answer):
    """Answer the question. Whether that could be done."""
    import termios

    dialog, reader = run.dialog, run.raw.one.pid
    if not is_one_line(answer):
        return False
    flags = termios.tcgetattr(session.tty)
    echo, canonical = flags[3] & termios.ECHO, flags[3] & termios.ICANON
    end = b"\n" if canonical or flags[0] & termios.ICRNL else b"\r"
    if not type_bytes(session, run, answer + end if canonical else answer):
        return False
    # One that reads key by key may be content with the first: it gets the end of the line when it waits for more.
    dialog.end = b"" if canonical else end
    dialog.done = line.strip()
    dialog.typed = text(answer).strip()
    dialog.reader = reader
    dialog.echo = [answer + b"\r\n", answer + b"\n"] if answer and (echo or not canonical) else []
    if answer and not canonical:
        dialog.echo.append(answer)
    if not echo and len(answer) >= SECRET_MIN:
        dialog.secrets.append(answer)
    run.answered += 1
    run.prompt = ""
    return True


def type_bytes(session, run, data):
    """Type, and begin to look anew: what was shown and seen until now is not what comes next."""
    dialog = run.dialog
    session.tail = b""
    run.marks = {name: capture.kept for name, capture in run.captures.items()}
    run.raw = run.sight = None
    dialog.line, dialog.pid, dialog.since = None, 0, run.looked_at
    run.next_look = run.looked_at + HURRY_S
    try:
        return os.write(session.tty, data) == len(data)
    except OSError:
        return False


def serve_answer(agent, keys, values):
    """The client's answer to what it was asked; raises Refused where that is not the question any more."""
    agent.only(keys, ("of", "refuse"), values, ("text",))
    answer = values.get("text", b"")
    if ("text" in values) == (keys.get("refuse") == "1") or not is_one_line(answer):
        raise Refused("bad_request", "an answer is one line of text of at most %d bytes, or refuse=1" % ANSWER_MAX)
    run = agent.runs.get(agent.number(keys, "of"))
    session = agent.sessions.get(run.session) if run is not None else None
    if session is None or session.run is not run or run.ending or run.dialog is None or run.dialog.asked is None:
        raise Refused("no_such_run", "the run %s does not wait for an answer" % keys["of"])
    asked, run.dialog.asked = run.dialog.asked, None
    if "text" not in values:
        session.end(run, "waiting_input")
        return
    line = agent.states.line_now(session, run)
    if run.ending or line is None or line.strip() != asked or not type_answer(session, run, line, answer):
        raise Refused("no_such_run", "the run %s does not ask that any more" % keys["of"])
