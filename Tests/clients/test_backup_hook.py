"""`--backup-hook` runs a program for each scheduled backup, to copy it to another machine."""

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.request import Request, urlopen

from servers import PARLEY, TOP, free_port
from serving import ServingTest, call, parley


class BackupHook(ServingTest):
    part = "hosting"

    waits = True

    def setUp(self):
        self.site = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.elsewhere = self.site / "elsewhere"
        self.elsewhere.mkdir()
        self.file = self.site / "parley.conf"

    def serve(self, hook, *arguments):
        self.file.write_text(f"backup-every = 24\nbackup-hook = {hook}\n")
        return self.start(*parley(self.site, "--config", self.file, *arguments))

    def wait(self, server, line, count=1):
        deadline = time.monotonic() + 60
        while len(re.findall(line, server.output())) < count:
            self.assertLess(time.monotonic(), deadline, server.output())
            time.sleep(0.05)

    def status(self):
        done = subprocess.run(
            [PARLEY, "status", "--json", "--data", self.site / "data"], capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)

    def test_each_backup_is_copied_once(self):
        metrics = f"127.0.0.1:{free_port()}"
        with self.serve(f"/bin/cp -r {{}} '{self.elsewhere}/'", "--metrics-listen", metrics) as server:
            self.wait(server, "event=hook result=ok The backup .*Z was copied")
            made, = (self.site / "data" / "backups").glob("*Z")
            copied = self.elsewhere / "backups" / made.name
            self.assertEqual((copied / "parley.db").read_bytes(), (made / "parley.db").read_bytes())
            self.assertLess(server.output().index("event=restore_test"), server.output().index("event=hook"))
            self.assertIsNotNone(self.status()["last_off_site_at"])
            screen = subprocess.run([PARLEY, "status", "--data", self.site / "data"], capture_output=True, text=True, timeout=60)
            self.assertRegex(screen.stdout, "Backup .* ago, tested .* ago, off-site .* ago")
            with urlopen(f"http://{metrics}/metrics", timeout=60) as answer:
                text = answer.read().decode()
            self.assertRegex(text, r"\nparley_last_off_site_backup_timestamp_seconds 1\d{9}")
            self.assertRegex(text, r"\nparley_last_restore_test_timestamp_seconds 1\d{9}")
            self.assertIn("\nparley_last_restore_test_passed 1\n", text)
        self.assertEqual((self.site / "data" / "off-site").stat().st_mode & 0o777, 0o600)
        shutil.rmtree(self.elsewhere / "backups")
        # The copy of this backup is known after a restart.
        with self.serve(f"/bin/cp -r {{}} '{self.elsewhere}/'") as server:
            time.sleep(3)
            self.assertNotIn("event=hook", server.output())
        self.assertEqual(list(self.elsewhere.iterdir()), [])
        # Without the hook there is no last copy.
        with self.start(*parley(self.site)):
            self.assertIsNone(self.status()["last_off_site_at"])

    def test_a_site_comes_back_from_restic(self):
        """The folder of the site is lost with its backups; restic has them on another machine."""
        folder = subprocess.run(
            [TOP / "Tests/tools/unpacked", "restic", "restic"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        password = self.site / "password"
        password.write_text("wool and needles")
        restic = (f"{folder}/usr/bin/restic", "--no-cache", "-r", self.elsewhere / "repository", "-p", password)
        subprocess.run([*restic, "init"], check=True, capture_output=True)
        with self.start(*parley(self.site)) as server:
            code = subprocess.run([PARLEY, "setup", "--data", self.site / "data"], capture_output=True, text=True, check=True,
                                  timeout=60).stdout.strip().split("/")[-1]
            token = call(server, "POST", f"/links/{code}", {"name": "ada", "password": "wool and needles"})["token"]
            forum = call(server, "POST", "/forums", {"title": "Wool"}, token)["id"]
            topic = call(server, "POST", f"/forums/{forum}/conversations", {"title": "Needles", "text": "Which size?"}, token)["id"]
            for number in range(20):
                call(server, "POST", f"/conversations/{topic}/messages", {"text": f"Size {number}"}, token)
            request = Request(f"{server.url}/api/v1/files?name=pattern.txt", method="POST", data=os.urandom(100_000))
            request.add_header("Content-Type", "text/plain")
            request.add_header("Authorization", f"Bearer {token}")
            with urlopen(request, timeout=60) as answer:
                file = json.loads(answer.read())["id"]
            call(server, "POST", f"/conversations/{topic}/messages", {"text": "A pattern", "attachments": [file]}, token)
        before = self.content(self.site / "data")
        self.assertEqual((len(before["messages"]), len(before["files"])), (22, 1))
        with self.serve(" ".join(f"'{part}'" for part in (*restic, "backup", "{}"))) as server:
            self.wait(server, "event=hook result=ok")
        shutil.rmtree(self.site / "data")
        subprocess.run([*restic, "restore", "latest", "--target", self.site / "restored"], check=True, capture_output=True)
        backups, = (self.site / "restored").glob("**/backups")
        for command in (("restore", backups), ("verify",)):
            done = subprocess.run(
                [PARLEY, *command, "--data", self.site / "data"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.content(self.site / "data"), before)

    def content(self, data):
        """The messages in the database, and the digests of the uploaded files."""
        with closing(sqlite3.connect(data / "parley.db")) as database:
            messages = database.execute("select id, conversation_id, seq, text from message order by id").fetchall()
        files = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in (data / "files").glob("**/*") if file.is_file())
        return {"messages": messages, "files": files}

    def test_a_failure_is_logged_with_its_output_and_another_program_is_tried_at_once(self):
        script = self.site / "copy"
        script.write_text('#!/bin/sh\ntest -d "$PARLEY_BACKUPS" && wc -c "$PARLEY_BACKUP/parley.db" >&2\necho "the host is down"\nexit 7\n')
        script.chmod(0o755)
        with self.serve(f"{script}") as server:
            self.wait(server, r"event=hook result=failed The copy of .*Z failed and is tried again in an hour: exit status 7: "
                              r"\d+ /.*Z/parley.db\s+the host is down")
            self.assertIsNone(self.status()["last_off_site_at"])
            self.file.write_text(f"backup-every = 24\nbackup-hook = /bin/cp -r {{}} '{self.elsewhere}/'\n")
            server.signal(signal.SIGHUP)
            self.wait(server, "event=hook result=ok")
            self.assertEqual(len(list(self.elsewhere.iterdir())), 1)
            self.assertEqual(server.output().count("result=failed"), 1)

    def test_a_stop_ends_the_program(self):
        script = self.site / "copy"
        script.write_text(f"#!/bin/sh\necho $$ > '{self.elsewhere}/pid'\nsleep 1000\n")
        script.chmod(0o755)
        with self.serve(f"{script}") as server:
            deadline = time.monotonic() + 60
            while not (self.elsewhere / "pid").exists() or not (self.elsewhere / "pid").read_text():
                self.assertLess(time.monotonic(), deadline, server.output())
                time.sleep(0.05)
            self.assertEqual(server.stop(), 0)
            self.assertNotIn("event=hook", server.output())
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.elsewhere / "pid").read_text()), 0)

    def test_mistakes_are_refused(self):
        for arguments, sentence in (
                (("--backup-hook", "/bin/true"), "--backup-hook needs --backup-every, the interval of the backups."),
                (("--backup-every", "24", "--backup-hook", "restic backup {}"),
                 "--backup-hook takes a program with its absolute path such as /usr/bin/logger, not \"restic\"."),
                (("--backup-every", "24", "--backup-hook", "/bin/sh 'a"), "--backup-hook has an open quotation mark or ends in a backslash."),
                (("--backup-every", "24", "--backup-hook", "/nowhere"), "names the program /nowhere, which can't be executed.")):
            with self.subTest(arguments):
                refused = subprocess.run(
                    parley(self.site, *arguments), capture_output=True, text=True, timeout=60)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(sentence, refused.stderr)
