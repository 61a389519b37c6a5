"""What is sent to a host to start the agent there: the packed agent, and the line that the login shell is given.

Knows shells and Python start-up, nothing of connections. `python -m checkrunner.link.payload` prints the sizes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from checkrunner.link.pieces import cut_source
from checkrunner.link.wire import STARTING

__all__ = ["CANDIDATES", "START", "VARIABLE", "Payload", "escape_word", "load_payload", "main", "pack_payload"]

CANDIDATES = ("python3", "/usr/libexec/platform-python", "/usr/bin/python3", "/usr/local/bin/python3")
"""Where Python is looked for, in this order. The second is what Red Hat's own tools run on."""

VARIABLE = "CHECKRUNNER_AGENT"
"""The environment variable that the packed agent comes in. Not an argument: `ps` on the host stays readable."""

# `posix` is the module below `os`, which takes a millisecond to import.
START = (
    "import posix,zlib,binascii;"
    f'parts=zlib.decompress(binascii.a2b_base64(posix.environ[b"{VARIABLE}"])).split(b"\\0");exec(parts[0])'
)
"""The text given to `python -c`."""

# Runs on any Python 3: an old one must get as far as handing on to the next, before the agent's source is compiled.
# `parts` is [this text, the agent without its functions, the wrapper, a function, ...]. Each function is represented
# by a stand-in, which when it is called first compiles the function, becomes it, and does the call. So whoever has got
# hold of the stand-in, be it bound or wrapped, has the function.
_STAGE = """\
import posix, sys
if sys.version_info < (3, 6):
    import os
    rest = sys.argv[1:]
    for at, path in enumerate(rest):
        if os.access(path, os.X_OK) and os.path.realpath(path) != os.path.realpath(sys.executable):
            os.execve(path, [path, "-IS", "-c", @START@] + rest[at + 1:], posix.environ)
    found = "%s is Python %d.%d, 3.6 is needed" % ((sys.executable,) + tuple(sys.version_info[:2]))
    os.write(1, ("checkrunner-no-interpreter: " + found + "\\n").encode())
    os._exit(127)
posix.environ.pop(b"@VARIABLE@", None)
agent = {"__name__": "__main__", "__builtins__": __builtins__, "WRAPPER": parts[2], "DIGEST": "@DIGEST@"}
def stand_in(*args, _piece=None, **named):
    function, name, line, text = _piece
    scope = {}
    exec(compile(text, "agent+" + line, "exec"), globals(), scope)
    real = scope[name]
    function.__code__ = real.__code__
    function.__defaults__, function.__kwdefaults__ = real.__defaults__, real.__kwdefaults__
    return function(*args, **named)
methods = []
for piece in parts[3:]:
    words, text = piece.split(b"\\n", 1)
    owner, name, decorator, line = words.decode().split()
    function = type(stand_in)(stand_in.__code__, agent, name)
    function.__kwdefaults__ = {"_piece": (function, name, line, text)}
    if owner == "-":
        agent[name] = function
    else:
        methods.append((owner, name, function if decorator == "-" else getattr(__builtins__, decorator)(function)))
exec(compile(parts[1], "agent", "exec"), agent)
for owner, name, method in methods:
    setattr(agent[owner], name, method)
if methods:
    agent["main"]()
"""

# The same start with the packed agent on standard input. It reads the length byte by byte and then exactly so much:
# what follows belongs to the agent.
_STDIN_STAGE = """\
import posix, zlib, binascii
def take(size):
    data = posix.read(0, size)
    if not data:
        posix._exit(0)
    return data
size = b""
while size[-1:] != b"\\n" or not size.strip():
    size += take(1)
size = int(size.split(b";")[0])
packed = b""
while len(packed) < size:
    packed += take(size - len(packed))
posix.environ[b"@VARIABLE@"] = binascii.b2a_base64(packed)
parts = zlib.decompress(packed).split(b"\\0")
exec(parts[0])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The agent, packed once and sent to every host.

    `exec_line` starts it from the login shell's command line alone. Where a login shell refuses a line of that length,
    `stdin_line` does, followed by `stdin_head` as the first bytes of the channel. Both print a line `wire.STARTING`
    first. `digest` is what the agent's hello repeats. `packed` is the value of `VARIABLE` for `START`.
    """

    digest: str
    packed: str
    exec_line: str
    stdin_line: str
    stdin_head: bytes


