"""Benchmark scenarios. Each is a function that yields rows; prints a table and writes .build/bench.json."""

import itertools
import json
import os
import resource
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

import cost
from capacity import site
from measure import IS_SMOKE, compare, compare_each, cpu_seconds, idle_costs, load, resident_bytes, sized, wrk
from nginx import nginx
from planted import copied, held, in_c, kit, planted, store
from push import FEW_POSTS, MEMBERS, Posting, sink as push_sink
from rooms import CROWD, crowded, ejabberd_room, missed, nats_room, parley_room
from servers import BENCH, BUILD, PARLEY, TOP, VENV_PYTHON, Server, free_port
from table import outcomes
from chat import LONG, ChatServer, parley_chat, synapse_chat
from web import TARGETS, app_times

FOLDER = BUILD / "bench"
PEERS = Path(__file__).with_name("peers")


@dataclass
class Row:
    scenario: str
    server: str
    rate: float
    cpu_us: float
    p50_us: float
    p99_us: float
    errors: int
    p95_us: float | None = None
    generator_us: float | None = None
    """CPU time of the load generator per operation."""
    ratio: float | None = None
    """Parley's rate over this server's."""
    aim: float | None = None
    """Minimum ratio."""
    quicker: float | None = None
    """This server's p99 divided by Parley's; it has to reach `aim` too."""
    max_p99_ms: float | None = None
    """Maximum p99."""
    max_median_ms: float | None = None
    """Maximum median of all rounds."""
    cpu_ratio: float | None = None
    """Parley's CPU time per operation over this server's."""
    max_cpu_ratio: float | None = None
    max_cpu_us: float | None = None
    """Maximum CPU time per operation."""
    amount: float | None = None
    """A size or a count of the scenario, in `unit`."""
    max_amount: float | None = None
    unit: str = ""

    @property
    def checks(self):
        """Each aim: whether it is met, and its text."""
        if self.aim is not None:
            lowest = self.ratio if self.quicker is None else min(self.ratio, self.quicker)
            times = "" if self.quicker is None else f"; p99 {self.quicker:.2f}"
            yield lowest >= self.aim, f"≥ {self.aim:.2g}{times}"
        if self.max_cpu_ratio is not None:
            yield self.cpu_ratio <= self.max_cpu_ratio, f"CPU {self.cpu_ratio:.2f} ≤ {self.max_cpu_ratio:.2f} times"
        if self.max_cpu_us is not None:
            yield self.cpu_us <= self.max_cpu_us, f"CPU ≤ {self.max_cpu_us} µs"
        if self.max_p99_ms is not None:
            yield self.p99_us < self.max_p99_ms * 1000, f"p99 < {self.max_p99_ms} ms"
        if self.max_median_ms is not None:
            yield self.p50_us <= self.max_median_ms * 1000, f"p50 ≤ {self.max_median_ms} ms"
        if self.max_amount is not None:
            yield self.amount <= self.max_amount, f"{self.amount:,.2f} ≤ {self.max_amount:,.2f} {self.unit}"

    @property
    def is_missed(self):
        return not all(is_met for is_met, _ in self.checks)

    @property
    def verdict(self):
        checks = list(self.checks)
        if not checks:
            return "" if self.amount is None else f"{self.amount:,.2f} {self.unit}"
        return "; ".join(f"{'met' if is_met else 'MISSED'}, {text}" for is_met, text in checks)


def rows(scenario, results, aims, quicker=(), max_cpu_ratios=None):
    parley = results["parley"]
    for name, result in results.items():
        ratio = None if name == "parley" or not result.rate else parley.rate / result.rate
        times = result.p99_us / parley.p99_us if name in quicker else None
        cpu_ratio = parley.cpu_us / result.cpu_us if name != "parley" and result.cpu_us else None
        limit = (max_cpu_ratios or {}).get(name) if cpu_ratio else None
        yield Row(scenario, name, **asdict(result), ratio=ratio, aim=aims.get(name), quicker=times, cpu_ratio=cpu_ratio,
                  max_cpu_ratio=limit)


def sizes(scenario, amounts, maximum, unit):
    """Rows of sizes or counts by name."""
    for name, amount in amounts.items():
        yield Row(scenario, name, rate=0, cpu_us=0, p50_us=0, p99_us=0, errors=0, amount=amount, max_amount=maximum,
                  unit=unit)


