"""`parley status` beside a running daemon, and without one."""

import json
import os
import subprocess
import tempfile
import time

from restarting import ENDLESS
from servers import PARLEY, free_port
from serving import ServingTest, call, parley


class Status(ServingTest):
    part = "hosting"

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = f"{self.folder}/data"

    def status(self, *flags, data=None):
        return subprocess.run(
            [PARLEY, "status", "--data", data or self.data, *flags], capture_output=True, text=True, timeout=60)

    def test_a_running_site(self):
        with self.start(*parley(self.folder, *ENDLESS, "--self-signed", "--public-url", "https://wool.example")):
            first = self.status()
            self.assertEqual((first.returncode, first.stderr), (1, ""), first.stdout)
            for words in ("Parley  https://wool.example", "Users ", "none open", "Certificate", "Push ", "There is no backup."):
                self.assertIn(words, first.stdout)
            self.assertNotIn("Mail", first.stdout)
            made = subprocess.run(
                [PARLEY, "backup", f"{self.folder}/copy.tar", "--data", self.data], capture_output=True, text=True, timeout=60)
            self.assertEqual(made.returncode, 0, made.stderr)
            after = self.status("--json")
            site = json.loads(after.stdout)
            self.assertIsNotNone(site["last_backup_at"])
            sentences = [it["sentence"] for it in site["problems"]]
            self.assertFalse([it for it in sentences if "backup" in it], sentences)
            # The disk of the machine decides about the rest.
            self.assertEqual(after.returncode, 2 if any(it["level"] == "error" for it in site["problems"]) else bool(sentences))

    def test_a_mail_server_that_does_not_answer(self):
        with self.start(*parley(
                self.folder, *ENDLESS, "--public-url", "https://wool.example", "--smtp-url", f"smtp://127.0.0.1:{free_port()}")) as daemon:
            subprocess.run(
                [PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", self.data],
                input="wool and needles\n", text=True, capture_output=True, check=True, timeout=60)
            token = call(daemon, "POST", "/sessions", {"name": "ada", "password": "wool and needles"})["token"]
            call(daemon, "PUT", "/me/email", {"address": "ada@example.org"}, token)
            deadline = time.monotonic() + 60
            while True:
                site = json.loads(self.status("--json").stdout)
                self.assertEqual(site["waiting_mails"], 1)
                if any("Mail waits: the mail server can't be reached" in it["sentence"] for it in site["problems"]):
                    return
                self.assertLess(time.monotonic(), deadline, site)
                time.sleep(0.1)

    def test_no_server(self):
        missing = self.status(data=f"{self.folder}/none")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("does not exist", missing.stderr)
        os.mkdir(f"{self.folder}/empty")
        idle = self.status(data=f"{self.folder}/empty")
        self.assertEqual(idle.returncode, 2)
        self.assertIn("No server runs in", idle.stderr)
