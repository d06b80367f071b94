"""Outgoing webhooks, received by the library of Standard Webhooks, while either side is killed; and the commands of the operator.

`parley-loopback` is the program with one more permission: its daemon may send requests to one port of this machine.
"""

import json
import subprocess
import threading
import time
import unittest
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from receiving import ReceivingTest
from restarting import ENDLESS
from servers import PARLEY
from serving import call, parley


class EndpointTest(ReceivingTest):
    OPTIONS = ENDLESS
    PATH = "/hook"
    RECEIVER = "webhook_receiver.py"

    def setUp(self):
        super().setUp()
        self.say("user", "create", "ada", "--role", "owner", "--password-stdin", given="wool and needles\n")
        self.token = self.say("token", "ada", "--scope", "admin").strip()

    def say(self, *arguments, given=None, program=PARLEY):
        done = subprocess.run([program, *arguments, "--data", self.data], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ask(self, method, path, body=None):
        return call(self.daemon, method, path, body, self.token)

    def forum(self, title):
        made = self.ask("POST", "/forums", {"title": title})
        return made["id"], made["room_id"]

    def create(self, topics, **more):
        body = {"name": "Index", "url": self.hook, "topics": topics, **more}
        return self.ask("POST", "/webhook-endpoints", body)


class Crashes(EndpointTest):
    COUNT = 1_000

    def post(self, rooms):
        """Posts the messages in turn, each until it is answered."""
        for number in range(self.COUNT):
            room = rooms[number % len(rooms)]
            while True:
                try:
                    self.ask("POST", f"/conversations/{room}/messages", {"text": f"{number}", "client_id": f"m{number}"})
                    break
                except (URLError, HTTPException, ConnectionError, TimeoutError):
                    time.sleep(0.05)

    def test_every_event_is_delivered_in_order_while_either_side_is_killed(self):
        forums = [self.forum(title) for title in ("Knitting", "Wool")]
        made = self.create([f"forum:{forum}/messages" for forum, _ in forums], events=["message.created"])
        self.receive(made["secret"])
        poster = threading.Thread(target=self.post, args=([room for _, room in forums],))
        poster.start()
        for round in range(6):
            goal = len(self.received()) + 60
            self.until(lambda: len(self.received()) >= goal or not poster.is_alive())
            if round % 2:
                self.daemon.kill()
                self.serve()
            else:
                self.receiver.kill()
                self.receive(made["secret"])
        poster.join()
        self.until(lambda: len({it["id"] for it in self.received()}) >= self.COUNT)
        events = self.received()
        self.assertEqual({it["type"] for it in events}, {"message.created"})
        texts, streams, seen = [], {}, set()
        for event in events:
            if event["id"] in seen:
                # A repetition is that of the last event.
                self.assertEqual(event["id"], last)
                continue
            last = event["id"]
            seen.add(last)
            texts.append(event["data"]["data"]["text"])
            streams.setdefault(event["data"]["stream"], []).append(event["data"]["offset"])
        self.assertEqual(sorted(texts, key=int), [str(number) for number in range(self.COUNT)])
        self.assertEqual(len(streams), 2)
        for offsets in streams.values():
            self.assertEqual(offsets, sorted(set(offsets)))
            self.assertEqual(len(offsets), self.COUNT // 2)


class Endpoints(EndpointTest):
    def test_the_topic_of_the_timeline_has_the_posts_of_followed_users(self):
        self.say("user", "create", "grace", "--password-stdin", given="needles and wool\n")
        grace = self.say("token", "grace", "--scope", "write").strip()

        def feed(token):
            return call(self.daemon, "POST", "/conversations", {"kind": "feed", "readers": {"open_to": "users"}}, token)["id"]

        feeds = {feed(token): token for token in (grace, self.token)}
        made = self.create(["timeline"], events=["message.created"])
        self.assertEqual(made["topics"], ["timeline"])
        self.receive(made["secret"])
        sent = []
        for follows in (False, True):
            if follows:
                self.ask("PUT", "/users/@grace/follow")
            for conversation, token in feeds.items():
                post = call(self.daemon, "POST", f"/conversations/{conversation}/messages", {"text": "pizza party!"}, token)["id"]
                if follows or token == self.token:
                    sent.append(post)
            # The own post is the last one, so the other one has been looked at before its author is followed.
            self.until(lambda: len(self.received()) >= len(sent))
        self.assertEqual([it["data"]["data"]["id"] for it in self.received()], sent)

    def test_the_library_verifies_both_secrets_during_a_rotation(self):
        forum, room = self.forum("Knitting")
        made = self.create([f"forum:{forum}/messages"], events=["message.created"])
        renewed = self.ask("POST", f"/webhook-endpoints/{made['id']}/secret")
        self.receive(made["secret"], renewed["secret"])
        self.ask("POST", f"/conversations/{room}/messages", {"text": "purl"})
        self.until(lambda: self.received())
        event = self.received()[0]
        self.assertEqual((event["verified"], event["data"]["data"]["text"]), ([0, 1], "purl"))

    def test_a_press_of_a_button_is_delivered_to_the_owner_of_the_bot(self):
        forum, room = self.forum("Knitting")
        bot = self.ask("POST", "/bots", {"name": "needles", "scope": "write", "forums": [forum]})
        made = self.create(["me"], events=["button.pressed"])
        self.receive(made["secret"])
        draft = {"text": "Cast on?", "buttons": [{"id": "yes", "label": "Cast on"}]}
        message = call(self.daemon, "POST", f"/conversations/{room}/messages", draft, bot["token"])["id"]
        press = self.ask("POST", f"/messages/{message}/presses", {"button_id": "yes"})
        self.until(lambda: self.received())
        event = self.received()[0]
        self.assertEqual((event["type"], event["data"]["data"]), ("button.pressed", press))
        self.assertEqual((press["message_id"], press["bot_id"]), (message, bot["user"]["id"]))

    def test_the_program_itself_sends_nothing_to_this_machine(self):
        self.daemon.stop()
        self.daemon = self.start(*parley(self.folder, listen=f"127.0.0.1:{self.port}"))
        for url in [self.hook, self.hook.replace("http:", "https:"), "http://example.org/"]:
            with self.assertRaises(HTTPError) as refused:
                self.ask("POST", "/webhook-endpoints", {"name": "Index", "url": url, "topics": ["me"]})
            self.assertEqual(json.loads(refused.exception.read())["errors"][0]["field"], "url")

    def test_without_outgoing_requests_a_redelivery_is_refused(self):
        forum, room = self.forum("Knitting")
        made = self.create([f"forum:{forum}/messages"], events=["message.created"])
        self.receive(made["secret"])
        self.ask("POST", f"/conversations/{room}/messages", {"text": "purl"})
        path = f"/webhook-endpoints/{made['id']}/deliveries"
        self.until(lambda: self.ask("GET", path)["data"])
        delivery = self.ask("GET", path)["data"][0]["id"]
        self.daemon.stop()
        self.daemon = self.start(*parley(self.folder, "--outgoing", "off", listen=f"127.0.0.1:{self.port}"))
        done = subprocess.run([PARLEY, "endpoints", "redeliver", made["id"], delivery, "--data", self.data],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("opens no addresses of others", done.stderr)

    def test_a_restored_backup_tells_a_gap_and_goes_on(self):
        forum, room = self.forum("Knitting")
        made = self.create([f"forum:{forum}/messages"], events=["message.created"])
        self.receive(made["secret"])
        backup = str(Path(self.folder) / "good.tar")
        self.say("backup", backup)
        self.ask("POST", f"/conversations/{room}/messages", {"text": "lost"})
        self.until(lambda: len(self.received()) == 1)
        self.daemon.stop()
        self.say("restore", backup, "--replace", "--keep-sessions")
        self.serve()
        self.until(lambda: len(self.received()) == 2)
        reset = self.received()[1]
        self.assertEqual((reset["type"], reset["data"]["reason"]), ("reset", "epoch"))
        self.ask("POST", f"/conversations/{room}/messages", {"text": "found"})
        self.until(lambda: len(self.received()) == 3)
        self.assertEqual(self.received()[2]["data"]["data"]["text"], "found")
        # The number of the event is that of the lost one, but its id is not.
        self.assertEqual(len({it["id"] for it in self.received()}), 3)

    def test_commands(self):
        forum, room = self.forum("Knitting")
        run = lambda *words: self.say("endpoints", *words)
        secret = run("create", "Index", self.hook, f"forum:{forum}/messages", "--events", "message.created").strip()
        self.assertRegex(secret, r"\Awhsec_[A-Za-z0-9+/=]{44}\Z")
        endpoint = json.loads(run("list", "--json"))
        self.assertEqual((endpoint["name"], endpoint["events"]), ("Index", ["message.created"]))
        self.assertNotIn("secret", endpoint)
        id = endpoint["id"]
        self.receive(secret)
        self.ask("POST", f"/conversations/{room}/messages", {"text": "purl"})
        self.until(lambda: run("deliveries", id, "--json") != "")
        delivery = json.loads(run("deliveries", id, "--json"))
        self.assertEqual((delivery["state"], delivery["status"], delivery["type"]), ("delivered", 204, "message.created"))
        self.assertEqual(run("redeliver", id, delivery["id"]), "")
        self.until(lambda: len(self.received()) == 2)
        self.assertEqual(len({it["id"] for it in self.received()}), 1)
        self.assertIn("delivered", run("deliveries", id))
        self.assertEqual(run("disable", id), "")
        self.assertIn("disabled: request", run("list"))
        self.assertEqual(run("enable", id), "")
        self.assertNotEqual(run("rotate", id).strip(), secret)
        self.assertEqual(run("delete", id), "")
        self.assertEqual(run("list", "--json"), "")
        # Without a daemon the command checks the URL by its own policy.
        self.daemon.stop()
        done = subprocess.run([PARLEY, "endpoints", "create", "Index", self.hook, "me", "--data", self.data],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
