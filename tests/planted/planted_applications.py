"""Logs of applications and of builds, with their traces, and what tools print while they work."""

from __future__ import annotations

import json

from planted_parts import Page, Plant, output

__all__: list[str] = []

_JAVA = [
    "INFO  [http-nio-8080-exec-{few}] c.e.shop.web.RequestLog - GET /api/{word}/{n} 200 {ms} ms",
    "INFO  [http-nio-8080-exec-{few}] c.e.shop.web.RequestLog - POST /api/{word} 201 {ms} ms",
    "DEBUG [scheduler-{few}] c.e.shop.jobs.ErrorReportJob - 0 errors to report for {word}",
    "INFO  [kafka-{few}] o.a.k.clients.consumer.Fetcher - [Consumer group={word}] Resetting offset for partition {word}-{few}",
    "INFO  [scheduler-{few}] c.e.shop.jobs.RetryQueue - drained {n} entries, failed=0, retried={few}",
]
_JAVA_FRAMES = (
    "java.base/java.net.SocketInputStream.read(SocketInputStream.java:186)",
    "org.apache.http.impl.io.SessionInputBufferImpl.fillBuffer(SessionInputBufferImpl.java:137)",
    "com.example.shop.clients.GeoClient.lookup(GeoClient.java:88)",
    "com.example.shop.web.CheckoutController.submit(CheckoutController.java:214)",
    "org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1067)",
    "java.base/java.lang.Thread.run(Thread.java:840)",
)


def _frames(page: Page, repeat: int) -> None:
    page.say(*(f"\tat {frame}" for frame in _JAVA_FRAMES * repeat))