def parley(stack, *arguments, loops=1):
    return stack.enter_context(
        Server("bench-parley", BENCH, "serve", "--listen", "127.0.0.1:0", "--loops", loops, *arguments))


def daemon(stack, *arguments):
    """`parley serve` with an empty database, for features that `parley-bench serve` lacks."""
    data = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-"))
    return stack.enter_context(
        Server("bench-daemon", PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", data,
               "--loops", 1, "--log-format", "none", *arguments))


def nginx_peer(stack, inside, *, tls=""):
    port = free_port()
    return stack.enter_context(nginx("bench-nginx", port, f"""
        keepalive_requests 1000000000;
        sendfile on;
        tcp_nopush on;
        server {{ listen 127.0.0.1:{port} {'ssl' if tls else ''} backlog=1024; {tls} {inside} }}"""))


def websocket_peers(stack):
    return {
        "parley": parley(stack),
        "websockets": stack.enter_context(
            Server("bench-websockets", VENV_PYTHON, PEERS / "with_websockets.py")),
        "uWebSockets": stack.enter_context(
            Server("bench-socketify", VENV_PYTHON, PEERS / "with_socketify.py", free_port())),
    }


def same_answer(server, path):
    """An nginx location with the same response body as Parley's."""
    trust = ssl._create_unverified_context() if server.url.startswith("https") else None
    with urllib.request.urlopen(f"{server.url}{path}", context=trust) as answer:
        body = answer.read().decode()
    return f"location {path} {{ default_type application/json; return 200 '{body}'; }}"


def small_json(stack):
    ours = parley(stack)
    servers = {"parley": ours, "nginx": nginx_peer(stack, same_answer(ours, "/json"))}
    yield from rows("small JSON, 64 connections", compare(servers, wrk("/json")), {"nginx": 0.8}, max_cpu_ratios={"nginx": 1.05})


def static_file(stack):
    public = FOLDER / "share" / "Public"
    public.mkdir(parents=True, exist_ok=True)
    (public / "100k.bin").write_bytes(os.urandom(100_000))
    shutil.copytree(TOP / "Migrations", public.parent / "Migrations", dirs_exist_ok=True)
    servers = {"parley": daemon(stack, "--share", public.parent), "nginx": nginx_peer(stack, f"root {public};")}
    yield from rows("100 KB file", compare(servers, wrk("/100k.bin")), {"nginx": 0.7})


def pipelining(stack):
    ours = parley(stack)
    theirs = nginx_peer(stack, same_answer(ours, "/json"))
    results = compare_each({
        "parley": (ours, wrk("/json", depth=16)),
        "parley, one at a time": (ours, wrk("/json")),
        "nginx": (theirs, wrk("/json", depth=16)),
    })
    yield from rows("small JSON, 16 at once", results, {"parley, one at a time": 1.0})


def echo(stack):
    messages = load("websocket", "ws://127.0.0.1:{port}/echo", "--connections", 64, "--size", 64)
    results = compare(websocket_peers(stack), messages)
    yield from rows("WebSocket echo, 64 connections", results, {"websockets": 3, "uWebSockets": 0.7})


def broadcast(stack):
    messages = load("broadcast", "ws://127.0.0.1:{port}/broadcast", "--subscribers", 500, "--size", 64)
    results = compare(websocket_peers(stack), messages)
    yield from rows("broadcast to 500", results, {"websockets": 3, "uWebSockets": 0.9})


def fan_out(stack):
    """One author and a thousand subscribers, message after message: CPU time per delivery, beside a server that stores
    nothing."""
    members = 100 if IS_SMOKE else 1_000
    server = crowded(stack, stack.enter_context(copied(1_000, crowd=CROWD)))
    plain = load("broadcast", "ws://127.0.0.1:{port}/broadcast", "--subscribers", members, "--size", 64, "--window", 1)
    results = compare_each({
        "parley": (server, parley_room(server, members).load(members, window=1)),
        "uWebSockets, bare": (websocket_peers(stack)["uWebSockets"], plain)})
    for row in rows(f"one author to {members:,}", results, {}):
        yield replace(row, max_cpu_us=6) if row.server == "parley" and not IS_SMOKE else row


def certificate():
    FOLDER.mkdir(parents=True, exist_ok=True)
    pem, key = FOLDER / "certificate.pem", FOLDER / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", pem],
        check=True, capture_output=True)
    return pem, key


