"""Importing asyncssh without the part of it that is slow and of no use here."""

from __future__ import annotations

import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["quick_library_search"]

_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64")


@contextmanager
def quick_library_search() -> Iterator[None]:
    """While this holds, asyncssh's search for liboqs is skipped where no such library is installed.

    ctypes looks for a library by starting ldconfig and then a C compiler, which takes some 20 ms for each of two names.
    Where a file of that name exists, the real search is done.
    """
    search = ctypes.util.find_library

    def find_library(name: str) -> str | None:
        if name in ("oqs", "liboqs") and not _installed("liboqs.so*"):
            return None
        return search(name)

    ctypes.util.find_library = find_library
    try:
        yield
    finally:
        ctypes.util.find_library = search


def _installed(pattern: str) -> bool:
    for folder in _LIBRARY_FOLDERS:
        path = Path(folder)
        # One level down are the folders of the machine's architecture, as on Debian.
        if any(path.glob(pattern)) or any(path.glob(f"*-linux-*/{pattern}")):
            return True
    return False
