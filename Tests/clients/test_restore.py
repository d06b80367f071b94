"""`parley restore` reports what it undid, ends sessions, and erases erased users again."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from servers import PARLEY
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"
NEW_PASSWORD = "needles and more wool"


FILES = 300
# Appends a byte to the file SYNCS at each sync of a file.
COUNTER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int count(long number, int file) {
  int log = open(getenv("SYNCS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (log < 0 || write(log, "x", 1) != 1) abort();
  close(log);
  return syscall(number, file);
}
int fsync(int file) { return count(SYS_fsync, file); }
int fdatasync(int file) { return count(SYS_fdatasync, file); }
"""


class Undone(ServingTest):
    part = "hosting"

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.folder / "data"
        self.backup = self.folder / "backup.tar"
        self.server = None

    def ask(self, method, path, body=None, token=None):
        return call(self.server, method, path, body, token)

    def status(self, path, token):
        try:
            self.ask("GET", path, token=token)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)["code"]
        return 200, None

    def run_parley(self, *arguments, given=None):
        done = subprocess.run([PARLEY, *map(str, arguments), "--data", self.data], capture_output=True, text=True,
                              input=given, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def sign_in(self, name, password=PASSWORD):
        return self.ask("POST", "/sessions", {"name": name, "password": password})["token"]

    @contextlib.contextmanager
    def running(self):
        with self.start(*parley(self.folder)) as self.server:
            yield
            self.assertEqual(self.server.stop(), 0)

    def begin(self):
        """A site with a backup and changes after it; the server is stopped."""
        with self.running():
            code = self.run_parley("setup").strip().split("/")[-1]
            self.ada = self.ask("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
            room = self.ask("POST", "/forums", {"title": "Knitting", "visibility": "public"}, self.ada)["room_id"]
            for name in ("grace", "linus"):
                self.run_parley("user", "create", name, "--password-stdin", given=PASSWORD + "\n")
            self.grace, self.linus = self.sign_in("grace"), self.sign_in("linus")
            self.room = f"/conversations/{room}/messages"
            self.ask("POST", self.room, {"text": "my home address"}, self.grace)
            made = [self.ask("POST", "/me/tokens", {"name": name, "scope": "read"}, self.ada) for name in ("old", "kept")]
            self.old, self.kept = [one["token"] for one in made]
            self.run_parley("backup", self.backup)

            for number in range(3):
                self.ask("POST", self.room, {"text": f"lost {number}"}, self.ada)
            listed = self.ask("GET", "/me/tokens", token=self.ada)["data"]
            gone, = [one["id"] for one in listed if one["name"] == "old"]
            self.ask("DELETE", f"/me/tokens/{gone}", token=self.ada)
            self.ask("PUT", "/me/password",
                     {"old_password": PASSWORD, "password": NEW_PASSWORD, "keep_tokens": True}, self.ada)
            self.ask("PUT", "/users/@linus/ban", {"reason": "A raid."}, self.ada)
            self.ask("DELETE", "/users/@grace", {"how": "erase", "reason": "On request."}, self.ada)
            self.assertEqual(self.status("/me", self.grace)[0], 401)

    def restore(self, *arguments):
        return self.run_parley("restore", self.backup, *arguments)

    def check_erased(self):
        names = [json.loads(line)["name"] for line in self.run_parley("user", "list", "--json").splitlines()]
        self.assertNotIn("grace", names)
        for _ in range(600):
            texts = [message.get("text") for message in self.ask("GET", self.room, token=self.token)["data"]]
            if "my home address" not in texts:
                return
        self.fail(texts)

    def check_verified(self):
        self.run_parley("verify", "--all")

    def test_undone_changes_are_printed_and_audited(self):
        self.begin()
        printed = self.restore("--replace").splitlines()
        undone, = [line for line in printed if line.startswith("Site as of")]
        self.assertRegex(undone, r"^Site as of \d{4}-\d\d-\d\d \d\d:\d\d UTC, without 3 later messages\. Applied again: ")
        self.assertEqual(
            undone.split("again: ")[1],
            "1 ban, 1 changed password, 1 revoked token, 2 ended sessions, "
            "1 erased user (at the next start).")
        self.assertIn("All sessions and tokens have ended: users sign in again, and programs need new tokens.", printed)
        self.assertTrue(any(str(self.data / "erasures") in line for line in printed), printed)
        with self.running():
            # Not a revocation (close code 4501): clients lock their copy until the same user signs in.
            for token in (self.ada, self.kept):
                self.assertEqual(self.status("/me", token), (401, "unauthenticated"))
            # Revoked since the backup: clients erase it.
            for token in (self.grace, self.linus, self.old):
                self.assertEqual(self.status("/me", token), (401, "session_ended"))
            with self.assertRaises(HTTPError) as refused:
                self.sign_in("ada")
            refused.exception.close()
            self.token = self.sign_in("ada", NEW_PASSWORD)
            entry, = self.ask("GET", "/audit?kind=site.restored", token=self.token)["data"]
            self.assertEqual((entry["reason"], entry["subject_id"]), (undone, None))
            self.check_erased()
            with self.assertRaises(HTTPError) as refused:
                self.sign_in("grace")
            refused.exception.close()
            self.assertIn("was erased after the backup", self.server.output())
            with self.assertRaises(HTTPError) as refused:
                self.sign_in("linus")
            refused.exception.close()
        self.check_verified()

    def test_kept_sessions_do_not_include_revoked_ones(self):
        self.begin()
        self.assertIn(
            "Sessions and tokens are kept, except those that were revoked since the backup.",
            self.restore("--replace", "--keep-sessions"))
        with self.running():
            self.token = self.ada
            self.assertEqual([self.status("/me", token)[0] for token in (self.ada, self.kept)], [200, 200])
            for token in (self.old, self.grace, self.linus):
                self.assertEqual(self.status("/me", token), (401, "session_ended"))
            self.check_erased()

    def test_the_journal_outlives_a_damaged_database(self):
        self.begin()
        for path in self.data.glob("parley.db*"):
            path.write_bytes(b"seeds" * 1000)
        printed = self.restore("--replace")
        self.assertRegex(printed, "is unknown, because the replaced database can't be compared: it can't be read: .*\n")
        self.assertIn("1 erased user (at the next start)", printed)
        with self.running():
            self.token = self.sign_in("ada")
            self.check_erased()
        self.check_verified()

    def test_an_empty_folder_knows_nothing_of_the_time_since(self):
        self.begin()
        journal = (self.data / "erasures").read_bytes()
        self.assertIsNotNone(re.fullmatch(rb"\d+ [0-9a-f]{64} [0-9a-f]{16}\n", journal))
        shutil.rmtree(self.data)
        printed = self.restore("--keep-sessions")
        self.assertIn("is unknown, because the replaced database can't be compared: there is none.", printed)
        self.assertIn("Sessions and tokens are kept, also those that were revoked since the backup.", printed)
        with self.running():
            self.assertEqual(self.status("/me", self.old)[0], 200)
            self.sign_in("grace")

    def test_a_damaged_journal_is_reported(self):
        self.begin()
        journal = self.data / "erasures"
        damaged = journal.read_bytes()[:-20] + b"\0" * 20 + b"\n"
        journal.write_bytes(damaged)
        printed = self.restore("--replace")
        self.assertIn("is damaged from line 1 on", printed)
        self.assertEqual((self.data / "erasures-damaged").read_bytes(), damaged)
        journal.write_bytes(damaged)
        with self.running():
            self.assertIn("is damaged from line 1 on", self.server.output())

    def test_a_restore_does_not_wait_for_the_disk_file_by_file(self):
        with self.start(*parley(self.folder, "--rate-writing=1000000", "--rate-writing-burst=1000000")) as self.server:
            code = self.run_parley("setup").strip().split("/")[-1]
            token = self.ask("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
            for number in range(FILES):
                request = Request(f"{self.server.url}/api/v1/files?name={number}.txt", method="POST", data=f"{number}".encode())
                request.add_header("Content-Type", "text/plain")
                request.add_header("Authorization", f"Bearer {token}")
                with urlopen(request, timeout=60):
                    pass
            self.run_parley("backup", self.backup)
        counter = self.folder / "counter.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", counter, "-"], input=COUNTER, text=True, check=True)
        syncs = self.folder / "syncs"
        restored = subprocess.run(
            [PARLEY, "restore", self.backup, "--data", self.folder / "restored"], capture_output=True, text=True, timeout=60,
            env={**os.environ, "LD_PRELOAD": str(counter), "SYNCS": str(syncs)})
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertIn(f"{FILES} files", restored.stdout)
        self.assertGreater(syncs.stat().st_size, 0)
        self.assertLess(syncs.stat().st_size, FILES // 5)


if __name__ == "__main__":
    unittest.main()