def tls(stack):
    pem, key = certificate()
    ours = daemon(stack, "--tls-certificate", pem, "--tls-key", key)
    theirs = nginx_peer(
        stack, same_answer(ours, "/healthz"),
        tls=f"ssl_certificate {pem}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;")
    servers = {"parley": ours, "nginx": theirs}
    yield from rows("TLS, requests", compare(servers, wrk("/healthz", tls=True)), {"nginx": 0.95})
    handshakes = load("tls", "https://127.0.0.1:{port}/healthz", "--certificate", pem)
    yield from rows("TLS, handshakes", compare(servers, handshakes), {})


def idle(stack):
    """Memory of an idle daemon, and per idle WebSocket at 1,000, 5,000 and 10,000 connections."""
    server = daemon(stack)
    time.sleep(2)
    yield from sizes("an idle daemon", {"resident": resident_bytes(server.pid) / 1e6}, 20, "MB")
    yield from sizes("an idle daemon", {"anonymous": resident_bytes(server.pid, "RssAnon") / 1e6}, 4, "MB")
    idle_bytes.update(idle_costs(parley(stack, loops=2), "/echo", (100,) if IS_SMOKE else (1_000, 5_000, 10_000)))
    each = {f"{count:,}": size / 1024 for count, size in idle_bytes.items()}
    yield from sizes("an idle WebSocket", each, 4, "KB")


def generator(stack):
    """Checks the load generator: two generators must measure the same rate of one server."""
    ours = parley(stack)
    results = compare_each({
        "parley": (ours, load("http", "http://127.0.0.1:{port}/json")),
        "parley, wrk": (ours, wrk("/json")),
    })
    yield from rows("small JSON, parley-bench load", results, {"parley, wrk": 0.9})


def post(stack):
    """Durable posts: many writers compared with one writer and with a program in C."""
    ours, theirs = (stack.enter_context(copied(10_000)) for _ in range(2))
    results = compare_each({
        "parley": store("post", ours, "--writers", 64),
        "parley, one writer": store("post", ours, "--writers", 1),
        "C, 64 in a commit": in_c("post", theirs, 64),
        "C, one in a commit": in_c("post", theirs, 1),
    })
    # The gain of group commit depends on the disk: C measures it with the same rows.
    gain = results["C, 64 in a commit"].rate / results["C, one in a commit"].rate
    yield from rows("durable posts, 64 writers", results, {"parley, one writer": 0.8 * gain, "C, 64 in a commit": 0.5})


