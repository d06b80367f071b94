"""One of a thousand sockets reads one kilobyte per second: it costs little memory and delays no other socket."""

import base64
import json
import os
import re
import resource
import selectors
import socket
import time
import unittest

from test_following import FollowingTest

READERS = 999
ROUNDS = 50
WARM = 20
"""Warm-up rounds, in which the server's caches fill."""
HEAVY = 16
"""Long messages per round, which only the slow reader subscribes to: 38 MB in all, 22 MB of them after the warm-up."""
LONG = "ა" * 16_000
ROOM = 10 << 20
"""Maximum growth of the server's memory in bytes: less than half of the slow reader's unread bytes."""


class Line:
    """A WebSocket without compression that reads only on `read`. It keeps the offsets of events."""

    def __init__(self, port, token, query, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /api/v1/realtime?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode())
        self.bytes = bytearray()
        while b"\r\n\r\n" not in self.bytes:
            self.read()
        head, _, rest = bytes(self.bytes).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        self.bytes = bytearray(rest)
        self.offsets = {}
        self.is_complete = self.is_closed = False
        self.lagging = None

    def read(self, size=262_144):
        try:
            got = self.socket.recv(size)
        except ConnectionResetError:
            got = b""
        self.bytes += got
        return len(got)

    def parse(self):
        start = 0
        while len(self.bytes) - start >= 2:
            kind, size, head = self.bytes[start] & 15, self.bytes[start + 1], 2
            if size >= 126:
                head = 4 if size == 126 else 10
                size = int.from_bytes(self.bytes[start + 2:start + head], "big")
            if len(self.bytes) < start + head + size:
                break
            self.take(kind, bytes(self.bytes[start + head:start + head + min(size, 400)]))
            start += head + size
        del self.bytes[:start]

    def take(self, kind, start):
        if kind == 8:
            self.is_closed = True
        elif kind == 9:
            # RFC 6455 §5.5.3: a pong has the payload of the ping; it is masked with zeros.
            self.socket.sendall(bytes([0x8A, 0x80 | len(start)]) + bytes(4) + start)
        elif start.startswith(b'{"event":"complete"'):
            self.is_complete = True
        elif start.startswith(b'{"event":"lagging"'):
            self.lagging = json.loads(start)
        elif found := re.search(rb'"stream":"([^"]+)","offset":(\d+)', start):
            self.offsets.setdefault(found[1].decode(), []).append(int(found[2]))

    def close(self):
        self.socket.close()


class SlowReader(FollowingTest):
    options = ("--limit-connections-per-address", 2 * READERS, "--rate-sending", 10**6, "--rate-sending-burst", 10**6)

    def setUp(self):
        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 8192), limit))
        self.heavy = self.ask("POST", "/forums", {"title": "Long", "visibility": "public"})["room_id"]
        self.selector = self.enterContext(selectors.DefaultSelector())

    def line(self, *conversations, after="", **options):
        topics = ",".join(f"conversation:{one}" for one in conversations)
        line = Line(self.server.port, self.token, f"topics={topics}&after={after}", **options)
        self.addCleanup(line.close)
        return line

    def memory(self):
        with open(f"/proc/{self.server.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def wait(self, lines, is_done):
        """Reads until `is_done` holds for all of `lines`."""
        left = {line for line in lines if not is_done(line)}
        deadline = time.monotonic() + 120
        while left:
            self.assertLess(time.monotonic(), deadline, f"{len(left)} of {len(lines)} wait")
            for key, _ in self.selector.select(1):
                line = key.data
                if not line.read():
                    self.selector.unregister(line.socket)
                    self.fail("a socket that reads everything was closed")
                line.parse()
                if is_done(line):
                    left.discard(line)

    def test_a_slow_reader_delays_no_other_subscriber(self):
        stream = f"conversation:{self.room}"
        cursor = self.ask("GET", "/sync?topics=me")["cursor"]
        slow = self.line(self.room, self.heavy, after=cursor, receive_buffer=4096)
        lines = [self.line(self.room, after=cursor) for _ in range(READERS)]
        for line in lines:
            self.selector.register(line.socket, selectors.EVENT_READ, line)
        self.wait(lines, lambda line: line.is_complete)
        before, last_read = 0, time.monotonic()
        for number in range(ROUNDS):
            for _ in range(HEAVY):
                self.ask("POST", f"/conversations/{self.heavy}/messages", {"text": LONG})
            self.say(f"round {number}")
            self.wait(lines, lambda line: len(line.offsets.get(stream, [])) > number)
            if time.monotonic() - last_read >= 1:
                slow.read(1024)
                last_read = time.monotonic()
            if number == WARM:
                before = self.memory()
            elif number > WARM:
                self.assertLess(self.memory(), before + ROOM)
        offsets = lines[0].offsets[stream]
        self.assertEqual(offsets, list(range(offsets[0], offsets[0] + ROUNDS)))
        self.assertTrue(all(line.offsets == lines[0].offsets and not line.is_closed for line in lines))

        # The slow reader gets the first events, learns that events were dropped, and gets all of them on resume.
        slow.socket.settimeout(60)
        while slow.lagging is None and not slow.is_closed and slow.read():
            slow.parse()
        had = slow.offsets.get(f"conversation:{self.heavy}", [])
        self.assertLess(len(had), ROUNDS * HEAVY)
        self.assertEqual(had, list(range(had[0], had[0] + len(had))) if had else [])
        again = self.line(self.room, self.heavy, after=cursor)
        again.socket.settimeout(120)
        while not again.is_complete and again.read():
            again.parse()
        self.assertEqual(again.offsets[stream], offsets)
        whole = again.offsets[f"conversation:{self.heavy}"]
        self.assertEqual(whole, list(range(whole[0], whole[0] + ROUNDS * HEAVY)))
        self.assertEqual(whole[:len(had)], had)


if __name__ == "__main__":
    unittest.main()
