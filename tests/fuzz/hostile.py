"""Programs that take the agent's place on a host and misbehave, each in its own way."""

from __future__ import annotations

from checkrunner.link.payload import Payload, pack_payload

__all__ = ["HOSTILE", "hostile_payload"]

_PRELUDE = """\
import os, sys, time
def say(data, where=1):
    while data:
        data = data[os.write(where, data):]
line = b""
while not line.strip():
    line = sys.stdin.buffer.readline()
words = dict(word.split("=") for word in line.decode().split()[2:])
HELLO = b'{"t":"hello","nonce":"%s","v":1,"python":"3","bash":"5"}\\n' % words["nonce"].encode()
DONE = b'{"t":"result","id":%d,"session":"main","execution":"done","rc":0}\\n'
SLICE = b'{"t":"slice","id":%d,"total":1,"lines":[%s],"payload":%d}\\n'
CHUNK = b"x" * 65536
BIG = b'{"t":"result","id":%d,"session":"main","execution":"lost","cwd":"%s"}\\n'
"""

HOSTILE: dict[str, tuple[str, str]] = {
    "prints random bytes for ever": (
        "while 1: say(os.urandom(65536).replace(b'\\n', b' ') + b'\\n')",
        "16 MiB came before the agent's hello",
    ),
    "prints one line for ever": ("while 1: say(CHUNK)", "16 MiB came before the agent's hello"),
    "floods stderr before hello": ("while 1: say(CHUNK, 2)", "more than 16 MiB to its standard error"),
    "floods stderr after hello": ("say(HELLO)\nwhile 1: say(CHUNK, 2)", "more than 16 MiB to its standard error"),
    "floods both": ("say(HELLO)\nwhile 1: say(CHUNK, 2); say(b'\\n' * 100)", "not a line of JSON: ''"),
    "sends garbage": ("say(HELLO + b'\\x00\\xffgarbage\\n')", "not a line of JSON"),
    "sends a header without end": ("say(HELLO)\nwhile 1: say(CHUNK)", "a line of more than 1048576 bytes"),
    "sends a deep header": ("say(HELLO + b'[' * 500000 + b'\\n')", "nested too deeply"),
    "announces a huge payload": (
        "say(HELLO + SLICE % (2, b'', 1 << 40)); say(CHUNK)",
        "a payload of 1099511627776 bytes",
    ),
    "lies about lengths": ("say(HELLO + SLICE % (2, b'[1,9,0]', 3) + b'abc')", "add up to 9 bytes, the payload has 3"),
    "sends more lines than asked for": (
        "say(HELLO + DONE % 1 + SLICE % (2, b','.join(b'[%d,0,0]' % n for n in range(1, 60000)), 0))",
        "59999 lines where at most 20 were asked for",
    ),
    "sends lines out of order": ("say(HELLO + DONE % 1 + SLICE % (2, b'[2,0,0],[1,0,0]', 0))", "out of order"),
    "answers twice": ("say(HELLO + (DONE % 1) * 2)", "answered ResultAnswer to request 1, which asked no such thing"),
    "answers what nobody asked": ("say(HELLO + DONE % 77)", "answered ResultAnswer to request 77"),
    "answers with another kind": ("say(HELLO + DONE % 2)", "answered ResultAnswer to request 2"),
    "says hello twice": ("say(HELLO * 2)", "hello twice"),
    "reports states for ever": (
        'say(HELLO)\nwhile 1: say(b\'{"t":"running","id":1,"seen":{"kind":"idle"}}\\n\' * 500)',
        "reported the state of request 1",
    ),
    "refuses for ever": (
        'say(HELLO)\nwhile 1: say(b\'{"t":"error","id":1,"kind":"bad_request","message":"no"}\\n\' * 500)',
        "answered AgentFailure to request 1",
    ),
    "stops in the middle of a payload": (
        "say(HELLO + DONE % 1 + SLICE % (2, b'[1,4096,0]', 4096) + b'x'); time.sleep(60)",
        "stopped answering",
    ),
    "never answers": ("say(HELLO); time.sleep(60)", "stopped answering"),
    "dies": ("say(HELLO); os.kill(os.getpid(), 9)", "the agent ended"),
    "repeats big results": (
        "say(HELLO)\nwhile 1: say(BIG % (1, b'c' * 1000000))",
        "answered ResultAnswer to request 1",
    ),
}
"""What it does: the program, and what the one error of its host must say."""


def hostile_payload(what: str) -> Payload:
    """The program, packed as the agent is."""
    return pack_payload((_PRELUDE + HOSTILE[what][0] + "\n").encode(), b"")
