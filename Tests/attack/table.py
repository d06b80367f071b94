"""Prints the table of attacks: peak and settled memory of the server, and times of a bystander in ratio to the quiet
server of the same run. Exits with 1 if a bound on memory is broken."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

import attacks
from servers import PARLEY, Server

LIMIT = 256 << 20
MARGIN = 64 << 20
RAISED = [f"--rate-{name}=1000000" for name in (
    "login", "login-burst", "sending", "sending-burst", "writing", "writing-burst")]


def found(url, data):
    """Claims the site and returns the owner's token and the room of a public forum with long messages."""
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
    for _ in range(200):
        ask(f"/conversations/{loud}/messages", {"text": attacks.LIST}, token)
    return token, quiet, loud


def main():
    with tempfile.TemporaryDirectory(prefix="parley-attack-") as folder:
        data = Path(folder) / "data"
        server = Server("attack", PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", data, *RAISED)
        with server:
            token, quiet, loud = found(server.url, data)
            probe = attacks.Probe(server.url, server.pid, token, quiet)
            address = probe.address
            base = probe.medians(30)
            start = probe.resident()
            print(f"{'attack':<34}{'peak MB':>9}{'after MB':>9}{'post ×':>9}{'subscribe ×':>13}{'sign in ×':>11}")
            print(f"{'none':<34}{start >> 20:>9}{'':>9}{1:>9.1f}{1:>13.1f}{1:>11.1f}   "
                  + ", ".join(f"{name} {time:.1f} ms" for name, time in base.items()))
            broken = False

            def row(name, attack=None, flood=None, count=0):
                nonlocal broken
                times = {}
                with attacks.Peak(probe) as peak:
                    if attack:
                        attack()
                    else:
                        with attacks.Flood(address, flood, count):
                            times = probe.medians(20)
                after = probe.settled()
                broken |= peak.bytes > LIMIT + MARGIN + start or after > start + MARGIN
                ratios = [f"{times[key] / base[key]:.1f}" if times else "" for key in ("post", "subscribe", "sign in")]
                print(f"{name:<34}{peak.bytes >> 20:>9}{after >> 20:>9}{ratios[0]:>9}{ratios[1]:>13}{ratios[2]:>11}")

            row("250 inflating sockets, 8 rounds", lambda: attacks.inflating_sockets(address))
            row("250 idle sockets, 4 rounds", lambda: attacks.idle_sockets(address))
            row("40 unread pages of HTML", lambda: attacks.unread_pages(address, loud, 40))
            row("120 unread pages of HTML", lambda: attacks.unread_pages(address, loud, 120))
            page = f"/api/v1/conversations/{loud}/messages?limit=200&html=true"
            row("40 readers of pages of HTML", flood=lambda address: attacks.get(address, page), count=40)
            row("40 searches", flood=attacks.search, count=40)
            row("40 digests", flood=lambda address: attacks.get(
                address, f"/api/v1/conversations/{loud}/digest"), count=40)
            row("8 sockets of deflated frames", flood=attacks.inflate, count=8)
        sys.exit(1 if broken else 0)


main()
