"""The text of files that people wrote."""

from __future__ import annotations

from checkrunner.model.errors import LoadError
from checkrunner.model.sources import SourceRef

__all__ = ["decoded", "read_file"]

_MAX_BYTES = 64 << 20


def read_file(path: str, error: type[LoadError] = LoadError) -> str:
    """The text of a file, without a byte order mark. Raises `error` where it cannot be read or is not UTF-8."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as exc:
        raise error(f"cannot be read: {exc.strerror or exc}", source=SourceRef(path=path)) from exc
    return decoded(data, path, error)


def decoded(data: bytes, path: str, error: type[LoadError] = LoadError) -> str:
    """The text that the bytes of a file are; `path` is what errors call it. Raises as `read_file` does."""
    if len(data) > _MAX_BYTES:
        raise error(f"has more than {_MAX_BYTES >> 20} MiB, which is no file of this kind", source=SourceRef(path=path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        bad = SourceRef(path=path, line=line, column=exc.start - (data.rfind(b"\n", 0, exc.start) + 1) + 1)
        hint = "Save the file as UTF-8."
        raise error(f"is not UTF-8 text (byte 0x{data[exc.start]:02x})", source=bad, hint=hint) from exc
