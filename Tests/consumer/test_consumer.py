"""The programs of the consumer package sign in to a daemon, post, read and compare their copy with the server's."""

import subprocess
import unittest
from pathlib import Path

from restarting import PASSWORD, RestartingTest
from servers import BUILD


class Consumer(RestartingTest):
    def check(self, program):
        self.ask("POST", f"/conversations/{self.room}/messages", {"text": "Who has needles?"})
        done = subprocess.run(
            [BUILD / "consumer" / "debug" / program, self.url, self.room, Path(self.folder) / "cache.db"],
            input=PASSWORD + "\n", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        stored = self.ask("GET", f"/conversations/{self.room}/messages?order=asc")["data"]
        texts = ["Who has needles?", "From 24 modules"]
        self.assertEqual([message["text"] for message in stored][-2:], texts)
        self.assertEqual(done.stdout.splitlines(), ["like: 1", *texts, f"complete through {stored[-1]['seq']}"])

    def test_a_program_with_the_default_settings(self):
        self.check("plain")

    def test_a_program_on_the_main_actor_with_strict_visibility_of_members(self):
        self.check("strict")


if __name__ == "__main__":
    unittest.main()
