"""The memory of the server under attacks of visitors: it stays below its limit, and comes back."""

import attacks
from restarting import RestartingTest

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
        self.attack(lambda: attacks.inflating_sockets(self.probe.address, count=200, rounds=3))

    def test_sockets_that_come_and_go(self):
        self.attack(lambda: attacks.idle_sockets(self.probe.address, count=200, rounds=3))

    def test_unread_pages_of_html(self):
        for _ in range(200):
            self.ask("POST", f"/conversations/{self.room}/messages", {"text": attacks.LIST})
        self.attack(lambda: attacks.unread_pages(self.probe.address, self.room, count=60, seconds=3))
