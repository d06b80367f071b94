"""Slash commands, run by a program that checks their signatures with the library of Standard Webhooks: answers in time, late,
wrong or not at all, also when the program is killed; and the commands of the operator and of users."""

import json
import os
import subprocess
import threading
import time
import unittest
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from receiving import ReceivingTest
from servers import PARLEY
from serving import call, parley


class SlashCommandTest(ReceivingTest):
    PATH = "/run"
    RECEIVER = "command_receiver.py"

    def setUp(self):
        super().setUp()
        self.tokens = {}
        for name, role, scope in [("ada", "owner", "admin"), ("grace", "member", "write")]:
            self.say("user", "create", name, "--role", role, "--password-stdin", given="wool and needles\n")
            self.tokens[name] = self.say("token", name, "--scope", scope).strip()
        made = self.ask("POST", "/forums", {"title": "Knitting"})
        self.forum, self.room = made["id"], made["room_id"]
        self.bot = self.ask("POST", "/bots", {"name": "needles", "scope": "write", "forums": [self.forum]})["user"]["id"]
        body = {"name": "knit", "bot_id": self.bot, "url": self.hook, "usage": "<stitch>"}
        self.command = self.ask("POST", "/commands", body)

    def receive(self, secret=None):
        super().receive(secret or self.command["secret"])

    def run_parley(self, *arguments, given=None, **more):
        return subprocess.run([PARLEY, *arguments], input=given, capture_output=True, text=True, timeout=60, **more)

    def say(self, *arguments, given=None):
        done = self.run_parley(*arguments, "--data", self.data, given=given)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ask(self, method, path, body=None, name="ada"):
        return call(self.daemon, method, path, body, self.tokens[name])

    def use(self, text, name="grace", **more):
        return self.ask("POST", f"/conversations/{self.room}/commands", {"name": "knit", "text": text, **more}, name)

    def use_in_time(self, text):
        """Uses the command, again if a busy machine makes the program too slow for its three seconds."""
        for _ in range(3):
            try:
                return self.use(text)
            except HTTPError as error:
                problem = json.loads(error.read())
                self.assertEqual(problem["code"], "command_timed_out")
        self.fail("the program was too slow three times")

    def refused(self, status, code, work, *arguments, **more):
        with self.assertRaises(HTTPError) as refused:
            work(*arguments, **more)
        problem = json.loads(refused.exception.read())
        self.assertEqual((refused.exception.code, problem["code"]), (status, code), problem)
        return problem

    def reply(self, url, text, **more):
        request = Request(url, json.dumps({"text": text, **more}).encode(), {"Content-Type": "application/json"}, method="POST")
        with urlopen(request, timeout=30) as answer:
            return answer.status

    def uses(self):
        return [it for it in self.received() if "command" in it]

    def replies(self, cursor, name="grace"):
        events = self.ask("GET", f"/sync?topics=me&after={cursor}", name=name)["data"]
        return [it["data"]["text"] for it in events if it["event"] == "command.replied"]

    def messages(self):
        return [it["text"] for it in self.ask("GET", f"/conversations/{self.room}/messages")["data"]]


