"""Filters that make texts of texts: quoting, paths, encodings, digests, addresses."""

from __future__ import annotations

import base64
import hashlib
import ntpath
import posixpath
import shlex
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus, urlparse, urlsplit

from checkrunner.plan.taint import untainted
from checkrunner.plan.values import Hidden

__all__ = [
    "FILTERS",
    "TESTS",
    "b64decode",
    "b64encode",
    "basename",
    "comment",
    "commonpath",
    "digest",
    "dirname",
    "is_abs",
    "is_uri",
    "is_url",
    "is_urn",
    "md5",
    "normpath",
    "path_join",
    "quote",
    "relpath",
    "sha1",
    "split",
    "splitext",
    "splitlines",
    "to_uuid",
    "unquoted",
    "urldecode",
    "urlsplit_parts",
    "win_basename",
    "win_dirname",
    "win_splitdrive",
]

_SPACE = uuid.UUID("361e6d51-faec-444a-9079-341386da8e2e")
"""The name space of Ansible's ``to_uuid``: the same names come to the same ids."""

_URL_PARTS = ("fragment", "hostname", "netloc", "password", "path", "port", "query", "scheme", "username")

_STYLES: Mapping[str, Mapping[str, str]] = {
    "plain": {"decoration": "# "},
    "erlang": {"decoration": "% "},
    "c": {"decoration": "// "},
    "cblock": {"beginning": "/*", "decoration": " * ", "end": " */"},
    "xml": {"beginning": "<!--", "decoration": " - ", "end": "-->"},
}


def _needs_text(value: object, what: str) -> str:
    if isinstance(value, Hidden):
        return str(value)
    if not isinstance(value, str):
        msg = f"{what} needs a text, not {type(value).__name__}"
        raise TypeError(msg)
    return value


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def quote(value: object) -> str:
    """The text as one word of a shell command."""
    return shlex.quote("" if value is None else str.__str__(str(value)))


def unquoted(value: Any) -> Any:
    """The value, its texts from then on taken as if the playbook had written them: nothing is quoted."""
    return untainted(value)


def basename(value: object) -> str:
    """The last part of a path."""
    return posixpath.basename(_needs_text(value, "basename"))


def dirname(value: object) -> str:
    """A path without its last part."""
    return posixpath.dirname(_needs_text(value, "dirname"))


def splitext(value: object) -> tuple[str, str]:
    """The path, and its ending."""
    return posixpath.splitext(_needs_text(value, "splitext"))


def normpath(value: object) -> str:
    """The path without what does not matter in it (``a//b/../c``)."""
    return posixpath.normpath(_needs_text(value, "normpath"))


def relpath(value: object, start: str = ".") -> str:
    """The path as seen from another one; both are absolute, or both are relative to the same place."""
    path = _needs_text(value, "relpath")
    if not path:
        msg = "relpath needs a path"
        raise ValueError(msg)
    if posixpath.isabs(path) != posixpath.isabs(start):
        msg = "relpath needs two absolute paths or two relative ones"
        raise ValueError(msg)
    # With "/" before both, where we are does not matter.
    return posixpath.relpath("/" + path, "/" + start)


def path_join(paths: Any) -> str:
    """The parts as one path; an absolute one begins anew."""
    if isinstance(paths, str):
        return paths
    if not isinstance(paths, (list, tuple)):
        msg = f"path_join needs a text or a list, not {type(paths).__name__}"
        raise TypeError(msg)
    return posixpath.join(*paths)


def commonpath(paths: Any) -> str:
    """The longest path that all begin with."""
    if not isinstance(paths, (list, tuple)):
        msg = f"commonpath needs a list, not {type(paths).__name__}"
        raise TypeError(msg)
    return posixpath.commonpath(paths)


def win_basename(value: object) -> str:
    """The last part of a path of Windows."""
    return ntpath.basename(_needs_text(value, "win_basename"))


def win_dirname(value: object) -> str:
    """A path of Windows without its last part."""
    return ntpath.dirname(_needs_text(value, "win_dirname"))


def win_splitdrive(value: object) -> tuple[str, str]:
    """The drive, and the rest of a path of Windows."""
    return ntpath.splitdrive(_needs_text(value, "win_splitdrive"))


def split(value: object, sep: str | None = None, maxsplit: int = -1) -> list[str]:
    """The parts of a text, at blanks or at `sep`."""
    return _needs_text(value, "split").split(sep, maxsplit)


def splitlines(value: object) -> list[str]:
    """The lines of a text, without their ends."""
    return _needs_text(value, "splitlines").splitlines()


def b64encode(value: object, encoding: str = "utf-8", urlsafe: bool = False) -> str:
    """The text as base64."""
    data = value if isinstance(value, bytes) else str(value).encode(encoding, "surrogateescape")
    return (base64.urlsafe_b64encode if urlsafe else base64.b64encode)(data).decode("ascii")