def escape_word(text: str) -> str:
    r"""`text` as one word of a shell's command line, with backslashes only.

    sh, bash, dash, csh, tcsh and fish read such a word alike; they differ in every kind of quotes. Letters are never
    escaped (``\n`` is a newline to fish) and newlines cannot be (csh). Raises ValueError for text that has one, or
    that is not plain ASCII.
    """
    if not text.isascii() or not text.isprintable():
        raise ValueError("only printable ASCII can be escaped for every shell")
    return re.sub(r"([^A-Za-z0-9_./:,+=@%-])", r"\\\1", text)


def pack_payload(agent: bytes, wrapper: bytes) -> Payload:
    """The payload for this agent and wrapper; a pure function of them."""
    digest = hashlib.sha256(agent + b"\0" + wrapper).hexdigest()[:32]
    stage = _STAGE.replace("@START@", repr(START)).replace("@VARIABLE@", VARIABLE).replace("@DIGEST@", digest)
    rest, pieces = cut_source(agent)
    data = zlib.compress(b"\0".join([stage.encode("ascii"), rest, wrapper, *[piece.packed() for piece in pieces]]), 9)
    stdin_stage = base64.b64encode(_STDIN_STAGE.replace("@VARIABLE@", VARIABLE).encode("ascii")).decode("ascii")
    load_stdin = f'import binascii;exec(binascii.a2b_base64("{stdin_stage}"))'
    packed = base64.b64encode(data).decode("ascii")
    return Payload(
        digest=digest,
        packed=packed,
        exec_line=_exec_line(f"{VARIABLE}={packed};export {VARIABLE};", START),
        stdin_line=_exec_line("", load_stdin),
        # A shell that reads this in our place ends at once.
        stdin_head=b"%d;exit;\n" % len(data) + data,
    )


def _exec_line(setup: str, python: str) -> str:
    first, *rest = CANDIDATES
    # Version managers' shims are skipped: they start something else, and often nothing. A `...` is a process more.
    script = (
        f"echo {STARTING.decode('ascii')};{setup}"
        f"for p in {first} {' '.join(rest)};do command -v $p >/dev/null 2>&1||continue;"
        "case $PATH in */shims*)case `command -v $p` in */shims/*)continue;;esac;;esac;"
        f"exec $p -IS -c '{python}' {' '.join(rest)};done;"
        f"echo checkrunner-no-interpreter: {' '.join(CANDIDATES)};exit 127"
    )
    return f"exec /bin/sh -c {escape_word(script)}"


@functools.cache
def load_payload() -> Payload:
    """The payload of this installation, packed once per process (some 5 ms)."""
    return pack_payload(_read("agent.py"), _read("wrapper.sh"))


def _read(name: str) -> bytes:
    packaged = importlib.resources.files("checkrunner") / "_remote" / name
    if packaged.is_file():
        return packaged.read_bytes()
    return (Path(__file__).resolve().parents[2] / "remote" / name).read_bytes()


def main() -> None:
    """Print what the payload is made of, in bytes."""
    agent, wrapper = _read("agent.py"), _read("wrapper.sh")
    payload = pack_payload(agent, wrapper)
    bare = re.sub(rb"(?m)^[ \t]*#.*\n", b"", agent)
    rows = [
        ("agent.py", len(agent)),
        ("agent.py without its functions", len(re.sub(rb"\n+", b"\n", cut_source(agent)[0]))),
        ("agent.py, packed alone", len(zlib.compress(agent, 9))),
        ("agent.py, packed without whole-line comments", len(zlib.compress(bare, 9))),
        ("wrapper.sh", len(wrapper)),
        ("exec request (agent inside)", len(payload.exec_line)),
        ("exec request (agent on standard input)", len(payload.stdin_line)),
        ("standard input's head", len(payload.stdin_head)),
    ]
    for name, size in rows:
        sys.stdout.write(f"{size:>8}  {name}\n")


if __name__ == "__main__":
    main()
