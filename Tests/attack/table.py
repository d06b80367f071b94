"""Prints the table of attacks: peak and settled memory of the server, and times of a bystander in ratio to the quiet
server of the same run. Exits with 1 if a bound on memory or on a ratio is broken."""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

import attacks
from servers import PARLEY, Server

LIMIT = 256 << 20
MARGIN = 64 << 20
# No caller meets a limit: the floods load the server, and the bystander is never refused.
RAISED = [f"--rate-{name}{burst}=1000000" for burst in ("", "-burst") for name in (
    "login", "sending", "writing", "searches", "digests")]
# The bounds on times of the bystander in ratio to the quiet server.
BOUNDS = {"post": 3, "subscribe": 3, "sign in": 3}


def found(url, data, texts, topics, crawled):
    """Claims the site and returns the owner's token, the room of the bystander, and the room of a public forum with `texts`
    short messages and then long ones, with the first and last id of those. Another public forum has `topics` topics, whose
    ids are written into the file `crawled`."""
    link = subprocess.run([PARLEY, "setup", "--data", data], capture_output=True, text=True, check=True).stdout

    def ask(path, body, token=None):
        request = Request(f"{url}/api/v1{path}", method="POST", data=json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    token = ask(f"/links/{link.strip().split('/')[-1]}", {"name": "ada", "password": attacks.PASSWORD})["token"]
    quiet = ask("/forums", {"title": "Quiet", "visibility": "public"}, token)["room_id"]
    loud = ask("/forums", {"title": "Lists", "visibility": "public"}, token)["room_id"]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: ask(
            f"/conversations/{loud}/messages", {"text": f"{attacks.WORDS} {number}"}, token), range(texts)))
    with urlopen(f"{url}{attacks.SEARCH}", timeout=60) as answer:
        if not json.loads(answer.read())["data"]:
            raise RuntimeError("the search of the flood finds nothing")
    ids = [int(ask(f"/conversations/{loud}/messages", {"text": attacks.LIST}, token)["id"]) for _ in range(200)]
    old = ask("/forums", {"title": "Old", "visibility": "public"}, token)["id"]
    with ThreadPoolExecutor(16) as pool:
        made = pool.map(lambda number: ask(f"/forums/{old}/conversations", {
            "title": f"Topic {number}", "text": f"The **first** post of topic {number}. {attacks.WORDS}.\n\n" * 10}, token)["id"], range(topics))
        crawled.write_text(" ".join(made))
    return token, quiet, loud, ids[0], ids[-1]


@dataclass
class Attack:
    """A flood of `count` connections beside the bystander."""
    name: str
    flood: tuple
    count: int
    bounds: dict


@dataclass
class Outcome:
    name: str
    peak: int
    after: int
    times: dict | None = None
    """The median time of each operation of the bystander in milliseconds."""
    bounds: dict = field(default_factory=dict)
    breaks_memory: bool = False

    def ratios(self, base):
        """The times in ratio to those of the quiet server."""
        return {name: time / base[name] for name, time in (self.times or {}).items()}

    def exceeded(self, base):
        """The operations that take longer than their bounds."""
        ratios = self.ratios(base)
        return [name for name, most in self.bounds.items() if ratios[name] > most]


def floods(loud, first, last, crawled):
    messages = f"/api/v1/conversations/{loud}"
    pages = ("get_pages", f"{messages}/messages?limit=200&html=true", str(first), str(last))
    yield Attack("40 readers of pages of HTML", pages, 40, BOUNDS | {"post": 2})
    yield Attack("8 crawlers of cold topics", ("crawl", str(crawled)), 8, BOUNDS | {"post": 2})
    yield Attack("40 searches", ("search",), 40, BOUNDS)
    yield Attack("40 digests", ("get", f"{messages}/digest"), 40, BOUNDS)
    yield Attack("8 sockets of deflated frames", ("inflate",), 8, BOUNDS)
    for count, kilobytes in ((1, 852), (8, 600), (8, 300)):
        sockets = "1 socket" if count == 1 else f"{count} sockets"
        yield Attack(f"{sockets} of {kilobytes} KB/s deflated", ("inflate_paced", str(kilobytes * 1_000 // count)), count, BOUNDS)


def outcomes(rounds=100, with_memory=True, texts=5_600, topics=10_000):
    """The quiet server, then each attack."""
    with tempfile.TemporaryDirectory(prefix="parley-attack-") as folder:
        data = Path(folder) / "data"
        with Server("attack", PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", data, *RAISED) as server:
            crawled = Path(folder) / "topics"
            token, quiet, loud, first, last = found(server.url, data, texts, topics, crawled)
            probe = attacks.Probe(server.url, server.pid, token, quiet)
            address = probe.address
            times = probe.medians(rounds)
            start = probe.resident()
            yield Outcome("none", start, start, times)

            def bounded(outcome):
                outcome.breaks_memory = outcome.peak > LIMIT + MARGIN + start or outcome.after > start + MARGIN
                return outcome

            bursts = {
                "250 inflating sockets": lambda: attacks.inflating_sockets(address, rounds=1),
                "250 inflating sockets, 8 rounds": lambda: attacks.inflating_sockets(address),
                "2,000 inflating sockets": lambda: attacks.inflating_sockets(address, rounds=2, sources=8),
                "250 idle sockets, 4 rounds": lambda: attacks.idle_sockets(address),
                "40 unread pages of HTML": lambda: attacks.unread_pages(address, loud, 40),
                "120 unread pages of HTML": lambda: attacks.unread_pages(address, loud, 120),
            }
            for name, burst in bursts.items() if with_memory else ():
                with attacks.Peak(probe) as peak:
                    burst()
                yield bounded(Outcome(name, peak.bytes, probe.settled()))
            for attack in floods(loud, first, last, crawled):
                with attacks.Peak(probe) as peak, attacks.Flood(address, attack.flood, attack.count):
                    times = probe.medians(rounds)
                after = probe.settled() if with_memory else probe.resident()
                yield bounded(Outcome(attack.name, peak.bytes, after, times, attack.bounds))


def heading(base):
    return f"{'attack':<34}{'peak MB':>9}{'after MB':>9}" + "".join(f"{name + ' ×':>{len(name) + 4}}" for name in base)


def row(outcome, base):
    """A line of the table: for the quiet server with its times, for an attack in ratio to them."""
    if outcome.times is base:
        return f"{row(Outcome(outcome.name, outcome.peak, outcome.after), base)}   " + ", ".join(
            f"{name} {time:.1f} ms" for name, time in base.items())
    ratios = outcome.ratios(base)
    return f"{outcome.name:<34}{outcome.peak >> 20:>9}{outcome.after >> 20:>9}" + "".join(
        f"{ratios[name]:>{len(name) + 4}.1f}" for name in base if ratios)


def main():
    base, is_broken = None, False
    for outcome in outcomes():
        if base is None:
            base = outcome.times
            print(heading(base))
        exceeded = outcome.exceeded(base)
        is_broken |= outcome.breaks_memory or bool(exceeded)
        faults = [f"{name} over {outcome.bounds[name]} ×" for name in exceeded] + ["memory"] * outcome.breaks_memory
        print(row(outcome, base) + (f"   BROKEN: {', '.join(faults)}" if faults else ""), flush=True)
    sys.exit(1 if is_broken else 0)


if __name__ == "__main__":
    main()
