"""Sites of earlier releases open with all that is in them, and their migrations are frozen.

Without a release there is a sample of this version alone, which the test writes.
"""

import contextlib
import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from sample import MAX_BYTES, digest, rows, tables
from servers import PARLEY, TOP
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"
RELEASES = TOP / "Tests/Releases"
# Tables that each start changes, and tables that a migration rewrites, by its number.
STARTED = {"counter", "start", "migration"}
REWRITTEN = {}
# A restore ends sessions and links, and writes its entry into the audit log.
RESTORED = STARTED | {
    "session", "link", "audit", "setting", "webhook", "webhook_endpoint", "webhook_delivery", "command", "command_invocation",
    "command_reply", "mail_delivery", "mail_state", "password_reset", "email", "ended_session", "push_subscription", "push_delivery",
    "backup", "job", "app_code", "app_grant", "app_refresh", "issuer_session",
    "passkey_session"}


class Releases(ServingTest):
    part = "release"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = Path(cls.folder)
        made = cls.site / "this"
        done = subprocess.run([TOP / "Tests/tools/sample", made], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.samples = [*sorted(RELEASES.glob("*")), made]

    def unpack(self, sample):
        data = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))) / "data"
        with tarfile.open(sample / "data.tar.gz") as archive:
            archive.extractall(data, filter="data")
        return data, json.loads((sample / "manifest.json").read_text())

    def run_parley(self, *arguments, status=0):
        done = subprocess.run([PARLEY, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def content(self, data):
        """Columns and rows of each table."""
        # A copy, so that no log of SQLite appears beside it.
        with contextlib.closing(sqlite3.connect(data / "parley.db")) as database:
            columns = tables(database)
            return {name: (columns[name], rows(database, name, columns[name])) for name in columns}

    def check_equal(self, before, data, changed):
        """Each table has its rows, in the columns that it still has."""
        with contextlib.closing(sqlite3.connect(data / "parley.db")) as database:
            present = tables(database)
            for name, (columns, lines) in before.items():
                if name in changed:
                    continue
                self.assertIn(name, present)
                self.assertEqual([column for column in columns if column not in present[name]], [], name)
                self.assertEqual(rows(database, name, columns), lines, name)

    def test_a_sample_is_small_and_equals_its_manifest(self):
        for sample in self.samples:
            with self.subTest(sample.name):
                self.assertLessEqual(sum(file.stat().st_size for file in sample.iterdir()), MAX_BYTES)
                data, manifest = self.unpack(sample)
                found = self.content(data)
                self.assertEqual({name: len(lines) for name, (_, lines) in found.items()}, manifest["rows"])
                self.assertEqual({name: digest(lines) for name, (_, lines) in found.items()}, manifest["digests"])

    def test_its_data_folder_opens(self):
        for sample in self.samples:
            with self.subTest(sample.name):
                data, manifest = self.unpack(sample)
                before = self.content(data)
                rewritten = {table for number, names in REWRITTEN.items() if number > len(manifest["migrations"]) for table in names}
                self.run_parley("migrate", "--data", data)
                self.check_equal(before, data, STARTED | rewritten)
                self.run_parley("verify", "--all", "--data", data)
                with self.start(*parley(data.parent)) as server:
                    opened = call(server, "POST", "/sessions", {"name": "grace", "password": PASSWORD})
                    self.assertEqual(opened["user"]["name"], "grace")
                    self.assertEqual(server.stop(), 0)

    def test_its_backup_is_restored(self):
        for sample in self.samples:
            with self.subTest(sample.name):
                data, manifest = self.unpack(sample)
                before = self.content(data)
                rewritten = {table for number, names in REWRITTEN.items() if number > len(manifest["migrations"]) for table in names}
                archive = data.parent / "backup.tar"
                archive.write_bytes(gzip.decompress((sample / "backup.tar.gz").read_bytes()))
                restored = data.parent / "restored"
                self.run_parley("restore", archive, "--data", restored)
                self.run_parley("migrate", "--data", restored)
                self.check_equal(before, restored, RESTORED | rewritten)
                self.run_parley("verify", "--all", "--data", restored)

    def test_a_changed_migration_of_a_release_is_refused(self):
        tree = self.site / "tree"
        for part in ("Migrations/sqlite", "Sources/Server/Storage/Engine", "Tests/tools"):
            (tree / part).mkdir(parents=True)
        shutil.copytree(TOP / "Migrations/sqlite", tree / "Migrations/sqlite", dirs_exist_ok=True)
        shutil.copy(TOP / "Tests/tools/migrations", tree / "Tests/tools/migrations")

        def generate():
            return subprocess.run([sys.executable, tree / "Tests/tools/migrations"], capture_output=True, text=True, timeout=60)

        # Without releases all may change.
        changed = sorted((tree / "Migrations/sqlite").glob("*.sql"))[3]
        content = changed.read_bytes()
        changed.write_bytes(content + b"-- More.\n")
        self.assertEqual(generate().returncode, 0)
        changed.write_bytes(content)
        shutil.copytree(self.samples[-1], tree / "Tests/Releases/9.9.9")
        self.assertEqual(generate().returncode, 0)
        later = tree / "Migrations/sqlite/9000_later.sql"
        later.write_text("select 1;\n")
        self.assertEqual(generate().returncode, 0)

        def refused():
            done = generate()
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, re.escape(changed.name) + " is frozen by release 9.9.9")

        changed.write_bytes(content + b"-- More.\n")
        refused()
        changed.rename(changed.with_name(changed.name.replace(".sql", "_more.sql")))
        refused()
        changed.with_name(changed.name.replace(".sql", "_more.sql")).unlink()
        refused()

    def test_the_frozen_migrations_are_those_of_the_sources(self):
        for sample in sorted(RELEASES.glob("*/manifest.json")):
            frozen = json.loads(sample.read_text())["migrations"]
            source = (TOP / "Sources/Server/Storage/Engine/MigrationHashes.swift").read_text()
            for _, name, hashed in frozen:
                self.assertIn(f'name: "{name}",\n      hash: "{hashed}"', source)

    def test_an_existing_sample_is_not_replaced(self):
        done = subprocess.run([TOP / "Tests/tools/sample", self.samples[-1]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a sample is never replaced", done.stderr)


if __name__ == "__main__":
    unittest.main()
