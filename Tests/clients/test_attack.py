"""The server under attacks of visitors: its memory stays below its limit and comes back, inflated bytes are counted, and
other users are served. `make bench` asserts their latency."""

import json
import unittest

import attacks
import table
from restarting import RestartingTest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

MARGIN = 64 << 20
LIMIT = 256 << 20


class Attack(RestartingTest):
    def setUp(self):
        super().setUp()
        self.probe = attacks.Probe(self.url, self.server.pid, self.token, self.room)
        self.start_size = self.probe.resident()

    def attack(self, attack):
        with attacks.Peak(self.probe) as peak:
            attack()
            # Bystanders are served.
            self.probe.post()
        after = self.probe.settled(within=5)
        print(f"{self.id()}: start {self.start_size >> 20} MB, peak {peak.bytes >> 20} MB, after {after >> 20} MB")
        self.assertLess(peak.bytes, self.start_size + LIMIT + MARGIN)
        self.assertLess(after, self.start_size + MARGIN)

    def test_unfinished_messages_that_inflate(self):
        self.attack(lambda: attacks.inflating_sockets(self.probe.address))

    def test_unfinished_messages_of_many_sources(self):
        self.attack(lambda: attacks.inflating_sockets(self.probe.address, rounds=2, sources=8))

    def test_sockets_that_come_and_go(self):
        self.attack(lambda: attacks.idle_sockets(self.probe.address))

    def test_compressed_messages_count_by_their_inflated_size(self):
        address = self.url.replace("http", "ws") + "/api/v1/realtime"
        command = '{"id": "1", "do": "ping"}'
        with connect(address, subprotocols=["parley.v1"]) as visitor:
            # Some bytes on the wire.
            visitor.send(command.ljust(4_000))
            self.assertEqual(json.loads(visitor.recv(timeout=60))["re"], "1")
            visitor.send(command.ljust(5_000))
            self.assertEqual(self.close_code(visitor), 1009)
        with connect(address, subprotocols=["parley.v1"], additional_headers={"Authorization": f"Bearer {self.token}"}) as user:
            answers = 0
            try:
                for _ in range(20):
                    user.send(command.ljust(200_000))
                    user.recv(timeout=60)
                    answers += 1
            except ConnectionClosed as closed:
                self.assertEqual(closed.rcvd.code, 1008)
            # A megabyte, and what a slow machine adds.
            self.assertGreaterEqual(answers, 5)
            self.assertLess(answers, 20)

    def close_code(self, socket):
        with self.assertRaises(ConnectionClosed) as raised:
            while True:
                socket.recv(timeout=60)
        return raised.exception.rcvd.code

    def test_unread_pages_of_html(self):
        for _ in range(200):
            self.ask("POST", f"/conversations/{self.room}/messages", {"text": attacks.LIST})
        self.attack(lambda: attacks.unread_pages(self.probe.address, self.room, count=120))


class Bystander(unittest.TestCase):
    def test_a_bystander_is_served_without_errors_beside_each_flood(self):
        base, names = None, []
        # A refused request, a closed socket or a flood that ends by itself is an error.
        for outcome in table.outcomes(rounds=3, with_memory=False, texts=1_000, topics=200):
            if base is None:
                base = outcome.times
                print(table.heading(base))
            print(table.row(outcome, base), flush=True)
            self.assertEqual(outcome.times.keys(), base.keys())
            names.append(outcome.name)
        self.assertEqual(names, ["none", *(attack.name for attack in table.floods(0, 0, 0, ""))])


if __name__ == "__main__":
    unittest.main()
