"""`parley destroy`, with a running daemon and with a stopped one. Afterwards no file of the data folder has the content."""

import json
import subprocess
import time
import unittest
from pathlib import Path

from restarting import ENDLESS, RestartingTest
from servers import PARLEY
from serving import parley

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

    def test_the_evidence_has_all_texts_and_files(self):
        archive = Path(self.folder) / "case.tar"
        done = self.destroy("message", self.message, "--evidence", archive)
        self.check(done, f"message {self.message}")
        self.assertIn(f"Evidence: {archive}, 1 message and 1 file.", done.stdout)
        self.assertEqual(archive.stat().st_mode & 0o777, 0o600)
        out = Path(self.folder) / "case"
        out.mkdir()
        for command in (["tar", "xf", archive], ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"]):
            subprocess.run(command, cwd=out, check=True, capture_output=True)
        message, = map(json.loads, (out / "messages-1.jsonl").read_text().splitlines())
        self.assertEqual((message["id"], message["text"]), (self.message, f"{SECRET} edited"))
        self.assertEqual([it["text"] for it in message["revisions"]], [f"{SECRET} text"])
        file, = map(json.loads, (out / "files.jsonl").read_text().splitlines())
        self.assertEqual((file["id"], file["name"], message["files"]), (self.file, f"{SECRET}.txt", [self.file]))
        digest = file["sha256"]
        self.assertEqual((out / "files" / digest[:2] / digest[2:4] / digest).read_bytes(), f"{SECRET} bytes".encode())
        self.assertEqual([json.loads(it)["name"] for it in (out / "users.jsonl").read_text().splitlines()], ["ada"])
        self.assertEqual(json.loads((out / "evidence.json").read_text())["message"], self.message)

    def test_a_sealed_text_and_a_user_are_in_the_evidence(self):
        self.ask("POST", f"/messages/{self.message}/remove", {"reason": "A letter."})
        subprocess.run([PARLEY, "user", "create", "grace", "--role", "owner", "--password-stdin", "--data", self.data],
                       input="wool and needles\n", text=True, check=True, capture_output=True)
        self.server.stop()
        archive = Path(self.folder) / "case.tar"
        self.check(self.destroy("user", "@ada", "--evidence", archive), "user @ada")
        written = archive.read_bytes()
        for text in (f"{SECRET} edited", f"{SECRET} bytes", f"{SECRET}.txt", '"name":"ada"'):
            self.assertIn(text.encode(), written)
        self.server = self.serve()

    def test_without_the_evidence_nothing_is_destroyed(self):
        archive = Path(self.folder) / "case.tar"
        archive.write_text("another case")
        for arguments, sentence in (
                (("message", self.message, "--evidence", archive), "can't be created"),
                (("message", self.message, "--evidence", Path(self.folder) / "none/case.tar"), "can't be created"),
                (("file", "999999", "--evidence", f"{archive}.2"), "There is no file 999999, so nothing was destroyed."),
                (("message", "x", "--evidence", f"{archive}.2"), "needs its id, a number")):
            done = self.destroy(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)
        self.assertEqual(archive.read_text(), "another case")
        self.assertGreater(len(self.holders()), 1)

    def test_scheduled_backups_elsewhere_are_named_and_replaced(self):
        elsewhere = Path(self.folder) / "elsewhere"
        schedule = ("--backup-every", "24", "--backup-to", elsewhere)
        self.server.stop()
        self.server = self.start(*parley(self.folder, *ENDLESS, *schedule, listen=f"127.0.0.1:{self.port}"))
        self.wait_for("event=restore_test result=passed")
        old, = elsewhere.glob("*Z")
        archive = self.data / "backups/old.tar"
        archive.parent.mkdir(exist_ok=True)
        subprocess.run([PARLEY, "backup", archive, "--data", self.data], check=True, capture_output=True)
        replaced = self.data / "replaced-1"
        replaced.mkdir()
        (replaced / "parley.db").write_text(SECRET)
        done = self.destroy("message", self.message)
        for copy in (old, elsewhere / "files", archive, replaced):
            self.assertIn(f"  {copy}\n", done.stdout + "\n")
        # Another destruction of the same message is permitted. Also without the daemon, which knows the setting.
        self.server.stop()
        done = self.destroy("message", self.message, "--also-backups")
        self.check(done, f"message {self.message}")
        new, = elsewhere.glob("*Z")
        self.assertNotEqual(new, old)
        self.assertIn(f"The new backup {new} has passed its test. It replaces:", done.stdout)
        for copy in (old, archive, replaced):
            self.assertIn(f"  {copy}\n", done.stdout)
            self.assertFalse(copy.exists())
        self.assertFalse([it for it in elsewhere.rglob("*") if it.is_file() and SECRET.encode() in it.read_bytes()])
        restored = subprocess.run([PARLEY, "restore", elsewhere, "--data", Path(self.folder) / "restored"], capture_output=True,
                                  text=True, timeout=120)
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.server = self.serve()

    def test_without_scheduled_backups_an_archive_replaces_the_others(self):
        self.ask("POST", "/backups", {})
        self.wait_for("event=backup result=ok")
        old, = (self.data / "backups").iterdir()
        done = self.destroy("message", self.message, "--also-backups")
        self.check(done, f"message {self.message}")
        new, = (self.data / "backups").iterdir()
        self.assertIn(f"The new backup {new} has passed its test. It replaces:\n  {old}\n", done.stdout)
        self.assertEqual([it["state"] for it in self.ask("GET", "/backups")["data"]], ["gone"])

    def wait_for(self, words):
        deadline = time.monotonic() + 60
        while words not in self.server.output():
            self.assertLess(time.monotonic(), deadline, self.server.output())
            time.sleep(0.05)

    def test_mistakes(self):
        self.assertIn("--reason is required", self.destroy("message", self.message, reason=None).stderr)
        self.assertIn("has this name or id.", self.destroy("message", "999999").stderr)
        self.assertIn("needs one of file, message, user", self.destroy().stderr)
        self.assertGreater(len(self.holders()), 1)


if __name__ == "__main__":
    unittest.main()
