"""Logs of servers, proxies and databases."""

from __future__ import annotations

from planted_parts import Page, Plant, output

__all__: list[str] = []

_AGENTS = ('"Mozilla/5.0 (X11; Linux x86_64) Firefox/123.0"', '"curl/8.5.0"', '"kube-probe/1.29"', '"Googlebot/2.1"')
_ACCESS = [
    '"GET / HTTP/1.1" 200 {n}',
    '"GET /static/{word}.{hex}.js HTTP/1.1" 200 {big}',
    '"GET /static/{word}.css HTTP/1.1" 304 0',
    '"GET /api/{word}/{n} HTTP/1.1" 200 {n}',
    '"GET /api/{word}?page={few} HTTP/1.1" 200 {n}',
    '"POST /api/{word} HTTP/1.1" 201 {n}',
    '"POST /api/checkout HTTP/1.1" 200 {n}',
    '"GET /healthz HTTP/1.1" 200 2',
    '"GET /login?next=/error/failed HTTP/1.1" 302 0',
    '"GET /wp-login.php HTTP/1.1" 404 153',
    '"GET /docs/error-handling HTTP/1.1" 200 {n}',
]


@output("nginx-access", "cat /var/log/nginx/access.log", 100_000)
def nginx_access(page: Page) -> None:
    spot = page.size // 2 + page.rng.randrange(page.size // 10)
    for index in range(page.size):
        start = page.fill("{net} - - ") + f"[{page.tick(0.8):%d/%b/%Y:%H:%M:%S} +0000] "
        end = f' "-" {page.rng.choice(_AGENTS)}'
        if index == spot:
            page.plant(
                start + page.fill('"POST /api/checkout HTTP/1.1" 500 177') + end, "POST /api/checkout", " 500 177"
            )
        page.say(start + page.any(_ACCESS) + end)


_NGINX_ERRORS = [
    "[warn] 2211#2211: *{big} an upstream response is buffered to a temporary file /var/cache/nginx/proxy_temp/{few}/0{few}/{n}",
    '[error] 2211#2211: *{big} open() "/srv/www/favicon.ico" failed (2: No such file or directory), client: {net}, server: _',
    '[error] 2214#2214: *{big} open() "/srv/www/.env" failed (2: No such file or directory), client: {net}, server: _',
    '[error] 2214#2214: *{big} access forbidden by rule, client: {net}, server: shop.example.com, request: "GET /.git/config"',
    "[info] 2212#2212: *{big} client {net} closed keepalive connection",
    "[notice] 2210#2210: signal 29 (SIGIO) received",
]


@output("nginx-error", "cat /var/log/nginx/error.log", 6000)
def nginx_error(page: Page) -> None:
    page.log(
        lambda: f"{page.tick():%Y/%m/%d %H:%M:%S} ",
        _NGINX_ERRORS,
        Plant(
            at=0.49,
            text="[alert] 2210#2210: worker process 2213 exited on signal 11 (core dumped)",
            words=("worker process 2213 exited on signal 11",),
        ),
        Plant(
            at=0.83,
            text="[crit] 2214#2214: accept4() failed (24: Too many open files)",
            words=("accept4() failed (24: Too many open files)",),
        ),
    )


_POSTGRES = [
    "LOG:  checkpoint starting: time",
    "LOG:  checkpoint complete: wrote {n} buffers (0.{few}%); 0 WAL file(s) added, 0 removed, {few} recycled; write={ms} s",
    'LOG:  automatic vacuum of table "shop.public.{word}": index scans: 1 pages: 0 removed, {n} remain',
    "LOG:  duration: {n}.{few} ms  execute <unnamed>: SELECT * FROM {word} WHERE id = $1",
    'ERROR:  duplicate key value violates unique constraint "{word}_pkey"',
    "DETAIL:  Key (id)=({big}) already exists.",
    "STATEMENT:  INSERT INTO {word} (id, created) VALUES ($1, now()) ON CONFLICT DO NOTHING",
    "LOG:  could not receive data from client: Connection reset by peer",
    "LOG:  connection authorized: user=shop database=shop application_name={word}",
    "LOG:  disconnection: session time: 0:0{few}:12.{few} user=shop database=shop host={ip} port={port}",
    "ERROR:  canceling statement due to user request",
]


@output("postgres-log", "cat postgresql-Mon.log", 25_000)
def postgres_log(page: Page) -> None:
    page.log(
        lambda: f"{page.tick(3):%Y-%m-%d %H:%M:%S.123} UTC [{page.fill('{pid}')}] ",
        _POSTGRES,
        Plant(
            at=0.21,
            text='WARNING:  database "ledger" must be vacuumed within 9124467 transactions',
            words=('database "ledger" must be vacuumed within',),
        ),
        Plant(
            at=0.86,
            text='PANIC:  could not write to file "pg_wal/xlogtemp.4411": No space left on device',
            words=("PANIC", "pg_wal", "No space left on device"),
        ),
    )


