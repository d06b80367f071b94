"""`parley destroy`, with a running daemon and with a stopped one. Afterwards no file of the data folder has the content."""

import json
import subprocess
import unittest

from restarting import RestartingTest
from servers import PARLEY

SECRET = "chrysanthemum-under-the-bench"


class Destroy(RestartingTest):
    part = "hosting"

    def setUp(self):
        super().setUp()
        made = subprocess.run(
            ["curl", "--silent", "--fail", "--header", f"Authorization: Bearer {self.token}", "--form",
             f"file=@-;filename={SECRET}.txt;type=text/plain", f"{self.url}/api/v1/files"],
            input=f"{SECRET} bytes".encode(), capture_output=True, check=True).stdout
        self.file = json.loads(made)["id"]
        self.message = self.ask(
            "POST", f"/conversations/{self.room}/messages", {"text": f"{SECRET} text", "attachments": [self.file]})["id"]
        self.ask("PATCH", f"/messages/{self.message}", {"text": f"{SECRET} edited"})
        self.assertGreater(len(self.holders()), 1)

    def holders(self):
        """The files of the data folder that contain the secret, in their content or name."""
        files = [it for it in self.data.rglob("*") if it.is_file()]
        return [str(it.relative_to(self.data)) for it in files if SECRET.encode() in it.read_bytes() or SECRET in it.name]

    def destroy(self, *arguments, reason="A letter."):
        return subprocess.run(
            [PARLEY, "destroy", *arguments, "--data", self.data, *(["--reason", reason] if reason else [])],
            capture_output=True, text=True, timeout=120)

    def check(self, done, subject):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Destroyed {subject}.", done.stdout)
        self.assertEqual(self.holders(), [])
        verified = subprocess.run([PARLEY, "verify", "--data", self.data], capture_output=True, text=True, timeout=120)
        self.assertEqual(verified.returncode, 0, verified.stdout)

    def test_a_running_daemon_destroys_a_message(self):
        self.assertTrue((self.data / "parley.db-wal").exists())
        self.check(self.destroy("message", self.message), f"message {self.message}")
        self.assertEqual(self.ask("GET", f"/messages/{self.message}")["deletion"], "erased")
        audit = self.ask("GET", f"/audit?subject={self.message}")["data"]
        self.assertEqual([(it["kind"], it["reason"]) for it in audit], [("message.destroyed", "A letter.")])

    def test_without_a_daemon(self):
        self.server.stop()
        done = self.destroy("file", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The text of the message is not the file.
        self.assertEqual({it.split("-")[0] for it in self.holders()}, {"parley.db"})
        self.assertNotIn(f"{SECRET} bytes".encode(), (self.data / "parley.db").read_bytes())
        self.check(self.destroy("message", self.message), f"message {self.message}")
        self.server = self.serve()

    def test_a_user(self):
        self.assertIn("needs an owner", self.destroy("user", "ada").stderr)
        subprocess.run([PARLEY, "user", "create", "grace", "--role", "owner", "--password-stdin", "--data", self.data],
                       input="wool and needles\n", text=True, check=True, capture_output=True)
        self.check(self.destroy("user", "ada"), "user ada")

    def test_copies_are_named_and_a_restore_destroys_again(self):
        backup = self.data / "backups" / "old.tar"
        backup.parent.mkdir(exist_ok=True)
        subprocess.run([PARLEY, "backup", backup, "--data", self.data], check=True, capture_output=True)
        done = self.destroy("message", self.message)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"  {backup}", done.stdout)
        # The archive is not compressed.
        self.assertEqual(self.holders(), ["backups/old.tar"])
        self.server.stop()
        restored = subprocess.run([PARLEY, "restore", backup, "--replace", "--keep-sessions", "--data", self.data],
                                  capture_output=True, text=True, timeout=120)
        self.assertIn("1 destroyed message (at the next start)", restored.stdout, restored.stderr)
        self.server = self.serve()
        self.assertEqual(self.ask("GET", f"/messages/{self.message}")["deletion"], "erased")
        subprocess.run([PARLEY, "purge", "--data", self.data], check=True, capture_output=True, timeout=120)
        self.assertEqual([it for it in self.holders() if not it.startswith(("backups", "replaced-"))], [])

    def test_mistakes(self):
        self.assertIn("--reason is required", self.destroy("message", self.message, reason=None).stderr)
        self.assertIn("has this name or id.", self.destroy("message", "999999").stderr)
        self.assertIn("needs one of file, message, user", self.destroy().stderr)
        self.assertGreater(len(self.holders()), 1)


if __name__ == "__main__":
    unittest.main()
