"""Push messages, verified and decrypted by the libraries of others.

`parley-loopback` is the program with one more permission: its daemon may send requests to one port of this machine.
"""

import json
import sqlite3
import subprocess
import tempfile
import time
import unittest
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from restarting import ENDLESS
from servers import LOOPBACK, PARLEY, VENV_PYTHON, Server, free_port
from serving import ServingTest, call, parley
from websockets.sync.client import connect

HERE = Path(__file__).parent


class Push(ServingTest):
    part = "bells"
    waits = True

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = str(Path(self.folder) / "data")
        self.file = Path(self.folder) / "received"
        self.receiving = free_port()
        service = Server(
            f"push-{self.id()}", VENV_PYTHON, HERE / "push_service.py", self.receiving, self.file, port=self.receiving)
        self.addCleanup(service.kill)
        command = parley(self.folder, *ENDLESS, "--public-url", "https://wool.example")
        self.command = [LOOPBACK, self.receiving, *command[1:]]
        self.daemon = self.start(*self.command)
        self.addCleanup(lambda: self.daemon.stop())
        self.tokens = {}
        for name, role in (("ada", "owner"), ("lin", "member")):
            self.say("user", "create", name, "--role", role, "--password-stdin", given="wool and needles\n")
            self.tokens[name] = self.say("token", name, "--scope", "write").strip()
        self.forum = self.ask("ada", "POST", "/forums", {"title": "Knitting"})
        self.ask("lin", "PUT", f"/forums/{self.forum['id']}/members/me", {})

    def say(self, *arguments, given=None):
        done = subprocess.run([PARLEY, *arguments, "--data", self.data], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ask(self, name, method, path, body=None):
        return call(self.daemon, method, path, body, self.tokens[name])

    def lines(self):
        text = self.file.read_text() if self.file.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def received(self, count):
        deadline = time.monotonic() + 120
        while len(self.lines()) < count + 1:
            self.assertLess(time.monotonic(), deadline, self.lines())
            time.sleep(0.02)
        return self.lines()[1:]

    def eventually_counted(self, line):
        token = self.say("token", "ada", "--scope", "admin").strip()
        deadline = time.monotonic() + 60
        while True:
            request = Request(f"{self.daemon.url}/metrics", headers={"Authorization": f"Bearer {token}"})
            with urlopen(request, timeout=60) as answer:
                lines = answer.read().decode().splitlines()
            if line in lines:
                break
            self.assertLess(time.monotonic(), deadline, lines)
            time.sleep(0.02)
        self.assertNotIn(str(self.receiving), "\n".join(it for it in lines if "push" in it))

    def subscribe(self, path="/device"):
        device = self.lines()[0]
        body = {**device, "endpoint": device["endpoint"].replace("/device", path), "name": "Phone", "language": "de"}
        return self.ask("lin", "POST", "/me/push-subscriptions", body)

    def mention(self, text, room=None):
        return self.ask("ada", "POST", f"/conversations/{room or self.forum['room_id']}/messages", {"text": text})

    def test_a_mention_is_signed_and_encrypted_as_others_expect(self):
        made = self.subscribe()
        self.assertEqual(made["service"].split(":")[0], "127.0.0.1")
        message = self.mention("A new pattern for @lin: " + "knit, purl, " * 400)
        found, = self.received(1)
        self.assertNotIn("error", found)
        self.assertTrue(found["is_verified"])
        self.assertEqual(found["key"], call(self.daemon, "GET", "/server")["vapid_key"])
        self.assertEqual(found["claims"]["aud"], f"http://127.0.0.1:{self.receiving}")
        self.assertEqual(found["claims"]["sub"], "https://wool.example")
        # RFC 8292 §2 permits 24 hours; half of it is enough for each retry to have a new one.
        self.assertTrue(time.time() < found["claims"]["exp"] <= time.time() + 12 * 3_600)
        self.assertEqual((found["encoding"], found["urgency"]), ("aes128gcm", "high"))
        self.assertLessEqual(found["size"], 4_096)
        self.assertLessEqual(len(found["topic"]), 32)
        # A declarative push message, and what the service worker reads.
        text = found["text"]
        self.assertEqual(text["web_push"], 8030)
        notification = text["notification"]
        self.assertEqual(urlsplit(notification["navigate"]).path, f"/m/{message['id']}")
        self.assertIn("ada", notification["title"])
        self.assertIn("A new pattern", notification["body"])
        # Each request is counted by kind and outcome, without the device.
        self.eventually_counted('parley_push_requests_total{kind="mention",outcome="accepted"} 1')
        self.daemon.stop()
        self.say("verify", "--all")

    def test_a_subscription_that_is_gone_is_removed(self):
        for path in ("/gone", "/missing"):
            self.subscribe(path)
        self.mention("A new pattern for @lin")
        self.assertEqual({it["path"] for it in self.received(2)}, {"/gone", "/missing"})
        deadline = time.monotonic() + 60
        while self.ask("lin", "GET", "/me/push-subscriptions")["data"]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_service_that_fails_gets_the_message_again(self):
        paths = ["/busy", "/cut", "/down", "/large", "/silent"]
        for path in paths:
            self.subscribe(path)
        self.mention("A new pattern for @lin: " + "knit, purl, " * 400)
        found = self.received(2 * len(paths))
        self.assertEqual(sorted(it["path"] for it in found), sorted(2 * paths))
        for path in paths:
            first, second = (it for it in found if it["path"] == path)
            self.assertEqual(first["topic"], second["topic"])
            self.assertEqual(second["size"] < first["size"], path == "/large")
        # Each was accepted in the end.
        deadline = time.monotonic() + 60
        while not all(it["last_sent_at"] for it in self.ask("lin", "GET", "/me/push-subscriptions")["data"]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_killed_server_loses_no_message(self):
        self.subscribe()
        rooms = [self.ask("ada", "POST", "/forums", {"title": f"Forum {number}"}) for number in range(5)]
        for number, forum in enumerate(rooms):
            self.ask("lin", "PUT", f"/forums/{forum['id']}/members/me", {})
            self.mention(f"{number} for @lin", forum["room_id"])
            self.daemon.kill()
            self.daemon = self.start(*self.command)
        deadline = time.monotonic() + 60
        texts = set()
        while len(texts) < len(rooms):
            self.assertLess(time.monotonic(), deadline, texts)
            texts = {it["text"]["notification"]["body"] for it in self.lines()[1:]}
            time.sleep(0.02)
        self.assertEqual(texts, {f"{number} for @lin" for number in range(len(rooms))})

    def open_database(self):
        """A connection that holds up each write of the server while it has a transaction."""
        return closing(sqlite3.connect(Path(self.data) / "parley.db", timeout=30, isolation_level=None))

    def rows(self, statement):
        with self.open_database() as database:
            return database.execute(statement).fetchall()

    def eventually(self, is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), deadline, self.lines())
            time.sleep(0.02)

    def restart_after_kill(self):
        self.daemon.kill()
        self.daemon = self.start(*self.command)

    def test_a_server_that_is_killed_after_it_has_queued_a_message_sends_it(self):
        self.subscribe()
        # The message waits while its user is online.
        address = self.daemon.url.replace("http", "ws") + "/api/v1/realtime?topics=presence"
        with connect(address, additional_headers={"Authorization": f"Bearer {self.tokens['lin']}"}) as socket:
            socket.send(json.dumps({"id": 1, "do": "presence", "state": "online"}))
            while json.loads(socket.recv(timeout=30)).get("re") != 1:
                pass
            self.mention("Queued for @lin")
            self.eventually(lambda: self.rows("select id from push_delivery"))
            self.assertEqual(self.lines()[1:], [])
            self.daemon.kill()
        self.daemon = self.start(*self.command)
        self.assertEqual(self.received(1)[0]["text"]["notification"]["body"], "Queued for @lin")

    def test_a_server_that_is_killed_during_a_request_repeats_it(self):
        self.subscribe("/held")
        self.mention("Held for @lin")
        first, = self.received(1)
        self.restart_after_kill()
        second = self.received(2)[1]
        self.assertEqual((second["topic"], second["text"]), (first["topic"], first["text"]))

    def killed_before_it_stores_the_answer(self, path):
        """Kills the server when the push service has answered, and the database takes no change."""
        self.subscribe(path)
        self.mention("Held for @lin")
        first, = self.received(1)
        with self.open_database() as database:
            database.execute("begin immediate")
            Path(f"{self.file}.release").touch()
            self.eventually(Path(f"{self.file}.answered").exists)
            self.daemon.kill()
            database.execute("rollback")
        self.assertEqual(self.rows("select count(*) from push_delivery where notification_id is not null"), [(1,)])
        self.daemon = self.start(*self.command)
        # The same topic: the device replaces the message that it has.
        self.assertEqual(self.received(2)[1]["topic"], first["topic"])

    def test_a_server_that_is_killed_after_201_repeats_the_message_once(self):
        self.killed_before_it_stores_the_answer("/held")
        self.eventually(lambda: not self.rows("select id from push_delivery where notification_id is not null"))
        self.assertEqual(len(self.lines()), 3)

    def test_a_server_that_is_killed_after_410_removes_the_device_after_the_next(self):
        self.killed_before_it_stores_the_answer("/held-gone")
        self.eventually(lambda: not self.ask("lin", "GET", "/me/push-subscriptions")["data"])
        self.assertEqual(self.rows("select id from push_delivery"), [])

    def test_push_is_off_without_outgoing_requests_and_without_an_https_address(self):
        device = {**self.lines()[0], "name": "Phone"}
        self.subscribe()
        url = self.command.index("--public-url")
        without = [*self.command[:url], *self.command[url + 2:]]
        for command, line in (
                ([*self.command, "--outgoing", "off"], None), (without, "Push messages are off: they need an https address")):
            with self.subTest(line=line):
                self.daemon.stop()
                self.daemon = self.start(*command)
                self.assertIsNone(call(self.daemon, "GET", "/server")["vapid_key"])
                with self.assertRaises(HTTPError) as refused:
                    self.ask("lin", "POST", "/me/push-subscriptions", device)
                with refused.exception as problem:
                    self.assertEqual((problem.code, json.load(problem)["code"]), (403, "push_off"))
                self.mention("Silent for @lin")
                if line:
                    self.assertIn(line, self.daemon.output())
        # On again within a day: none was sent, and none is lost.
        self.assertEqual(self.lines()[1:], [])
        self.daemon.stop()
        self.daemon = self.start(*self.command)
        self.assertEqual(self.received(1)[0]["text"]["notification"]["body"], "Silent for @lin")

    def test_internal_addresses_are_refused(self):
        device = self.lines()[0]
        for endpoint in ("https://127.0.0.1:1/x", "https://10.0.0.1/x", "https://localhost/x", "ftp://push.example/x", "no address"):
            with self.subTest(endpoint=endpoint), self.assertRaises(HTTPError) as refused:
                self.ask("lin", "POST", "/me/push-subscriptions", {**device, "endpoint": endpoint, "name": "Phone"})
            self.assertEqual(refused.exception.code, 400)
            refused.exception.close()


if __name__ == "__main__":
    unittest.main()
