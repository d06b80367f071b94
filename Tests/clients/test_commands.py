"""The commands that act on messages, topics, notifications and files, and `parley api`."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from restarting import PASSWORD
from servers import PARLEY
from serving import call
from test_following import FollowingTest
from test_client_commands import Home

NUMBER = r"^[1-9][0-9]*\n$"


class Commands(Home, FollowingTest):
    """Commands signed in as ada, and as grace with the profile `grace`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([PARLEY, "user", "create", "grace", "--password-stdin", "--data", cls.data],
                       input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        # Each test has a copy of a home directory in which both are signed in.
        cls.signed_in = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-")))
        for name, *profile in (("ada",), ("grace", "--profile", str(cls.signed_in / "grace.json"))):
            subprocess.run([PARLEY, "login", cls.server.url, name, *profile], input=PASSWORD + "\n", text=True, check=True,
                           capture_output=True, env=Home.environment_of(cls.signed_in), cwd=cls.signed_in)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.signed_in, self.home, dirs_exist_ok=True)
        self.grace = ("--profile", str(self.home / "grace.json"))

    def post(self, text):
        return self.tell("post", "Knitting", "-", given=text).strip()

    def last_lines(self, count=1):
        return self.tell("read", "Knitting", "--limit", str(count))

    # Messages

    def test_a_long_text_is_intact(self):
        number = self.post("Look:\n\n```\nif x {\n\treturn\n}\n```\n")
        shown = self.last_lines().splitlines()
        self.assertRegex(shown[0], rf"^{number}  \d{{4}}-\d\d-\d\d \d\d:\d\d  ada$")
        self.assertEqual(shown[1:], ["    Look:", "", "    ```", "    if x {", "    \treturn", "    }", "    ```"])

    def test_times_are_local(self):
        number = self.post("what time is it?")
        at = json.loads(self.tell("read", "Knitting", "--limit", "1", "--json"))["created_at"]
        environment = {**self.environment(), "TZ": "XYZ-9:30"}  # nine and a half hours east
        shown = subprocess.run([PARLEY, "read", "Knitting", "--limit", "1"], capture_output=True, text=True, timeout=60,
                               env=environment).stdout
        minutes = (int(at[11:13]) * 60 + int(at[14:16]) + 570) % 1440
        self.assertRegex(shown, rf"^{number}  \d{{4}}-\d\d-\d\d {minutes // 60:02}:{minutes % 60:02}  ada  what time")

    def test_colours_only_at_a_terminal_without_no_color(self):
        self.post("colourful")
        for extra, colours in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            ours, theirs = pty.openpty()
            with os.fdopen(theirs, "wb") as terminal:
                subprocess.run([PARLEY, "read", "Knitting", "--limit", "1"], stdout=terminal, timeout=60, check=True,
                               env={**self.environment(), "TERM": "xterm", **extra})
                output = os.read(ours, 1_000)
            os.close(ours)
            self.assertEqual(b"\x1b" in output, colours, extra)
        self.assertNotIn("\x1b", self.last_lines())

    def test_replying_reacting_editing_and_deleting(self):
        number = self.post("Who brings wool?")
        reply = self.tell("reply", f"#{number}", "I do", *self.grace).strip()
        self.assertEqual(self.ask("GET", f"/messages/{reply}")["reply_to"], number)
        self.assertEqual(self.tell("react", number, "👍", *self.grace), "")
        self.assertIn("like", json.loads(self.tell("react", number, "like", "--json"))["actions"])
        self.assertEqual(self.tell("edit", number, "Who brings needles?"), "")
        shown = self.last_lines(2).splitlines()
        self.assertRegex(shown[0], rf"^{number}  .*  ada  Who brings needles\?  \(edited\)  \(like 1\)  \(👍 1\)$")
        self.assertRegex(shown[1], rf"^{reply}  .*  grace  I do  \(reply to {number}\)$")
        self.assertNotIn("like", json.loads(self.tell("react", number, "like", "--remove", "--json"))["actions"])
        self.assertEqual(json.loads(self.tell("edit", number, "-", "--json", given="a\nb\n"))["text"], "a\nb")
        self.check_refused(1, "You may not do this. parley whoami", "edit", number, "mine", *self.grace)
        self.check_refused(2, "needs --yes", "delete", number)
        self.assertTrue(json.loads(self.tell("delete", number, "--yes", "--json"))["deleted"])
        self.assertIn(f"{number}  ", self.last_lines(2).splitlines()[0])
        self.assertIn("(deleted)", self.last_lines(2).splitlines()[0])

    def test_a_terminal_asks_before_a_deletion(self):
        number = self.post("precious")
        for answer, status, deleted in ((b"n\n", 1, False), (b"y\n", 0, True)):
            ours, theirs = pty.openpty()
            with os.fdopen(theirs, "rb") as terminal:
                os.write(ours, answer)
                done = subprocess.run([PARLEY, "delete", number], stdin=terminal, capture_output=True, text=True,
                                      timeout=60, env=self.environment())
            os.close(ours)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("“precious”", done.stderr)
            self.assertEqual(bool(self.ask("GET", f"/messages/{number}").get("deleted")), deleted)

    def test_pages_of_a_conversation(self):
        numbers = [self.post(f"stitch {number}") for number in range(5)]

        def read(*bounds):
            lines = self.tell("read", "Knitting", "--limit", "2", *bounds).splitlines()
            return [line.split("  ")[0] for line in lines]

        self.assertEqual(read("--before", numbers[3]), numbers[1:3])
        self.assertEqual(read("--after", numbers[0]), numbers[1:3])
        self.assertIn(numbers[2], read("--around", numbers[2]))
        self.check_refused(2, "exclude each other", "read", "Knitting", "--before", "9", "--after", "8")
        self.check_refused(2, "not the number of a message", "read", "Knitting", "--before", "x")

    def test_mistakes_name_the_next_step(self):
        self.check_refused(1, "parley read CONVERSATION prints the numbers", "reply", "999999", "x")
        self.check_refused(2, "parley read prints the numbers", "edit", "first", "x")
        self.check_refused(2, "Use an emoji, :name:, like", "react", "9", "banana")
        self.check_refused(1, "parley forums and parley conversations", "read", "999999")
        self.check_refused(2, 'Did you mean "Knitting"?', "read", "kniting")
        self.check_refused(2, "message is empty", "reply", "9", "")
        self.check_refused(2, "Quote a text", "post", "Knitting", "Hello", "world")

    # Topics, inbox, direct messages, files

    def test_pressing_a_button_of_a_bot(self):
        admin = subprocess.run([PARLEY, "token", "ada", "--scope", "admin", "--data", self.data],
                               check=True, capture_output=True, text=True).stdout.strip()
        bot = call(self.server, "POST", "/bots", {"name": "needles", "scope": "write", "forums": [self.forum["id"]]}, admin)
        draft = {"text": "Cast on?", "buttons": [{"id": "yes", "label": "Cast on"}, {"id": "no", "label": "Not yet", "pressed": True}]}
        number = call(self.server, "POST", f"/conversations/{self.room}/messages", draft, bot["token"])["id"]
        self.assertIn("(buttons: Cast on, Not yet (pressed))", self.last_lines())
        self.assertEqual(self.tell("press", number, "cast on"), "")
        press = json.loads(self.tell("press", number, "no", "--json"))
        self.assertEqual((press["button_id"], press["bot_id"]), ("no", bot["user"]["id"]))
        events = call(self.server, "GET", f"/streams/user:{bot['user']['id']}/events?after_offset=0", token=bot["token"])["data"]
        self.assertEqual([it["data"]["button_id"] for it in events if it["event"] == "button.pressed"], ["yes", "no"])
        self.check_refused(2, 'has the buttons "Cast on", "Not yet"', "press", number, "maybe")
        self.check_refused(2, "has no buttons", "press", self.post("plain"), "yes")

    def test_topics(self):
        number = self.tell("create-topic", "knitting", "Scarf plans", "red or blue?").strip()
        made = json.loads(self.tell("new-topic", self.forum["id"], "Hats", "-", "--json", given="two\nlines\n"))
        self.assertIn("red or blue?", self.tell("read", number))
        lines = self.tell("topics", "Knitting").splitlines()
        self.assertRegex(lines[0], rf"^{made['id']}  .*  1 message  Hats$")
        self.assertRegex(lines[1], rf"^{number}  .*  1 message  Scarf plans$")
        listed = [json.loads(line) for line in self.tell("topics", self.room, "--json", "--limit", "1").splitlines()]
        self.assertEqual([topic["id"] for topic in listed], [made["id"]])
        self.assertIn("(new)", self.tell("topics", "Knitting", "--filter", "new", *self.grace))
        self.assertEqual(self.tell("topics", "Knitting", "--query", "SCARF", "--json").count("\n"), 1)
        self.assertEqual(self.tell("topics", "Knitting", "--query", "mittens"), "")
        self.check_refused(2, "new, unread, mine", "topics", "Knitting", "--filter", "old")
        self.check_refused(2, "There is no forum", "topics", "sailing")
        self.check_refused(1, "title is too long", "create-topic", "Knitting", "x" * 500, "text")

    def test_the_inbox(self):
        number = self.tell("post", "Knitting", "@ada look", *self.grace).strip()
        line = self.tell("inbox", "--limit", "1")
        self.assertRegex(line, rf"^\*  {number}  .*  grace  mention  @ada look\n$")
        self.assertEqual(json.loads(self.tell("inbox", "--limit", "1", "--json"))["message_id"], number)
        self.assertIn(number, self.tell("inbox", "--unread", "--kind", "mention", "--read"))
        self.assertEqual(self.tell("inbox", "--unread"), "")
        self.check_refused(2, "--kind takes mention, reply", "inbox", "--kind", "call")

    def test_direct_messages(self):
        first = self.tell("dm", "@ada", "psst", *self.grace).strip()
        second = json.loads(self.tell("dm", "ada", "-", "--json", *self.grace, given="a secret\n"))
        self.assertEqual(second["conversation_id"], self.ask("GET", f"/messages/{first}")["conversation_id"])
        self.assertEqual(second["text"], "a secret")
        self.assertIn("  a secret\n", self.tell("read", "@grace"))
        self.check_refused(2, "There is no user alan", "read", "@alan")
        subprocess.run([PARLEY, "user", "create", "alan", "--password-stdin", "--data", self.data], input=PASSWORD + "\n",
                       text=True, check=True, capture_output=True)
        self.check_refused(2, "parley dm alan TEXT", "read", "@alan")
        self.check_refused(1, "There is no user lovelace", "dm", "lovelace", "hello")
        self.check_refused(2, "not the name of a user", "dm", "a b", "hello")

    def test_files(self):
        content = os.urandom(300_000)
        (self.home / "pattern.bin").write_bytes(content)
        message = self.ask("GET", f"/messages/{self.tell('send-file', self.room, 'pattern.bin').strip()}")
        number = message["attachments"][0]
        self.assertIn(f"(file {number} pattern.bin)", self.last_lines())
        self.check_refused(2, "pattern.bin exists. --force", "get-file", number)
        self.assertEqual(self.tell("get-file", number, "-o", "copy.bin"), "copy.bin\n")
        self.assertEqual((self.home / "copy.bin").read_bytes(), content)
        self.assertEqual(json.loads(self.tell("get-file", number, "--force", "--json"))["id"], number)
        done = subprocess.run([PARLEY, "get-file", number, "--output", "-"], capture_output=True, timeout=60,
                              env=self.environment())
        self.assertEqual(done.stdout, content)
        self.assertEqual([path.name for path in self.home.iterdir() if path.suffix == ".part"], [])
        self.check_refused(1, "There is no file 999999", "get-file", "999999")

    # parley api

    def test_any_request(self):
        self.assertEqual(self.tell("api", "GET", "/me", "--pick", "name"), "ada\n")
        made = self.tell("api", "POST", f"/conversations/{self.room}/messages", "-f", "text=5", "--pick", "text")
        self.assertEqual(made, "5\n")
        changed = self.tell("api", "patch", f"api/v1/forums/{self.forum['id']}", "-F", "slow_seconds=0", "-F", "locked=false")
        self.assertEqual(json.loads(changed)["slow_seconds"], 0)
        group = json.loads(self.tell("api", "POST", "/conversations", "-f", "kind=group", "-f", "title=Walk",
                                     "-f", "participants[][user_id]=@grace", "-f", "participants[][role]=reader"))
        self.assertEqual(group["title"], "Walk")
        sent = self.tell("api", "POST", f"/conversations/{self.room}/messages", "--input", "-", "--pick", "text",
                         given='{"text":"from a pipe"}')
        self.assertEqual(sent, "from a pipe\n")
        (self.home / "text").write_text("from a file\n")
        sent = self.tell("api", "POST", f"/conversations/{self.room}/messages", "-F", "text=@text", "--pick", "text")
        self.assertEqual(sent.strip(), "from a file")
        (self.home / "note.txt").write_text("a note")
        number = self.tell("api", "POST", "/files?name=note.txt", "--input", "note.txt", "-H",
                           "Content-Type: application/octet-stream", "--pick", "id").strip()
        self.assertEqual(self.tell("api", "GET", f"/files/{number}/content"), "a note")
        self.assertTrue(self.tell("api", "HEAD", "/me", "-i").startswith("200\n"))

    def test_all_pages(self):
        numbers = [self.post(f"row {number}") for number in range(5)]
        path = f"/conversations/{self.room}/messages"
        picked = self.tell("api", "GET", path, "-f", "limit=2", "-f", f"after={numbers[0]}", "-f", "order=asc",
                           "--paginate", "--pick", "data.*.id")
        self.assertEqual(picked.split(), numbers[1:])
        pages = self.tell("api", "GET", path + "?limit=2&order=asc", "--paginate").splitlines()
        ids = [message["id"] for page in pages for message in json.loads(page)["data"]]
        self.assertEqual(ids, sorted(set(ids), key=int))
        self.assertEqual(ids[-5:], numbers)
        self.check_refused(2, "--paginate needs the method GET", "api", "POST", path, "--paginate")

    def test_a_refused_request_prints_the_problem(self):
        done = self.parley("api", "GET", "/messages/999999")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["code"], "not_found")
        self.assertEqual(done.stderr, "parley: 404: There is nothing here.\n")
        done = self.parley("api", "POST", f"/conversations/{self.room}/messages", "-F", "text=5")
        self.assertEqual((done.returncode, json.loads(done.stdout)["code"]), (1, "invalid"))
        self.check_refused(1, "no member nmae. Did you mean name?", "api", "GET", "/me", "--pick", "nmae")

    def test_a_closed_pipe_ends_the_output(self):
        for number in range(3):
            self.post("x" * 16_000)
        for command in ("read Knitting", "read Knitting --json", f"api GET /conversations/{self.room}/messages --paginate"):
            done = subprocess.run(f"{PARLEY} {command} | true; exit ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
                                  capture_output=True, text=True, timeout=60, env=self.environment())
            self.assertEqual(done.stderr, "", command)
            self.assertIn(done.returncode, (0, 1), command)
        # The pipe is closed before the command begins.
        for command in (["read", "Knitting"], ["api", "GET", "/forums"], ["help"]):
            ours, theirs = os.pipe()
            os.close(ours)
            with os.fdopen(theirs, "wb") as pipe:
                done = subprocess.run([PARLEY, *command], stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60,
                                      env=self.environment())
            self.assertEqual((done.returncode, done.stderr), (1, ""), command)

    def test_a_full_disk_is_a_failure(self):
        self.post("to be kept")
        for command in (["read", "Knitting"], ["read", "Knitting", "--json"], ["conversations"], ["api", "GET", "/forums"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PARLEY, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                      env=self.environment())
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("standard output", done.stderr, command)

    # Synchronization

    def test_the_whole_room_of_a_public_forum_without_membership(self):
        forum = self.ask("POST", "/forums", {"title": "Garden", "visibility": "public"})
        for number in range(3):
            self.ask("POST", f"/conversations/{forum['room_id']}/messages", {"text": f"seed {number}"})
        found = self.tell("sync", "--whole", "Garden", *self.grace)
        self.assertIn("Up to date", found)
        members = self.ask("GET", f"/forums/{forum['id']}/members")["data"]
        self.assertEqual([it["user"]["name"] for it in members], ["ada"])
        held = self.tell("read", "Garden", *self.grace)
        self.assertEqual([line.split("  ")[-1] for line in held.splitlines()], ["seed 0", "seed 1", "seed 2"])

    # Completions

    def complete(self, *words):
        script = self.tell("completions", "bash") + """
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "${COMPREPLY[@]}"
        """
        if not (self.home / "parley").exists():
            (self.home / "parley").symlink_to(PARLEY)
        environment = {**self.environment(), "PATH": f"{self.home}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, timeout=60,
                              env=environment, cwd=self.home)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def test_completions_of_bash(self):
        # A sign-in of its own, which it ends.
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.tell("login", self.server.url, "ada", given=PASSWORD + "\n")
        self.assertEqual(self.complete("parley", "outb"), ["outbox"])
        self.assertEqual(self.complete("parley", "outbox", "r"), ["retry"])
        self.assertEqual(self.complete("parley", "read", "Knitting", "--be"), ["--before"])
        self.assertEqual(self.complete("parley", "user", "role", "ada", "o"), ["owner"])
        (self.home / "two words").touch()
        self.assertEqual(self.complete("parley", "send-file", "Knitting", "two"), ["two words"])
        self.assertEqual(self.complete("parley", "read", "Knitting", "--limit", ""), [""])
        self.ask("POST", "/forums", {"title": f"Wool & {self.id()[-5:]}", "visibility": "public"})
        self.assertEqual(self.complete("parley", "topics", "kni"), ["Knitting"])
        self.assertEqual(self.complete("parley", "post", "--json", "wool"), [f"Wool\\ \\&\\ {self.id()[-5:]}"])
        self.assertEqual(self.complete("parley", "post", '"wool'), [f"Wool & {self.id()[-5:]}"])
        self.tell("logout")
        self.assertEqual(self.complete("parley", "topics", "kni"), [""])

    def test_completions_of_zsh_and_fish(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = self.home / shell
            script.write_text(self.tell("completions", shell))
            done = subprocess.run([*check, str(script)], capture_output=True, text=True, timeout=60,
                                  env=self.environment())
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        (self.home / "parley").symlink_to(PARLEY)
        environment = {**self.environment(), "PATH": f"{self.home}:{os.environ['PATH']}"}
        for line, found in (("parley read kni", "Knitting"), ("parley outbox re", "retry"), ("parley user role ada o", "owner")):
            done = subprocess.run(["fish", "-c", f"source {self.home}/fish; complete -C '{line}'"], capture_output=True,
                                  text=True, timeout=60, env=environment, cwd=self.home)
            self.assertEqual(done.stdout.split("\t")[0].strip(), found, done.stderr)

    def test_the_manual_page(self):
        page = self.tell("manual")
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", "-P-cbou"], input=page, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("EXIT STATUS", done.stdout)
        self.assertIn("parley api GET", done.stdout)


if __name__ == "__main__":
    unittest.main()
