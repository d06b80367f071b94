"""Attacks of visitors on one server over the loopback interface: each returns after a bounded time. `Probe` measures
what a bystander sees and how much memory the server holds."""

import base64
import json
import os
import random
import resource
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
import zlib
from urllib.request import Request, urlopen

PASSWORD = "wool and needles"
# A text whose HTML is ten times as large.
LIST = "- [ ] a\n" * 2_000
# The words that the floods search: each planted text matches.
WORDS = "warm apples"
SEARCH = "/api/v1/messages/search?q=w*%20a*&order=best"


class Probe:
    """A member of the site that posts, signs in and subscribes while others attack."""

    def __init__(self, url, pid, token, room):
        self.url, self.pid, self.token, self.room = url, pid, token, room
        self.address = ("127.0.0.1", int(url.rsplit(":", 1)[1]))

    def ask(self, method, path, body=None, token=None):
        request = Request(f"{self.url}/api/v1{path}", method=method,
                          data=None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {token or self.token}")
        with urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or b"null")

    def resident(self):
        """The resident memory of the server in bytes."""
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def settled(self, within=20):
        """The resident memory after the attack: the lowest within some seconds."""
        lowest, deadline = self.resident(), time.monotonic() + within
        while time.monotonic() < deadline:
            time.sleep(0.5)
            lowest = min(lowest, self.resident())
        return lowest

    def post(self):
        self.ask("POST", f"/conversations/{self.room}/messages", {"text": "wool"})

    def sign_in(self):
        """Signs in and out: a user's oldest session ends when there are too many."""
        token = self.ask("POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
        self.ask("DELETE", "/sessions/current", token=token)

    def subscribe(self):
        """Opens a WebSocket, identifies itself and subscribes from a cursor, as a client does after a disconnect."""
        with web_socket(self.address, deflate=False) as connection:
            connection.sendall(text_frame(json.dumps({"id": "1", "do": "hello", "token": self.token})))
            connection.sendall(text_frame(json.dumps(
                {"id": "2", "do": "subscribe", "topics": [{"topic": f"conversation:{self.room}", "cursor": self.cursor}]})))
            seen = b""
            while b'"re":"2"' not in seen:
                received = connection.recv(65_536)
                if not received:
                    raise RuntimeError(f"the socket was closed: {seen[-300:]}")
                seen += received

    def page(self):
        self.ask("GET", f"/conversations/{self.room}/messages?limit=50")

    def sync(self):
        self.ask("GET", "/sync")

    def search(self):
        self.ask("GET", "/messages/search?q=wool")

    def medians(self, rounds):
        """The median time of each operation in milliseconds."""
        found = {}
        # A subscription receives the events of the posts below.
        self.cursor = self.ask("GET", "/sync")["cursor"]
        operations = {"post": self.post, "page": self.page, "subscribe": self.subscribe, "sync": self.sync,
                      "search": self.search, "sign in": self.sign_in}
        for name, operation in operations.items():
            times = []
            for _ in range(rounds):
                started = time.monotonic()
                operation()
                times.append((time.monotonic() - started) * 1_000)
            found[name] = statistics.median(times)
        return found


def connect(address, source=None):
    connection = socket.create_connection(address, timeout=60, source_address=source and (source, 0))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def web_socket(address, deflate=True, source=None):
    connection = connect(address, source)
    extension = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if deflate else ""
    connection.sendall((
        f"GET /api/v1/realtime HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n{extension}\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        received = connection.recv(4_096)
        if not received:
            raise ConnectionError(f"no handshake: {head}")
        head += received
    if b" 101 " not in head.split(b"\r\n", 1)[0]:
        raise ConnectionError(head.decode(errors="replace"))
    return connection


def frame(payload, first):
    if len(payload) < 126:
        head = struct.pack("!BB", first, 0x80 | len(payload))
    elif len(payload) < 65_536:
        head = struct.pack("!BBH", first, 0x80 | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, 0x80 | 127, len(payload))
    # The mask is zero: the payload is sent as it is.
    return head + b"\0\0\0\0" + payload


def text_frame(text):
    return frame(text.encode(), 0x81)


def deflated(size):
    """A message of spaces that inflates to `size` bytes."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (compressor.compress(b" " * size) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]


class Peak:
    """The highest resident memory during the block."""

    def __init__(self, probe):
        self.probe, self.bytes = probe, 0

    def __enter__(self):
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.ends.wait(0.02):
            self.bytes = max(self.bytes, self.probe.resident())

    def __exit__(self, *failure):
        self.ends.set()
        self.thread.join()


def inflating_sockets(address, count=250, rounds=8, sources=1):
    """Sockets of each source address with one unfinished message each, whose 1 KB inflates to 1 MB."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    unfinished = frame(deflated(1 << 20), 0x41)
    for _ in range(rounds):
        connections = []
        try:
            for number in range(count * sources):
                connection = web_socket(address, source=f"127.0.0.{1 + number % sources}")
                connections.append(connection)
                try:
                    connection.sendall(unfinished)
                except OSError:
                    pass
            time.sleep(0.2)
        finally:
            for connection in connections:
                connection.close()


def idle_sockets(address, count=250, rounds=4):
    """Sockets that open and close together."""
    for _ in range(rounds):
        connections = [web_socket(address) for _ in range(count)]
        for connection in connections:
            connection.close()


def unread_pages(address, room, count=40, seconds=5):
    """Requests for pages of HTML without a read of the responses."""
    connections = []
    try:
        for _ in range(count):
            connection = connect(address)
            connections.append(connection)
            connection.sendall((
                f"GET /api/v1/conversations/{room}/messages?limit=200&html=true HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{address[1]}\r\n\r\n").encode())
        time.sleep(seconds)
    finally:
        for connection in connections:
            connection.close()


class Flood:
    """A process of the lowest priority that repeats an attack on `count` connections until the block ends. In a process
    of its own the load does not delay the bystander, which is measured in this one."""

    def __init__(self, address, work, count):
        self.arguments = [str(address[1]), str(count), *work]

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, *self.arguments], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        time.sleep(0.5)
        return self

    def __exit__(self, *failure):
        has_ended = self.process.poll() is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if has_ended and not any(failure):
            raise RuntimeError("the flood has ended by itself")


def flood(port, count, name, *arguments):
    address = ("127.0.0.1", int(port))

    def repeat():
        while True:
            try:
                FLOODS[name](address, *arguments)
            except OSError:
                time.sleep(0.05)

    print("starting", flush=True)
    # Threads inherit the priority.
    os.nice(19)
    for _ in range(int(count)):
        threading.Thread(target=repeat, daemon=True).start()
    threading.Event().wait()


def get(address, path):
    with connect(address) as connection:
        connection.settimeout(10)
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nConnection: close\r\n\r\n".encode())
        answer = connection.recv(1 << 16)
        while connection.recv(1 << 16):
            pass
        return answer


def get_pages(address, path, first, last):
    """Reads the page before a random message: no cache has it."""
    get(address, f"{path}&before={random.randint(int(first), int(last))}")


CRAWLED = []
CRAWL_LOCK = threading.Lock()


def crawl(address, *ids):
    """Reads the page of the next topic, each as often as the others: with many topics no cache has it."""
    with CRAWL_LOCK:
        if not CRAWLED:
            CRAWLED.extend(topics(*ids))
        topic = CRAWLED.pop()
    if not get(address, f"/t/{topic}").startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"/t/{topic} is not a page")


def topics(path):
    """The ids in a file, in a random order."""
    with open(path) as file:
        found = file.read().split()
    random.shuffle(found)
    return found


def search(address):
    get(address, SEARCH)


def inflate(address):
    """One socket that sends deflated frames until it is closed."""
    message = frame(deflated(1 << 20), 0xC1)
    with web_socket(address) as connection:
        for _ in range(50):
            connection.sendall(message)


def inflate_paced(address, bytes_per_second):
    """Sends deflated frames at a rate. A closed socket is replaced at once."""
    message = frame(deflated(1 << 20), 0xC1)
    interval = len(message) / int(bytes_per_second)
    due = time.monotonic()

    def pause():
        nonlocal due
        due = max(due, time.monotonic() - 1) + interval
        time.sleep(max(0, due - time.monotonic()))

    while True:
        try:
            with web_socket(address) as connection:
                while True:
                    connection.sendall(message)
                    pause()
        except OSError:
            pause()


FLOODS = {"get": get, "get_pages": get_pages, "crawl": crawl, "search": search, "inflate": inflate, "inflate_paced": inflate_paced}

if __name__ == "__main__":
    flood(*sys.argv[1:])
