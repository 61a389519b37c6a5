"""What is sent to a host to start the agent there: the packed agent, and the line that the login shell is given.

Knows shells and Python start-up, nothing of connections. `scripts/payload-size` prints the sizes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checkrunner.link.pieces import Piece, cut_module, cut_source, join_sources, packed
from checkrunner.link.shrink import shrink_python, shrink_shell, shrink_shell_program
from checkrunner.link.wire import STARTING

__all__ = [
    "ALLOCATOR",
    "CANDIDATES",
    "LATER",
    "MOST_PACKED",
    "PROBE_LINE",
    "START",
    "VARIABLE",
    "Payload",
    "escape_word",
    "load_part",
    "load_payload",
    "load_plain_payload",
    "load_shell_payload",
    "load_terminal",
    "main",
    "pack_payload",
    "part_source",
]

CANDIDATES = ("python3", "/usr/libexec/platform-python", "/usr/bin/python3", "/usr/local/bin/python3")
"""Where Python is looked for, in this order. The second is what Red Hat's own tools run on."""

MOST_PACKED = 24 << 10
"""Bytes of the compressed payload: what a run costs each host in traffic, and its time over a slow link."""

VARIABLE = "CHECKRUNNER_AGENT"
"""The environment variable that the packed agent comes in. Not an argument: `ps` on the host stays readable."""

ALLOCATOR = "MALLOC_MMAP_THRESHOLD_"
"""Set for the agent alone, so that glibc gives memory back after a large command instead of keeping it for the next."""

LATER = ("states", "prompts", "archive", "endings", "resume", "groups", "keeping")
"""The parts of the agent that a host gets when it needs them: modules beside `agent.py`."""

# `posix` is the module below `os`, which takes a millisecond to import.
START = (
    "import posix,zlib,binascii;"
    f'parts=zlib.decompress(binascii.a2b_base64(posix.environ[b"{VARIABLE}"])).split(b"\\0");exec(parts[0])'
)
"""The text given to `python -c`."""

# Runs on any Python 3: an old one must get as far as handing on to the next, before the agent's source is compiled.
# `parts` is [this text, the wrapper, the agent without its functions, a function, ...]. Each function is represented
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
for name in (b"@VARIABLE@", b"@ALLOCATOR@"):
    posix.environ.pop(name, None)
def stand_in(*args, _piece=None, **named):
    function, name, line, text = _piece
    scope = {}
    exec(compile(text, "+" + line, "exec"), globals(), scope)
    real = scope[name]
    function.__code__ = real.__code__
    function.__defaults__, function.__kwdefaults__ = real.__defaults__, real.__kwdefaults__
    return function(*args, **named)
def assemble(module, parts):
    methods, at = [], 0
    for piece in parts[1:]:
        words, text = piece.split(b"\\n", 1)
        more, *words = words.decode().split()
        at += int(more)
        method = text[:1] == b" "
        name = text[:text.index(b"(")].split()[-1].decode()
        function = value = type(stand_in)(stand_in.__code__, module, name)
        function.__kwdefaults__ = {"_piece": (function, name, str(at - method), b"if 1:\\n" * method + text)}
        for word in words:
            if word[0] == "@":
                value = getattr(__builtins__, word[1:])(function)
            else:
                owner = word
        if method:
            methods.append((owner, name, value))
        else:
            module[name] = value
        at += text.count(b"\\n")
    exec(compile(parts[0], "agent", "exec"), module)
    for owner, name, method in methods:
        setattr(module[owner], name, method)
agent = type(sys)("agent")
sys.modules["agent"] = agent
agent.__dict__.update(__name__="__main__", WRAPPER=parts[1], DIGEST="@DIGEST@", assemble=assemble)
assemble(agent.__dict__, parts[2:])
if parts[3:]:
    agent.main()
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


# The start of the agent for hosts without Python, which always comes on standard input: a login shell that takes a line
# of its length is not to be had everywhere, and it may not be unpacked, for want of a program that could. Empty lines
# are what is left of a patient start.
_SHELL_STAGE = (
    f"echo {STARTING.decode('ascii')};"
    "while read -r _n;do case $_n in *\\;*)break;;esac;done;"
    "_n=${_n%%\\;*};CHECKRUNNER_DIGEST=@DIGEST@;"
    '_a=`dd bs=1 count=$_n 2>/dev/null;echo .`;eval "${_a%.}"'
)

PROBE_LINE = f"exec /bin/sh -c echo\\ {STARTING.decode('ascii')}"
"""A line for the login shell that prints `wire.STARTING` and starts nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The agent, packed once and sent to every host.

    `exec_line` starts it from the login shell's command line alone. Where a login shell refuses a line of that length,
    `stdin_line` does, followed by `stdin_head` as the first bytes of the channel. Both print a line `wire.STARTING`
    first. `digest` is what the agent's hello repeats. `packed` is the value of `VARIABLE` for `START`,
    in base64 of `packed_bytes` compressed bytes.
    """

    digest: str
    packed: str
    packed_bytes: int
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


