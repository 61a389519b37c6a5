"""Addresses of names, looked up so that a slow resolver holds up nobody but who waits for it.

asyncio's own way has a handful of threads for all look-ups: a few dead names fill them, and the program's end waits for
them. Here each look-up has a thread of its own that nobody waits for. Knows nothing of SSH.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading

__all__ = ["addresses"]

_Found = list[tuple[int, str]]


async def addresses(host: str, port: int, family: int) -> _Found:
    """(family, address) pairs in the order of trying. An address stands for itself. Raises socket.gaierror."""
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host.partition("%")[0])
        return [(family, host)]
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Found] = loop.create_future()

    def tell(outcome: _Found | OSError) -> None:
        if done.done():  # given up
            return
        if isinstance(outcome, OSError):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)

    def work() -> None:
        outcome = _look_up(host, port, family)
        with contextlib.suppress(RuntimeError):  # the loop has ended in the meantime
            loop.call_soon_threadsafe(tell, outcome)

    threading.Thread(target=work, name=f"name of {host[:40]}", daemon=True).start()
    return await done


def _look_up(host: str, port: int, family: int) -> _Found | OSError:
    try:
        rows = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError:
        return socket.gaierror(socket.EAI_NONAME, "it is none that a host can have")
    return list(dict.fromkeys((int(kind), str(address[0])) for kind, _, _, _, address in rows))
