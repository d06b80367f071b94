"""Webhooks as other programs use them: Slack's SDK, a library for Discord, curl, and the commands of the operator."""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from discord_webhook import DiscordEmbed, DiscordWebhook
from restarting import RestartingTest
from servers import PARLEY
from serving import ServingTest, call, parley
from slack_sdk.webhook import WebhookClient


class Hooked(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = str(Path(cls.folder) / "data")
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder)))
        cls.say("user", "create", "ada", "--role", "owner", "--password-stdin", given="wool and needles\n")
        cls.token = cls.say("token", "ada", "--scope", "admin").strip()

    @classmethod
    def parley(cls, *arguments, given=None):
        return subprocess.run([PARLEY, *arguments, "--data", cls.data], input=given, capture_output=True, text=True, timeout=60)

    @classmethod
    def say(cls, *arguments, given=None):
        done = cls.parley(*arguments, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def setUp(self):
        self.room = call(self.server, "POST", "/forums", {"title": self.id(), "visibility": "private"}, self.token)["room_id"]

    def create(self, name="Builds"):
        made = call(self.server, "POST", "/webhooks", {"conversation_id": self.room, "name": name}, self.token)
        self.assertTrue(made["url"].startswith(self.server.url + "/api/v1/hooks/"), made["url"])
        return made["url"]

    def texts(self):
        page = call(self.server, "GET", f"/conversations/{self.room}/messages?order=asc", token=self.token)
        return [it["text"] for it in page["data"]]


class Slack(Hooked):
    def test_a_text(self):
        answer = WebhookClient(self.create()).send(text="Build *812*: <https://ci.example.org/812?a=1&amp;b=2|log> &lt;ok&gt;")
        self.assertEqual((answer.status_code, answer.body), (200, "ok"))
        self.assertEqual(self.texts(), ["Build **812**: [log](https://ci.example.org/812?a=1&b=2) &lt;ok&gt;"])

    def test_blocks_and_attachments_of_its_models(self):
        from slack_sdk.models.attachments import Attachment, AttachmentField
        from slack_sdk.models.blocks import ButtonElement, ContextBlock, DividerBlock, HeaderBlock, SectionBlock

        blocks = [
            HeaderBlock(text="Deploy"), SectionBlock(text="*done* by <@ada>", fields=["*Where*\nproduction"]), DividerBlock(),
            ContextBlock(elements=[{"type": "mrkdwn", "text": "~slow~"}]),
            SectionBlock(text="More", accessory=ButtonElement(text="Open", action_id="a", url="https://ci.example.org")),
        ]
        attachments = [Attachment(text="*log*", title="Run", title_link="https://ci.example.org/1", fallback="run",
                                  fields=[AttachmentField(title="Tests", value="12")])]
        answer = WebhookClient(self.create()).send(text="fallback", blocks=blocks, attachments=attachments)
        self.assertEqual((answer.status_code, answer.body), (200, "ok"))
        self.assertEqual(self.texts(), [
            "### Deploy\n\n**done** by @ada\n**Where**\nproduction\n\n---\n\n~~slow~~\n\nMore\n[Open](https://ci.example.org)\n\n"
            "> **[Run](https://ci.example.org/1)**\n> **log**\n> **Tests** 12"])

    def test_a_refused_message_is_an_error_of_the_sdk(self):
        url = self.create()
        self.assertEqual(WebhookClient(url).send(text="").status_code, 400)
        self.assertEqual(WebhookClient(url[:-1] + ("0" if url[-1] != "0" else "1")).send(text="x").status_code, 404)
        self.assertEqual(self.texts(), [])


class Discord(Hooked):
    def test_content_and_an_embed(self):
        webhook = DiscordWebhook(url=self.create() + "?format=discord", content="**hi** <:parrot:1>", username="CI")
        embed = DiscordEmbed(title="Build", description="done", url="https://ci.example.org", color="03b2f8")
        embed.set_author(name="ada", url="https://ci.example.org/ada")
        embed.add_embed_field(name="Tests", value="12")
        embed.set_footer(text="ci")
        embed.set_timestamp()
        webhook.add_embed(embed)
        answer = webhook.execute()
        self.assertIn(answer.status_code, (200, 204))
        self.assertEqual(self.texts(), [
            "**CI**\n**hi** :parrot:\n\n> [ada](https://ci.example.org/ada)\n> **[Build](https://ci.example.org)**\n> done\n"
            "> **Tests** 12\n> ci"])


class Curl(Hooked):
    def test_a_form_and_bodies_as_curl_sends_them(self):
        url = self.create()
        for arguments in (["--data-urlencode", 'payload={"text":"a & b"}'], ["--data", '{"text":"c"}'],
                          ["--json", '{"text":"d"}'], ["--header", "Authorization: Bearer wrong", "--json", '{"text":"e"}']):
            self.assertEqual(self.curl(*arguments, url), b"ok")
        self.assertEqual(self.texts(), ["a & b", "c", "d", "e"])

    def test_a_large_body_is_refused_before_it_is_read(self):
        url = self.create()
        target = urlsplit(url)
        connection = HTTPConnection(target.hostname, target.port, timeout=60)
        self.addCleanup(connection.close)
        connection.putrequest("POST", target.path)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", "262145")):
            connection.putheader(name, value)
        connection.endheaders()
        status = connection.getresponse().status
        self.assertEqual(status, 413)
        self.assertEqual(self.texts(), [])

    def test_a_repeated_post_survives_the_death_of_the_server(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            for round in range(2):
                with self.start(*parley(folder)) as server:
                    if round == 0:
                        run = lambda *arguments, given=None: subprocess.run(
                            [PARLEY, *arguments, "--data", Path(folder) / "data"], input=given, check=True, capture_output=True, text=True).stdout
                        run("user", "create", "ada", "--role", "owner", "--password-stdin", given="wool and needles\n")
                        token = run("token", "ada", "--scope", "admin").strip()
                        room = call(server, "POST", "/forums", {"title": "Builds"}, token)["room_id"]
                        path = run("webhooks", "create", room, "Builds").strip().split("/api/v1")[1]
                    for _ in range(2):
                        self.assertEqual(self.curl("--json", '{"text":"x","client_id":"c1"}', f"{server.url}/api/v1{path}"), b"ok")
                    page = call(server, "GET", f"/conversations/{room}/messages", token=token)
                    self.assertEqual(len(page["data"]), 1)


# A program that stores the number of its next post after each acknowledgement. It begins three posts earlier, as if the last
# numbers were not stored.
SENDER = """
import json, os, sys, time
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

url, state, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
number = 0
if os.path.exists(state):
    with open(state) as file:
        number = max(0, int(file.read()) - 3)
while number < count:
    body = json.dumps({"text": f"post {number}"}).encode()
    request = Request(url, body, {"Content-Type": "application/json", "Idempotency-Key": f"post-{number}"})
    try:
        with urlopen(request, timeout=10) as answer:
            if answer.read() != b"ok":
                sys.exit("no acknowledgement")
    except HTTPError as error:
        if error.code != 503:
            raise
        time.sleep(0.02)
        continue
    except (URLError, HTTPException, ConnectionError, TimeoutError):
        time.sleep(0.02)
        continue
    number += 1
    with open(state + ".new", "w") as file:
        file.write(str(number))
    os.replace(state + ".new", state)
"""


class Crashes(RestartingTest):
    """1,000 posts of four senders, each repeated until it is acknowledged, while the server is killed."""

    SENDERS, POSTS, KILLS = 4, 250, 8
    LIMITS = ("--rate-webhooks=1000000", "--rate-webhooks-burst=1000000")

    def serve(self):
        return self.start(*parley(self.folder, *self.LIMITS, listen=f"127.0.0.1:{self.port}"))

    def send(self, sender, url, sent):
        for number in range(self.POSTS):
            body = json.dumps({"text": f"{sender}-{number}"}).encode()
            request = Request(url, body, {"Content-Type": "application/json", "Idempotency-Key": f"post-{number}"})
            # Every tenth post is sent again after its acknowledgement.
            for _ in range(2 if number % 10 == 0 else 1):
                while not self.acknowledges(request):
                    time.sleep(0.02)
            sent[sender] = number + 1

    def acknowledges(self, request):
        try:
            with urlopen(request, timeout=10) as answer:
                return answer.read() == b"ok"
        except HTTPError as error:
            # A starting or stopping server has no other answer.
            self.assertEqual(error.code, 503)
        except (URLError, HTTPException, ConnectionError, TimeoutError):
            pass
        return False

    def texts(self):
        texts, path = [], f"/conversations/{self.room}/messages?order=asc&limit=200"
        page = self.ask("GET", path)
        while True:
            texts += [it["text"] for it in page["data"]]
            if not page["next"]:
                return texts
            page = self.ask("GET", f"{path}&next={page['next']}")

    def test_each_post_is_there_once_in_the_order_of_its_sender_while_the_server_is_killed(self):
        urls = [self.ask("POST", "/webhooks", {"conversation_id": self.room, "name": f"Builds {sender}"})["url"]
                for sender in range(self.SENDERS)]
        sent = [0] * self.SENDERS
        senders = [threading.Thread(target=self.send, args=(sender, url, sent)) for sender, url in enumerate(urls)]
        for sender in senders:
            sender.start()
        total = self.SENDERS * self.POSTS
        for kill in range(1, self.KILLS + 1):
            deadline = time.monotonic() + 120
            while sum(sent) < total * kill // (self.KILLS + 1):
                self.assertLess(time.monotonic(), deadline, sent)
                time.sleep(0.005)
            self.server.kill()
            self.server = self.serve()
        for sender in senders:
            sender.join(300)
        self.assertEqual(sent, [self.POSTS] * self.SENDERS)
        texts = self.texts()
        for sender in range(self.SENDERS):
            own = [text for text in texts if text.startswith(f"{sender}-")]
            self.assertEqual(own, [f"{sender}-{number}" for number in range(self.POSTS)])
        self.assertEqual(len(texts), total)

    def test_each_post_is_there_once_and_in_order_while_the_sender_is_killed(self):
        """The sender is killed after any number of posts, between a post and its acknowledgement, too; the server now and then."""
        posts, kills = 600, 12
        url = self.ask("POST", "/webhooks", {"conversation_id": self.room, "name": "Builds"})["url"]
        state = Path(self.folder) / "sender"
        dice = random.Random(7)

        def start():
            process = subprocess.Popen([sys.executable, "-c", SENDER, url, state, str(posts)])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            return process

        def sent():
            return int(state.read_text()) if state.exists() else 0

        for kill in range(1, kills + 1):
            sender = start()
            deadline = time.monotonic() + 120
            while sent() < posts * kill // (kills + 1):
                self.assertLess(time.monotonic(), deadline, sent())
                self.assertIsNone(sender.poll())
                time.sleep(0.002)
            # At any point of the next post.
            time.sleep(dice.random() * 0.01)
            sender.kill()
            sender.wait()
            if kill % 4 == 0:
                self.server.kill()
                self.server = self.serve()
        self.assertEqual(start().wait(120), 0)
        self.assertEqual(self.texts(), [f"post {number}" for number in range(posts)])


class Commands(Hooked):
    def test_webhooks_are_created_listed_rotated_and_deleted(self):
        self.assertEqual(self.say("webhooks", "list").split(), ["ID", "NAME", "CONVERSATION", "OWNER", "STATE", "LAST", "USED"])
        url = self.say("webhooks", "create", self.room, "CI Builds")
        self.assertRegex(url, r"\Ahttp://\S+/api/v1/hooks/[0-9a-f]{64}\n\Z")
        webhook = json.loads(self.say("webhooks", "list", "--json"))
        self.assertEqual((webhook["name"], webhook["conversation_id"]), ("CI Builds", self.room))
        self.assertNotIn("url", webhook)
        line = self.say("webhooks", "list").splitlines()[1]
        self.assertEqual(line.split(), [webhook["id"], "CI", "Builds", self.room, "ada", "enabled", "never"])
        path = lambda text: text.strip().split("/api/v1")[1]
        renewed = self.say("webhooks", "rotate", webhook["id"])
        self.assertEqual(self.curl("--json", '{"text":"x"}', f"{self.server.url}/api/v1{path(renewed)}"), b"ok")
        self.assertIn(b"not_found", self.curl("--json", '{"text":"x"}', f"{self.server.url}/api/v1{path(url)}"))
        self.assertEqual(self.say("webhooks", "delete", webhook["id"]), "")
        self.assertEqual(self.say("webhooks", "list", "--json"), "")
        self.assertIn(b"not_found", self.curl("--json", '{"text":"x"}', f"{self.server.url}/api/v1{path(renewed)}"))

    def test_commands_act_on_the_server_of_a_sign_in(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            profile = ("--profile", str(Path(folder) / "profile.json"))
            run = lambda *arguments, given=None: subprocess.run(
                [PARLEY, *arguments, *profile], input=given, capture_output=True, text=True, timeout=60)
            signed_in = run("login", self.server.url, "ada", "--json", given="wool and needles\n")
            self.assertEqual(json.loads(signed_in.stdout)["name"], "ada", signed_in.stderr)
            made = run("webhooks", "create", self.room, "From afar", "--remote", "--json")
            self.assertEqual(made.returncode, 0, made.stderr)
            made = json.loads(made.stdout)
            self.assertEqual((made["name"], made["conversation_id"]), ("From afar", self.room))
            self.assertEqual(self.curl("--json", '{"text":"x"}', made["url"]), b"ok")
            listed = [json.loads(line) for line in run("webhooks", "list", "--remote", "--json").stdout.splitlines()]
            self.assertIn(made["id"], [it["id"] for it in listed])
            self.assertEqual(run("webhooks", "delete", made["id"], "--remote", "--json").stdout, "{}\n")
            token = run("bot", "create", "afar", "--remote").stdout.strip()
            self.assertEqual(call(self.server, "GET", "/me", token=token)["name"], "afar")
            renewed = run("bot", "create-token", "afar", "--remote").stdout.strip()
            old = next(line.split()[0] for line in reversed(run("bot", "tokens", "afar", "--remote").stdout.splitlines()))
            self.assertEqual(run("bot", "revoke-token", "afar", old, "--remote").returncode, 0)
            self.assertEqual(call(self.server, "GET", "/me", token=renewed)["name"], "afar")
            with self.assertRaises(HTTPError) as refused:
                call(self.server, "GET", "/me", token=token)
            self.assertEqual(refused.exception.code, 401)
            # On the machine of the server, too.
            self.assertIn("afar", self.say("bot", "tokens", "afar"))
            refused = run("webhooks", "delete", "x", "--remote")
            self.assertEqual((refused.returncode, refused.stderr), (2, "parley: x is not an id.\n"))
        done = self.parley("webhooks", "list", "--remote", "--profile", "/nonexistent/profile")
        self.assertEqual(done.returncode, 2)
        self.assertIn("parley login", done.stderr)

    def test_mistakes_are_told(self):
        for arguments, status, words in [
                (("webhooks",), 2, "needs one of create"), (("webhooks", "create", self.room), 2, "needs a NAME"),
                (("webhooks", "create", "999999", "Builds"), 1, "conversation id is unknown"),
                (("webhooks", "rotate", "a/b"), 2, "not an id"), (("webhooks", "rotate", "999999"), 1, "")]:
            with self.subTest(arguments):
                done = self.parley(*arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(words, done.stderr.splitlines()[-1])

    def test_the_access_log_has_no_secret(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            secret = "5f3d" + "ab" * 30
            with self.start(*parley(folder)) as server:
                self.curl("--json", '{"text":"x"}', f"{server.url}/api/v1/hooks/{secret}")
            self.assertIn("/api/v1/hooks/5f3d…", server.output())
            self.assertNotIn(secret, server.output())


if __name__ == "__main__":
    unittest.main()