def page(stack):
    """Pages of 50 messages from the middle of a million."""
    folder = planted(1_000_000)
    results = compare_each({
        "parley": store("page", folder, "--from", "middle"),
        "parley, the newest": store("page", folder),
        "C": in_c("page", folder, sized(1_000_000) // 2),
    })
    yield from rows("a page from the middle of a million", results, {"parley, the newest": 1 / 1.3, "C": 1 / 3})


def search(stack):
    """Searches in a million messages, 50 hits."""
    folder = planted(1_000_000)
    asked = {
        "a common word": ["the"], "a rare word": ["baguwace"], "th*": ["th*"], "t*": ["t*"],
        "a common word in three small conversations": ["the", "--small"], "a hashtag": ["the", "--hashtag"],
    }
    results = compare_each({name: store("search", folder, "--query", *words) for name, words in asked.items()})
    for name, result in results.items():
        yield Row("search in a million", name, **asdict(result), max_p99_ms=100)


def push(stack):
    """A message that notifies 2,000 users: its cost with devices, and that of their push messages, which the worker queues and sends
    afterwards."""
    scenario = f"a message to {MEMBERS:,}"
    sink = push_sink(stack)
    contenders = {
        "parley": Posting(stack, "devices", endpoint=sink), "parley, no devices": Posting(stack, "none"),
        "parley, push messages queued": Posting(stack, "queued", posts=FEW_POSTS, endpoint=sink, worker="queued"),
        "parley, push messages sent": Posting(stack, "sending", posts=FEW_POSTS, endpoint=sink, worker="sending")}
    results = compare_each({name: (posting.server, posting) for name, posting in contenders.items()})
    yield from rows(scenario, results, {}, max_cpu_ratios={} if IS_SMOKE else {"parley, no devices": 1.1})
    each = (results["parley, push messages sent"].cpu_us - results["parley"].cpu_us) / MEMBERS
    yield from sizes("push messages on one core", {"parley": 1e6 / max(each, 1)}, None, "per second")


def inbox(stack):
    """The inbox of one of 2,000 users, among a million messages: 50 entries and the unread count."""
    results = compare_each({"parley": store("inbox", planted(1_000_000))})
    yield Row("an inbox in a million", "parley", **asdict(results["parley"]), max_p99_ms=100)


def opening(stack):
    """Time to open a store with a million messages."""
    results = compare_each({"parley": store("open", planted(1_000_000))})
    yield Row("opening a million", "parley", **asdict(results["parley"]), max_p99_ms=100)


def growth(stack):
    """Posts, pages, searches and inboxes, with a thousand to a million messages."""
    folders = {count: stack.enter_context(copied(count)) for count in (1_000, 10_000, 100_000, 1_000_000)}
    for scenario, arguments in {
        "a search": ["search", "--query", "the"], "a hashtag": ["search", "--hashtag"], "an inbox": ["inbox"],
        "a page": ["page", "--from", "middle"], "posts, 64 writers": ["post"],
    }.items():
        action, *options = arguments
        results = compare_each(
            {f"{count:,} messages": store(action, folder, *options) for count, folder in folders.items()})
        for name, result in results.items():
            yield Row(f"growth: {scenario}", name, **asdict(result))


def chat(stack):
    """Messages posted and read over HTTP, compared with matrix-synapse (one process, SQLite)."""
    ours = parley_chat(stack, stack.enter_context(copied(1_000_000)))
    theirs = {} if IS_SMOKE else {"matrix-synapse": synapse_chat(stack, 5_000)}
    for scenario, aim, load in [
        ("posting over HTTP, 64 clients, durable", 90, lambda chat: chat.posting()),
        ("50 messages over HTTP, of a million; of 5,000 in matrix-synapse", 40, lambda chat: chat.paging()),
    ]:
        results = compare_each({
            "parley": (ours.server, load(ours)), **{name: (chat.server, load(chat)) for name, chat in theirs.items()}})
        yield from rows(scenario, results, {"matrix-synapse": aim})
    results = compare_each({
        "parley": (ours.server, ours.paging()), "C, the query and JSON": in_c("json", planted(1_000_000), 0)})
    yield from rows("50 messages over HTTP, of a million", results, {"C, the query and JSON": 0.75})
    yield from posts_beside_c(stack, ours)


def posts_beside_c(stack, chat):
    """CPU time of a durable post over HTTP, beside the same rows in C and an answer of the same size by nginx."""
    answer = chat.first_answer()
    nginx = nginx_peer(stack, f"location / {{ default_type application/json; return 201 '{answer}'; }}")
    results = compare_each({
        "parley": (chat.server, chat.posting()),
        "C, 64 in a commit": in_c("post", stack.enter_context(copied(1_000_000)), 64),
        "nginx, the answer": (nginx, chat.posting()),
    })
    both = results["C, 64 in a commit"].cpu_us + results["nginx, the answer"].cpu_us
    for row in rows("a durable post over HTTP", results, {}):
        if row.server == "parley":
            row = replace(row, cpu_ratio=row.cpu_us / both, max_cpu_ratio=1.2)
        yield row


def chat_growth(stack):
    """The same with a thousand to a million messages, and with ten to ten thousand more forums and users."""
    folders = {f"{count:,} messages": (count, 0) for count in (1_000, 10_000, 100_000, 1_000_000)}
    folders |= {f"{count:,} forums and users": (10_000, count) for count in (10, 1_000, 10_000)}
    servers = {name: parley_chat(stack, stack.enter_context(copied(*sizes))) for name, sizes in folders.items()}
    for scenario, load in {"posting": ChatServer.posting, "50 messages": ChatServer.paging}.items():
        results = compare_each({name: (chat.server, load(chat)) for name, chat in servers.items()})
        base = next(iter(results.values()))
        for name, result in results.items():
            yield Row(f"growth over HTTP: {scenario}", name, **asdict(result), ratio=result.rate / base.rate, aim=1 / 1.5)


def rooms(stack):
    """Durable messages posted over REST, delivered to all members of a room. Compared with plain broadcast on one loop,
    ejabberd with its rooms and archive, and NATS, which stores no messages."""
    server = crowded(stack, stack.enter_context(copied(1_000, crowd=CROWD)))
    theirs = {} if IS_SMOKE else {"ejabberd": ejabberd_room(stack), "NATS": nats_room(stack)}
    plain = load("broadcast", "ws://127.0.0.1:{port}/broadcast", "--subscribers", 1_000, "--size", 64)
    results = compare_each({
        "parley": (server, parley_room(server, 1_000).load(1_000)), "plain broadcast": (parley(stack), plain),
        **{name: (room.server, room.load(1_000)) for name, room in theirs.items()}})
    yield from rows("1,000 in a room", results, {"plain broadcast": 0.75, "ejabberd": 3, "NATS": 1}, ["ejabberd"])
    for members in (100,) if IS_SMOKE else (100, 5_000):
        results = compare_each({"parley": (server, parley_room(server, members).load(members))})
        yield from rows(f"{members:,} in a room", results, {})


def people(stack):
    """Prints the server memory per idle user: 10,000 users online, each in 20 groups."""
    server = crowded(stack, stack.enter_context(copied(1_000, crowd=CROWD)))
    costs = idle_costs(server, "/api/v1/realtime?topics=me", (100,) if IS_SMOKE else (1_000, CROWD), "--as", "parley")
    user_bytes.update(costs)
    yield from sizes("an idle user in 20 groups", {f"{count:,}": each / 1024 for count, each in costs.items()}, 12, "KB")


def capacity(stack):
    """A site on one core: 500 of 10,000 users online in one room, five posts a second."""
    server = crowded(stack, stack.enter_context(copied(1_000, crowd=CROWD)), "taskset", "--cpu-list", "0")
    seconds = 3 if IS_SMOKE else 120
    times, errors = site(server, 50 if IS_SMOKE else 500, 5, seconds)
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))]
    yield Row("a site with 500 online", "parley", rate=len(times) / seconds, cpu_us=0, p50_us=at(0.5), p99_us=at(0.99), errors=errors,
              max_p99_ms=50)
    yield from sizes("a site with 500 online", {"resident at the peak": resident_bytes(server.pid, "VmHWM") / 1e6}, 128, "MB")