@output("java-log", "cat /var/log/shop/app.log", 40_000)
def java_log(page: Page) -> None:
    """Hundreds of traces of a timeout that a retry mends, and one of a pool that is used up."""
    quiet = page.spots(page.size // 200)
    pool, thread = page.size * 2 // 3, page.size * 4 // 5
    for index in range(page.size):
        stamp = f"{page.tick(2):%Y-%m-%d %H:%M:%S},{index % 1000:03d} "
        page.say(stamp + page.any(_JAVA))
        if index in quiet:
            page.say(stamp + "WARN  [geo-1] c.e.shop.clients.GeoClient - lookup timed out, retry 1 of 3")
            page.say("java.net.SocketTimeoutException: Read timed out")
            _frames(page, 2)
            page.say(stamp + "INFO  [geo-1] c.e.shop.clients.GeoClient - lookup succeeded on retry 1")
        if index == pool:
            page.say(
                stamp + "ERROR [http-nio-8080-exec-4] o.a.c.c.C.[dispatcherServlet] - Servlet.service() threw exception"
            )
            page.say(
                "org.springframework.transaction.CannotCreateTransactionException: Could not open JPA EntityManager"
            )
            _frames(page, 5)
            page.plant(
                "Caused by: java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, "
                "request timed out after 30000ms.",
                "HikariPool-1 - Connection is not available",
            )
            _frames(page, 1)
            page.say("\t... 41 more")
        if index == thread:
            page.plant(
                'Exception in thread "ledger-writer" java.lang.OutOfMemoryError: unable to create native thread',
                "OutOfMemoryError: unable to create native thread",
            )


def _record(page: Page, **more: object) -> str:
    start: dict[str, object] = {"ts": f"{page.tick(1):%Y-%m-%dT%H:%M:%S.%fZ}", "level": "info", "service": "payments"}
    return json.dumps(start | more, ensure_ascii=False, separators=(",", ":"))


def _request(page: Page, route: str, status: int) -> str:
    return _record(
        page,
        msg="request done",
        trace_id=page.fill("{long}"),
        method="POST",
        route=route,
        status=status,
        duration_ms=round(page.between(2, 90), 3),
        error=None,
    )


@output("json-status", "kubectl logs deploy/payments", 50_000)
def json_status(page: Page) -> None:
    """Of 50,000 requests two ended with 500, at level info as the others."""
    spots = page.spots(2)
    for index in range(page.size):
        if index in spots:
            page.plant(_request(page, "/v1/refunds", 500), "/v1/refunds", '"status":500', of="refunds")
        route = page.any(["/v1/payments", "/v1/payments/{n}", "/v1/refunds", "/v1/{word}"])
        page.say(_request(page, route, page.rng.choice((200, 200, 200, 200, 201, 204))))


@output("json-long-line", "kubectl logs job/export", 3000)
def json_long_line(page: Page) -> None:
    """What went wrong stands in the middle of a line of 3,000 characters."""
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            before, after = (page.fill(";".join(["col_{word}_{n}={hex}"] * 62)) for _ in range(2))
            wrong = "export failed: x509: certificate signed by unknown authority"
            page.plant(
                _record(page, level="error", msg=f"batch {before} {wrong} {after}", attempt=1),
                "x509: certificate signed by unknown authority",
            )
        page.say(
            _record(
                page,
                msg=page.any(["wrote {n} rows of {word}", "batch {n} done, 0 errors", "flushed {word}"]),
                attempt=1,
            )
        )


_LOGFMT = [
    'level=info component=tsdb msg="write block" mint=17720{big} maxt=17720{big} ulid={long} duration={ms}s',
    'level=info component=tsdb msg="Head GC completed" duration={ms}ms',
    'level=warn component="scrape manager" scrape_pool={word} target=http://{ip}:9100/metrics msg="Error on ingesting out-of-order samples" num_dropped={few}',
    'level=warn component="scrape manager" scrape_pool={word} msg="Error on ingesting samples with different value but same timestamp" num_dropped={few}',
    'level=info component="rule manager" msg="Completed evaluation" group={word} failures=0 err=null',
    'level=info component=compact msg="compact blocks" count=3 sources="[{long} {long}]" errors=0',
]


@output("logfmt", "journalctl -u prometheus -o cat", 30_000)
def logfmt(page: Page) -> None:
    page.log(
        lambda: f"ts={page.tick(3):%Y-%m-%dT%H:%M:%S}.114Z caller=main.go:{page.rng.randrange(900)} ",
        _LOGFMT,
        Plant(
            at=0.54,
            text='level=error component=tsdb msg="compaction failed" err="preallocate: no space left on device"',
            words=('msg="compaction failed"', "no space left on device"),
        ),
    )


_ETCD = [
    (
        "warn",
        "apply request took too long",
        {"took": "1{few}2ms", "expected-duration": "100ms", "prefix": "read-only range"},
    ),
    ("info", "compacted Raft logs", {"compact-index": "{big}"}),
    ("info", "triggering snapshot", {"local-member-id": "{long}", "local-member-applied-index": "{big}"}),
    ("info", "saved snapshot", {"snapshot-index": "{big}"}),
    ("info", "purged", {"path": "/var/lib/etcd/member/wal/{long}.wal", "error": ""}),
]


@output("etcd-log", "journalctl -u etcd -o cat", 12_000)
def etcd_log(page: Page) -> None:
    def row(level: str, msg: str, more: dict[str, str]) -> str:
        words = {
            "level": level,
            "ts": f"{page.tick(8):%Y-%m-%dT%H:%M:%S}Z",
            "caller": "etcdserver/server.go:{few}",
            "msg": msg,
        }
        return json.dumps({key: page.fill(value) for key, value in (words | more).items()}, separators=(",", ":"))

    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(row("warn", "alarm raised", {"alarm": "NOSPACE", "from": "{long}"}), "alarm raised", "NOSPACE")
        page.say(row(*page.rng.choice(_ETCD)))


@output("python-log", "docker logs worker", 9000)
def python_log(page: Page) -> None:
    """A traceback that a retry mends comes thirty times, another one once."""
    noise = [
        "INFO/MainProcess Task shop.{word}[{long}] received",
        "INFO/Worker-{few} Task shop.{word}[{long}] succeeded in {ms}s: None",
        "INFO/Worker-{few} {n} exports checked, errors: 0",
    ]
    spots = page.spots(30)
    bad = spots.pop(page.rng.randrange(8, 22))
    for index in range(page.size):
        stamp = f"[{page.tick(3):%Y-%m-%d %H:%M:%S},114: "
        page.say(stamp + page.any(noise) + "]")
        if index in spots or index == bad:
            page.say("Traceback (most recent call last):")
            for name in (
                "celery/app/trace.py",
                "shop/tasks.py",
                "urllib3/connectionpool.py" if index != bad else "shop/ledger.py",
            ):
                page.say(
                    f'  File "/opt/app/lib/{name}", line {page.rng.randrange(40, 900)}, in {page.fill("{word}")}',
                    "    return self.run(*args)",
                )
        if index in spots:
            page.say(
                "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection'))"
            )
            page.say(
                stamp + page.fill("WARNING/Worker-{few} retrying in 2s]"),
                stamp + page.fill("INFO/Worker-{few} retry 1 succeeded]"),
            )
        if index == bad:
            page.plant(
                'psycopg2.errors.UndefinedColumn: column "vat_rate" of relation "ledger" does not exist',
                'UndefinedColumn: column "vat_rate" of relation "ledger" does not exist',
            )


@output("build-log", "make -j8", 30_000)
def build_log(page: Page) -> None:
    noise = [
        "  CC      src/{word}/{tag}_error.o",
        "  CC      src/{word}/{tag}.o",
        "gcc -O2 -Wall -Werror=format-security -c -o build/{word}/failed_{tag}.o src/{word}/failed_{tag}.c",
        "checking for strerror_r... yes",
        "src/{word}/{tag}.c:{n}:{few}: warning: unused variable 'err' [-Wunused-variable]",
        "  AR      build/lib{word}.a",
        "make[3]: Entering directory '/build/src/{word}'",
        "make[3]: Leaving directory '/build/src/{word}'",
    ]
    page.log(
        lambda: "",
        noise,
        Plant(
            at=0.913,
            text="src/net/tls.c:412:9: error: too few arguments to function 'tls_open'",
            words=("src/net/tls.c:412", "too few arguments to function"),
        ),
    )


@output("apt-term", "cat /var/log/apt/term.log", 1500)
def apt_term(page: Page) -> None:
    noise = [
        "Preparing to unpack .../{n}-libgpg-error0_1.45-{few}_amd64.deb ...",
        "Unpacking liberror-perl (0.17029-{few}) over (0.17029-1) ...",
        "Unpacking lib{word}{few}:amd64 (2.{few}.{n}) ...",
        "Setting up lib{word}{few}:amd64 (2.{few}.{n}) ...",
        "Processing triggers for man-db (2.10.2-1) ...",
        "Selecting previously unselected package {word}-{tag}.",
        "update-alternatives: using /usr/bin/{tag} to provide /usr/bin/{word} in auto mode",
    ]
    page.log(
        lambda: "",
        noise,
        Plant(
            at=0.88,
            text="dpkg: error processing package mysql-server-8.0 (--configure):",
            words=("error processing package mysql-server-8.0",),
            of="dpkg",
        ),
        Plant(
            at=0.881,
            text=" installed mysql-server-8.0 package post-installation script subprocess returned error exit status 1",
            words=("mysql-server-8.0", "returned error exit status 1"),
            of="dpkg",
        ),
    )


@output("progress-cr", "rsync -av --progress /srv/media backup:/", 700)
def progress_cr(page: Page) -> None:
    """Each line was overwritten many times: what a terminal shows of it is the end."""
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                'rsync: [sender] read errors mapping "/srv/media/2026/03/clip-0912.mov": Input/output error (5)',
                'read errors mapping "/srv/media/2026/03/clip-0912.mov"',
                "Input/output error",
            )
        page.say(page.fill("media/2026/{few}/clip-{n}.mov"))
        steps = [
            f"{page.rng.randrange(10**8):>15,} {percent:3}%  {page.between(20, 110):6.2f}MB/s    0:00:0{percent % 9}"
            for percent in range(4, 100, 12)
        ]
        page.say(
            "\r".join(
                [
                    *steps,
                    page.fill(
                        f"    142,606,336 100%  88.12MB/s    0:00:01 (xfr#{index}, to-chk={page.size - index}/{page.size})"
                    ),
                ]
            )
        )
    page.say("", "sent 91,220,441,120 bytes  received 81,220 bytes  88,120,441.11 bytes/sec")


