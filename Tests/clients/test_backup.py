"""`parley backup` and `parley restore`, with a running daemon and with a stopped one."""

import contextlib
import hashlib
import json
import os
import pty
import signal
import sqlite3
import stat
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from servers import PARLEY
from serving import ServingTest, parley


def command(*arguments, **options):
    return subprocess.run(
        [PARLEY, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def fill(data):
    """Ada and a file that she uploaded, in a database that no process has open."""
    content = b"a rose"
    digest = hashlib.sha256(content).hexdigest()
    path = Path(data) / "files" / digest[:2] / digest[2:4] / digest
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with sqlite3.connect(Path(data) / "parley.db") as database:
        database.execute(
            "insert into account (id, name, role, state, created_at) values (1, 'ada', 'member', 'active', 1)")
        database.execute(
            "insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at) "
            "values (2, 1, ?, 6, 'rose.txt', 'file', 'text/plain', 1)", (bytes.fromhex(digest),))
        database.execute("insert into file_use (owner_id, bytes) values (0, 6), (1, 6)")
        database.execute("update counter set value = 2 where name = 'id'")
    database.close()
    return path


def setting(data, name):
    with sqlite3.connect(Path(data) / "parley.db") as database:
        return database.execute("select value from setting where name = ?", (name,)).fetchone()[0]


class Site(ServingTest):
    """A stopped site with one user and one file, in `self.data`; each test has its own."""

    part = "hosting"

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = Path(self.folder) / "data"
        self.backup = Path(self.folder) / "backup.tar"
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(server.stop(), 0)
        self.file = fill(self.data)

    def check_backup(self):
        out = Path(self.folder) / "out"
        out.mkdir()
        with tarfile.open(self.backup, "r:") as archive:
            archive.extractall(out, filter="data")
        done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=out)
        self.assertEqual(done.returncode, 0)
        with sqlite3.connect(out / "parley.db") as database:
            self.assertEqual(database.execute("select name from account").fetchall(), [("ada",)])
        manifest = json.loads((out / "parley-backup.json").read_text())
        self.assertEqual((manifest["counts"]["account"], manifest["counts"]["file"]), (1, 1))
        self.assertTrue((out / self.file.relative_to(self.data)).is_file())

    def check_refused(self, done, status, words):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")


class Backup(Site):
    def test_a_running_daemon_writes_it(self):
        with self.start(*parley(self.folder)) as server:
            # A relative path is resolved in the caller's directory, not the daemon's.
            done = command("backup", "backup.tar", "--data", "data", cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("0 messages and 1 file", done.stdout)
            self.assertRegex(done.stderr, "copying|checking|packing|comparing|verifying")
            self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)
            self.check_refused(command("backup", self.backup, "--data", self.data), 2, "already exists")
            self.assertEqual(server.stop(), 0)
        self.check_backup()
        self.assertEqual(stat.S_IMODE(self.backup.stat().st_mode), 0o600)

    def test_the_command_copies_the_folder_of_a_stopped_daemon(self):
        done = command("backup", self.backup, env={**os.environ, "PARLEY_DATA": str(self.data)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_backup()

    def stream(self, output):
        return subprocess.run([PARLEY, "backup", "-", "--data", self.data], stdout=output, stderr=subprocess.PIPE,
                              text=True, timeout=60)

    def check_stream(self):
        """Streams into `self.backup` through a pipe, checks and restores it."""
        with open(self.backup, "wb") as file, subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file) as cat:
            done = self.stream(cat.stdin)
            cat.stdin.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 messages and 1 file", done.stderr)
        self.check_backup()
        restored = command("restore", self.backup, "--data", Path(self.folder) / "restored")
        self.assertEqual(restored.returncode, 0, restored.stderr)

    def test_a_running_daemon_streams_it(self):
        before = set(self.data.iterdir())
        with self.start(*parley(self.folder)) as server:
            self.check_stream()
            self.assertEqual(server.stop(), 0)
        self.assertLessEqual(set(self.data.iterdir()), before | {self.data / "reserve"})

    def test_the_command_streams_the_folder_of_a_stopped_daemon(self):
        before = set(self.data.iterdir())
        self.check_stream()
        # A reader creates the files of the write-ahead log and does not remove them.
        log = {self.data / "parley.db-wal", self.data / "parley.db-shm"}
        self.assertEqual(set(self.data.iterdir()) - log, before)

    def test_a_stream_without_a_reader_ends_and_leaves_nothing(self):
        # More than a pipe holds.
        with sqlite3.connect(self.data / "parley.db") as database:
            database.executemany(
                "insert into setting (name, value) values (?, ?)", [(f"seed {n}", "x" * 1000) for n in range(1000)])
        database.close()
        for is_running in (False, True):
            with self.subTest(is_running=is_running):
                server = self.start(*parley(self.folder)) if is_running else contextlib.nullcontext()
                with server, subprocess.Popen(["head", "-c", "10"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as head:
                    done = self.stream(head.stdin)
                    head.stdin.close()
                    self.assertEqual(done.returncode, 2, done.stderr)
                    names = [path.name for path in self.data.iterdir()]
                    self.assertFalse([name for name in names if "stream" in name], names)

    def test_a_terminal_gets_no_backup(self):
        terminal, shown = pty.openpty()
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, shown)
        done = self.stream(shown)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Standard output is a terminal. Redirect it to a file or a program.", done.stderr)
        restored = subprocess.run([PARLEY, "restore", "-", "--data", Path(self.folder) / "restored"], stdin=shown,
                                  capture_output=True, text=True, timeout=60)
        self.check_refused(restored, 2, "Standard input is a terminal. Redirect it from a file or a program.")
        os.set_blocking(terminal, False)
        with self.assertRaises(BlockingIOError):
            os.read(terminal, 1)

    def test_a_missing_file_fails_the_exit_status_of_a_stream(self):
        self.file.unlink()
        with self.start(*parley(self.folder)), open(self.backup, "wb") as file:
            done = self.stream(file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 file of the database", done.stderr)

    def test_after_a_kill_a_backup_succeeds(self):
        with self.start(*parley(self.folder)) as server:
            server.signal(signal.SIGKILL)
            server.wait()
        self.assertEqual(command("backup", self.backup, "--data", self.data).returncode, 0)
        with self.start(*parley(self.folder)):
            again = command("backup", f"{self.backup}.2", "--data", self.data)
            self.assertEqual(again.returncode, 0, again.stderr)

    def test_a_long_data_path_works(self):
        long = Path(self.folder) / "/".join(["a" * 60] * 3)
        long.mkdir(parents=True)
        self.data.rename(long / "data")
        with self.start(*parley(long)):
            self.assertTrue(stat.S_ISSOCK((long / "data" / "control").stat().st_mode))
            done = command("backup", self.backup, "--data", long / "data")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((long / "data" / "control").exists())

    def test_a_missing_file_fails_the_exit_status(self):
        self.file.unlink()
        with self.start(*parley(self.folder)):
            done = command("backup", self.backup, "--data", self.data)
        self.check_refused(done, 1, "1 file of the database")
        self.assertTrue(self.backup.exists())

    def test_invalid_arguments_exit_with_2(self):
        for arguments, words in [
                ((), "needs a FILE"), ((self.backup, "more"), "Unknown argument more"), ((self.backup, "--listen", "x"), "--listen"),
                ((self.backup, "--data", "/nowhere"), "does not exist"),
                ((Path(self.folder) / "no" / "folder.tar", "--data", self.data), "can't be created"),
                ((self.backup, "--data", self.folder), "no database")]:
            self.check_refused(command("backup", *arguments), 2, words)
        self.assertFalse(self.backup.exists())


class Control(Site):
    def ask(self, user=None):
        """The response of the control socket; `user` sends the request as another user."""
        script = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                  "s.sendall(b'GET /none HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n'); "
                  "print(s.recv(12))")
        return subprocess.run(
            ["/usr/bin/python3", "-c", script, self.data / "control"], capture_output=True, text=True, timeout=60,
            user=user, cwd="/")

    def test_only_the_owner_gets_a_response(self):
        with self.start(*parley(self.folder)):
            self.assertEqual(stat.S_IMODE((self.data / "control").stat().st_mode), 0o600)
            self.assertIn("HTTP/1.1 404", self.ask().stdout)
            if os.geteuid() != 0:
                self.skipTest("only root can change the user")
            for path in (self.folder, self.data):
                os.chmod(path, 0o755)
            self.assertIn("PermissionError", self.ask(user="nobody").stderr)
            # Even if the mode of the socket allows it.
            os.chmod(self.data / "control", 0o666)
            self.assertNotIn("HTTP", self.ask(user="nobody").stdout)

    def test_invalid_requests_are_problems(self):
        with self.start(*parley(self.folder)):
            for body in ("", "{}", '{"file":1}', '{"file":"relative"}', '{"file":"/x","more":1}', "[" * 1000):
                answer = self.curl(
                    "--unix-socket", self.data / "control", "--data-raw", body, "--write-out", "%{http_code}",
                    "http://localhost/backup")
                self.assertEqual(answer[-3:], b"400", body)


class Restore(Site):
    def setUp(self):
        super().setUp()
        self.assertEqual(command("backup", self.backup, "--data", self.data).returncode, 0)

    def test_restore_into_a_new_folder_and_start_a_daemon(self):
        new = Path(self.folder) / "new"
        done = command("restore", self.backup, "--data", new / "data")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(setting(new / "data", "epoch"), setting(self.data, "epoch"))
        with self.start(*parley(new)) as server:
            self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)
            self.assertEqual(command("backup", f"{self.backup}.2", "--data", new / "data").returncode, 0)

    def test_outcomes_for_programs_are_json(self):
        for status, arguments in ((0, ("backup", f"{self.backup}.2")), (2, ("backup", self.backup)), (2, ("restore", self.backup)),
                                  (0, ("restore", self.backup, "--replace")), (0, ("purge",)),
                                  (2, ("import", self.backup, "--from", "discord"))):
            done = command(*arguments, "--json", "--data", self.data)
            said = json.loads(done.stdout)
            self.assertEqual((done.returncode, said["status"]), (status, "success" if status == 0 else "error"), done.stderr)
            self.assertGreater(len(said["message"]), 20)
        self.check_refused(command("backup", "-", "--json", "--data", self.data), 2, "leave out --json")

    def test_existing_data_is_moved_aside(self):
        self.check_refused(command("restore", self.backup, "--data", self.data), 2, "--replace")
        # An environment variable must not enable this for every run.
        with_variable = command(
            "restore", self.backup, "--data", self.data, env={**os.environ, "PARLEY_REPLACE": "yes"})
        self.assertEqual(with_variable.returncode, 2)
        done = command("restore", self.backup, "--data", self.data, "--replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        aside = [path for path in self.data.iterdir() if path.name.startswith("replaced-")]
        self.assertEqual(len(aside), 1)
        self.assertIn(str(aside[0]), done.stdout)
        self.assertLessEqual({"files", "parley.db"}, {path.name for path in aside[0].iterdir()})

    def test_a_running_daemon_rejects_a_restore(self):
        with self.start(*parley(self.folder)):
            self.check_refused(
                command("restore", self.backup, "--data", self.data, "--replace"), 2, "Another parley uses")

    def test_an_invalid_backup_changes_nothing(self):
        before = {path: path.stat().st_mtime_ns for path in self.data.rglob("*") if path.is_file()}
        whole = self.backup.read_bytes()
        for content in (whole[:-1], whole[:5_000], whole + b"x", whole[:9_000] + b"?" + whole[9_001:], b"seeds" * 500):
            bad = Path(self.folder) / "bad.tar"
            bad.write_bytes(content)
            self.check_refused(
                command("restore", bad, "--data", self.data, "--replace"), 2, "is rejected, and nothing was changed")
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.data.rglob("*") if path.is_file()}, before)

    def test_a_daemon_completes_an_interrupted_restore(self):
        ready = self.data / "restore.ready"
        ready.mkdir()
        (ready / "replaced-then").mkdir()
        with tarfile.open(self.backup, "r:") as archive:
            for member in archive:
                if member.name.startswith("files/") or member.name == "parley.db":
                    archive.extract(member, ready, filter="data")
        with self.start(*parley(self.folder)) as server:
            self.assertIn("interrupted restore was completed", server.output())
        self.assertFalse(ready.exists())
        self.assertTrue((self.data / "replaced-then" / "parley.db").exists())


if __name__ == "__main__":
    unittest.main()
