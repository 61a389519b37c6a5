"""Small notations inside playbook values: durations, number comparisons, line ranges, regular expressions, words.

Each function takes text or a number and gives the clean value or raises NotationError; none knows where it was written.
"""

from __future__ import annotations

import re
import unicodedata
import warnings

from checkrunner.model.characters import untypeable
from checkrunner.model.durations import seconds_of
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.numbers import parse_number

__all__ = [
    "RESERVED_NAMES",
    "NotationError",
    "check_answer",
    "check_pattern",
    "duration",
    "level_range",
    "lines_range",
    "number_condition",
    "slug",
    "variable_name",
]

_MAX_SECONDS = 7 * 24 * 3600
_LINES = re.compile(r"(?P<a>[0-9]+)(?:\s*-\s*(?P<b>[0-9]+))?")

RESERVED_NAMES = frozenset(
    {
        *RESULT_NAMES,
        *("stdout", "stderr", "inventory_hostname", "group_names"),
        *("and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None"),
    }
)
"""What an expression means something else by already: a result or variable of that name could not be read."""


class NotationError(ValueError):
    """A value that its notation does not allow. `offset` is the character of the text that is wrong."""

    def __init__(self, message: str, hint: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.message, self.hint, self.offset = message, hint, offset


def duration(value: object, raw: str) -> float:
    """Seconds of ``30``, ``30s``, ``2m``, ``1h`` or ``500ms``. `raw` shows YAML's base-60 numbers (``1:30``)."""
    seconds = None if isinstance(value, bool) else seconds_of(raw)
    if seconds is None:
        raise NotationError(f"{raw!r} is not a duration", "Write seconds (30) or a number with ms, s, m or h (2m).")
    if not 0 < seconds <= _MAX_SECONDS:
        raise NotationError(f"{raw!r} is out of range", "A duration is more than 0 and at most 7 days (168h).")
    return seconds


def number_condition(value: object, raw: str) -> int | float | str:
    """A number, or a comparison in its one form: ``>= 3``, ``!= 0``, ``1..5`` (both ends included)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        spec = parse_number(value if number else raw)
    except ValueError as exc:
        message, _, write = str(exc).partition(": write ")
        hint = f"Write {write}." if write else ""
        if "{{" in raw:
            hint = "For a variable write an expression: `expect: stdout_lines <= max_lines`."
        raise NotationError(message, hint) from exc
    return spec.text if spec.exactly is None else spec.exactly


def lines_range(value: object, raw: str) -> tuple[int, int]:
    """First and last line (1-based, inclusive) of ``3-10``, ``5`` or 5."""
    match = None if isinstance(value, bool) else _LINES.fullmatch(raw.strip())
    if match is None:
        raise NotationError(f"{raw!r} is not a range of lines", "Write '3-10', [3, 10] or one line number.")
    first, last = int(match["a"]), int(match["b"] or match["a"])
    if first < 1:
        raise NotationError("lines are counted from 1", "Write '1-10', or `head 10`.")
    if last < first:
        raise NotationError(f"{raw!r} is empty: {last} comes before {first}", f"Write '{last}-{first}'.")
    return first, last


_LEVEL_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?:\s*[^\s\d:@~+-][^:@~]{0,19})?"
_LEVEL = re.compile(rf"@?(?:(?P<low>~|{_LEVEL_NUMBER})?(?P<colon>:))?(?P<high>{_LEVEL_NUMBER})?")


def level_range(text: str) -> None:
    """See to it that a threshold is a range as Nagios plugins write it: ``90``, ``10:``, ``~:5``, ``@1:2``, with units.

    What the units mean, and which end is the larger one, is looked at where the values are read.
    """
    found = _LEVEL.fullmatch(text)
    if not found or not (found["low"] or found["high"]):
        hint = "Write 90 or 90% (at most), '10:' (at least), '5:20' (between) or '@5:20' (not between)."
        raise NotationError(f"{text!r} is no threshold", hint)


def check_pattern(pattern: str) -> None:
    """Compile a regular expression that a host's Python, 3.6 or later, will have to compile too."""
    if not pattern:
        raise NotationError("an empty pattern is found everywhere", "Write what is looked for, or drop the key.")
    newer = _newer_syntax(pattern)
    if newer:
        what, offset = newer
        message = f"{what} in a pattern is not known to the Python 3.6 that hosts may have"
        raise NotationError(message, "Write the pattern without it.", offset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # e.g. a "possible nested set": legal, and the host's affair
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as exc:
        offset = getattr(exc, "pos", None) or 0
        hint = "A character that means itself is written with a backslash: `\\(`, `\\[`, `\\*`, `\\\\`."
        raise NotationError(f"not a regular expression: {getattr(exc, 'msg', exc)}", hint, offset) from exc


def check_answer(text: str) -> None:
    """One line that can be typed at a terminal."""
    why = untypeable(text)
    if why:
        hint = (
            "Its newline is added; a second question gets an answer of its own."
            if "line" in why
            else "Write another one."
        )
        raise NotationError(f"this cannot be typed as an answer: {why}", hint)


_TOKEN = re.compile(r"\\N\{|\\z|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?>|(?:[*+?]|\{\d*,?\d*\})\+|.", re.DOTALL)


def _newer_syntax(pattern: str) -> tuple[str, int] | None:
    for match in _TOKEN.finditer(pattern):
        piece = match.group()
        if piece == "(?>":
            return "an atomic group `(?>`", match.start()
        if piece in {"\\N{", "\\z"}:
            return f"the escape `{piece[:2]}`", match.start()
        if len(piece) > 1 and piece[-1] == "+" and piece[0] in "*+?{" and piece != "{}+":
            return f"a possessive quantifier `{piece}`", match.start()
    return None


def variable_name(text: str) -> str:
    """A name that expressions can read."""
    if not (text.isascii() and text.isidentifier()):
        raise NotationError(
            f"{text!r} is not a variable name", "A name has ASCII letters, digits and _, no digit first."
        )
    if text in RESERVED_NAMES:
        raise NotationError(f"{text!r} has a meaning in expressions already", "Choose another name.")
    return text


def slug(name: str) -> str:
    """Lowercase ASCII letters, digits and dashes of a name; may be empty. Accents are dropped, not the letters."""
    ascii_text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower()).strip("-")[:64].rstrip("-")
