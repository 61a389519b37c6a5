"""Hosts of every kind in one inventory, through the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import Stubs, namespaces, network_namespace, small_root

ROOT = Path(__file__).parents[2]
PLAY = """\
- hosts: all
  checks:
    - {id: here, run: 'echo $WHERE', slice: {head: 1}, severity: info, expect: {stdout_lines: 1}}
    - {id: state, run: 'cd /; export KEPT=1'}
    - {id: kept, run: '[ "$KEPT $PWD" = "1 /" ]'}
"""


def cli(folder: Path, *args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "checkrunner", *args], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        env=(env or {"PATH": os.environ["PATH"]}) | {"HOME": str(folder), "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        text=True, timeout=55, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


def run(
    folder: Path, inventory: object, *args: str, env: dict[str, str] | None = None
) -> tuple[int, dict[str, object]]:
    (folder / "play.yml").write_text(PLAY)
    (folder / "inv.json").write_text(json.dumps({"all": {"hosts": inventory}}))
    done = cli(folder, "run", "play.yml", "-i", "inv.json", "--format", "json", *args, env=env)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_one_inventory_with_all_of_them(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path, "docker", "podman", "kubectl")
    net = f"checkrunner-cli-{os.getpid()}"
    with network_namespace(net), namespaces() as target:
        code, report = run(
            tmp_path,
            {
                "here": {"ansible_connection": "local"},
                "net": {
                    "ansible_connection": "exec",
                    "checkrunner_exec": ["ip", "netns", "exec", "{{ net }}"],
                    "net": net,
                },
                "words": {"ansible_connection": "exec", "checkrunner_exec": "env WHERE='words {{ 1 + 1 }}'"},
                "root": {"ansible_connection": "exec", "checkrunner_exec": small_root(tmp_path)},
                "inner": {"ansible_connection": "community.docker.nsenter", "ansible_nsenter_pid": target},
                "box": {
                    "ansible_connection": "community.docker.docker",
                    "ansible_host": "shop_{{ inventory_hostname }}",
                },
                "cell": {"ansible_connection": "containers.podman.podman", "ansible_user": "app"},
                "pod": {
                    "ansible_connection": "kubernetes.core.kubectl",
                    "ansible_kubectl_namespace": "shop",
                    "ansible_kubectl_container": "app",
                },
            },
            env=stubs.env,
        )
    assert code == 0, report
    totals = report["totals"]
    assert isinstance(totals, dict)
    assert totals["host"] == {"reached": 8}
    assert totals["verdict"] == {"ok": 24}
    assert sorted(stubs.calls()) == [
        ["docker", "exec", "-i", "shop_box"],
        ["kubectl", "--namespace=shop", "exec", "-i", "pod", "--container=app", "--"],
        ["podman", "exec", "-i", "--user", "app", "cell"],
    ]


def test_hosts_that_no_program_leads_to(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path)
    stubs.add("docker", "#!/bin/sh\necho Error response from daemon: No such container: $3 >&2\nexit 1\n")
    stubs.add("kubectl", "#!/bin/sh\necho 'error: You must be logged in to the server (Unauthorized)' >&2\nexit 1\n")
    code, report = run(
        tmp_path,
        {
            "c1": {"ansible_connection": "docker"},
            "c2": {"ansible_connection": "docker"},
            "p": {"ansible_connection": "kubectl"},
            "x": {"ansible_connection": "podman", "ansible_podman_executable": "/nowhere/podman"},
            "here": {"ansible_connection": "local"},
        },
        env=stubs.env,
    )
    assert code == 3
    incomplete = report["incomplete"]
    assert isinstance(incomplete, list)
    assert {
        entry["hosts"]: (entry["state"], entry["phase"], entry["reason"].split(":")[0]) for entry in incomplete
    } == {
        "c[1-2]": ("unreachable", "connect", "the container is not there"),
        "p": ("auth_failed", "connect", "kubectl may not do that"),
        "x": ("unreachable", "connect", "podman is not installed on this machine"),
    }


@pytest.mark.parametrize("verb", ["run", "lint"])
def test_settings_that_cannot_be_used_end_before_anything_starts(tmp_path: Path, verb: str) -> None:
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "inv.yml").write_text("all:\n  hosts:\n    h: {ansible_connection: exec}\n")
    done = cli(tmp_path, verb, "play.yml", "-i", "inv.yml")
    assert done.returncode == 64
    assert "h: the connection 'exec' needs the variable checkrunner_exec" in done.stdout + done.stderr
