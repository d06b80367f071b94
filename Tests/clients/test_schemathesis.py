"""Schemathesis asks the daemon for everything that Public/openapi.json describes, with thousands of odd requests, and holds
each answer to it. The seed is fixed: a fault comes back."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from servers import PARLEY
from serving import ServingTest, parley

PASSWORD = "correct horse battery"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance")
RATES = [part for work in ("login", "registration", "sending", "writing")
         for part in (f"--rate-{work}", "1000000", f"--rate-{work}-burst", "1000000")]
# What ends the way in by which it is asked.
ENDING = ("DELETE /sessions/{id}", "DELETE /me/tokens/{id}")

# What strangers' servers say is no part of this: links are not looked at.

# What goes on until the asker has enough: followed by real clients in test_following.
ENDLESS = ("GET /events", "GET /realtime", "GET /sync")


class Everything(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *RATES, "--outgoing", "off")))
        cls.base = f"{cls.server.url}/api/v1"
        cls.host("user", "add", "ada", "--role", "owner", "--password-stdin")
        cls.host("user", "add", "grace", "--password-stdin")

    @classmethod
    def host(cls, *arguments):
        return subprocess.run(
            [PARLEY, *arguments, "--data", str(Path(cls.folder) / "data")], input=PASSWORD, capture_output=True, text=True,
            timeout=60, check=True).stdout.strip()

    def ask(self, token, path):
        return json.loads(self.curl("--header", f"Authorization: Bearer {token}", f"{self.base}{path}"))

    def examine(self, *arguments, examples):
        done = subprocess.run(
            [Path(sys.executable).with_name("schemathesis"), "run", f"{self.base}/openapi.json", "--url", self.base,
             "--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--seed", "1",
             "--max-examples", str(examples), "--continue-on-failure", "--no-color", *arguments],
            cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout[-20_000:] + done.stderr)

    def test_as_an_owner(self):
        token = self.host("token", "ada", "--scope", "admin")
        self.examine("--header", f"Authorization: Bearer {token}", *(f"--exclude-name={name}" for name in ENDING + ENDLESS),
                     examples=15)
        # It was asked by somebody who was in all the time, and who got something done.
        self.assertEqual(self.ask(token, "/me")["role"], "owner")
        self.assertGreater(len(self.ask(token, "/invites")["data"]), 5)

    def test_as_nobody(self):
        self.examine(*(f"--exclude-name={name}" for name in ENDLESS), examples=3)

    def test_what_ends_a_way_in(self):
        for name in ENDING:
            token = self.host("token", "grace", "--scope", "admin")
            self.examine("--header", f"Authorization: Bearer {token}", f"--include-name={name}", examples=10)


if __name__ == "__main__":
    unittest.main()