def b64decode(value: object, encoding: str = "utf-8", urlsafe: bool = False) -> str:
    """The text that base64 holds."""
    data = _bytes(value)
    return (base64.urlsafe_b64decode if urlsafe else base64.b64decode)(data).decode(encoding, "surrogateescape")


def digest(value: object, hashtype: str = "sha1") -> str:
    """The digest of a text (``sha256``, ...), in hexadecimal."""
    found = hashlib.new(hashtype, usedforsecurity=False)
    found.update(_bytes(value))
    return found.hexdigest()


def sha1(value: object) -> str:
    """The SHA-1 of a text."""
    return digest(value, "sha1")


def md5(value: object) -> str:
    """The MD5 of a text."""
    return digest(value, "md5")


def to_uuid(value: object, namespace: str | uuid.UUID = _SPACE) -> str:
    """An id that is made of a name, always the same."""
    space = namespace if isinstance(namespace, uuid.UUID) else uuid.UUID(namespace)
    return str(uuid.uuid5(space, str(value)))


def urldecode(value: object) -> str:
    """The text of a part of an address (``a%20b``)."""
    return unquote_plus(_needs_text(value, "urldecode"))


def urlsplit_parts(value: object, query: str = "") -> Any:
    """The parts of an address, or one of them."""
    found = urlsplit(_needs_text(value, "urlsplit"))
    parts = {name: getattr(found, name) for name in _URL_PARTS}
    if not query:
        return parts
    if query not in parts:
        msg = f"an address has no part {query!r}: {', '.join(sorted(parts))}"
        raise ValueError(msg)
    return parts[query]


def comment(value: str, style: str = "plain", **options: Any) -> str:
    """The text as a comment: `style` is plain, c, cblock, erlang or xml; the options are those of Ansible."""
    if style not in _STYLES:
        msg = f"style is one of {', '.join(_STYLES)}, not {style!r}"
        raise ValueError(msg)
    edge = str(options.get("decoration", _STYLES[style]["decoration"])).rstrip()
    made: dict[str, Any] = {"newline": "\n", "beginning": "", "end": "", "prefix": edge, "postfix": edge}
    made |= {"prefix_count": 1, "postfix_count": 1, **_STYLES[style], **options}
    newline, mark = made["newline"], made["decoration"]
    prefix = made["prefix"] + newline if made["prefix"] and made["prefix"] != newline else newline
    prefix = prefix if made["prefix"] else ""
    body = mark + value.replace(newline, newline + mark)
    body = body.replace(mark + newline, mark.rstrip() + newline)
    return "".join(
        (
            made["beginning"] + newline if made["beginning"] else "",
            prefix * int(made["prefix_count"]),
            body,
            (newline + made["postfix"]) * made["postfix_count"],
            newline + made["end"] if made["end"] else "",
        )
    )


def is_abs(value: object) -> bool:
    """Whether a path is absolute."""
    return posixpath.isabs(_needs_text(value, "abs"))


def is_uri(value: object, schemes: Sequence[str] | None = None) -> bool:
    """Whether a text can be read as an address, with one of the schemes."""
    try:
        found = urlparse(_needs_text(value or "", "uri"))
    except (ValueError, AttributeError, TypeError):
        return False
    return not schemes or found.scheme in schemes


def is_url(value: object, schemes: Sequence[str] | None = None) -> bool:
    """Whether a text is an address that names a host, or a file."""
    if not is_uri(value, schemes):
        return False
    found = urlparse(str(value))
    return bool(found.netloc) or found.scheme == "file"


def is_urn(value: object) -> bool:
    """Whether a text is a URN."""
    return is_uri(value, ["urn"])


FILTERS: Mapping[str, Callable[..., Any]] = {
    "b64decode": b64decode,
    "b64encode": b64encode,
    "basename": basename,
    "checksum": sha1,
    "comment": comment,
    "commonpath": commonpath,
    "dirname": dirname,
    "hash": digest,
    "md5": md5,
    "normpath": normpath,
    "path_join": path_join,
    "quote": quote,
    "relpath": relpath,
    "sha1": sha1,
    "split": split,
    "splitext": splitext,
    "splitlines": splitlines,
    "to_uuid": to_uuid,
    "unquoted": unquoted,
    "urldecode": urldecode,
    "urlsplit": urlsplit_parts,
    "win_basename": win_basename,
    "win_dirname": win_dirname,
    "win_splitdrive": win_splitdrive,
}

TESTS: Mapping[str, Callable[..., bool]] = {
    "abs": is_abs,
    "is_abs": is_abs,
    "uri": is_uri,
    "url": is_url,
    "urn": is_urn,
}
