"""`parley verify` as its exit status and its words."""

import hashlib
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
        """An empty place, as the server makes it."""
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

    def test_a_sound_place_is_0_and_a_line_for_each_check(self):
        self.plant()
        status, output, errors = self.verify()
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("✓ chains: 0 conversations, 0 messages\n", output)
        self.assertTrue(all(line.startswith("✓ ") for line in output.splitlines()), output)

    def test_a_fault_is_1_and_says_where(self):
        self.plant()
        self.change("update counter set value = 1200300; insert into stream values (0, 1, 5)")
        status, output, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertIn("✗ streams: 1 fault. ", output)
        self.assertIn("  stream site says that it ends with event 5 at offset 1, and ends with 0 at 0\n", output)
        self.assertNotIn("counters", output)
        status, output, _ = self.verify("--all")
        self.assertEqual(status, 1)
        self.assertIn("  the counter of events stands at 1200300, and the last event is 0\n", output)

    def test_nothing_to_look_at_is_2(self):
        status, output, errors = self.verify()
        self.assertEqual((status, output), (2, ""))
        self.assertIn("no database of parley", errors)
        status, _, errors = self.verify("--every")
        self.assertEqual(status, 2)
        self.assertIn("--every is not known here", errors)


if __name__ == "__main__":
    unittest.main()
