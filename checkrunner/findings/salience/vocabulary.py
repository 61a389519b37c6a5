"""What kernels, shells, C libraries, databases, language runtimes and orchestrators say when things go wrong: words,
phrases, and codes, by how bad that is.

A word is here because it means trouble wherever it is said; none stands here for the sake of one program.
"""

from __future__ import annotations

import re

__all__ = ["CODES", "CODE_HINT", "COUNTED", "GRADES", "NO_VALUES", "PHRASES", "SOFTENED", "WATCHED"]

_ENDED = """
    panic panicked oops emerg emergency fatal segfault segfaults sigsegv sigbus sigabrt corrupt corrupted corruption
    uncorrectable uncorrected unrecoverable irrecoverable deadlock lockup oom oomkilled crash crashed crashes crashing
    overheated
"""
"""Something has come to its end, or data is at stake."""

_FAILED = """
    error errors err errs fail fails failed failing failure failures exception exceptions traceback abort aborted
    aborting aborts fault faulted died dead killed denied refused unreachable lost broken assert assertion unhealthy
    crashloopbackoff imagepullbackoff errimagepull stuck hung stalled panicking halted halt degraded violation forbidden
    unauthorized undefined rejected exhausted offline nxdomain servfail notready evicted critical crit severe overrun
    underrun starvation leak leaked severed unresponsive
"""
"""Something did not work."""

_WRONG = """
    warn warning warnings alert alerts loss timeout timeouts timedout unable cannot invalid illegal unexpected
    unexpectedly missing mismatch mismatched expired expires overflow throttled throttling overloaded overload exceeded
    exceeds stale unavailable inconsistent disconnected reset interrupted bad failover malformed conflict conflicting
    unrecognized unsupported dropped drops discarded discarding suspended blocked dying defunct zombie insufficient
    unmounted untrusted vulnerable revoked incomplete inaccessible orphaned orphan suspicious attack blacklisted
    quarantined wrong breach unclean impossible
"""
"""Something is not as it should be."""

_NOTABLE = """
    retry retrying retries retransmission deprecated slow delayed delay unknown ignored ignoring skipped skipping skip
    down disabled inactive restart restarting restarted shutdown stopping stopped exited exit killing kill lag
    terminated
    interrupt interrupting closing closed close removed rollback detected limit pending problem problems issue
    issues bug trouble leaving
"""
"""Something to know of when there is nothing else."""

GRADES: dict[str, float] = {
    word: grade
    for grade, words in ((1.5, _NOTABLE), (3.0, _WRONG), (4.0, _FAILED), (5.0, _ENDED))
    for word in words.split()
}
"""Words in lower case, by how much trouble they tell of: 5 the most."""

WATCHED = frozenset(
    {word for word, grade in GRADES.items() if grade >= 3} | {"status", "code", "rc", "exit", "signal", "errno"}
)
"""Words beside which it matters whether a number is zero."""

_COUNTED = """
    errors error err errs failures failed dropped drops discards discarded lost overruns overrun rejected aborted
    corrupted uncorrectable uncorrected pending reallocated missed
"""
COUNTED = frozenset(_COUNTED.split())
"""Parts of the names of counters that should be zero: ``rx_crc_errors``, ``Offline_Uncorrectable``."""

_ENDED_PHRASES = (
    r"out of memory",
    r"no space left",
    r"i/o error",
    r"input/output error",
    r"read-only file ?system",
    r"remount\w{0,12}(?: \w{1,20})? read-only",
    r"core dumped",
    r"double free",
    r"stack smashing",
    r"(?:soft|hard) lockup",
    r"hung[_ ]task",
    r"blocked for more than",
    r"data loss",
    r"machine check",
    r"hardware error",
    r"not syncing",
    r"disk (?:is )?full",
    r"quota exceeded",
    r"call trace",
)
_FAILED_PHRASES = (
    r"no route to host",
    r"connection (?:refused|reset|closed by)",
    r"broken pipe",
    r"not (?:responding|permitted|ready|running)",
    r"timed out",
    r"permission denied",
    r"no such (?:file|device|host|process)",
    r"too many",
    r"command not found",
    r"segmentation fault",
    r"bus error",
    r"address already in use",
    r"stack ?trace",
    r"going down",
    r"link (?:is )?down",
)
_WRONG_PHRASES = (
    r"can(?:'|no)t\b",
    r"could(?: not|n't)",
    r"did(?: not|n't)",
    r"does(?: not|n't) exist",
    r"not (?:found|available|supported|connected|fully|enough|valid|allowed|mounted|synchroni[sz]ed|reachable|loaded)",
    r"end of (?:file|stream)",
    r"giving up",
    r"gave up",
    r"no (?:server|longer|response|route|carrier|quorum|leader)",
    r"rate limit",
    r"will be dropped",
    r"(?:is|disk|queue|table|buffer|device|filesystem|pool|volume|log) full",
    r"too (?:high|low|large|big|small|long|short|old|slow|late|few)",
)
PHRASES = tuple(
    (grade, re.compile(rf"(?<![A-Za-z])(?:{'|'.join(phrases)})", re.IGNORECASE))
    for grade, phrases in ((5.0, _ENDED_PHRASES), (4.0, _FAILED_PHRASES), (3.0, _WRONG_PHRASES))
)
"""What single words do not say, the worst first."""

CODES = (
    (4.0, re.compile(r"\" 5[0-9]{2}(?: |$)|\b(?:status|code)[\"']?\s?[=:]\s?\"?5[0-9]{2}\b")),
    (4.0, re.compile(r"\[[U_]{0,30}_[U_]{0,30}\]|\]\(F\)")),
    (2.0, re.compile(r"\" (?:401|403|407|408|429|499)(?: |$)|\b(?:status|code)[\"']?\s?[=:]\s?\"?4[0-9]{2}\b")),
    (
        4.0,
        re.compile(
            r"\b(?:exit(?:ed)?|return(?:ed)?|rc)(?: with| on)?(?: (?:non-zero|exit))?(?: (?:code|status|value))?"
            r"[ =:]{1,3}-?[1-9][0-9]{0,2}(?![0-9.])"
            r"|\bstatus[ =:]{1,3}-?(?:[1-9][0-9]?|1[2-5][0-9])(?![0-9.])"
            r"|\b(?:signal|SIG)[ :=]{0,2}(?:6|7|8|9|11|SEGV|KILL|ABRT|BUS)\b",
            re.IGNORECASE,
        ),
    ),
)
"""HTTP statuses, exit codes and signals that are no success, and members that a RAID of Linux lacks."""

CODE_HINT = re.compile(r"\b[45][0-9]{2}\b|exit|return|rc|status|signal|SIG|_\]|_U|\(F\)", re.IGNORECASE)
"""A line without this has no such code."""

SOFTENED = re.compile(
    r"\b(?:correctable|(?<!not )initiali[sz]ed|(?<!not )registered|corrected|recovered|resolved|succeeded"
    r"|successful(?:ly)?|cleared|healed|repaired|no longer|harmless)\b",
    re.IGNORECASE,
)
"""What makes trouble of the past of it."""

_NONE = """
    0 00 0.0 0.00 0% 0.0% 0x0 0x00000000 none null nil <nil> no false ok success off na n/a - remount-ro continue
    disabled never
"""
NO_VALUES = frozenset(_NONE.split())
"""Values after ``error=`` and the like that mean that there is none. ``errors=remount-ro`` is an option of a mount."""