@output("tar-last-line", "tar -cvf /dev/nst0 /srv", 100_000)
def tar_last_line(page: Page) -> None:
    page.log(
        lambda: "",
        [
            "./srv/{word}/{hex}/error_log",
            "./srv/{word}/{hex}/failed-logins-{n}.csv",
            "./srv/{word}/{n}/{tag}.parquet",
            "./srv/{word}/{n}/part-{hex}.snappy",
        ],
        Plant(
            at=0.438,
            text="tar: ./srv/ledger/base.1: Cannot read: Input/output error",
            words=("./srv/ledger/base.1", "Cannot read"),
        ),
        Plant(at=1, text="Killed", words=("Killed",)),
    )


@output("ansible-recap", "ansible-playbook site.yml | tail", 500)
def ansible_recap(page: Page) -> None:
    page.say("PLAY RECAP " + "*" * 68)
    (spot,) = page.spots(1)
    for index in range(page.size):
        name, few = f"node{index + 1:04d}.example.com", page.fill("{few}")
        if index == spot:
            page.plant(
                f"{name:26} : ok=3{few}   changed=0    unreachable=1    failed=0    skipped=4", name, "unreachable=1"
            )
        else:
            page.say(
                f"{name:26} : ok=4{few}   changed={page.rng.choice((0, 0, 0, 1))}    unreachable=0    failed=0    skipped=4"
            )