def resume(stack):
    """A hundred clients resume at once, each a thousand messages behind."""
    server = crowded(stack, stack.enter_context(copied(1_000, crowd=CROWD)))
    path = f"/api/v1/realtime?topics=me&after={missed(server, 1_000)}"
    back = load("resume", f"ws://127.0.0.1:{{port}}{path}", "--connections", 100, "--events", 1_000)
    result = compare_each({"parley": (server, back)})["parley"]
    share = result.generator_us / (result.generator_us + result.cpu_us)
    print(f"    the load generator uses {share:.0%} of the CPU time")
    yield Row("100 back at once, each 1,000 events behind", "parley", **asdict(result), max_p99_ms=60)


def snapshot(stack):
    """The first screen of a user in 500 conversations and 300 forums, read by a client in Python."""
    times = []
    with cost.planted(TOP) as folder:
        server = stack.enter_context(Server("bench-snapshot", PARLEY, *cost.arguments(folder)))
        client = cost.Client(server)
        for _ in range(3):
            client.read("/api/v1/snapshot")
        before = cpu_seconds(server.pid)
        for _ in range(5 if IS_SMOKE else 60):
            start = time.perf_counter()
            client.read("/api/v1/snapshot")
            times.append((time.perf_counter() - start) * 1e6)
        each = (cpu_seconds(server.pid) - before) / len(times) * 1e6
    middle = median(times)
    yield Row("a snapshot", "parley", rate=1e6 / middle, cpu_us=each, p50_us=middle, p99_us=max(times), errors=0,
              max_median_ms=20)


def instructions(stack):
    """Instructions per operation by callgrind; beside those of the checkout in `BASE`, if it is set and built."""
    ours = cost.costs(TOP)
    base = cost.costs(Path(os.environ["BASE"]).resolve()) if "BASE" in os.environ else {}
    for name, count in ours.items():
        maximum = base[name] * cost.MAX_RISE if base.get(name) else None
        yield from sizes("instructions", {name: count}, maximum, "")


def web(stack):
    """The web app in headless Chromium at a quarter of the CPU speed on a slow network, in five new profiles."""
    for name, times in app_times(stack).items():
        middle = median(times)
        yield Row(f"web: {name}", "parley", rate=1_000 / middle if middle else 0, cpu_us=0, p50_us=middle * 1_000, p99_us=max(times) * 1_000,
                  errors=0, max_median_ms=TARGETS[name])