class Answers(SlashCommandTest):
    def test_an_answer_in_time(self):
        self.receive()
        cursor = self.ask("GET", "/sync?topics=me", name="grace")["cursor"]
        used = self.use_in_time("now 18 stitches")
        self.assertEqual((used["state"], used["replies"][0]["text"]), ("delivered", "18 stitches"))
        self.assertEqual(self.replies(cursor), ["18 stitches"])
        self.assertEqual(self.messages(), [])
        use = self.uses()[0]
        self.assertEqual((use["type"], use["id"], use["command"]), ("command.invoked", f"cmd_{used['id']}", "knit"))
        self.assertEqual((use["user"]["name"], use["conversation"]["id"]), ("grace", self.room))
        used = self.use_in_time("all a sock")
        self.assertEqual(self.messages(), ["a sock"])
        message = self.ask("GET", f"/messages/{used['replies'][0]['message_id']}")
        self.assertEqual((message["author_id"], message["text"]), (self.bot, "a sock"))

    def test_a_late_answer_by_url(self):
        self.receive()
        cursor = self.ask("GET", "/sync?topics=me", name="grace")["cursor"]
        used = self.use_in_time("later one scarf")
        self.assertEqual(used["state"], "delivered")
        # The reply may come before the answer of the request is written.
        self.assertIn([it["text"] for it in used["replies"]], ([], ["one scarf"]))
        self.until(lambda: self.replies(cursor) == ["one scarf"])
        # Beyond the time that the user waits.
        self.refused(424, "command_timed_out", self.use, "slow two scarves")
        self.until(lambda: self.replies(cursor) == ["one scarf", "two scarves"])

    def test_a_replayed_response_url(self):
        self.receive()
        used = self.use_in_time("now 1")
        url = self.uses()[0]["response_url"]
        self.assertEqual(self.reply(url, "2", client_id="a"), 201)
        self.assertEqual(self.reply(url, "2", client_id="a"), 200)
        for text in ("3", "4"):
            self.assertEqual(self.reply(url, text, visible_to="all"), 201)
        self.assertEqual(self.reply(url, "5"), 201)
        self.refused(409, "too_many", self.reply, url, "6")
        self.assertEqual(sorted(self.messages()), ["3", "4"])
        self.refused(404, "not_found", self.reply, url[:-1] + ("0" if url[-1] != "0" else "1"), "7")
        self.assertEqual(len(used["replies"]), 1)

    def test_the_url_of_replies_does_not_follow_the_host_of_the_request(self):
        self.receive()
        body = json.dumps({"name": "knit", "text": "now 1"}).encode()
        fields = {"Authorization": f"Bearer {self.tokens['grace']}", "Content-Type": "application/json", "Host": "evil.example.org"}
        with urlopen(Request(f"{self.daemon.url}/api/v1/conversations/{self.room}/commands", body, fields), timeout=30):
            pass
        self.assertTrue(self.uses()[0]["response_url"].startswith(f"{self.daemon.url}/api/v1/command-replies/"), self.uses())

    def test_no_program_and_a_wrong_answer(self):
        self.refused(424, "command_unreachable", self.use, "now 1", client_id="one")
        self.receive()
        # The use is sent once.
        self.refused(424, "command_unreachable", self.use, "now 1", client_id="one")
        self.assertEqual(self.received(), [])
        self.refused(424, "command_answer_invalid", self.use, "bad 1")

    def test_a_wrong_secret_refuses_the_use(self):
        renewed = self.ask("POST", f"/commands/{self.command['id']}/secret")
        self.receive("whsec_" + "A" * 43 + "=")
        self.refused(424, "command_answer_invalid", self.use, "now 1")
        self.assertEqual(list(self.received()[0]), ["refused"])
        self.receiver.kill()
        for secret in (self.command["secret"], renewed["secret"]):
            self.receive(secret)
            self.assertEqual(self.use_in_time("now 2")["replies"][0]["text"], "2")
            self.receiver.kill()

    def test_a_program_that_hangs_and_is_killed(self):
        self.receive()
        faults = []
        waiting = threading.Thread(target=lambda: faults.append(self.refused(424, "command_unreachable", self.use, "hang 1", client_id="one")))
        waiting.start()
        self.until(self.uses)
        start = time.monotonic()
        self.receiver.kill()
        waiting.join()
        self.assertLess(time.monotonic() - start, 3)
        self.assertEqual(len(faults), 1)
        self.receive()
        self.refused(424, "command_unreachable", self.use, "hang 1", client_id="one")
        # Killed after the use, it knows the URL, and may still reply.
        self.assertEqual(self.reply(self.uses()[0]["response_url"], "late"), 201)
        self.assertEqual(len(self.uses()), 1)

    def test_slow_programs_delay_no_posts(self):
        self.receive()
        threads = [threading.Thread(target=self.refused, args=(424, "command_timed_out", self.use, f"hang {it}")) for it in range(12)]
        for it in threads:
            it.start()
        self.until(lambda: len(self.uses()) >= 8)
        start = time.monotonic()
        self.ask("POST", f"/conversations/{self.room}/messages", {"text": "purl"}, "grace")
        self.assertLess(time.monotonic() - start, 1)
        for it in threads:
            it.join()
        self.assertEqual(len(self.uses()), 8)

    def test_the_daemon_is_killed_during_a_use(self):
        self.receive()
        cursor = self.ask("GET", "/sync?topics=me", name="grace")["cursor"]
        waiting = threading.Thread(target=lambda: self.assertRaises(OSError, self.use, "hang 1", client_id="one"))
        waiting.start()
        self.until(self.uses)
        self.daemon.kill()
        waiting.join()
        self.serve()
        # The repeated request finds the use, and sends nothing.
        used = self.use("hang 1", client_id="one")
        self.assertEqual((used["state"], used["replies"]), ("pending", []))
        self.assertEqual(self.reply(self.uses()[0]["response_url"], "late"), 201)
        self.assertEqual(self.replies(cursor), ["late"])
        self.assertEqual(len(self.uses()), 1)


