"""The daemon and its database: creation, locking, damage and migrations."""

import json
import os
import shutil
import sqlite3
import subprocess
import time
import unittest
from contextlib import closing
from pathlib import Path

from servers import PARLEY, TOP
from serving import ServingTest, parley

MIGRATIONS = sorted(path.name for path in (TOP / "Migrations" / "sqlite").glob("*.sql"))


class Database(ServingTest):
    def setUp(self):
        self.data = Path(self.folder) / "data"
        shutil.rmtree(self.data, ignore_errors=True)
        self.database = self.data / "parley.db"

    def parley(self, *arguments):
        return subprocess.run(
            [PARLEY, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=self.folder)

    def status(self, *arguments):
        return self.parley("migrate", "--status", "--data", self.data, *arguments)

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_an_empty_folder_gets_a_database_that_a_restart_opens(self):
        with self.start(*parley(self.folder)) as server:
            self.assertIn(MIGRATIONS[0], server.output())
            self.assertIn(MIGRATIONS[-1], server.output())
            self.assertEqual(self.curl_headers(f"{server.url}/readyz")[0], 200)
            self.assertEqual(server.stop(), 0)
        self.assertFalse(Path(f"{self.database}-wal").exists(), "a clean stop leaves no log behind")
        with self.start(*parley(self.folder)) as server:
            self.assertNotIn(MIGRATIONS[0], server.output())
            self.assertEqual(self.curl_headers(f"{server.url}/readyz")[0], 200)

    def test_a_server_that_was_killed_starts_again(self):
        with self.start(*parley(self.folder)) as server:
            server.kill()
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(self.curl_headers(f"{server.url}/readyz")[0], 200)

    def test_a_damaged_database_is_rejected_and_not_changed(self):
        self.assertEqual(self.parley("migrate", "--data", self.data).returncode, 0)
        whole = self.database.read_bytes()
        for name, damaged in [
            ("another file", b"This is no database. " * 1000),
            ("a damaged first page", whole[:100] + b"\xff" * 400 + whole[500:]),
        ]:
            with self.subTest(name):
                self.database.write_bytes(damaged)
                self.assert_refused(self.parley(*parley(self.folder)[1:]), "parley.db", "damaged", "backup")
                self.assertEqual(self.database.read_bytes(), damaged)
                self.assert_refused(self.status(), "parley.db")

    def test_damage_inside_the_database_is_found_and_stops_writes(self):
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(server.stop(), 0)
        with sqlite3.connect(self.database) as database:
            database.execute("insert into account (id, name, role, state, created_at) values (1, 'ada', 'owner', 'active', 1)")
            database.executemany(
                "insert into setting (name, value) values (?, ?)", [(f"seed {n}", "x" * 1000) for n in range(200)])
        database.close()
        with open(self.database, "r+b") as file:
            # The rows of the last insert are at the end of the file.
            file.seek(-30 * 4096, os.SEEK_END)
            file.write(b"\xff" * 3 * 4096)
        with self.start(*parley(self.folder)) as server:
            deadline = time.monotonic() + 60
            while self.curl_headers(f"{server.url}/readyz")[0] == 200 and time.monotonic() < deadline:
                time.sleep(0.05)
            problem = json.loads(self.curl(f"{server.url}/readyz"))
            self.assertEqual((problem["status"], problem["code"]), (503, "database_damaged"))
            self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)
            self.assertIn("DATABASE IS DAMAGED", server.output())
            self.assertIn("table setting", server.output())
            done = self.parley("token", "ada", "--data", self.data)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("damaged", done.stderr)
            self.assertEqual(server.stop(), 0)

    def test_a_database_of_another_program_is_rejected(self):
        self.data.mkdir(mode=0o700)
        with sqlite3.connect(self.database) as other:
            other.execute("create table recipe (name text)")
        other.close()
        self.assert_refused(self.parley(*parley(self.folder)[1:]), "another program")

    def test_missing_migrations_are_reported(self):
        share = Path(self.folder) / "share"
        shutil.rmtree(share, ignore_errors=True)
        (share / "Public").mkdir(parents=True)
        serve = [*parley(self.folder)[1:], "--share", share]
        self.assert_refused(self.parley(*serve), "Migrations", "--share")
        shutil.copytree(TOP / "Migrations", share / "Migrations")
        (share / "Migrations" / "sqlite" / MIGRATIONS[-1]).unlink()
        self.assert_refused(self.parley(*serve), MIGRATIONS[-1])
        self.assertNotIn("applied", self.status().stdout, "no migration was applied")

    def test_migrate_status_lists_applied_migrations(self):
        done = self.status()
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split() for line in done.stdout.splitlines()], [[name, "missing"] for name in MIGRATIONS])
        self.assertFalse(self.data.exists(), "the status command creates no folder")
        with self.start(*parley(self.folder)):
            done = self.status()
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.split() for line in done.stdout.splitlines()]
            self.assertEqual([line[:2] for line in lines], [[name, "applied"] for name in MIGRATIONS])
            self.assertRegex(lines[0][2], r"^\d{4}-\d\d-\d\dT.*Z$")
        self.assertEqual(self.status().returncode, 0)

    def test_migrate_status_tells_a_newer_database_from_faults(self):
        self.assertEqual(self.parley("migrate", "--data", self.data).returncode, 0)
        with closing(sqlite3.connect(self.database)) as database:
            last = database.execute("select max(number) from migration").fetchone()[0]
            names = [row[1] for row in database.execute("pragma table_info(migration)")]
            values = ", ".join(f"{last + 1}" if name == "number" else name for name in names)
            database.execute(f"insert into migration ({', '.join(names)}) select {values} from migration where number = {last}")
            database.commit()
        done = self.status()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("newer version", done.stderr)
        self.database.write_bytes(b"This is no database. " * 1000)
        self.assertEqual(self.status().returncode, 2)
        both = self.parley("migrate", "--status", "--undo", "--data", self.data)
        self.assertEqual(both.returncode, 2)
        self.assertIn("--status and --undo exclude each other.", both.stderr)
        self.assert_refused(self.parley("migrate", "--changes", "--data", self.data), "before its last migration is gone")
        self.assert_refused(self.parley("migrate", "--undo", "--data", self.data), "before its last migration is gone")

    def test_migrate_locks_the_folder(self):
        with self.start(*parley(self.folder)):
            self.assert_refused(self.parley("migrate", "--data", self.data), "Another parley")
        done = self.parley("migrate", "--data", self.data)
        self.assertEqual((done.returncode, done.stdout), (0, "The database is up to date.\n"))

    def test_migrate_creates_the_database(self):
        done = self.parley("migrate", "--data", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [f"applied {name}" for name in MIGRATIONS])
        self.assertEqual(self.status().returncode, 0)
        self.assert_refused(self.parley("migrate", "--nonsense"), "--nonsense")


if __name__ == "__main__":
    unittest.main()
