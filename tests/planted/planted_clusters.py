"""Containers, orchestrators and the members of clusters."""

from __future__ import annotations

from planted_parts import Page, output

__all__: list[str] = []


@output("kubectl-pods", "kubectl get pods -A", 650)
def kubectl_pods(page: Page) -> None:
    page.say("NAMESPACE     NAME                                  READY   STATUS             RESTARTS        AGE")
    crash, half = page.spots(2)
    for index in range(page.size):
        if index == crash:
            page.plant(
                "shop          payments-api-6f7c9d8b5-x2x9q          0/1     CrashLoopBackOff   214 (2m1s ago)  18h",
                "payments-api-6f7c9d8b5-x2x9q",
                "CrashLoopBackOff",
            )
        if index == half:
            page.plant(
                "shop          ledger-writer-0                       1/2     Running            0               41d",
                "ledger-writer-0",
                "1/2",
            )
        name, ready = page.fill("{word}-{hex}-{tag}"), page.rng.choice(("1/1", "1/1", "2/2", "2/2", "3/3"))
        status = page.rng.choice(("Running", "Running", "Running", "Running", "Completed"))
        shown = "0/1" if status == "Completed" else ready
        page.say(
            f"{page.rng.choice(('shop', 'kube-system', 'monitoring')):13} {name:37} {shown:7} {status:18} {page.rng.choice((0, 0, 0, 0, 1)):<15} {page.rng.randrange(2, 90)}d"
        )


@output("kubectl-events", "kubectl get events -A", 3000)
def kubectl_events(page: Page) -> None:
    page.say("NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT                          MESSAGE")
    (spot,) = page.spots(1)
    noise = [
        "Normal    Scheduled          pod/{word}-{tag}      Successfully assigned shop/{word}-{tag} to node-{few}",
        "Normal    Pulled             pod/{word}-{tag}      Container image already present on machine",
        "Normal    Created            pod/{word}-{tag}      Created container {word}",
        "Normal    Started            pod/{word}-{tag}      Started container {word}",
        "Normal    Killing            pod/{word}-{tag}      Stopping container {word}",
        "Warning   Unhealthy          pod/{word}-{tag}      Readiness probe failed: HTTP probe failed with statuscode: 503",
        "Normal    SuccessfulCreate   job/{word}-{n}        Created pod: {word}-{tag}",
        "Normal    Completed          job/{word}-{n}        Job completed",
    ]
    for index in range(page.size):
        if index == spot:
            page.plant(
                "shop        4m12s       Warning   FailedScheduling   pod/ledger-writer-1             0/12 nodes are available: 12 Insufficient memory.",
                "ledger-writer-1",
                "Insufficient memory",
            )
        page.say(page.fill("shop        {few}m          ") + page.any(noise))


@output("kubectl-describe", "kubectl describe pod search-0", 40)
def kubectl_describe(page: Page) -> None:
    page.say(
        "Name:             search-0",
        "Namespace:        shop",
        "Node:             node-4/10.0.1.14",
        "Labels:           app=search",
        "Status:           Running",
    )
    page.say(
        "Containers:",
        "  search:",
        "    Image:          registry.example.com/search:4.1.2",
        "    Port:           9200/TCP",
        "    State:          Running",
    )
    page.say("      Started:      Mon, 09 Mar 2026 02:12:01 +0000", "    Last State:     Terminated")
    page.plant("      Reason:       OOMKilled", "OOMKilled")
    page.say(
        "      Exit Code:    137",
        "      Started:      Mon, 09 Mar 2026 01:58:40 +0000",
        "      Finished:     Mon, 09 Mar 2026 02:11:58 +0000",
        "    Ready:          True",
        "    Restart Count:  19",
    )
    page.say(
        "    Limits:",
        "      cpu:     2",
        "      memory:  2Gi",
        "    Liveness:   http-get http://:9200/health delay=30s timeout=3s period=10s #success=1 #failure=3",
        "    Environment:",
    )
    page.say(
        *(
            page.fill(f"      {page.fill('{word}').upper()}_{index}_ERROR_URL:  http://{{word}}:{{port}}/failed")
            for index in range(page.size)
        )
    )
    page.say(
        "Conditions:",
        "  Type              Status",
        "  Initialized       True",
        "  Ready             True",
        "  ContainersReady   True",
        "  PodScheduled      True",
    )
    page.say(
        "QoS Class:        Burstable",
        "Tolerations:      node.kubernetes.io/not-ready:NoExecute op=Exists for 300s",
        "                  node.kubernetes.io/unreachable:NoExecute op=Exists for 300s",
    )
    page.say("Events:           <none>")