class Commands(SlashCommandTest):
    def test_commands_of_the_operator(self):
        secret = self.say("commands", "create", "/purl", "needles", self.hook, "--usage", "<n>", "--forum", self.forum).strip()
        self.assertRegex(secret, r"\Awhsec_[A-Za-z0-9+/=]{44}\Z")
        listed = [json.loads(line) for line in self.say("commands", "list", "--json").splitlines()]
        self.assertEqual([(it["name"], it["forums"]) for it in listed], [("knit", None), ("purl", [self.forum])])
        id = listed[1]["id"]
        self.assertEqual(self.say("commands", "disable", id), "")
        self.assertIn("disabled: request", self.say("commands", "list"))
        self.assertEqual(self.say("commands", "enable", id), "")
        self.assertNotEqual(self.say("commands", "rotate", id).strip(), secret)
        self.assertEqual(self.say("commands", "delete", id), "")
        self.assertNotIn("/purl", self.say("commands", "list"))
        done = self.run_parley("commands", "create", "x", "nobody", self.hook, "--data", self.data)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no bot nobody", done.stderr)

    def test_the_program_itself_sends_nothing_to_this_machine(self):
        self.daemon.stop()
        self.daemon = self.start(*parley(self.folder, listen=f"127.0.0.1:{self.port}"))
        self.refused(424, "command_unreachable", self.use, "now 1")
        for url in [self.hook, self.hook.replace("http:", "https:"), "http://example.org/"]:
            body = {"name": "other", "bot_id": self.bot, "url": url}
            problem = self.refused(400, "invalid", self.ask, "POST", "/commands", body)
            self.assertEqual(problem["errors"][0]["field"], "url")
        self.daemon.stop()
        self.daemon = self.start(*parley(self.folder, "--outgoing", "off", listen=f"127.0.0.1:{self.port}"))
        self.refused(403, "previews_off", self.use, "now 1")
        self.assertEqual(self.ask("GET", f"/conversations/{self.room}/commands", name="grace")["data"], [])

    def test_a_user_on_the_command_line(self):
        self.receive()
        home = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY", "XDG"))} | {"HOME": self.folder}
        done = self.run_parley("login", self.daemon.url, "grace", given="wool and needles\n", env=home)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_parley("invoke", "knitting", "/knit now 18 stitches\nand a row", env=home)
        self.assertEqual((done.returncode, done.stdout), (0, "18 stitches\nand a row\n"), done.stderr)
        done = self.run_parley("run", self.room, "knit all a sock", "--json", env=home)
        self.assertEqual(json.loads(done.stdout)["replies"][0]["visible_to"], "all", done.stderr)
        done = self.run_parley("invoke", "knitting", "/knit bad", env=home)
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't be shown", done.stderr)


if __name__ == "__main__":
    unittest.main()
