"""Running coroutines in tests: what asyncio would only log is a failure here."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

__all__ = ["run_async"]


def run_async(main: Coroutine[Any, Any, None], *, timeout_s: float = 50.0) -> None:
    """Run `main` on a new event loop. Fails for exceptions that nobody saw, and for tasks that are left over."""
    problems: list[str] = []

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(str(context)))
        async with asyncio.timeout(timeout_s):
            await main
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        problems.extend(f"left over: {task}" for task in left)
        gc.collect()

    asyncio.run(watched())
    gc.collect()
    assert not problems, "\n".join(problems)
