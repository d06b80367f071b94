"""Server cost: processor time and memory of a process and its children, from /proc."""

import json
import os
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass, fields
from pathlib import Path

from servers import BENCH, TOP

IS_SMOKE = "BENCH_SMOKE" in os.environ
"""One short round of each scenario on small data, without the peers that take minutes to install: a test that every
scenario runs."""
ROUNDS = 1 if IS_SMOKE else 3
SECONDS = 1 if IS_SMOKE else int(os.environ.get("SECONDS_EACH", "5"))
TICK = os.sysconf("SC_CLK_TCK")


def sized(count):
    """The size of a data set."""
    return min(count, 2_000) if IS_SMOKE else count


@dataclass
class Load:
    """One round, as the load generator reports it."""

    operations: int
    seconds: float
    errors: int
    p50_us: float
    p99_us: float
    p95_us: float | None = None
    generator_seconds: float = 0
    """CPU time of the load generator."""


@dataclass
class Result:
    """Medians of all rounds of one server."""

    rate: float
    cpu_us: float
    p50_us: float
    p99_us: float
    errors: int
    p95_us: float | None = None
    generator_us: float | None = None
    """CPU time of the load generator per operation."""


def family(pid):
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def cpu_seconds(pid):
    def ticks(process):
        # proc(5): the name is in parentheses and may contain spaces; utime and stime are fields 14 and 15.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return sum(map(ticks, family(pid))) / TICK


def cpu_seconds_of(server):
    """`None` means programs that exit by themselves: returns the CPU time of all terminated children."""
    if server is not None:
        return cpu_seconds(server.pid)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident_bytes(pid, field="VmRSS"):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def compare(servers, load):
    """Applies the same load to every server."""
    return compare_each({name: (server, load) for name, server in servers.items()})


def compare_each(contenders):
    """Loads the servers in turn, each with its own load, round by round, so that all run under the same conditions."""
    rounds = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, (server, load) in contenders.items():
            before = cpu_seconds_of(server)
            measured = load(server)
            rounds[name].append((measured, (cpu_seconds_of(server) - before) / max(1, measured.operations) * 1e6))
    return {name: medians(measured) for name, measured in rounds.items()}


def medians(rounds):
    def of(value):
        return statistics.median(value(load, cpu_us) for load, cpu_us in rounds)
    return Result(
        rate=of(lambda load, _: load.operations / load.seconds), cpu_us=of(lambda _, cpu_us: cpu_us),
        p50_us=of(lambda load, _: load.p50_us), p99_us=of(lambda load, _: load.p99_us),
        p95_us=None if any(load.p95_us is None for load, _ in rounds) else of(lambda load, _: load.p95_us),
        errors=sum(load.errors for load, _ in rounds),
        generator_us=of(lambda load, _: load.generator_seconds / max(1, load.operations) * 1e6))


def wrk(path, *, depth=1, connections=64, headers=(), tls=False):
    """A load of GET requests by wrk with one thread; the other core is left to the server."""
    def load(server):
        address = server.url if not tls else server.url.replace("http://", "https://")
        asked = [part for header in headers for part in ("--header", header)]
        return reported(
            ["wrk", "--threads", "1", "--connections", connections, "--duration", f"{SECONDS}s",
             "--script", TOP / "Tests/bench/wrk.lua", *asked, f"{address}{path}"], {"DEPTH": str(depth)})
    return load


def load(scene, address, *arguments):
    """A load by `parley-bench load`; `address` has {port} in it."""
    def run(server):
        return reported([BENCH, "load", scene, address.format(port=server.port), "--seconds", SECONDS, "--json",
                         *arguments], {})
    return run


def reported(command, variables):
    def children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    before = children()
    done = subprocess.run([str(part) for part in command], env={**os.environ, **variables}, cwd=TOP,
                          stdout=subprocess.PIPE, text=True, timeout=SECONDS + 60)
    if not done.stdout:
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}")
    used = children() - before
    time.sleep(0.2)  # the server's remaining work counts as its CPU time
    said = json.loads(done.stdout.splitlines()[-1])
    return Load(**{field.name: said.get(field.name) for field in fields(Load)} | {"generator_seconds": used})


def idle_costs(server, path, goals, *arguments):
    """Resident memory of the server per idle WebSocket, in bytes, at each connection count in `goals`."""
    done = subprocess.run(
        [BENCH, "load", "idle", f"{server.websocket_url}{path}", "--step", ",".join(map(str, goals)),
         "--pid", str(server.pid), "--json", *arguments], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    steps = json.loads(done.stdout)["steps"]
    return {step["connections"]: step["resident_bytes"] / step["connections"] for step in steps}
