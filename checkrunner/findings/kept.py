"""Which parts of an output are fetched to be kept, and what is made of them: text, masked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checkrunner.findings.secret_tags import GAP
from checkrunner.findings.textview import text_view
from checkrunner.model.history import KeptOutput
from checkrunner.model.results import CaptureState, Output, RawSlice, SliceMode, SliceQuery, Stream

__all__ = ["PART_BYTES", "kept_output", "parts_of"]

PART_BYTES = 256 << 10
"""What is fetched at a time: small enough for other answers over the same link not to wait long."""


def parts_of(stream: Stream, output: Output, room: int) -> tuple[SliceQuery, ...]:
    """The queries that fetch an output; where it has more than `room` bytes, half of that from each end."""
    size = output.captured_bytes
    if size <= room:
        return tuple(_parts(stream, 0, size))
    return (*_parts(stream, 0, room // 2), *_parts(stream, size - (room - room // 2), size))


def _parts(stream: Stream, first: int, end: int) -> Iterator[SliceQuery]:
    for at in range(first, end, PART_BYTES):
        last = min(at + PART_BYTES, end)
        yield SliceQuery(
            mode=SliceMode.PACKED, stream=stream, first=at, last=last, max_lines=1, max_bytes=last - at, line_bytes=0
        )


def kept_output(
    host: str,
    check: str,
    stream: Stream,
    output: Output,
    parts: Sequence[RawSlice],
    *,
    mask: Callable[[str], str],
    note: str = "",
) -> KeptOutput:
    """What is kept of an output of which these parts came, in the order of `parts_of`, perhaps not all of them.

    Lines are whole: where the middle is missing, so are the pieces of lines beside it, unless there is nothing else.
    """
    size = output.captured_bytes
    data, _ = _joined(parts, 0)
    whole = len(data) >= size
    end, number = (b"", 0) if whole else _end(parts, len(data), size)
    if not whole and not end:
        note = note or f"{len(data):,} of its {size:,} bytes could be fetched"
    cut = output.state is not CaptureState.COMPLETE
    head, tail = _lines(data, torn_end=not whole), _lines(end, torn_begin=True)
    total = max(number + end.count(b"\n") - end.endswith(b"\n"), len(head)) if tail else output.lines
    if tail and len(head) == len(tail) == total == 1:  # both ends of one line
        head, tail = [head[0] + tail[0][1:]], []
        note = note or "the middle of its only line was left out"
    elif tail:
        total = max(total, len(head) + len(tail))
    elif whole:
        total = len(head)
    if cut and head:
        (tail or head)[-1] += GAP
    head, tail = _masked(head, tail, mask)
    return KeptOutput(
        host=host,
        check=check,
        stream=stream,
        data=_joined_text(head),
        tail=_joined_text(tail),
        total_bytes=size,
        total_lines=total,
        truncated=cut,
        note=note,
    )


def _end(parts: Sequence[RawSlice], after: int, size: int) -> tuple[bytes, int]:
    """The bytes at the end of the output where they came, and the number of the line in which they begin."""
    begin = next((part.query.first for part in parts if part.query.first > after), size)
    end, number = _joined(parts, begin)
    return (end, number) if begin + len(end) == size else (b"", 0)


def _joined(parts: Sequence[RawSlice], first: int) -> tuple[bytes, int]:
    """The bytes from `first` on without a gap, and the number of the line in which they begin."""
    found, number, at = [], 0, first
    for part in parts:
        if part.query.first == at and part.lines:
            line = part.lines[0]
            number = number or line.number
            found.append(line.data)
            at += len(line.data)
    return b"".join(found), number


def _lines(data: bytes, *, torn_begin: bool = False, torn_end: bool = False) -> list[str]:
    """The lines as text, without a torn one at an end. Where there is no other, that one has a `GAP` there."""
    if not data:
        return []
    lines = data.split(b"\n")
    if data.endswith(b"\n"):
        lines.pop()
        torn_end = False
    if torn_end and len(lines) > 1:
        lines.pop()
        torn_end = False
    if torn_begin and len(lines) > 1:
        del lines[0]
        torn_begin = False
    texts = [text_view(line) for line in lines]
    if torn_begin:  # without the word that was torn: the end of a secret does not look like one
        texts[0] = GAP + texts[0].partition(" ")[2]
    if torn_end:
        texts[-1] += GAP
    return texts


def _masked(head: list[str], tail: list[str], mask: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Both masked together, since a key goes over several lines. A `GAP` says where something is missing, by which half
    a secret is known; a mask that loses count is used line by line."""
    gap = [GAP] if tail else []
    given = [*head, *gap, *tail]
    texts = mask("\n".join(given)).split("\n") if given else []
    if len(texts) != len(given):
        texts = [mask(text).replace("\n", " ") for text in given]
    texts = [text.replace(GAP, "\u2026") for text in texts]
    return texts[: len(head)], texts[len(head) + len(gap) :]


def _joined_text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
