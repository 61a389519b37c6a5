"""What programs say after a name and a colon, where the name is that of a file, a prompt or themselves:
``cat: /etc/passwd: Permission denied``, ``Password: Authentication failure``."""

from __future__ import annotations

import re

__all__ = ["is_message"]

_REFUSED = (
    r"(?:permission|access) denied|no such (?:file|device|user|key)|(?:is a|not a) directory|file exists"
    r"|read-only file system|operation not (?:permitted|supported)|input/output error|device or resource busy"
    r"|stale (?:nfs )?file handle|too many (?:open files|levels of)|cannot (?:open|access|stat|read)"
    r"|(?:command )?not found|binary file matches|line \d+(?=[:,]|\s*$)|syntax error"
)
_SAID = (
    r"authentication (?:failure|failed|error|token|information|service)|conversation (?:error|failure)"
    r"|passwords? (?:updated|unchanged|changed|expiry|expired|hash|mismatch|has|is|for|must|do not|don't)\b"
    r"|(?:unable|failed) to (?:open|read|write|find|load|parse|connect|authenticate|decrypt|verify|change|set)\b"
    r"|(?:must|should|cannot|could not|may not|can't|will|has|have|does|did|do|was|were|are|is) (?:be|been|not|have"
    r"|contain"
    r"|match|expire|no|a|an|the|only|at|too|already|still|now|in)\b|too (?:short|long|weak|many|old|simple)\b"
    r"|(?:expected|unexpected|expecting|because|unless|when|while|skipping|using|no longer|waiting|trying|checking) \w"
)
# One word could be the value itself: it is a message at the end of the text, or where the sentence goes on.
_JUDGED = (
    r"(?:(?:is|was|has|not) )?(?:incorrect|expired|invalid|required|missing|rejected|refused|unknown|wrong|unset"
    r"|mismatch(?:ed)?|empty|set|changed|updated|accepted|verified|correct|created|deleted|configured|unchanged|failed)"
    r"(?=\s*$|[.,:;](?:\s|$)|\s(?:for|on|at|by|since|in|from|to|or|and|format|value|length|argument|syntax|user|password"
    r"|token|key|credentials?)\b)"
)
_MESSAGE = re.compile(f"{_REFUSED}|{_SAID}|{_JUDGED}", re.IGNORECASE)


def is_message(text: str, at: int = 0) -> bool:
    """Whether what begins at `at` is such a message rather than a value."""
    return _MESSAGE.match(text, at) is not None
