"""`parley purge`, with a running daemon and with a stopped one."""

import json
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from servers import PARLEY
from serving import ServingTest, parley

SECRET = "chrysanthemum-under-the-bench"


def plant(database):
    """A removed message and its seal, a copy in a report, and the remains of an edit, all expired."""
    seal = {
        "text": SECRET, "entities": None, "hashtags": [], "mentions": [], "links": [], "annotations": None,
        "sent_at": None, "revisions": [], "notices": []}
    database.executescript(f"""
        pragma secure_delete = off;
        insert into account (id, name, role, state, created_at) values (1, 'ada', 'member', 'active', 1);
        insert into conversation (id, kind, created_by, created_at, last_seq, last_message_id)
        values (2, 'group', 1, 1, 1, 3);
        insert into message (id, conversation_id, seq, author_id, created_at, revision, deletion, deleted_at, deleted_by)
        values (3, 2, 1, 1, 1, 2, 'moderator', 2, 1);
        insert into sealed (message_id, content, until) values (3, '{json.dumps(seal)}', 4);
        insert into report (id, reporter_id, message_id, reason, copy, copy_until, created_at)
        values (4, 1, 3, 'weeds', '{SECRET}', 4, 2);
        insert into event (id, stream, stream_offset, kind, subject, revision, actor, at)
        values (1, 11, 1, 1, 3, 1, 1, 1), (2, 11, 2, 3, 3, 2, 1, 2);
        insert into stream (id, head, last_event) values (11, 2, 2);
        update counter set value = case name when 'id' then 4 else 2 end;
        update account set bio = '{SECRET}';
        update account set bio = '';
    """)


class Purge(ServingTest):
    """A site with a secret that no user can read any more; each test has its own."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = Path(self.folder) / "data"
        self.database = self.data / "parley.db"
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(server.stop(), 0)
        with sqlite3.connect(self.database) as database:
            plant(database)
        database.close()
        self.assertTrue(self.contains_secret())

    def contains_secret(self):
        return any(SECRET.encode() in path.read_bytes() for path in self.data.iterdir() if path.is_file())

    def command(self, name, *arguments):
        return subprocess.run(
            [PARLEY, name, "--data", self.data, *arguments], capture_output=True, text=True, timeout=60)

    def check_purged(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.contains_secret())
        self.assertIn("Purged deleted content", done.stdout)
        self.assertIn("Existing backups still contain", done.stdout)
        self.assertIn("rewriting the database", done.stderr)

    def test_without_a_daemon(self):
        done = self.command("purge")
        self.check_purged(done)
        self.assertIn("1 seal of removed messages and 1 copy in reports", done.stdout)
        verified = self.command("verify")
        self.assertEqual(verified.returncode, 0, verified.stdout)
        self.check_purged(self.command("purge"))

    def test_a_running_daemon_does_the_purge(self):
        with self.start(*parley(self.folder)) as server:
            self.check_purged(self.command("purge"))
            self.assertEqual(self.curl_headers(f"{server.url}/readyz")[0], 200)
            self.assertEqual(self.command("verify").returncode, 0)
            self.assertEqual(server.stop(), 0)
        self.assertFalse(self.contains_secret())

    def test_the_copies_in_the_data_folder_are_listed(self):
        self.assertNotIn("In this data folder", self.command("purge").stdout)
        (self.data / "backups").mkdir(exist_ok=True)
        (self.data / "backups" / "parley-1.tar").write_bytes(b"")
        (self.data / "replaced-20261124-1").mkdir()
        lines = self.command("purge").stdout.splitlines()
        self.assertEqual(lines[-2:], [f"  {self.data}/backups/parley-1.tar", f"  {self.data}/replaced-20261124-1"])

    def test_invalid_arguments_exit_with_2(self):
        def check(words, *arguments):
            done = subprocess.run([PARLEY, "purge", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(words, done.stderr)

        check("does not exist", "--data", "/nowhere")
        check("--listen", "--data", self.data, "--listen", "x")
        check("Unknown argument more", "more")
        check("nothing to purge", "--data", self.folder)
        self.assertFalse((Path(self.folder) / "parley.db").exists())
        with sqlite3.connect(self.database) as database:
            database.execute("delete from migration where number = (select max(number) from migration)")
        database.close()
        check("parley migrate", "--data", self.data)
        self.assertTrue(self.contains_secret())

    def test_a_damaged_database_exits_with_1_and_is_not_changed(self):
        damaged = b"This is no database. " * 1000
        self.database.write_bytes(damaged)
        done = self.command("purge")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("damaged", done.stderr)
        self.assertEqual(self.database.read_bytes(), damaged)


if __name__ == "__main__":
    import unittest
    unittest.main()
