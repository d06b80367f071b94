"""Sends over broken connections: through a proxy that delays, cuts and truncates, and to a server that is killed.

Each message is stored once: a send carries a client id and is retried until a response arrives.
"""

import base64
import json
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from restarting import RestartingTest
from servers import PARLEY, VENV_PYTHON, wait_for
from test_docs import blocks, command

TRIES = 50


class Proxy:
    """A TCP proxy. Per connection it forwards `up` bytes from the client and `down` bytes from the server, the first of
    them after `delay` seconds, and then closes both sides."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.up = self.down = None
        self.delay = 0
        self.carriers, self.lines = [], set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            carrier = threading.Thread(target=self.carry, args=(client, self.up, self.down, self.delay), daemon=True)
            self.carriers.append(carrier)
            carrier.start()

    def carry(self, client, up, down, delay):
        with client:
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=60)
            except OSError:
                return
            with server:
                self.lines.add((client, server))
                left, was_delayed = {client: up, server: down}, delay > 0
                while True:
                    for source in select.select([client, server], [], [], 60)[0] or [None]:
                        if source is None:
                            return
                        try:
                            data = source.recv(65536)
                        except OSError:
                            data = b""
                        if not data and not (source is client and delay):
                            if was_delayed:
                                self.finish(server)
                            return
                        if source is client and delay:
                            # The client may have timed out and disconnected long before these bytes are forwarded.
                            time.sleep(delay)
                            delay = 0
                            if not data:
                                self.finish(server)
                                return
                        if left[source] is not None:
                            data = data[:left[source]]
                            left[source] -= len(data)
                        try:
                            (server if source is client else client).sendall(data)
                        except OSError:
                            if source is server:
                                continue
                            return
                        if left[source] == 0:
                            # The server reads the forwarded bytes before the end of the stream.
                            if source is client:
                                server.shutdown(socket.SHUT_WR)
                            return

    def cut(self):
        """Ends all connections, whatever is on its way."""
        for line in list(self.lines):
            self.lines.discard(line)
            for end in line:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    @staticmethod
    def finish(server):
        """Waits until the server closes its end, after the requests that it has received."""
        try:
            server.shutdown(socket.SHUT_WR)
            while server.recv(65536):
                pass
        except OSError:
            pass

    def drain(self):
        """Waits until the server has received all delayed bytes and closed their connections."""
        for carrier in self.carriers:
            carrier.join()

    def close(self):
        self.listener.close()


class Gone(Exception):
    """No response arrived."""


class Sender:
    """Sends a message over one of two transports, on its own connection, as bytes that can be cut anywhere."""

    def __init__(self, token, room):
        self.token, self.room = token, room

    def rest(self, port, client, text, timeout=60):
        body = json.dumps({"client_id": client, "text": text}).encode()
        head = (f"POST /api/v1/conversations/{self.room}/messages HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        with self.line(port, timeout) as line:
            request = head + body
            self.give(line, request)
            answer = b""
            while data := self.get(line):
                answer += data
        head, end, body = answer.partition(b"\r\n\r\n")
        if not end:
            raise Gone
        length = next((int(field.split(b":")[1]) for field in head.split(b"\r\n")
                       if field.lower().startswith(b"content-length:")), None)
        if length is None or len(body) != length:
            raise Gone
        if head.split(b" ")[1] not in (b"200", b"201"):
            raise AssertionError(answer)
        return json.loads(body)["id"], len(request), len(answer)

    def socket(self, port, client, text, timeout=60):
        key = base64.b64encode(bytes(16)).decode()
        with self.line(port, timeout) as line:
            request = (
                f"GET /api/v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                f"Authorization: Bearer {self.token}\r\n"
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode()
            self.give(line, request)
            said = b""
            while b"\r\n\r\n" not in said:
                data = self.get(line)
                if not data:
                    raise Gone
                said += data
            head, _, rest = said.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 101"):
                raise AssertionError(said)
            command = json.dumps({"id": 1, "do": "send", "conversation_id": self.room, "client_id": client,
                                  "text": text}).encode()
            length = bytes([0x80 | len(command)]) if len(command) < 126 else b"\xfe" + len(command).to_bytes(2, "big")
            command = b"\x81" + length + bytes(4) + command
            self.give(line, command)
            total = len(said)
            while True:
                kind, frame, rest = self.frame(rest)
                if frame is None:
                    data = self.get(line)
                    if not data:
                        raise Gone
                    rest, total = rest + data, total + len(data)
                    continue
                if kind != 1:
                    raise Gone
                answer = json.loads(frame)
                if answer.get("re") != 1:
                    continue
                if "message" not in answer:
                    raise AssertionError(answer)
                return answer["message"]["id"], len(request) + len(command), total

    @staticmethod
    def frame(data):
        """Opcode and payload of the first frame if it is complete, and the remaining bytes."""
        if len(data) < 2:
            return None, None, data
        start, length = 2, data[1] & 127
        if length == 126:
            start, length = 4, int.from_bytes(data[2:4], "big")
        elif length == 127:
            start, length = 10, int.from_bytes(data[2:10], "big")
        if len(data) < start + length:
            return None, None, data
        return data[0] & 15, data[start:start + length], data[start + length:]

    @staticmethod
    def line(port, timeout):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=timeout)
        except OSError:
            raise Gone from None

    @staticmethod
    def give(line, data):
        try:
            line.sendall(data)
        except OSError:
            raise Gone from None

    @staticmethod
    def get(line):
        try:
            return line.recv(65536)
        except OSError:
            return b""


class BrokenLines(RestartingTest):
    def setUp(self):
        super().setUp()
        self.sender = Sender(self.token, self.room)

    def said(self):
        """All messages of the room: text to ids."""
        said, position = {}, ""
        while True:
            page = self.ask("GET", f"/conversations/{self.room}/messages?order=asc&limit=200{position}")
            for message in page["data"]:
                said.setdefault(message["text"], []).append(message["id"])
            if not page["next"]:
                return said
            position = f"&next={page['next']}"

    def cut_everywhere(self, transports):
        """Cuts the connection of a send at every byte, in both directions: `TRIES` cuts per message, then one send that
        succeeds."""
        proxy = Proxy(self.port)
        self.addCleanup(proxy.close)
        cuts = []
        for transport in transports:
            _, there, back = transport(self.port, f"send-{transport.__name__}", "whole")
            cuts += [(transport, "up", offset) for offset in range(1, there + 1)]
            cuts += [(transport, "down", offset) for offset in range(1, back + 1)]
        random.Random(1).shuffle(cuts)
        answered = {}
        for start in range(0, len(cuts), TRIES):
            client = f"send-{start}"
            for transport, way, offset in cuts[start:start + TRIES]:
                proxy.up, proxy.down = (offset, None) if way == "up" else (None, offset)
                try:
                    message, *_ = transport(proxy.port, client, client)
                except Gone:
                    continue
                answered.setdefault(client, set()).add(message)
            proxy.up = proxy.down = None
            message, *_ = random.Random(start).choice(transports)(proxy.port, client, client)
            answered.setdefault(client, set()).add(message)
        said = self.said()
        self.assertGreater(len(answered), 20)
        for client, messages in answered.items():
            self.assertEqual(said.get(client), list(messages), f"{client} returned {messages}")

    def test_a_send_cut_at_every_byte_is_stored_once(self):
        self.cut_everywhere([self.sender.rest, self.sender.socket])

    def test_a_send_that_arrives_after_its_retry_is_stored_once(self):
        proxy = Proxy(self.port)
        self.addCleanup(proxy.close)
        dice = random.Random(2)
        for number in range(20):
            client = f"late-{number}"
            for _ in range(10):
                proxy.delay = dice.choice([0.02, 0.05])
                try:
                    dice.choice([self.sender.rest, self.sender.socket])(proxy.port, client, client, timeout=0.01)
                except Gone:
                    pass
            proxy.delay = 0
            first, *_ = self.sender.rest(proxy.port, client, client)
            second, *_ = self.sender.socket(proxy.port, client, client)
            self.assertEqual(first, second)
        proxy.drain()
        # The writer runs this post after all changes of the closed connections.
        self.sender.rest(self.port, "last", "last")
        said = self.said()
        self.assertEqual([len(said[f"late-{number}"]) for number in range(20)], [1] * 20)

    def test_retries_until_a_killed_server_restarts_store_a_message_once(self):
        answered, wanted, isOver = {}, 120, threading.Event()

        def post(name):
            dice = random.Random(name)
            number = 0
            while not isOver.is_set():
                client = f"{name}-{number}"
                number += 1
                for _ in range(TRIES * 20):
                    try:
                        message, *_ = dice.choice([self.sender.rest, self.sender.socket])(self.port, client, client)
                        break
                    except Gone:
                        time.sleep(0.02)
                else:
                    raise AssertionError(f"{client} got no response")
                answered.setdefault(client, set()).add(message)

        talkers = [threading.Thread(target=post, args=(f"talker{number}",)) for number in range(4)]
        for talker in talkers:
            talker.start()
        dice = random.Random(3)
        try:
            for _ in range(6):
                time.sleep(dice.uniform(0.2, 0.7))
                self.server.signal(signal.SIGKILL)
                self.server.wait()
                self.server = self.serve()
            deadline = time.monotonic() + 100
            while len(answered) < wanted and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            isOver.set()
            for talker in talkers:
                talker.join()
        self.assertGreaterEqual(len(answered), wanted)
        said = self.said()
        for client, messages in answered.items():
            self.assertEqual(said.get(client), list(messages), f"{client} returned {messages}")
        self.assertEqual([text for text, ids in said.items() if len(ids) > 1], [])
        self.server.stop()
        check = subprocess.run([PARLEY, "verify", "--data", self.data], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)


class BotOverBrokenLines(RestartingTest):
    def test_the_documented_bot_loses_and_doubles_nothing(self):
        """Its connection is cut every seven messages and the next answer is cut off, two of the times by a killed server."""
        folder, dice = Path(self.folder), random.Random(4)
        command(self.data, "user", "create", "dice", "--role", "bot", "--password-stdin", given="needles and wool\n")
        forum = self.ask("GET", "/forums")["data"][0]["id"]
        (program,) = [text for _, markers, text in blocks("bot", "python") if "file=dice.py" in markers]
        (folder / "dice.py").write_text(program)
        proxy = Proxy(self.port)
        self.addCleanup(proxy.close)
        said = self.enterContext(open(folder / "said", "w+"))
        bot = subprocess.Popen(
            [VENV_PYTHON, "dice.py", forum, "cursor"], cwd=folder, stderr=said,
            env={**os.environ, "SITE": f"http://127.0.0.1:{proxy.port}", "DICE": command(self.data, "token", "dice", "--scope", "write")})
        self.addCleanup(bot.wait)
        self.addCleanup(bot.kill)
        wait_for((folder / "cursor").exists)
        asked = []
        for cut in range(6):
            asked += [self.ask("POST", f"/conversations/{self.room}/messages", {"text": "!roll"})["id"] for _ in range(7)]
            # The next connection ends after so many bytes of its answers, later ones last.
            count, proxy.down = len(proxy.carriers), dice.randrange(1, 1_500)
            if cut in (1, 4):
                self.server.signal(signal.SIGKILL)
                self.server.wait()
                self.server = self.serve()
            proxy.cut()
            wait_for(lambda: len(proxy.carriers) > count)
            proxy.down = None
        wait_for(lambda: bot.poll() is not None or self.ask("GET", f"/messages/{asked[-1]}/replies")["data"])
        self.assertIsNone(bot.poll(), (folder / "said").read_text())
        replies = [self.ask("GET", f"/messages/{message}/replies")["data"] for message in asked]
        self.assertEqual([len(it) for it in replies], [1] * len(asked))
        page = self.ask("GET", f"/conversations/{self.room}/messages?limit=200")
        self.assertEqual((len(page["data"]), page["next"]), (2 * len(asked), None))
        self.assertGreaterEqual((folder / "said").read_text().count("again:"), 6)
