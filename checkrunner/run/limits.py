"""What this machine lets one process hold open: a run that asks for more would call healthy hosts unreachable."""

from __future__ import annotations

__all__ = ["fit_forks"]

# A host takes a socket; behind a ProxyCommand, and over the local transport, a process with three pipes as well.
_FDS_PER_HOST = 4
_FDS_RESERVED = 64
# Below this many hosts any usual limit (1,024) is enough, and the look at it is not worth the import.
_SMALL = 200


def fit_forks(forks: int, hosts: int) -> tuple[int, str]:
    """How many hosts may be open at once, and a sentence when that is fewer than `forks`.

    Raises the process's own limit of open files as far as that is allowed. Cost: nothing up to 200 hosts at once.
    """
    wanted = min(forks, hosts)
    if wanted <= _SMALL:
        return forks, ""
    import psutil

    process = psutil.Process()
    if not hasattr(process, "rlimit"):  # psutil can tell and set it on Linux only
        return forks, ""
    soft, hard = process.rlimit(psutil.RLIMIT_NOFILE)
    needed = wanted * _FDS_PER_HOST + _FDS_RESERVED + process.num_fds()
    unlimited = psutil.RLIM_INFINITY
    if soft != unlimited and soft < needed:
        soft = needed if hard == unlimited else min(needed, hard)
        process.rlimit(psutil.RLIMIT_NOFILE, (soft, hard))
    if soft == unlimited or soft >= needed:
        return forks, ""
    fitting = max(1, (soft - _FDS_RESERVED - process.num_fds()) // _FDS_PER_HOST)
    return fitting, (
        f"only {fitting} hosts are worked on at the same time instead of {wanted}: "
        f"this process may open {soft} files (raise it with ulimit -n {needed})"
    )
