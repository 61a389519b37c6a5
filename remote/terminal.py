"""Starts a program that asks for a password at a terminal only, and leaves it our standard input and output.

Arguments: a nonce, where the program reads its answer (`tty`: from its controlling terminal, `stdin`: from its standard
input; its real one is then descriptor 3), and its command line. When the terminal's echo is off, nonce and `-ask` are
written to standard error; the first time, one line is read from standard input and typed. What asks again, be it later
and something else, gets no answer: our input is the program's by then.
"""

import fcntl
import os
import select
import signal
import sys
import termios


def child(master, slave, where, argv):
    """Become the program, with the terminal as its own."""
    os.close(master)
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    if where == "stdin":
        os.dup2(0, 3)
        os.dup2(slave, 0)
    if slave > 3:
        os.close(slave)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(argv[0], argv)


def read_line():
    """A line of standard input and no byte more: what follows is for the program."""
    line = b""
    while line[-1:] != b"\n":
        byte = os.read(0, 1)
        if not byte:
            os._exit(1)
        line += byte
    return line


def main(nonce, where, *argv):
    master, slave = os.openpty()
    # Descriptors 3 and 4 may be the ones just made: the program is to find its input on 3.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (master, slave)]
    os.close(master)
    os.close(slave)
    master, slave = high
    pid = os.fork()
    if not pid:
        try:
            child(master, slave, where, argv)
        finally:
            os._exit(127)
    # The terminal stays open here: the program may open and close it again and again.
    os.close(1)  # its end is the program's
    hidden, answered, pause = False, False, 0.03
    while True:
        if select.select([master], [], [], pause)[0]:
            os.write(2, os.read(master, 4096))
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            os._exit(status >> 8 or status & 127)
        now = not termios.tcgetattr(master)[3] & termios.ECHO
        if now and not hidden:
            os.write(2, nonce.encode() + b"-ask\n")
            if not answered:
                os.write(master, read_line())
            answered = True
            pause = 0.5  # what is said wakes us; for the rest of the run there is nothing else to do
        hidden = now


main(*sys.argv[1:])
