"""Schemathesis: sends thousands of generated requests for Public/openapi.json to the daemon and checks each response
against it. The seed is fixed, so faults are reproducible."""

import json
import os
import sqlite3
import subprocess
import sys
import unittest
from contextlib import closing
from pathlib import Path

from servers import PARLEY, VENV_PYTHON, Server, free_port
from serving import ServingTest, call, parley

HERE = Path(__file__).parent
PASSWORD = "correct horse battery"
# Valid data may be refused: a schema does not know which ids exist or what the caller may do.
WITHOUT = "positive_data_acceptance"
# A text that is too long may also be too long for the request line. A long poll answers at once without `wait`.
CONFIGURATION = """
[[operations]]
include-name = "GET /sync"
parameters = { wait = 0 }

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "410", "412", "413", "414", "415", "429", "5xx"]
"""
# A sixth of the requests has no credential, as those of visitors.
HOOKS = """
import itertools
import os
import schemathesis

numbers = itertools.count(1)


@schemathesis.auth()
class Credential:
    def get(self, case, context):
        return "Bearer " + os.environ["TOKEN"]

    def set(self, case, data, context):
        if next(numbers) % 6:
            case.headers = {**(case.headers or {}), "Authorization": data}
"""
RATES = [part for work in ("login", "registration", "sending", "writing")
         for part in (f"--rate-{work}", "1000000", f"--rate-{work}-burst", "1000000")]
# These operations revoke the credential of the request.
ENDING = ("DELETE /sessions", "DELETE /sessions/{id}", "DELETE /me/tokens/{id}")

# Endless responses: test_following covers them with real clients.
ENDLESS = ("GET /events", "GET /realtime")


class Examining(ServingTest):
    part = "contract"
    options = ("--outgoing", "off")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *RATES, *cls.options)))
        cls.base = f"{cls.server.url}/api/v1"
        Path(cls.folder, "schemathesis.toml").write_text(CONFIGURATION)
        Path(cls.folder, "hooks.py").write_text(HOOKS)
        cls.command("user", "create", "ada", "--role", "owner", "--password-stdin")
        cls.command("user", "create", "grace", "--password-stdin")

    @classmethod
    def prepare(cls):
        """Before the start of the server."""

    @classmethod
    def command(cls, *arguments):
        return subprocess.run(
            [PARLEY, *arguments, "--data", str(Path(cls.folder) / "data")], input=PASSWORD, capture_output=True, text=True,
            timeout=60, check=True).stdout.strip()

    def ask(self, token, path):
        return json.loads(self.curl("--header", f"Authorization: Bearer {token}", f"{self.base}{path}"))

    def examine(self, *arguments, examples, **variables):
        done = subprocess.run(
            [Path(sys.executable).with_name("schemathesis"), "run", f"{self.base}/openapi.json", "--url", self.base,
             "--exclude-checks", WITHOUT, "--phases", "examples,coverage,fuzzing", "--seed", "1",
             "--max-examples", str(examples), "--continue-on-failure", "--no-color", *arguments],
            cwd=self.folder, env=os.environ | variables, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            failures = done.stdout.rpartition("= FAILURES =")[2].lstrip("= \n")
            self.fail(f"{failures[:20_000]}\n{done.stderr}")


class Everything(Examining):
    def test_as_owner_and_visitor(self):
        token = self.command("token", "ada", "--scope", "admin")
        self.examine(*(f"--exclude-name={name}" for name in ENDING + ENDLESS), examples=18, SCHEMATHESIS_HOOKS="hooks.py", TOKEN=token)
        # The credential was valid throughout, and some requests succeeded.
        self.assertEqual(self.ask(token, "/me")["role"], "owner")
        self.assertGreater(len(self.ask(token, "/invites")["data"]), 5)

    def test_operations_that_revoke_the_credential(self):
        # Others may have banned or deleted the earlier users.
        self.command("user", "create", "linus", "--password-stdin")
        for name in ENDING:
            token = self.command("token", "linus", "--scope", "admin")
            self.examine("--header", f"Authorization: Bearer {token}", f"--include-name={name}", examples=10)


class Session(Examining):
    """A session with a proof, on a site that sends mail and push messages."""

    # The operations that need a proof, mail or push messages.
    PATHS = r"^/(me/(email|export|identities|notifications|passkeys|password|push-subscriptions|second-factor|tokens)|sessions|settings|password-resets|email-confirmations|unsubscriptions|apps)"

    @classmethod
    def prepare(cls):
        receiving = free_port()
        receiver = Server(
            "schemathesis-mail", VENV_PYTHON, HERE / "mail_server.py", receiving, f"{cls.folder}/mail", "plain", port=receiving)
        cls.addClassCleanup(receiver.kill)
        cls.options = ("--public-url", "https://wool.example", "--smtp-url", f"smtp://127.0.0.1:{receiving}")

    def test_as_owner(self):
        token = call(self.server, "POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
        server = call(self.server, "GET", "/server")
        self.assertTrue(server["mail"] and server["vapid_key"])
        # The proof lasts until the end of the test.
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = proved_at + 7200000")
        self.examine(
            "--header", f"Authorization: Bearer {token}", "--include-path-regex", self.PATHS,
            *(f"--exclude-name={name}" for name in ENDING), examples=5)
        self.assertEqual(self.ask(token, "/me")["role"], "owner")


if __name__ == "__main__":
    unittest.main()
