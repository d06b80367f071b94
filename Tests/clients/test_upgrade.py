"""A site of an earlier schema opens, with all that is in it, and the database before the migration is kept."""

import contextlib
import hashlib
import os
import re
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from servers import PARLEY, TOP
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"
SAMPLES = sorted((TOP / "Tests/clients/samples").glob("schema-*.sql"))
MIGRATIONS = sorted((TOP / "Migrations/sqlite").glob("*.sql"))
APPLICATION_ID = 0x5061726C
DAY = 86_400


def level(sample):
    return int(re.search(r"\d+", sample.stem)[0])


def build(sample, path):
    """The database as the program of that time left it."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    database.execute(
        "create table migration (number integer primary key, name text not null, hash text not null, "
        "applied_at integer not null) strict")
    for file in MIGRATIONS[:level(sample)]:
        number, name = file.stem.split("_", 1)
        database.executescript(file.read_text())
        database.execute(
            "insert into migration values (?, ?, ?, 0)", (int(number), name, hashlib.sha256(file.read_bytes()).hexdigest()))
    # The rows of one table may refer to those of a later one.
    database.executescript(f"pragma foreign_keys = off; begin; {sample.read_text()} commit;")
    database.close()


class Upgrade(ServingTest):
    part = "hosting"

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.folder / "data"
        self.data.mkdir()
        self.database = self.data / "parley.db"
        self.kept = self.data / "parley.db.before-migration"

    def run_parley(self, *arguments):
        done = subprocess.run(
            [PARLEY, *arguments, "--data", self.data], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @contextlib.contextmanager
    def running(self):
        with self.start(*parley(self.folder)) as self.server:
            yield
            self.assertEqual(self.server.stop(), 0)

    def ask(self, method, path, body=None, token=None):
        return call(self.server, method, path, body, token)

    def sign_in(self, name):
        return self.ask("POST", "/sessions", {"name": name, "password": PASSWORD})["token"]

    def check_site(self):
        ada, grace = self.sign_in("ada"), self.sign_in("grace")
        self.assertEqual(self.ask("GET", "/me", token=ada)["role"], "owner")
        self.assertEqual(self.ask("GET", "/users?query=gra", token=ada)["data"][0]["name"], "grace")
        forum, = self.ask("GET", "/forums", token=grace)["data"]
        self.assertEqual((forum["title"], forum["visibility"]), ("Knitting", "public"))
        room = f"/conversations/{forum['room_id']}/messages"
        messages = self.ask("GET", f"{room}?order=asc&include_deleted=true", token=grace)["data"]
        self.assertEqual(
            [message.get("text") for message in messages], ["Who knits #socks?", "I do, @ada.", "Misspelled", None])
        self.assertEqual(messages[0]["actions"]["like"], {"count": 2, "mine": True})
        self.assertTrue(messages[3]["deleted"])
        topic, = self.ask("GET", f"/forums/{forum['id']}/conversations", token=ada)["data"]
        self.assertEqual(topic["title"], "Yarn from Iceland")
        direct, = self.ask("GET", "/conversations?kind=direct", token=ada)["data"]
        secret, = self.ask("GET", f"/conversations/{direct['id']}/messages", token=ada)["data"]
        self.assertEqual(secret["text"], "A secret pattern")
        for word, text in (("knits", "Who knits #socks?"), ("warm", "It is warm."), ("pattern", "A secret pattern")):
            found = self.ask("GET", f"/messages/search?q={word}", token=ada)["data"]
            self.assertEqual([hit["message"]["text"] for hit in found], [text])
        return room, ada

    def test_a_site_of_an_earlier_schema_opens(self):
        self.assertTrue(SAMPLES)
        for sample in SAMPLES:
            with self.subTest(sample.name):
                for path in self.data.glob("*"):
                    path.unlink() if path.is_file() else None
                build(sample, self.database)
                with self.running():
                    room, ada = self.check_site()
                    posted = self.ask("POST", room, {"text": "after the upgrade"}, ada)
                    self.assertEqual(posted["seq"], 5)
                    log = self.server.output()
                self.run_parley("verify", "--all")
                line, = [line for line in log.splitlines() if "before-migration" in line]
                self.assertIn(str(self.kept), line)
                self.assertEqual(self.kept.stat().st_mode & 0o777, 0o600)

    def begin(self):
        build(SAMPLES[0], self.database)
        with self.running():
            pass

    def test_the_database_before_the_migration_leads_back(self):
        self.begin()
        # Follows the steps of docker/README.md.
        for suffix in ("-wal", "-shm"):
            Path(f"{self.database}{suffix}").unlink(missing_ok=True)
        os.replace(self.kept, self.database)
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            self.assertEqual(database.execute("select max(number) from migration").fetchone()[0], level(SAMPLES[0]))
            self.assertEqual(database.execute("pragma integrity_check").fetchone()[0], "ok")
        # And forward again.
        with self.running():
            self.check_site()
        self.assertTrue(self.kept.exists())

    def wait_until_removed(self):
        for _ in range(600):
            if not self.kept.exists():
                return
            time.sleep(0.1)
        self.fail("the copy is still there")

    def test_the_kept_database_is_removed_after_seven_days(self):
        self.begin()
        old = self.kept.stat().st_mtime - 7 * DAY + 3_600
        os.utime(self.kept, (old, old))
        with self.running():
            self.ask("GET", "/forums")
        self.assertTrue(self.kept.exists())
        os.utime(self.kept, (old - 3_600, old - 3_600))
        with self.running():
            self.wait_until_removed()

    def test_an_erasure_removes_the_kept_database(self):
        self.begin()
        with self.running():
            self.ask("DELETE", "/users/@grace", {"how": "erase", "reason": "On request."}, self.sign_in("ada"))
        with self.running():
            self.wait_until_removed()

    def test_a_purge_removes_the_kept_database(self):
        self.begin()
        self.run_parley("purge")
        self.assertFalse(self.kept.exists())
