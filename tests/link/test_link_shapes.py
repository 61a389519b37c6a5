"""The shapes of an output's lines: whatever a host says of them is bounded and adds up, or ends its session."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from async_helpers import run_async
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.link.answers import SliceAnswer
from checkrunner.link.calls import Calls, raw_slice
from checkrunner.link.shapes import FEW_BYTES, FEW_LINES, each_alone, in_whole
from checkrunner.link.wire import AnswerDecoder
from checkrunner.model.errors import ProtocolError
from checkrunner.model.results import Output, RawLine, RawSlice, SliceMode, SliceQuery

SALIENT = SliceQuery(mode=SliceMode.SALIENT, max_lines=3, max_bytes=100, line_bytes=40)
HELLO = b'{"t":"hello","nonce":"n0","v":1}\n'

Rows = Sequence[Sequence[int]]


def answered(
    rows: Rows, payload: bytes, *, query: SliceQuery = SALIENT, packed: bool = False, **fields: object
) -> RawSlice:
    """What comes of an answer to the query with these lines."""
    data = zlib.compress(payload, 9) if packed else payload
    if packed:
        fields.setdefault("unpacked", len(payload))
    words = {"t": "slice", "id": 7, "total": 1000, "lines": rows, "payload": len(data), **fields}

    made: list[RawSlice] = []

    async def main() -> None:
        calls = Calls()
        _, future = calls.ask_slice(7, 1, query)
        decoder = AnswerDecoder("n0")
        for answer in decoder.feed(HELLO + json.dumps(words).encode() + b"\n" + data):
            if isinstance(answer, SliceAnswer):
                calls.take(answer)
        made.append(raw_slice(await asyncio.wait_for(future, 1), query))

    run_async(main())
    return made[0]


GOOD: Rows = [[3, 5, 900, 3, 31, 700], [8, 4, 0, 0, 1, 8]]


@pytest.mark.parametrize("packed", [False, True])
def test_shapes_are_read(packed: bool) -> None:
    made = answered(GOOD, b"firstendnext", packed=packed, more=900, shapes=40)
    assert made == RawSlice(
        query=SALIENT,
        lines=(
            RawLine(number=3, data=b"first", cut_bytes=900, tail=b"end", count=31, last=700),
            RawLine(number=8, data=b"next", count=1, last=8),
        ),
        total_lines=1000,
        more_lines=900,
        more_shapes=40,
    )


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 0, 0, 0, 1]],  # none
        [[1, 1, 0, 0, 3, 2]],  # three lines in two
        [[1, 1, 0, 0, 1, 2]],  # one line that is two
        [[1, 1, 0, 0, 2, 1]],
        [[5, 1, 0, 0, 2, 4]],  # the last one before the first
        [[0, 1, 0, 0, 1, 0]],
        [[1, 1, 0, 0, 900, 1001]],  # beyond the end
        [[1, 1, 0, 0, 600, 700], [2, 0, 0, 0, 600, 701]],  # more than there are
        [[2, 1, 0, 0, 1, 2], [1, 0, 0, 0, 1, 1]],  # out of order
        [[2, 1, 0, 0, 1, 2], [2, 0, 0, 0, 1, 2]],
        [[1, 1, 0, 0, 1, 1]] + [[n, 0, 0, 0, 1, n] for n in (2, 3, 4)],  # more than asked for
    ],
)
def test_what_does_not_add_up_ends_the_session(rows: Rows) -> None:
    with pytest.raises(ProtocolError):
        answered(rows, b"x")


@pytest.mark.parametrize(
    "fields",
    [{"more": 970}, {"more": 5, "shapes": 6}, {"shapes": 1}, {"more": -1}, {"shapes": True}, {"more": 1 << 70}],
)
def test_what_is_left_out_adds_up(fields: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        answered(GOOD, b"firstendnext", **fields)


def test_a_line_is_no_longer_than_asked_for() -> None:
    assert answered([[1, 30, 5, 10, 1, 1]], b"x" * 40).lines[0].cut_bytes == 5
    with pytest.raises(ProtocolError, match="40 bytes"):
        answered([[1, 30, 5, 11, 1, 1]], b"x" * 41)
    with pytest.raises(ProtocolError, match="at most 100"):
        answered([[n, 34, 0, 0, 1, n] for n in (1, 2, 3)], b"x" * 102)


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 0, 0]],
        [[1, 1, 0, 0, 1]],
        [[1, 1, 0, 0, 1, 1, 1]],
        [[1, 1, 0, -1, 1, 1]],
        [[1, 1, 0, 0, 1.5, 1]],
        [{}],
        {},
    ],
)
def test_rows_of_another_form(rows: Rows) -> None:
    with pytest.raises(ProtocolError):
        answered(rows, b"x")


def test_nobody_else_is_told_of_shapes() -> None:
    head = SliceQuery(mode=SliceMode.HEAD)
    assert answered([[1, 1, 0]], b"x", query=head).lines == (RawLine(number=1, data=b"x"),)
    wrong: Any = (
        ([[1, 1, 0, 0, 2, 2]], {}),
        ([[1, 0, 9, 1, 1, 1]], {}),
        ([[1, 1, 0]], {"shapes": 1, "more": 1}),
    )
    for rows, fields in wrong:
        with pytest.raises(ProtocolError, match="shapes where head"):
            answered(rows, b"x", query=head, **fields)


def test_no_more_is_unpacked_than_the_lines_have() -> None:
    bomb = zlib.compress(bytes(200 << 20), 9)
    words = {"t": "slice", "id": 7, "total": 9, "lines": [[1, 5, 0, 0, 1, 1]], "unpacked": 5, "payload": len(bomb)}
    decoder = AnswerDecoder("n0")
    decoder.feed(HELLO)
    with pytest.raises(ProtocolError, match="does not unpack to 5 bytes"):
        decoder.feed(json.dumps(words).encode() + b"\n" + bomb)
    for unpacked in (4, 6, 1 << 40, -1, "5"):
        with pytest.raises(ProtocolError):
            answered([[1, 5, 0, 0, 1, 1]], b"12345", packed=True, unpacked=unpacked)
    with pytest.raises(ProtocolError, match="not compressed"):
        answered([[1, 5, 0, 0, 1, 1]], b"12345", unpacked=5)
    with pytest.raises(ProtocolError):
        answered([[1, 2 << 20, 0, 0, 1, 1]], bytes(2 << 20), packed=True)


@given(
    st.lists(st.lists(st.integers(-1, 12), min_size=6, max_size=6), max_size=4), st.integers(0, 12), st.integers(0, 9)
)
def test_any_numbers_add_up_or_end_the_session(rows: Rows, total: int, more: int) -> None:
    size = sum(max(row[1], 0) + max(row[3], 0) for row in rows)
    try:
        made = answered(rows, b"x" * size, total=total, more=more)
    except ProtocolError:
        return
    assert sum(line.count for line in made.lines) + made.more_lines <= total
    for line in made.lines:
        assert 1 <= line.number <= line.number + line.count - 1 <= line.last <= total


# --- small outputs


def test_a_small_output_is_asked_for_whole() -> None:
    query = SliceQuery(mode=SliceMode.SALIENT, max_lines=64, max_bytes=16384, line_bytes=300)
    small = Output(lines=FEW_LINES, bytes=FEW_BYTES, captured_bytes=FEW_BYTES)
    whole = in_whole(query, small)
    assert (whole.mode, whole.max_lines, whole.line_bytes) == (SliceMode.HEAD, FEW_LINES, FEW_BYTES)
    for larger in (replace(small, lines=FEW_LINES + 1), replace(small, captured_bytes=FEW_BYTES + 1)):
        assert in_whole(query, larger) is query
    assert in_whole(replace(query, max_lines=5), small).mode is SliceMode.SALIENT
    head = SliceQuery(mode=SliceMode.HEAD)
    assert in_whole(head, small) is head


def test_its_lines_are_shapes_of_their_own() -> None:
    head = SliceQuery(mode=SliceMode.HEAD)
    raw = RawSlice(query=head, lines=(RawLine(number=1, data=b"a"), RawLine(number=2, data=b"b")), total_lines=2)
    made = each_alone(raw, SALIENT)
    assert made.query == SALIENT
    assert [(line.count, line.last) for line in made.lines] == [(1, 1), (1, 2)]
    assert each_alone(raw, head) is raw