def pack_payload(agent: bytes, wrapper: bytes, later: Sequence[bytes] = ()) -> Payload:
    """The payload for this agent, wrapper, and sources of later parts; a pure function of them."""
    digest = hashlib.sha256(b"\0".join([agent, wrapper, *later])).hexdigest()[:32]
    stage = _STAGE.replace("@START@", repr(START)).replace("@VARIABLE@", VARIABLE)
    stage = stage.replace("@ALLOCATOR@", ALLOCATOR).replace("@DIGEST@", digest)
    head = [shrink_python(stage.encode("ascii")), shrink_shell(wrapper)]
    data = _compressed(b"\0".join([*head, *_pieces(*cut_source(agent))]))
    stdin_stage = base64.b64encode(_STDIN_STAGE.replace("@VARIABLE@", VARIABLE).encode("ascii")).decode("ascii")
    load_stdin = f'import binascii;exec(binascii.a2b_base64("{stdin_stage}"))'
    packed = base64.b64encode(data).decode("ascii")
    return Payload(
        digest=digest,
        packed=packed,
        packed_bytes=len(data),
        exec_line=_exec_line(f"{VARIABLE}={packed};export {VARIABLE};", START),
        stdin_line=_exec_line("", load_stdin),
        # A shell that reads this in our place ends at once.
        stdin_head=b"%d;exit;\n" % len(data) + data,
    )


def _pieces(rest: bytes, pieces: list[Piece]) -> list[bytes]:
    return [shrink_python(rest), *packed(pieces)]


def _compressed(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    return packer.compress(data) + packer.flush()


def _exec_line(setup: str, python: str) -> str:
    first, *rest = CANDIDATES
    # Version managers' shims are skipped: they start something else, and often nothing. `command -v` would need a
    # descriptor and a process more than tight limits (`ulimit`) may leave.
    script = (
        f"echo {STARTING.decode('ascii')};{ALLOCATOR}=131072;export {ALLOCATOR};{setup}IFS=:;"
        f'for d in $PATH;do case $d in */shims);;*)set -- "$@" "$d/{first}";esac;done;'
        f'for p in "$@" {" ".join(rest)};do [ -f "$p" ]&&[ -x "$p" ]&&'
        f"exec \"$p\" -IS -c '{python}' {' '.join(rest)};done;"
        f"echo checkrunner-no-interpreter: {' '.join(CANDIDATES)};exit 127"
    )
    return f"exec /bin/sh -c {escape_word(script)}"


@functools.cache
def load_payload() -> Payload:
    """The payload of this installation, packed once per process (some 5 ms)."""
    return pack_payload(_read("agent.py"), _read("wrapper.sh"), [_read(f"{name}.py") for name in LATER])


@functools.cache
def load_plain_payload() -> Payload:
    """The same for hosts with Python and no bash: the agent with plain.py behind it, and plain.sh as its wrapper."""
    return pack_payload(
        join_sources(_read("agent.py"), _read("plain.py")), _read("plain.sh"), [_read(f"{name}.py") for name in LATER]
    )


@functools.cache
def load_shell_payload() -> Payload:
    """The same for hosts without Python: agent.sh, which is started by standard input only."""
    source = shrink_shell_program(_read("agent.sh"))
    digest = hashlib.sha256(source).hexdigest()[:32]
    line = f"exec /bin/sh -c {escape_word(_SHELL_STAGE.replace('@DIGEST@', digest))}"
    return Payload(
        digest=digest,
        packed="",
        packed_bytes=len(source),
        exec_line=line,
        stdin_line=line,
        stdin_head=b"%d;exit;\n" % len(source) + source,
    )


@functools.cache
def load_part(name: str) -> bytes:
    """A member of `LATER`, compressed, as an agent assembles it. Packed once per process, when a host first asks."""
    return _compressed(b"\0".join(_pieces(*cut_module(_read(f"{name}.py")))))


def part_source(name: str) -> str:
    """A member of `LATER` as it stands, for a process of this machine."""
    return _read(f"{name}.py").decode("utf-8")


@functools.cache
def load_terminal() -> str:
    """The first stage that gives a program a terminal, as a text for `python -c` without quotes of its own in it."""
    packed = base64.b64encode(shrink_python(_read("terminal.py"))).decode("ascii")
    return f'import binascii;exec(binascii.a2b_base64("{packed}"))'


def _read(name: str) -> bytes:
    packaged = importlib.resources.files("checkrunner") / "_remote" / name
    if packaged.is_file():
        return packaged.read_bytes()
    return (Path(__file__).resolve().parents[2] / "remote" / name).read_bytes()


def main() -> int:
    """Print what the payload is made of, in bytes; 1 if it has grown beyond `MOST_PACKED`."""
    agent, wrapper = _read("agent.py"), _read("wrapper.sh")
    payload = load_payload()
    rows = [
        ("agent.py", len(agent)),
        ("agent.py without comments, docstrings and layout", len(shrink_python(agent))),
        ("wrapper.sh", len(wrapper)),
        ("wrapper.sh without comments", len(shrink_shell(wrapper))),
        ("exec request (agent inside)", len(payload.exec_line)),
        ("exec request (agent on standard input)", len(payload.stdin_line)),
        (f"payload, compressed (at most {MOST_PACKED} are allowed)", payload.packed_bytes),
        ("payload with plain.py, compressed: where there is no bash", load_plain_payload().packed_bytes),
        ("agent.sh without comments: where there is no Python", load_shell_payload().packed_bytes),
        *[(f"{name}.py, compressed: sent when asked for", len(load_part(name))) for name in LATER],
    ]
    for name, size in rows:
        sys.stdout.write(f"{size:>8}  {name}\n")
    return int(payload.packed_bytes > MOST_PACKED)


if __name__ == "__main__":
    raise SystemExit(main())
