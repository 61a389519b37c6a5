#!/bin/sh
# checkrunner beside other tools, on a lab of loopback SSH servers. Usage:
#   bench/lab.sh LAB [SCENARIO...]
# LAB is a folder with fleet.py, bench.py, workload.py and report.py. LAB_STATE and LAB_VENVS are its own variables
# (state of the fleet; virtual environments of the contestants). A fleet is started if none runs, and then stopped.
# checkrunner's report folds hosts; -v makes it name each of them on stderr, which is how the lab knows a good run.
# RUNS, ONLY (contestants) and OUT (results, JSON lines) may be set.
set -eu
[ $# -gt 0 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 64; }
lab=$(cd "$1" && pwd); shift
here=$(cd "$(dirname "$0")/.." && pwd)
python=$here/.venv/bin/python
[ $# -gt 0 ] || set -- 1x10-rtt50 1x50-rtt50 100x8-rtt0
export LAB_STATE="${LAB_STATE:-${TMPDIR:-/tmp}/lab/state}" LAB_VENVS="${LAB_VENVS:-${TMPDIR:-/tmp}/lab/venvs}"
runs=${RUNS:-5} only=${ONLY:-ssh-oneshot-bash,floor,agent}
mkdir -p "$LAB_STATE"
work=$(mktemp -d)
results=${OUT:-$work/results.jsonl}
started=
# shellcheck disable=SC2317,SC2329  # called by the trap
end() {
    [ -z "$started" ] || python3 "$lab/fleet.py" stop >&2
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

if ! python3 "$lab/fleet.py" status 2>/dev/null | grep -q '"alive": true'; then
    started=yes
    python3 "$lab/fleet.py" start -n "${HOSTS:-100}" --rtt 50 --proxy-python "$LAB_VENVS/asyncssh/bin/python" >&2
fi

for scenario in "$@"; do
    workload=$(cd "$lab" && python3 -c "import bench; print(bench.SCENARIOS['$scenario'][1])")
    # The playbook is written before: writing it is not what is measured.
    python3 "$lab/workload.py" list "$workload" --log "$LAB_STATE/app.log" |
        "$python" "$here/bench/make_playbook.py" >"$work/$scenario.yml"
    python3 "$lab/bench.py" --scenario "$scenario" --runs "$runs" --work "$work/bench" --out "$results" \
        --only "checkrunner,$only" \
        --add "checkrunner=$here/.venv/bin/python -m checkrunner run $work/$scenario.yml -i {run}/inventory.yml --format json -v"
done
python3 "$lab/report.py" "$results"