_MYSQL = [
    "[Note] [MY-010914] [Server] Got timeout reading communication packets",
    "[Warning] [MY-010055] [Server] IP address '{ip}' could not be resolved: Name or service not known",
    "[Note] [MY-010914] [Server] Aborted connection {n} to db: '{word}' user: 'app' host: '{ip}' (Got an error reading packets)",
    "[Warning] [MY-013360] [Server] Plugin mysql_native_password reported: 'deprecated and will be removed'",
    "[System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.0.36'  socket: '/run/mysqld.sock'",
    "[Note] [MY-012550] [InnoDB] Doing recovery: scanned up to log sequence number {big}",
]


@output("mysql-error", "cat /var/log/mysql/error.log", 1200)
def mysql_error(page: Page) -> None:
    page.log(
        lambda: f"{page.tick(90):%Y-%m-%dT%H:%M:%S}.114213Z {page.fill('{n}')} ",
        _MYSQL,
        Plant(
            at=0.93,
            text="[ERROR] [MY-011906] [InnoDB] Database page corruption on disk or a failed file read of page "
            "[page id: space=58, page number=4211]. You may have to recover from a backup.",
            words=("page corruption on disk", "space=58"),
        ),
    )


def _pairs(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@output("mysql-replica", "mysql -e 'SHOW REPLICA STATUS\\G'", 55)
def mysql_replica(page: Page) -> None:
    page.say("*************************** 1. row ***************************")
    rows = _pairs("""
        Replica_IO_State: Waiting for source to send event\n Source_Host: db-01.example.com\n Source_User: repl
        Source_Port: 3306\n Connect_Retry: 60\n Source_Log_File: binlog.004211\n Read_Source_Log_Pos: 88120412
        Relay_Log_File: relay-bin.000912\n Relay_Log_Pos: 5512\n Relay_Source_Log_File: binlog.004208
        Replica_IO_Running: Yes\n Replica_SQL_Running: No\n Replicate_Do_DB: \n Replicate_Ignore_DB: \n Replicate_Do_Table:
        Replicate_Ignore_Table: \n Replicate_Wild_Do_Table: \n Skip_Counter: 0\n Exec_Source_Log_Pos: 1190 \n Until_Condition: None
        Until_Log_File: \n Until_Log_Pos: 0\n Source_SSL_Allowed: No\n Source_SSL_CA_File: \n Source_SSL_Cipher:
        Seconds_Behind_Source: NULL\n Source_SSL_Verify_Server_Cert: No\n Last_IO_Errno: 0\n Last_IO_Error:
        Replicate_Ignore_Server_Ids: \n Source_Server_Id: 1\n Source_UUID: 3e11fa47-71ca-11e1-9e33-c80aa9429562
        SQL_Delay: 0\n SQL_Remaining_Delay: NULL\n Source_Retry_Count: 86400\n Source_Bind: \n Last_IO_Error_Timestamp:
        Auto_Position: 0\n Replicate_Rewrite_DB: \n Channel_Name: \n Source_TLS_Version: \n Get_Source_public_key: 0
        Network_Namespace: \n Source_Info_File: mysql.slave_master_info\n Executed_Gtid_Set: \n Retrieved_Gtid_Set:
        Relay_Log_Space: 612904112\n Replicate_Wild_Ignore_Table: \n Last_Errno: 0\n Last_Error: \n Source_SSL_CA_Path:
        Last_SQL_Errno: 0\n Last_SQL_Error: \n Source_SSL_Cert: \n Source_SSL_Key: \n Source_SSL_Crl: \n Source_SSL_Crlpath:
    """)
    for row in rows:
        name, _, value = row.partition(":")
        line = f"{name.strip():>30}: {value.strip()}"
        if name == "Replica_SQL_Running":
            page.plant(line, "Replica_SQL_Running: No", of="stopped")
        elif name == "Seconds_Behind_Source":
            page.plant(line, "Seconds_Behind_Source: NULL", of="stopped")
        else:
            page.say(line)


@output("redis-info", "redis-cli INFO", 1)
def redis_info(page: Page) -> None:
    sections = {
        "Server": "redis_version:7.2.4 redis_mode:standalone process_id:1811 tcp_port:6379 uptime_in_days:41 hz:10 io_threads_active:0",
        "Clients": "connected_clients:214 maxclients:10000 blocked_clients:0 clients_in_timeout_table:0 tracking_clients:0",
        "Memory": "used_memory:812441120 used_memory_human:774.80M used_memory_peak:901223104 maxmemory:4294967296 "
        "maxmemory_policy:allkeys-lru mem_fragmentation_ratio:1.08 mem_allocator:jemalloc-5.3.0 lazyfree_pending_objects:0",
        "Persistence": "loading:0 async_loading:0 current_cow_size:0 rdb_changes_since_last_save:8812201 rdb_bgsave_in_progress:0 "
        "rdb_last_save_time:1771200000 rdb_last_bgsave_status:err rdb_last_bgsave_time_sec:0 rdb_saves:4110 aof_enabled:0 "
        "aof_last_bgrewrite_status:ok aof_last_write_status:ok aof_rewrite_scheduled:0",
        "Stats": "total_connections_received:91220 total_commands_processed:88112044 instantaneous_ops_per_sec:812 "
        "rejected_connections:0 sync_full:3 sync_partial_ok:12 sync_partial_err:0 expired_keys:81220 evicted_keys:0 "
        "keyspace_hits:7122041 keyspace_misses:101220 pubsub_channels:2 latest_fork_usec:2210 total_error_replies:0 "
        "unexpected_error_replies:0 acl_access_denied_auth:0 dump_payload_sanitizations:0 total_reads_processed:9112",
        "Replication": "role:slave master_host:cache-01 master_port:6379 master_link_status:down master_last_io_seconds_ago:-1 "
        "master_sync_in_progress:0 slave_read_repl_offset:81120441 slave_priority:100 slave_read_only:1 connected_slaves:0 "
        "master_failover_state:no-failover repl_backlog_active:1 repl_backlog_size:1048576",
        "CPU": "used_cpu_sys:812.11 used_cpu_user:1401.20 used_cpu_sys_children:91.2 used_cpu_user_children:401.0",
        "Errorstats": "errorstat_MOVED:count=0 errorstat_NOSCRIPT:count=3",
        "Keyspace": "db0:keys=812011,expires=41220,avg_ttl=3600120",
    }
    for title, words in sections.items():
        page.say(f"# {title}")
        for word in words.split():
            if word in {"rdb_last_bgsave_status:err", "master_link_status:down"}:
                page.plant(word, word)
            else:
                page.say(word)
        page.say("")


@output("rabbitmq-queues", "rabbitmqctl list_queues name messages consumers state", 600)
def rabbitmq_queues(page: Page) -> None:
    page.say("Timeout: 60.0 seconds ...", "Listing queues for vhost / ...", "name\tmessages\tconsumers\tstate")
    (spot,) = page.spots(1)
    for index in range(page.size):
        if index == spot:
            page.plant("billing.invoice.created\t1843211\t0\trunning", "billing.invoice.created", "1843211")
        name = page.fill("{word}.{tag}.") + page.rng.choice(("created", "updated", "failed", "retry", "error"))
        page.say(f"{name}\t{page.rng.choice((0, 0, 0, 1, 2, 5))}\t{page.rng.choice((1, 2, 2, 4))}\trunning")


@output("kafka-groups", "kafka-consumer-groups.sh --describe --all-groups", 900)
def kafka_groups(page: Page) -> None:
    page.say(
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG     CONSUMER-ID                HOST"
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        word, offset = page.fill("{word}"), page.rng.randrange(10**6, 10**8)
        start = f"{word + '-sink':15} {word:15} {index % 24:<10}"
        if index == spot:
            row = f"{start} {offset:<15} {offset + 8812311:<15} 8812311 {'-':26} -"
            page.plant(row, word, "8812311")
        lag = page.rng.choice((0, 0, 0, 1, 3, 12))
        page.say(
            f"{start} {offset:<15} {offset + lag:<15} {lag:<7} consumer-{page.fill('{few}-{long}'):17} /{page.fill('{ip}')}"
        )


@output("haproxy-stats", "echo 'show stat' | socat stdio /run/haproxy.sock", 160)
def haproxy_stats(page: Page) -> None:
    page.say(
        "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,bck,"
        "chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,"
        "check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,cli_abrt,srv_abrt"
    )
    (spot,) = page.spots(1)
    for index in range(page.size):
        start = page.fill(
            f"be_{{word}},web-{index + 1:03d},0,{{few}},{{few}},4{{few}},,{{big}},{{big}},{{big}},,0,,0,{{few}},0,0,"
        )
        end = page.fill(",10{few},,{big},,2,1{few},,41,")
        codes = page.fill(",{ms},0,{big},{n},{n},{few},0,,,{n},0")
        if index == spot:
            page.plant(start + "DOWN,1,1,0,3,1,812,812" + end + "L4CON," + codes, f"web-{index + 1:03d}", "DOWN")
        else:
            page.say(start + page.fill("UP,1,1,0,{few},0,{big},0") + end + "L7OK,200" + codes)


@output("first-line", "journalctl -u relay -b", 20_000)
def first_line(page: Page) -> None:
    """The first line says why all the others are wrong."""
    noise = [
        "listener {few}: accepted {ip}:{port}",
        "route {word} -> {host}:8080 in {ms} ms",
        "pool {word}: {few} idle, {few} busy, 0 failed",
        "flush {n} records to {word}",
    ]
    page.log(
        lambda: f"{page.tick(2):%b %d %H:%M:%S} relay-4 relay[2011]: ",
        noise,
        Plant(
            at=0,
            text="config file /etc/relay/relay.toml not found, using built-in defaults",
            words=("/etc/relay/relay.toml not found",),
        ),
    )