@output("ping", "ping -c 900 10.0.0.1", 900)
def ping(page: Page) -> None:
    page.say("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant(
                f"64 bytes from 10.0.0.1: icmp_seq={index + 1} ttl=64 time=1843 ms",
                f"icmp_seq={index + 1} ",
                "time=1843 ms",
            )
        else:
            page.say(f"64 bytes from 10.0.0.1: icmp_seq={index + 1} ttl=64 time={page.between(0.2, 0.5):.3f} ms")
    page.say(
        "", "--- 10.0.0.1 ping statistics ---", f"{page.size} packets transmitted, {page.size} received, 0% packet loss"
    )


_TCPDUMP = [
    "IP 10.0.0.7.443 > {ip}.{port}: Flags [.], ack {big}, win 501, length 0",
    "IP {ip}.{port} > 10.0.0.7.443: Flags [P.], seq {big}:{big}, ack {big}, win 502, length {n}",
    "IP 10.0.0.7.443 > {ip}.{port}: Flags [P.], seq {big}:{big}, ack {big}, win 501, length 1448",
    "IP {ip}.{port} > 10.0.0.7.443: Flags [S], seq {big}, win 64240, options [mss 1460,sackOK], length 0",
    "IP {ip}.{port} > 10.0.0.7.443: Flags [F.], seq {big}, ack {big}, win 502, length 0",
    "IP 10.0.0.7.{port} > 10.0.0.2.53: {n}+ A? {word}.example.com. (38)",
    "ARP, Request who-has {ip} tell 10.0.0.1, length 46",
]


@output("tcpdump", "tcpdump -nr trace.pcap", 60_000)
def tcpdump(page: Page) -> None:
    page.log(
        lambda: f"{page.tick(0.05):%H:%M:%S.%f} ",
        _TCPDUMP,
        Plant(
            at=0.47,
            text="IP 10.9.0.1 > 10.0.0.7: ICMP 10.9.4.12 unreachable - need to frag (mtu 1400), length 556",
            words=("need to frag (mtu 1400)",),
        ),
    )
