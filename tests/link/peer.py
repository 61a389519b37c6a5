"""A tiny agent for tests of the client's side: it speaks the protocol and does odd things when a command asks for it.

Commands: ``echo TEXT``, ``false``, ``sleep SECONDS``, ``size`` (prints the command's own length and digest),
``exit-agent``, ``words`` (prints the request's keys and sections), ``ask TEXT`` (prints the answer), ``ask-twice``
(withdraws its first question), ``ask-and-end``, ``ask-flood``, ``seen-after`` (a state after the result), ``seen-flood``, ``seen-other ID``, ``need NAMES`` (asks for parts), ``refuse-parts``, ``parts`` (prints
the name and digest of each that came), ``garbage``, ``wrong-id``, ``flood-slice``, ``fatal KIND``.
"""

from __future__ import annotations

from checkrunner.link.payload import Payload, pack_payload

__all__ = ["PEER", "peer_payload"]

PEER = rb"""
import hashlib, json, os, re, sys, time

def out(fields, payload=b""):
    data = json.dumps(fields).replace('{"t": ', '{"t":', 1).replace('", "nonce": ', '","nonce":', 1).encode() + b"\n" + payload
    while data:
        data = data[os.write(1, data):]

source = open(0, "rb", closefd=False)

def request():
    header = source.readline()
    if not header:
        sys.exit(0)
    verb, ident, *words = header.decode("ascii").split()
    keys, sections = {}, {}
    for word in words:
        name, mark, value = re.match(r"([\w.-]+)([=:])(.*)", word).groups()
        if mark == "=":
            keys[name] = value
        else:
            sections[name] = source.read(int(value))
    return verb, int(ident), keys, sections

line = b"\n"
while line == b"\n":
    line = source.readline()
if not line.startswith(b"hello 0 "):
    sys.stdout.write('{"t":"error","id":0,"kind":"lost_input","message":"the first line is not hello"}\n')
    sys.stdout.flush()
    sys.exit(1)
words = dict(word.split("=") for word in line.decode().split()[2:])
out({"t": "hello", "nonce": words["nonce"], "v": 1, "agent": DIGEST, "python": "3", "bash": "5", "uid": os.getuid(),
     "pid": os.getpid(), "clock": time.time(), "dir": "", "notes": []})
outputs, late, parts, refusing = {}, 0, [], False

def ask(ident, text):
    out({"t": "prompt", "id": ident, "text": text, "secret": text.startswith("Password")})

waiting = []

def answer(ident):
    got = request()
    while got[0] != "answer":
        waiting.append(got)
        got = request()
    _, number, keys, sections = got
    assert int(keys["of"]) == ident, keys
    out({"t": "ok", "id": number})
    return b"refused" if keys.get("refuse") == "1" else sections["text"]

def seen(ident):
    out({"t": "running", "id": ident, "elapsed_s": 1.0, "state": "sleep 1 s idle",
         "seen": {"kind": "idle", "pid": 7, "name": "sleep", "wchan": "hrtimer_nanosleep", "since_s": 1.0}})

while True:
    verb, ident, keys, sections = waiting.pop(0) if waiting else request()
    if verb == "bye":
        out({"t": "bye", "id": ident})
        sys.exit(0)
    if verb == "cancel":
        out({"t": "ok", "id": ident})
        continue
    if verb == "part":
        parts.append(b"%s %s\n" % (keys["name"].encode(), hashlib.sha256(sections["code"]).hexdigest().encode()))
        refused = {"t": "error", "id": ident, "kind": "bad_request", "message": "no such part"}
        out(refused if refusing else {"t": "ok", "id": ident})
        continue
    if verb == "slice":
        if keys["mode"] == "match":
            try:
                pattern = re.compile(sections["pattern"].decode())
            except re.error as error:
                out({"t": "error", "id": ident, "kind": "bad_request", "message": str(error)})
                continue
        else:
            pattern = re.compile("")
        data = outputs.get(int(keys["of"]), b"")
        if data == b"flood":
            out({"t": "slice", "id": ident, "total": 1, "lines": [[1, 100000, 0]], "payload": 100000}, b"x" * 100000)
            continue
        lines = [(n, text) for n, text in enumerate(data.splitlines(), 1) if pattern.search(text.decode("utf-8", "replace"))]
        payload = b"".join(text for _, text in lines)
        out({"t": "slice", "id": ident, "total": len(lines), "lines": [[n, len(text), 0] for n, text in lines],
             "payload": len(payload)}, payload)
        continue
    command = sections["command"]
    word, _, rest = command.partition(b" ")
    rc, data = 0, b""
    if word == b"echo":
        data = rest + b"\n"
    elif word == b"false":
        rc = 1
    elif word == b"sleep":
        if float(rest) > 1:
            seen(ident)
        time.sleep(float(rest))
    elif word == b"seen-after":
        late = ident
    elif word == b"seen-flood":
        for _ in range(100000):
            seen(ident)
    elif word == b"seen-other":
        seen(int(rest))
    elif word == b"need":
        for name in rest.decode().split(" "):
            out({"t": "need", "part": name})
    elif word == b"refuse-parts":
        refusing = True
    elif word == b"parts":
        data = b"".join(parts)
    elif word == b"size":
        data = b"%d %s\n" % (len(command), hashlib.sha256(command).hexdigest().encode())
    elif word == b"words":
        words = ["%s=%s" % item for item in keys.items() if item[0] not in ("session", "timeout_ms", "cap")]
        words += ["%s:%s" % (name, sections[name].decode()) for name in sections if name != "command"]
        data = " ".join(words).encode() + b"\n"
    elif word == b"ask":
        ask(ident, rest.decode())
        data = answer(ident) + b"\n"
    elif word == b"ask-twice":
        ask(ident, "first? ")
        ask(ident, "second? ")
        data = answer(ident) + b"\n"
    elif word == b"ask-and-end":
        ask(ident, "too late? ")
    elif word == b"ask-flood":
        for number in range(1000):
            ask(ident, "%d? " % number)
    elif word == b"exit-agent":
        os.write(2, b"the agent's last words\n")
        os._exit(3)
    elif word == b"garbage":
        os.write(1, b"\x00garbage\n")
    elif word == b"wrong-id":
        out({"t": "result", "id": 9999, "session": "main", "execution": "done", "rc": 0})
    elif word == b"flood-slice":
        data = b"flood"
    elif word == b"fatal":
        out({"t": "error", "id": 0, "kind": rest.decode(), "message": "it is over"})
        sys.exit(1)
    outputs[ident] = data
    stream = {"lines": data.count(b"\n"), "bytes": len(data), "longest": len(data)} if data else {}
    out({"t": "result", "id": ident, "session": keys["session"], "execution": "done", "rc": rc, "elapsed_s": 0.001,
         "stdout": stream})
    if late:
        seen(late)
"""


def peer_payload() -> Payload:
    """The peer, packed as the agent is."""
    return pack_payload(PEER, b"# no wrapper")
