"""The commands of site users, which talk to a server as an app does."""

import json
import os
import pty
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from restarting import PASSWORD, RestartingTest
from servers import PARLEY
from test_following import FollowingTest

QUEUED = re.compile(r"^queued [0-9a-f]{32}\n$")


class Home:
    """A temporary home directory, in which the commands run."""

    def setUp(self):
        super().setUp()
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))

    def environment(self):
        return self.environment_of(self.home)

    @staticmethod
    def environment_of(home):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY", "XDG"))}
        return {**environment, "HOME": str(home)}

    def parley(self, *arguments, given=None):
        return subprocess.run([PARLEY, *arguments], input=given or "", capture_output=True, text=True, timeout=60,
                              env=self.environment(), cwd=self.home)

    def tell(self, *arguments, given=None, warning=""):
        done = self.parley(*arguments, given=given)
        self.assertEqual(done.returncode, 0, done.stderr)
        if warning:
            self.assertIn(warning, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        return done.stdout

    def check_refused(self, status, words, *arguments, given=None):
        done = self.parley(*arguments, given=given)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(words, done.stderr)


class ClientCommands(Home, FollowingTest):
    """Commands signed in as ada; each test has its own home."""

    def sign_in(self):
        return self.tell("login", self.server.url, "ada", given=PASSWORD + "\n")

    def test_signing_in_and_out(self):
        self.check_refused(2, "parley login", "whoami")
        self.check_refused(1, "rejected the user name or password", "login", self.server.url, "ada", given="guess\n")
        self.check_refused(2, "begins with http://", "login", self.server.url.removeprefix("http://"), "ada",
                           given=PASSWORD + "\n")
        self.assertIn("as ada", self.sign_in())
        profile = self.home / ".config" / "parley" / "profile.json"
        self.assertEqual(profile.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(PASSWORD, profile.read_text())
        self.assertTrue(self.tell("whoami").startswith("ada at "))
        self.assertEqual(json.loads(self.tell("whoami", "--json"))["name"], "ada")
        self.assertEqual(self.tell("logout"), "Signed out.\n")
        self.assertEqual(list(profile.parent.iterdir()), [])
        self.check_refused(2, "parley login", "forums")

    def test_a_sign_in_that_cannot_be_stored_leaves_no_session(self):
        sessions = len(self.ask("GET", "/sessions")["data"])
        file = self.home / "file"
        file.write_text("")
        done = self.parley("login", self.server.url, "ada", "--profile", str(file / "profile.json"), given=PASSWORD + "\n")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(len(self.ask("GET", "/sessions")["data"]), sessions)

    def test_an_ended_session(self):
        self.sign_in()
        profile = self.home / ".config" / "parley" / "profile.json"
        profile.write_text(json.dumps({**json.loads(profile.read_text()), "token": "0" * 64}))
        for command in (["whoami"], ["read", self.room], ["sync"], ["tail", "me"], ["conversations"]):
            self.check_refused(1, "The session has ended. Sign in again with parley login", *command)
        self.check_refused(1, "parley login", "post", self.room, "later")
        self.assertIn("“later”", self.tell("outbox"))

    def test_posting_and_reading(self):
        self.sign_in()
        self.assertIn(f"{self.room}  Knitting", self.tell("forums").splitlines())
        first = self.tell("post", "knitting", "Pizza party \N{BELL}\x1b[31m!").strip()
        self.assertEqual(self.ask("GET", f"/messages/{first}")["conversation_id"], self.room)
        self.tell("post", self.room, "-", given="two\nlines\n")
        lines = [json.loads(line) for line in self.tell("read", "Knitting", "--json").splitlines()]
        self.assertEqual([line["text"] for line in lines][-1], "two\nlines")
        shown = self.tell("read", self.room, "--limit", "2")
        self.assertIn("ada", shown)
        self.assertNotIn("\x1b", shown)
        self.assertIn("Pizza party", self.tell("search", "pizza"))
        self.check_refused(1, "No messages found", "search", "anchovies")
        self.check_refused(2, "no forum", "read", "sailing")
        self.check_refused(2, "message is empty", "post", self.room, "")
        self.check_refused(2, "no word", "search", '""')
        self.check_refused(2, "only exclusions", "search", " -anchovies")
        self.check_refused(2, "at most 1000 bytes", "search", "x" * 1_001)
        self.check_refused(1, "no conversation 999999", "read", "999999")

    def test_conversations_and_unread_counts(self):
        self.sign_in()
        made = self.ask("POST", "/conversations", {"kind": "group", "title": "Scarf planning", "participants": []})
        self.assertIn(f"{made['id']}  Scarf planning", self.tell("conversations").splitlines())
        listed = [json.loads(line) for line in self.tell("conversations", "--json").splitlines()]
        self.assertIn((made["id"], "Scarf planning", 0),
                      [(one["conversation"]["id"], one["title"], one["unread_count"]) for one in listed])
        self.tell("post", "scarf planning", "red or blue?")
        self.assertIn("red or blue?", self.tell("read", made["id"]))

    def test_tail_ends_when_its_output_closes(self):
        self.sign_in()
        process = subprocess.Popen([PARLEY, "tail", f"conversation:{self.room}", "--after", self.cursor],
                                   stdout=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.close()
        for number in range(200):
            self.tell("post", self.room, f"anybody there? {number}")
            if process.poll() is not None:
                break
            time.sleep(0.1)
        self.assertEqual(process.poll(), 1)

    def test_names_are_bold_on_a_terminal(self):
        self.sign_in()
        self.tell("post", self.room, "Scarves \x1b[31m")
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with os.fdopen(theirs, "wb") as terminal:
            environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
            subprocess.run([PARLEY, "read", self.room, "--limit", "1"], stdout=terminal, env=environment, timeout=60,
                           check=True)
            self.assertIn(b"  \x1b[1mada\x1b[0m  Scarves  [31m", os.read(ours, 1_000))

    def test_files(self):
        self.sign_in()
        for size in (1_000, 9_000_000):
            file = self.home / f"{size}.bin"
            file.write_bytes(os.urandom(size))
            message = self.ask("GET", f"/messages/{self.tell('send-file', self.room, str(file)).strip()}")
            sent = [self.ask("GET", f"/files/{attached}") for attached in message["attachments"]]
            self.assertEqual([(one["name"], one["size"]) for one in sent], [(file.name, size)])
        self.check_refused(2, "Can't read", "send-file", self.room, str(self.home / "none"))
        self.check_refused(2, "is not a file", "send-file", self.room, str(self.home))

    def test_an_unreachable_server(self):
        self.check_refused(2, "Can’t reach the server", "login", "http://127.0.0.1:1", "ada", given="x\n")
        self.check_refused(2, "not a server address", "login", "nonsense://", "ada", given="x\n")

    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("send-file", self.tell("completions", shell))
        done = subprocess.run(["bash", "-n"], input=self.tell("completions", "bash"), text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_refused(2, "bash, zsh and fish", "completions", "tcsh")

    def test_tail(self):
        self.sign_in()
        cursor = self.cursor
        self.tell("post", "Knitting", "now, from afar")
        # A title or an id stands for the conversation, as in other commands.
        for topic in (f"conversation:{self.room}", "knitting", self.room):
            process = subprocess.Popen([PARLEY, "tail", topic, "--after", cursor],
                                       stdout=subprocess.PIPE, text=True, env=self.environment(), cwd=self.home)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            watch = threading.Timer(100, process.kill)
            watch.start()
            line = process.stdout.readline()
            watch.cancel()
            process.kill()
            process.stdout.close()
            self.assertRegex(line, rf"conversation:{self.room} message.created by ada “now, from afar”")
        self.check_refused(2, "timeline", "tail", "conversation:x")
        self.check_refused(2, 'no forum or conversation "Kniting". Did you mean "Knitting"', "tail", "Kniting")

    def test_a_refused_message_is_not_queued(self):
        self.sign_in()
        self.check_refused(1, "text is too long: at most 16000", "post", self.room, "x" * 16_001)
        self.check_refused(1, "There is nothing here", "post", "999999", "to nobody")
        self.assertEqual(self.tell("outbox"), "")

    def test_concurrent_commands(self):
        self.sign_in()
        posts = [subprocess.Popen([PARLEY, "post", self.room, f"at once {number}"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=self.environment(), cwd=self.home)
                 for number in range(4)]
        ends = [(*post.communicate(timeout=60), post.returncode) for post in posts]
        self.assertEqual([status for _, _, status in ends], [0] * 4, ends)
        said = [message["text"] for message in self.ask("GET", f"/conversations/{self.room}/messages?limit=10")["data"]]
        self.assertEqual(sorted(text for text in said if text.startswith("at once")),
                         [f"at once {number}" for number in range(4)])


class Offline(Home, RestartingTest):
    """Commands signed in at a server that stops and restarts, with or without a proxy."""

    waits = True

    def sign_in(self, url=None):
        return self.tell("login", url or self.url, "ada", given=PASSWORD + "\n")

    def said(self):
        page = self.ask("GET", f"/conversations/{self.room}/messages?order=asc&limit=200")
        return [message["text"] for message in page["data"]]

    def test_offline_posts_are_sent_after_a_restart(self):
        self.sign_in()
        self.tell("sync")
        self.tell("post", "Knitting", "before")
        self.server.stop()
        for text in ("one", "two", "three"):
            self.assertRegex(self.tell("post", "Knitting", text, warning="Can’t reach the server"), QUEUED)
        file = self.home / "note.txt"
        file.write_text("a note")
        self.assertRegex(self.tell("send-file", self.room, "note.txt", warning="Can’t reach the server"), QUEUED)
        waiting = [json.loads(line) for line in self.tell("outbox", "--json").splitlines()]
        self.assertEqual([one["draft"]["text"] for one in waiting], ["one", "two", "three", ""])
        self.assertIn("“two”", self.tell("outbox"))
        self.assertIn("cancelled", self.tell("outbox", "cancel", waiting[1]["id"][:12]))
        self.check_refused(1, "sent or cancelled", "outbox", "cancel", "0" * 32)
        self.check_refused(1, "are unsent", "logout")
        self.check_refused(2, "Can’t reach the server", "sync")
        self.server = self.serve()
        self.assertIn("before", self.tell("read", "Knitting", warning="Sent 3 queued operations"))
        self.assertEqual(self.said(), ["before", "one", "three", ""])
        self.assertEqual(self.tell("outbox"), "")
        self.assertEqual(self.tell("logout"), "Signed out.\n")

    def test_reading_offline(self):
        self.sign_in()
        for number in range(30):
            self.ask("POST", f"/conversations/{self.room}/messages", {"text": f"stitch {number}"})
        self.assertIn("Up to date", self.tell("sync", "--whole", "Knitting"))
        self.server.stop()
        shown = self.tell("read", "knitting", "--limit", "2", warning="Showing cached data").splitlines()
        self.assertEqual([line.split("  ")[2:] for line in shown], [["ada", "stitch 28"], ["ada", "stitch 29"]])
        found = self.tell("search", "stitch", "--limit", "3", "--json", warning="Showing cached data").splitlines()
        self.assertEqual([json.loads(line)["text"] for line in found], ["stitch 29", "stitch 28", "stitch 27"])
        self.check_refused(2, "Can’t reach the server", "search", "anchovies")
        self.assertTrue(self.tell("whoami", warning="Showing cached data").startswith("ada at "))
        self.assertEqual(self.tell("forums", warning="Showing cached data"), f"{self.room}  Knitting\n")
        self.assertEqual(json.loads(self.tell("forums", "--json", warning="Showing cached data"))["title"], "Knitting")
        self.tell("conversations", warning="Showing cached data")
        number = shown[0].split("  ")[0]
        self.assertRegex(self.tell("reply", number, "a reply", warning="Can’t reach the server"), QUEUED)
        self.check_refused(2, "Can’t reach the server", "reply", "999999", "a reply")
        self.check_refused(2, "Can’t reach the server", "edit", number, "a text")
        self.assertEqual(self.tell("complete-titles", "conversations"), "Knitting\n")
        self.assertRegex(self.tell("post", "Knitting", "stitch unsent", warning="Can’t reach the server"), QUEUED)
        self.assertIn("ada  stitch unsent  (unsent)", self.tell("read", "Knitting", warning="Showing cached data"))
        self.assertIn("ada  stitch unsent  (unsent)", self.tell("search", "unsent", warning="Showing cached data"))
        self.server = self.serve()
        synced = json.loads(self.tell("sync", "--json", warning="Sent 2 queued operations"))
        self.assertEqual((synced["sent"], synced["forums"]), (2, 1))

    def test_another_user_sees_no_data_of_the_first(self):
        self.sign_in()
        self.tell("user", "create", "grace", "--password-stdin", "--data", str(self.data), given=PASSWORD + "\n")
        self.server.stop()
        self.assertRegex(self.tell("post", self.room, "of ada", warning="Can’t reach the server"), QUEUED)
        self.server = self.serve()
        self.check_refused(1, "One operation is unsent", "login", self.url, "grace", given=PASSWORD + "\n")
        self.assertIn("“of ada”", self.tell("outbox"))
        self.tell("login", self.url, "grace", "--force", given=PASSWORD + "\n")
        self.assertEqual(self.tell("outbox"), "")
        self.assertEqual(self.said(), [])

    def test_a_send_killed_before_the_response_is_stored_once(self):
        self.sign_in()
        profile = self.home / ".config" / "parley" / "profile.json"
        for number in range(5):
            silent = Silent(self.port)
            self.addCleanup(silent.close)
            contents = json.loads(profile.read_text())
            profile.write_text(json.dumps({**contents, "server": f"http://127.0.0.1:{silent.port}"}))
            process = subprocess.Popen([PARLEY, "post", self.room, f"once {number}"], env=self.environment(),
                                       cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            self.assertTrue(silent.answered.wait(100))
            process.kill()
            self.assertEqual(process.communicate()[0], b"")
            profile.write_text(json.dumps({**contents, "server": self.url}))
            waiting = [json.loads(line) for line in self.tell("outbox", "--json").splitlines()]
            self.assertEqual([one["draft"]["text"] for one in waiting], [f"once {number}"])
            self.tell("sync", warning="Sent 1 queued operation")
        self.assertEqual(self.said(), [f"once {number}" for number in range(5)])

    def test_a_killed_command_loses_and_duplicates_no_message(self):
        self.sign_in()
        dice = random.Random(5)
        # The delay adapts so that about half of the commands are killed at any machine speed.
        promised, killed, max_delay = [], 0, 0.08
        for number in range(400):
            if killed == 25:
                break
            isSync = number % 4 == 3
            command = ["sync", "--whole", "Knitting"] if isSync else ["post", self.room, f"text {number}"]
            process = subprocess.Popen([PARLEY, *command], env=self.environment(), cwd=self.home,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            time.sleep(dice.uniform(0, max_delay))
            process.send_signal(signal.SIGKILL)
            output = process.communicate()[0]
            isKilled = process.returncode == -signal.SIGKILL
            killed += isKilled
            max_delay *= 1.1 if isKilled else 0.9
            if output and not isSync:
                promised.append(f"text {number}")
        self.assertEqual(killed, 25)
        self.assertEqual(self.parley("sync", "--whole", "Knitting").returncode, 0)
        self.assertEqual(self.tell("outbox"), "")
        said = self.said()
        self.assertEqual(sorted(set(said), key=lambda text: int(text.split()[1])), said)
        self.assertEqual([text for text in promised if text not in said], [])
        self.server.stop()
        cached = [json.loads(line)["text"] for line in
                self.tell("read", "Knitting", "--limit", "200", "--json", warning="Showing cached data").splitlines()]
        self.assertEqual(cached, said)


class Silent:
    """A proxy that forwards requests and drops responses."""

    def __init__(self, port):
        self.target = port
        self.answered = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        with client, socket.create_connection(("127.0.0.1", self.target), timeout=40) as server:
            threading.Thread(target=self.hear, args=(server,), daemon=True).start()
            try:
                while data := client.recv(65536):
                    server.sendall(data)
            except OSError:
                return

    def hear(self, server):
        try:
            if server.recv(65536):
                self.answered.set()
        except OSError:
            return

    def close(self):
        self.listener.close()


if __name__ == "__main__":
    unittest.main()
