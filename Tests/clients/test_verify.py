"""`parley verify`: exit status and output."""

import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

from servers import PARLEY

MIGRATIONS = Path(__file__).resolve().parents[2] / "Migrations/sqlite"


class Verify(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))

    def change(self, script):
        database = sqlite3.connect(f"{self.folder}/parley.db")
        database.executescript(script)
        database.close()

    def plant(self):
        """An empty site, as the server creates it."""
        self.change(
            "pragma journal_mode = wal;"
            "create table migration (number integer primary key, name text not null, hash text not null,"
            " applied_at integer not null) strict")
        for path in sorted(MIGRATIONS.glob("*.sql")):
            number, _, name = path.stem.partition("_")
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            self.change(path.read_text() + f";insert into migration values ({int(number)}, '{name}', '{digest}', 1)")

    def verify(self, *arguments):
        done = subprocess.run([PARLEY, "verify", "--data", self.folder, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_a_sound_site_exits_with_0_and_prints_each_check(self):
        self.plant()
        status, output, errors = self.verify()
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("✓ chains: 0 conversations, 0 messages\n", output)
        self.assertTrue(all(line.startswith("✓ ") for line in output.splitlines()), output)

    def test_a_fault_exits_with_1_and_names_its_location(self):
        self.plant()
        self.change("update counter set value = 1200300; insert into stream values (0, 1, 5)")
        status, output, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertIn("✗ streams: 1 fault. ", output)
        self.assertIn("  stream site names event 5 at offset 1 as its last, but ends with 0 at 0\n", output)
        self.assertNotIn("counters", output)
        status, output, _ = self.verify("--all")
        self.assertEqual(status, 1)
        self.assertIn("  the counter of events is 1200300, but the last event is 0\n", output)

    def test_the_checks_as_one_json_object(self):
        self.plant()
        status, output, errors = self.verify("--json")
        found = json.loads(output)
        self.assertEqual((status, errors, found["status"]), (0, "", "success"))
        chains = next(it for it in found["checks"] if it["check"] == "chains")
        self.assertEqual((chains["sound"], chains["faults"]), (True, []))
        self.assertIn({"what": "messages", "number": 0}, chains["counts"])
        self.change("insert into stream values (0, 1, 5)")
        status, output, _ = self.verify("--json")
        found = json.loads(output)
        self.assertEqual((status, found["status"], found["checks"][-1]["check"]), (1, "failure", "streams"))
        self.assertEqual(found["checks"][-1]["fault_count"], 1)

    def test_on_a_terminal_it_shows_its_progress(self):
        self.plant()
        reader, writer = os.openpty()
        done = subprocess.run(
            [PARLEY, "verify", "--data", self.folder], stdout=subprocess.PIPE, stderr=writer, text=True)
        os.close(writer)
        drawn = b""
        # Reading a terminal after its last writer has closed it is an error.
        with contextlib.suppress(OSError):
            while piece := os.read(reader, 65536):
                drawn += piece
        os.close(reader)
        self.assertEqual(done.returncode, 0)
        for check in ("integrity", "search", "files"):
            self.assertIn(f"\r\x1b[K{check}".encode(), drawn)
        self.assertTrue(drawn.endswith(b"\r\x1b[K"), "the progress line is cleared")
        self.assertTrue(all(line.startswith("✓ ") for line in done.stdout.splitlines()), done.stdout)

    def test_a_missing_database_exits_with_2(self):
        status, output, errors = self.verify()
        self.assertEqual((status, output), (2, ""))
        self.assertIn("no database of parley", errors)
        status, _, errors = self.verify("--every")
        self.assertEqual(status, 2)
        self.assertIn("Unknown argument --every", errors)


if __name__ == "__main__":
    unittest.main()
