"""What planning costs: run it by hand, ``python tests/plan/planning_cost.py [HOSTS]``. Figures are printed, not asserted."""

from __future__ import annotations

import sys
import time

from plan_factory import expected, make_check, make_host, make_play, outcome

from checkrunner.judge.judge import Judge
from checkrunner.model.plan import Step
from checkrunner.model.playbook import Playbook
from checkrunner.model.results import Execution, Result
from checkrunner.plan.build import build_plan
from checkrunner.plan.verify import check_plan


def main(count: int) -> None:
    checks = [
        make_check("plain", "df -P"),
        make_check("one", "df -P {{ mount }}"),
        make_check("many", "echo {{ inventory_hostname }} {{ path }} {{ limits.warn | default(5) }}"),
        make_check("when", "true", when=["'web' in group_names", "size | int > 3"]),
        make_check("env", "true", env={"A": "{{ path }}", "B": "{{ mount }}"}, cwd="{{ mount }}"),
        make_check("load", "cat /proc/loadavg", register="load", crit_if=["stdout_lines > max_lines"]),
        make_check("next", "echo {{ load.rc }} {{ path }}", when=["load.ok"]),
        make_check("text", "true", expect=(expected("stdout", "contains", "ready on {{ inventory_hostname }}"),)),
    ]
    variables = {f"v{n}": n for n in range(20)}
    hosts = [
        make_host(f"h{n}", ["all", "web"], mount=f"/m{n}", size="5", path="{{ mount }}/x", max_lines=5, **variables)
        for n in range(count)
    ]
    book = Playbook(path="bench.yml", plays=(make_play(*checks, vars={"limits": {"warn": 1}}),))

    def timed(what: str, start: float) -> None:
        took = time.process_time() - start
        print(f"{what:<10} {took:7.3f} s   {took / count / len(checks) * 1e3:.4f} ms a host and check")

    start = time.process_time()
    plan = build_plan(book, [hosts])
    timed("build", start)
    start = time.process_time()
    check_plan(plan)
    timed("verify", start)
    judge = Judge(plan.templates)
    start = time.process_time()
    resolved = []
    for host in plan.hosts:
        load = outcome(host.checks[5])
        for planned in host.checks:
            step = host.resolve(planned, {"load": load})
            assert isinstance(step, Step)
            names = host.names(planned, {"load": load})
            resolved.append((step, names, judge.probes(planned.check, names)))
    timed("resolve", start)
    start = time.process_time()
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=0)
    for step, names, _ in resolved:
        judge.verdict(step.planned.check, step, result, names)
    timed("judge", start)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