def device(stack):
    """ParleyKit with a million cached messages; applying and storing events, 200 at a time."""
    file = held(1_000_000)
    results = compare_each({
        "opening, to the first window": kit("open", file),
        **{f"a search for {words}": kit("search", file, "--query", words) for words in ("the", "baguwace", "th*")},
    })
    for name, result in results.items():
        yield Row("a device with a million", name, **asdict(result), max_p99_ms=50)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=FOLDER)))
    files = (folder / f"{number}.db" for number in itertools.count())
    results = compare_each({"parley": (None, lambda server: kit("apply", next(files))[1](server))})
    yield Row("events that a device applies", "parley, pages of 200", **asdict(results["parley"]))


def whole(stack):
    """Full sync of a conversation of 100,000 messages into an empty cache."""
    chat = parley_chat(stack, stack.enter_context(copied(100_000)))
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=FOLDER)))
    files = (folder / f"{number}.db" for number in itertools.count())

    def sync(server):
        return kit("sync", server.url, "--token", chat.token, "--room", LONG, "--into", next(files))[1](server)

    results = compare_each({"parley": (chat.server, sync)})
    yield Row("a full sync of 100,000", "parley", **asdict(results["parley"]))


def attack(stack):
    """The latency of a bystander beside hostile connections, in ratio to the quiet server."""
    base = None
    for outcome in outcomes(rounds=5 if IS_SMOKE else 100, with_memory=False, topics=200 if IS_SMOKE else 10_000):
        base = base or outcome.times
        for operation, time in outcome.times.items():
            bound = outcome.bounds.get(operation)
            yield Row(f"{operation} beside an attack", outcome.name, rate=1_000 / time, cpu_us=0, p50_us=time * 1_000,
                      p99_us=0, errors=0, ratio=None if outcome.times is base else base[operation] / time,
                      aim=None if bound is None else 1 / bound)


idle_bytes = {}
user_bytes = {}
SCENARIOS = {
    "json": small_json, "static": static_file, "pipelining": pipelining,
    "echo": echo, "broadcast": broadcast, "fan-out": fan_out, "idle": idle, "tls": tls, "generator": generator,
    "post": post, "page": page, "search": search, "inbox": inbox, "push": push, "open": opening, "growth": growth,
    "chat": chat, "chat-growth": chat_growth, "rooms": rooms, "people": people, "capacity": capacity, "resume": resume,
    "snapshot": snapshot, "instructions": instructions,
    "attack": attack,
    "web": web,
    "device": device, "whole": whole,
}


def table(measured):
    print("\n| scenario | server | per second | CPU µs each | p50 µs | p95 µs | p99 µs | Parley to it | aim |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    for row in measured:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        p95 = "" if row.p95_us is None else f"{row.p95_us:.0f}"
        errors = f" ({row.errors} errors)" if row.errors else ""
        print(f"| {row.scenario} | {row.server}{errors} | {row.rate:,.0f} | {row.cpu_us:.1f} "
              f"| {row.p50_us:.0f} | {p95} | {row.p99_us:.0f} | {ratio} | {row.verdict} |")


def main(names):
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        sys.exit(f"Unknown scenario {', '.join(unknown)}. Scenarios: {', '.join(SCENARIOS)}.")
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    measured = []
    failed = []
    for name in names or SCENARIOS:
        print(f"measuring {name} …", flush=True)
        try:
            with ExitStack() as stack:
                results = list(SCENARIOS[name](stack))
        except Exception:
            if not IS_SMOKE:
                raise
            traceback.print_exc()
            failed.append(name)
            continue
        if any(row.errors for row in results):
            failed.append(name)
        measured += results
    table(measured)
    if IS_SMOKE:
        for name in failed:
            print(f"FAIL: {name}")
        print(f"{len(names or SCENARIOS) - len(failed)} passed, {len(failed)} failed")
        sys.exit(1 if failed else 0)
    (BUILD / "bench.json").write_text(json.dumps(
        {"rows": [asdict(row) for row in measured], "idle_bytes": idle_bytes, "user_bytes": user_bytes}, indent=2))
    missed = [row for row in measured if row.is_missed or row.errors]
    for row in missed:
        print(f"MISSED: {row.scenario}, {row.server}: {row.verdict}")
    sys.exit(1 if missed else 0)


main(sys.argv[1:])
