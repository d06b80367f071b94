"""The commands of people at a place, which speak to a server as an app does."""

import json
import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

from servers import PARLEY
from test_following import FollowingTest

PASSWORD = "wool and needles"


class Talk(FollowingTest):
    """One signed in as ada, each test at a home of its own."""

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))

    def parley(self, *arguments, given=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY", "XDG"))}
        return subprocess.run([PARLEY, *arguments], input=given or "", capture_output=True, text=True, timeout=60,
                              env={**environment, "HOME": str(self.home)})

    def tell(self, *arguments, given=None):
        done = self.parley(*arguments, given=given)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def sign_in(self):
        return self.tell("login", self.server.url, "ada", given=PASSWORD + "\n")

    def check_refused(self, status, words, *arguments, given=None):
        done = self.parley(*arguments, given=given)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(words, done.stderr)

    def test_coming_and_going(self):
        self.check_refused(2, "parley login", "whoami")
        self.check_refused(1, "Sign in", "login", self.server.url, "ada", given="guess\n")
        self.assertIn("as ada", self.sign_in())
        profile = self.home / ".config" / "parley" / "profile.json"
        self.assertEqual(profile.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(PASSWORD, profile.read_text())
        self.assertTrue(self.tell("whoami").startswith("ada at "))
        self.assertEqual(json.loads(self.tell("whoami", "--json"))["name"], "ada")
        self.assertEqual(self.tell("logout"), "Signed out.\n")
        self.assertFalse(profile.exists())
        self.check_refused(2, "parley login", "forums")

    def test_saying_and_reading(self):
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
        self.check_refused(1, "Nothing", "search", "anchovies")
        self.check_refused(2, "no forum", "read", "sailing")
        self.check_refused(1, "nothing here", "read", "999999")

    def test_names_are_set_off_on_a_terminal(self):
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
        self.check_refused(2, "can't be read", "send-file", self.room, str(self.home / "none"))
        self.check_refused(2, "is no file", "send-file", self.room, str(self.home))

    def test_a_server_that_is_away(self):
        self.check_refused(2, "can’t be reached", "login", "http://127.0.0.1:1", "ada", given="x\n")
        self.check_refused(2, "no server's address", "login", "nonsense://", "ada", given="x\n")

    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("send-file", self.tell("completions", shell))
        done = subprocess.run(["bash", "-n"], input=self.tell("completions", "bash"), text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_refused(2, "bash, zsh and fish", "completions", "tcsh")


if __name__ == "__main__":
    unittest.main()
