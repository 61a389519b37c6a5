"""The shared frames: the client writes them, and the real agent reads them."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checkrunner.link.answers import (
    AgentFailure,
    Answer,
    Bye,
    Done,
    Hello,
    Need,
    NoInterpreter,
    ResultAnswer,
    Running,
    SliceAnswer,
    Starting,
)
from checkrunner.link.payload import load_part, load_payload
from checkrunner.link.requests import part_request
from checkrunner.link.wire import AnswerDecoder, encode_request

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "requests.json").read_text())["requests"]
PARTS = 1000  # the ids from here on are of requests that bring parts of the agent
KINDS = {"hello": Hello, "result": ResultAnswer, "slice": SliceAnswer, "ok": Done, "bye": Bye}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_the_client_writes_it(vector: dict[str, Any]) -> None:
    sections = [(name, body.encode("latin-1")) for name, body in vector["sections"].items()]
    assert encode_request(vector["verb"], vector["id"], vector["keys"], sections) == vector["frame"].encode("latin-1")


def test_the_agent_reads_them() -> None:
    decoder, parts = AnswerDecoder("n0"), itertools.count(PARTS)
    command = ["/bin/sh", "-c", load_payload().exec_line]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for vector in VECTORS:
            agent.stdin.write(vector["frame"].encode("latin-1"))
            answers: list[Answer] = []
            while not answers:
                data = agent.stdout.read(65_536)
                assert data, f"the agent ended at {vector['name']}"
                for came in decoder.feed(data):
                    if isinstance(came, Need):
                        agent.stdin.write(part_request(next(parts), came.part, load_part(came.part)))
                    elif not isinstance(came, Running | Starting) and not (isinstance(came, Done) and came.id >= PARTS):
                        answers.append(came)
            (answer,) = answers
            if isinstance(answer, AgentFailure):
                assert answer.kind == vector["answer"], vector["name"]
            else:
                assert isinstance(answer, KINDS[vector["answer"]]), vector["name"]
            assert isinstance(answer, Hello | Need | NoInterpreter | Starting) or answer.id == vector["id"]
        assert agent.wait(10) == 0