@output("kubectl-nodes", "kubectl get nodes -o wide", 180)
def kubectl_nodes(page: Page) -> None:
    page.say(
        "NAME          STATUS                     ROLES    AGE    VERSION   INTERNAL-IP    KERNEL-VERSION       CONTAINER-RUNTIME"
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        status = "NotReady" if index == spot else "Ready"
        row = f"node-{index + 1:04d}     {status:26} worker   {page.rng.randrange(90, 400)}d   v1.29.2   10.0.{index // 200}.{index % 200 + 10:<8} 5.15.0-97-generic    containerd://1.7.13"
        if index == spot:
            page.plant(row, f"node-{index + 1:04d}", "NotReady")
        else:
            page.say(row)


@output("docker-ps", "docker ps -a", 90)
def docker_ps(page: Page) -> None:
    page.say("CONTAINER ID   IMAGE                      COMMAND                  STATUS                          NAMES")
    sick, loop = page.spots(2)
    for index in range(page.size):
        first, second, start = (page.fill("{long}")[:12] + page.fill("   shop/{word}:4.{few}") for _ in range(3))
        if index == sick:
            page.plant(
                f'{first:41} "/docker-entrypoint.…"   Up 3 days (unhealthy)           ledger-{index}',
                f"ledger-{index}",
                "unhealthy",
            )
        if index == loop:
            page.plant(
                f'{second:41} "/docker-entrypoint.…"   Restarting (1) 12 seconds ago   geo-{index}',
                f"geo-{index}",
                "Restarting (1)",
            )
        status = page.rng.choice(
            ("Up 3 weeks", "Up 3 days (healthy)", "Up 12 days (healthy)", "Exited (0) 2 weeks ago")
        )
        page.say(f'{start:41} "/docker-entrypoint.…"   {status:31} {page.fill("{word}-error-{tag}")}')


@output("consul-members", "consul members", 300)
def consul_members(page: Page) -> None:
    page.say("Node         Address            Status  Type    Build   Protocol  DC   Partition  Segment")
    (spot,) = page.spots(1)
    for index in range(page.size):
        row = f"node-{index + 1:04d}    10.0.{index // 200}.{index % 200 + 10}:8301     {{}}  client  1.17.3  2         dc1  default    <default>"
        if index == spot:
            page.plant(row.format("left  "), f"node-{index + 1:04d}", "left")
        else:
            page.say(row.format("alive "))


@output("replication-slots", "psql -c 'select * from pg_replication_slots'", 60)
def replication_slots(page: Page) -> None:
    page.say(
        "    slot_name     | plugin | slot_type | database | temporary | active | active_pid | restart_lsn  | wal_status",
        "-" * 100,
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                f" standby_{index:03d}      |        | physical  |          | f         | f      |            | 1A/0812F0A8  | lost",
                f"standby_{index:03d}",
                "| lost",
            )
        else:
            page.say(
                f" standby_{index:03d}      |        | physical  |          | f         | t      | {page.fill('{pid}'):>10} | 7C/{page.fill('{hex}').upper()}  | reserved"
            )
    page.say(f"({page.size} rows)")


@output("galera-status", 'clush -a "mysql -Ne \'show status like \\"wsrep_local_state_comment\\"\'"', 64)
def galera_status(page: Page) -> None:
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                f"db-{index + 1:02d}: wsrep_local_state_comment\tDonor/Desynced",
                f"db-{index + 1:02d}",
                "Donor/Desynced",
            )
        else:
            page.say(f"db-{index + 1:02d}: wsrep_local_state_comment\tSynced")
