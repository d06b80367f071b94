"""Instructions of the daemon per operation, counted by callgrind. Other load on the machine does not change them."""

import http.client
import json
import re
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from measure import IS_SMOKE, cpu_seconds
from servers import BUILD, Server, free_port
from websockets.sync.client import connect

FOLDER = BUILD / "bench"
MEMBERS = 2_014
"""A planted group; everyone of the crowd takes part."""
CROWD = 200
GROUPS, FORUMS = (30, 10) if IS_SMOKE else (200, 300)
"""Conversations and forums of the snapshot."""
SUBSCRIBERS = 20 if IS_SMOKE else 101
COUNT = 5 if IS_SMOKE else 25
"""Operations of one measurement."""
MAX_RISE = 1.03


class Client:
    """One keep-alive connection of the first user of the crowd."""

    def __init__(self, server, user=0):
        self.token = f"bench-{user}"
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)

    def ask(self, method, path, body=None):
        """The JSON of the response; waits while the user is over a rate limit."""
        while True:
            status, text = self._exchange(method, path, body)
            if status in (200, 201):
                return json.loads(text)
            if status != 429:
                raise RuntimeError(f"{method} {path} returned {status}: {text.decode()}")
            time.sleep(1)

    def read(self, path):
        """Reads a response without parsing it."""
        status, text = self._exchange("GET", path)
        if status != 200:
            raise RuntimeError(f"GET {path} returned {status}: {text.decode()}")

    def _exchange(self, method, path, body=None):
        try:
            return self._try(method, path, body)
        except ConnectionError:
            # The server has closed the idle connection. The next request opens another one.
            self.connection.close()
            return self._try(method, path, body)

    def _try(self, method, path, body):
        self.connection.request(
            method, path, None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def post(self, conversation, text):
        self.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"text": text, "client_id": text})


def release(checkout):
    return checkout / ".build" / "release"


def arguments(folder):
    return ("serve", "--listen", f"127.0.0.1:{free_port()}", "--data", folder, "--loops", 1, "--log-format", "none",
            "--rate-sending", 10**6, "--rate-sending-burst", 10**6, "--limit-connections-per-address", 1_000)


@contextmanager
def planted(checkout):
    """A data folder of a checkout's build, with 10,000 messages and a user in `GROUPS` groups and `FORUMS` forums."""
    folder = FOLDER / "cost"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        options = {"--messages": 1_000 if IS_SMOKE else 10_000, "--crowd": CROWD, "--forums": FORUMS}
        subprocess.run(
            [release(checkout) / "parley-bench", "store", "plant", folder,
             *(str(word) for option in options.items() for word in option)], cwd=checkout, check=True,
            stdout=subprocess.DEVNULL)
        with closing(sqlite3.connect(folder / "parley.db")) as database:
            forums = [id for id, in database.execute("select id from forum")]
        with Server("bench-cost-plant", release(checkout) / "parley", *arguments(folder), cwd=checkout) as server:
            client = Client(server)
            for forum in forums:
                client.ask("PUT", f"/api/v1/forums/{forum}/members/me")
            for number in range(60):
                client.post(MEMBERS, f"The kettle is on, come down when you are ready. {number}")
            for number in range(GROUPS - 23):
                made = client.ask("POST", "/api/v1/conversations", {"kind": "group", "title": f"Group {number}"})
                client.post(made["id"], f"The kettle of group {number} is on, come down when you are ready.")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Subscriber:
    """A WebSocket without compression."""

    def __init__(self, server, user):
        self.socket = connect(
            f"ws://127.0.0.1:{server.port}/api/v1/realtime?topics=conversation:{MEMBERS}", compression=None,
            additional_headers={"Authorization": f"Bearer bench-{user}"}, open_timeout=300, ping_interval=None)
        self.wait_for('"event":"complete"')

    def wait_for(self, text):
        while text not in self.socket.recv(300):
            pass


class Callgrind:
    """The daemon under callgrind."""

    def __init__(self, checkout, folder):
        self.dumps = FOLDER / "cost-callgrind"
        shutil.rmtree(self.dumps, ignore_errors=True)
        self.dumps.mkdir(parents=True)
        self.server = Server(
            "bench-cost", "valgrind", "--tool=callgrind", "--instr-atstart=no",
            f"--callgrind-out-file={self.dumps}/out", release(checkout) / "parley", *arguments(folder), cwd=checkout,
            ready_within=300)
        self.wait_until_idle()
        self.control("--instr=on")

    def wait_until_idle(self):
        """The integrity check runs in the background after the start."""
        while True:
            before = cpu_seconds(self.server.pid)
            time.sleep(2)
            if cpu_seconds(self.server.pid) - before < 0.05:
                return

    def control(self, option):
        subprocess.run(
            ["callgrind_control", option, str(self.server.pid)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def instructions(self, operation, count=COUNT, before=lambda number: None):
        """The median of `count` runs: now and then a run merges segments of the search index. The first runs fill caches.
        The work of `before` is not counted."""
        for number in range(5):
            before(-1 - number)
            operation(-1 - number)
        return median(self._once(operation, number, before) for number in range(count))

    def _once(self, operation, number, before):
        before(number)
        self.control("--zero")
        operation(number)
        self.control("--dump")
        total = 0
        for dump in self.dumps.glob("out.*"):
            total += int(re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)[1])
            dump.unlink()
        return total


def costs(checkout):
    """Instructions per operation of a checkout's build, by name."""
    with planted(checkout) as folder:
        callgrind = Callgrind(checkout, folder)
        with callgrind.server as server:
            author, reader = Client(server), Client(server, 1)
            page = f"/api/v1/conversations/{MEMBERS}/messages?limit=50"
            found = {
                "ten requests": callgrind.instructions(lambda _: [reader.read("/healthz") for _ in range(10)]),
                "a page of 50": callgrind.instructions(lambda _: reader.read(page)),
                "a page of 50 after a post": callgrind.instructions(
                    lambda _: reader.read(page), before=lambda number: author.post(MEMBERS, f"before {number}")),
                "a snapshot": callgrind.instructions(lambda _: author.read("/api/v1/snapshot"), 3),
            }
            subscribers = [Subscriber(server, 0)]

            def publish(number):
                text = f"{len(subscribers)} {number}"
                author.post(MEMBERS, text)
                for subscriber in subscribers:
                    subscriber.wait_for(text)

            found["a post, one subscriber"] = callgrind.instructions(publish)
            subscribers += [Subscriber(server, user) for user in range(1, SUBSCRIBERS)]
            many = callgrind.instructions(publish)
            found["a delivery"] = (many - found["a post, one subscriber"]) / (SUBSCRIBERS - 1)
            return found
