"""The checker of `Examples/Proofs` agrees with exports of a site, and finds alterations; so does `parley verify --checkpoint`."""

import io
import json
import re
import sqlite3
import subprocess
import sys
import unittest
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

from servers import PARLEY, TOP
from serving import ServingTest, call, parley

CHECKER = TOP / "Examples" / "Proofs" / "check.py"
PASSWORD = "wool and needles"


class Chain(ServingTest):
    part = "import"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = Path(cls.folder)
        cls.server = cls.enterClassContext(cls.start(*parley(cls.site)))
        code = cls.run_parley("setup").stdout.strip().split("/")[-1]
        cls.tokens = {"ada": call(cls.server, "POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]}
        cls.run_parley("user", "create", "grace", "--password-stdin", given=PASSWORD + "\n")
        cls.tokens["grace"] = call(cls.server, "POST", "/sessions", {"name": "grace", "password": PASSWORD})["token"]
        cls.fill()
        cls.export = cls.archive("site.zip")

    @classmethod
    def run_parley(cls, *arguments, given=None, data="data"):
        return subprocess.run([PARLEY, *map(str, arguments), "--data", cls.site / data], input=given, capture_output=True,
                              text=True, timeout=60)

    @classmethod
    def ask(cls, name, method, path, body=None):
        return call(cls.server, method, path, body, cls.tokens[name])

    @classmethod
    def post(cls, name, text, **members):
        return cls.ask(name, "POST", f"/conversations/{cls.direct}/messages", {"text": text, **members})["id"]

    @classmethod
    def fill(cls):
        """A conversation with an entry of each kind, and a kept checkpoint in its middle."""
        cls.direct = cls.ask("ada", "POST", "/conversations", {"kind": "group", "participants": ["@grace"]})["id"]
        cls.ask("grace", "PUT", f"/conversations/{cls.direct}/request")
        first = cls.post("ada", "A first message 🌱")
        edited = cls.post("grace", "An aswer", reply_to=first)
        cls.ask("grace", "PATCH", f"/messages/{edited}", {"text": "An answer"})
        cls.kept = cls.site / "kept.json"
        cls.kept.write_text(json.dumps(cls.ask("grace", "GET", f"/conversations/{cls.direct}/checkpoint")))
        cls.deleted = cls.post("ada", "A regret")
        cls.post("ada", "A last word")
        cls.ask("ada", "DELETE", f"/messages/{cls.deleted}")
        forum = cls.ask("ada", "POST", "/forums", {"title": "Wool", "visibility": "public"})
        cls.room = forum["room_id"]
        removed = cls.ask("grace", "POST", f"/conversations/{cls.room}/messages", {"text": "Too loud"})["id"]
        cls.ask("ada", "POST", f"/messages/{removed}/remove", {"reason": "loud"})
        cls.ask("ada", "POST", f"/messages/{removed}/restore")

    @classmethod
    def archive(cls, name, *arguments):
        done = cls.run_parley("export", cls.site / name, *arguments)
        assert done.returncode == 0, done.stderr
        return cls.site / name

    def check(self, archive, *arguments):
        done = subprocess.run([sys.executable, CHECKER, archive, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def altered(self, table, change, export=None, to="altered.zip"):
        """A copy of an export, by default that of the site, in which `change` gets and returns the rows of a table."""
        path = self.site / to
        with zipfile.ZipFile(export or self.export) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                if name == f"{table}.jsonl":
                    rows = change([json.loads(line) for line in io.StringIO(data.decode())])
                    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
                target.writestr(name, data)
        return path

    def test_the_export_of_the_site_is_sound(self):
        key = call(self.server, "GET", "/server")["site_key"]
        status, output = self.check(self.export, self.kept, "--key", key)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, rf"conversations, \d+ entries, 0 messages without one, signed with {key}: nothing was altered")

    def test_the_export_of_a_user_is_sound_but_for_its_forum_posts(self):
        export = self.archive("grace.zip", "--user", "grace")
        status, output = self.check(export, self.kept)
        self.assertEqual(status, 3, output)
        self.assertIn("1 messages without one", output)
        self.assertIn("nothing was altered in the covered part", output)
        room = self.site / "room.json"
        room.write_text(json.dumps(self.ask("grace", "GET", f"/conversations/{self.room}/checkpoint"), indent=2))
        status, output = self.check(export, room)
        self.assertEqual(status, 3, output)
        self.assertIn("can't be compared: the export does not have the conversation from its beginning", output)

    def test_an_export_without_entries_proves_nothing(self):
        stripped = self.altered("entries", lambda rows: [], to="stripped.zip")
        status, output = self.check(self.altered("checkpoints", lambda rows: [], stripped))
        self.assertEqual(status, 3, output)

    def test_checkpoints_of_the_export_are_read_by_both_checkers(self):
        checkpoints = self.site / "checkpoints.jsonl"
        with zipfile.ZipFile(self.export) as files:
            checkpoints.write_bytes(files.read("checkpoints.jsonl"))
        self.assertEqual(self.check(self.export, checkpoints)[0], 0)
        self.assertEqual(self.run_parley("verify", "--checkpoint", checkpoints).returncode, 0)
        indented = self.site / "indented.json"
        indented.write_text(json.dumps(json.loads(self.kept.read_text()), indent=2))
        self.assertEqual(self.check(self.export, indented)[0], 0)
        self.assertEqual(self.run_parley("verify", "--checkpoint", indented).returncode, 0)

    def test_an_unreadable_file_is_no_alteration(self):
        done = subprocess.run([sys.executable, CHECKER, self.kept], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a file can't be read", done.stderr)

    def test_the_checker_is_small(self):
        self.assertLessEqual(len(CHECKER.read_text().splitlines()), 200)

    def test_the_documented_checkpoints_are_signed(self):
        module = SourceFileLoader("check", str(CHECKER)).load_module()
        checker = module.Check.__new__(module.Check)
        checker.signed = {}
        page = (TOP / "Documentation" / "pages" / "proofs.md").read_text()
        documented = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
        described = json.loads((TOP / "Public" / "openapi.json").read_text())["paths"]["/conversations/{id}/checkpoint"]["get"]
        self.assertEqual(documented, described["responses"]["200"]["content"]["application/json"]["example"])
        self.assertTrue(checker.is_signed(documented))
        self.assertFalse(checker.is_signed({**documented, "position": 3}))

    def test_each_alteration_is_found(self):
        def at(index, **members):
            return lambda rows: [{**row, **members} if number == index else row for number, row in enumerate(rows)]

        def without(index):
            return lambda rows: rows[:index] + rows[index + 1:]

        with zipfile.ZipFile(self.export) as files:
            sizes = {name: len(files.read(f"{name}.jsonl").splitlines()) for name in ("messages", "entries", "checkpoints")}
            self.assertIn("An aswer", files.read("revisions.jsonl").decode())
        alterations = [("revisions", at(0, text="An ANSWER")), ("messages", at(0, reply_to="1"))]
        for index in range(sizes["messages"]):
            alterations += [("messages", at(index, text="altered")), ("messages", at(index, author_id="77")),
                            ("messages", at(index, created_at="2020-01-01T00:00:00.000Z")), ("messages", without(index))]
        for index in range(sizes["entries"]):
            alterations += [("entries", without(index)), ("entries", at(index, actor_id="77")), ("entries", at(index, kind="restored"))]
        for index in range(sizes["checkpoints"]):
            alterations += [("checkpoints", without(index)), ("checkpoints", at(index, position=1, hash="0" * 64)),
                            ("checkpoints", at(index, signed_at="2020-01-01T00:00:00.000Z"))]
        self.assertGreater(len(alterations), 50)
        for number, (table, change) in enumerate(alterations):
            if self.is_same(table, change):
                continue
            with self.subTest(number=number, table=table):
                status, output = self.check(self.altered(table, change))
                self.assertEqual(status, 1, output)

    def is_same(self, table, change):
        """Whether an alteration changes nothing: the entry was of that kind."""
        with zipfile.ZipFile(self.export) as files:
            rows = [json.loads(line) for line in files.read(f"{table}.jsonl").decode().splitlines()]
        return change(list(rows)) == rows

    def test_a_kept_checkpoint_shows_another_history(self):
        kept = json.loads(self.kept.read_text())
        other = self.site / "other.json"
        other.write_text(json.dumps({**kept, "hash": "0" * 64}))
        status, output = self.check(self.export, other)
        self.assertEqual(status, 1)
        self.assertIn("has a wrong signature", output)

    def test_verify_compares_with_checkpoints(self):
        done = self.run_parley("verify", "--checkpoint", self.kept)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        forged = self.site / "forged.json"
        forged.write_text(json.dumps({**json.loads(self.kept.read_text()), "position": 1}))
        done = self.run_parley("verify", "--checkpoint", forged)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has a wrong signature", done.stderr)

    def test_verify_finds_what_changed_since_a_checkpoint(self):
        """A backup, restored elsewhere with the key and altered there, is another history of the same site."""
        backup = self.site / "backup.tar"
        self.assertEqual(self.run_parley("backup", backup).returncode, 0)
        self.assertEqual(self.run_parley("restore", backup, data="copy").returncode, 0)
        done = self.run_parley("verify", "--checkpoint", self.kept, data="copy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no site.key", done.stderr)
        key = self.run_parley("key", "export")
        (self.site / "exported.key").write_text(key.stdout)
        done = self.run_parley("key", "import", self.site / "exported.key", data="copy")
        self.assertIn(call(self.server, "GET", "/server")["site_key"], done.stdout)
        self.assertEqual(self.run_parley("verify", "--checkpoint", self.kept, data="copy").returncode, 0)
        database = sqlite3.connect(self.site / "copy" / "parley.db")
        database.execute("update message set author_id = (select max(id) from account) where conversation_id = ? and seq = 1",
                         (int(self.direct),))
        database.commit()
        database.close()
        done = self.run_parley("verify", "--all", "--checkpoint", self.kept, data="copy")
        self.assertEqual(done.returncode, 1)
        self.assertIn("this is not the history that the site signed", done.stdout)

    def test_another_key_is_replaced_on_request(self):
        for name in ("one", "other"):
            secret = self.site / f"{name}.key"
            secret.write_text(name.encode().ljust(32).hex() + "\n")
        self.assertEqual(self.run_parley("key", "import", self.site / "one.key", data="keys").returncode, 0)
        done = self.run_parley("key", "import", self.site / "other.key", data="keys")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Save it with parley key export, then import with --replace", done.stderr)
        self.assertEqual(self.run_parley("key", "import", self.site / "other.key", "--replace", data="keys").returncode, 0)
        (self.site / "keys" / "secrets.key").write_text((self.site / "one.key").read_text())
        done = self.run_parley("key", "import", self.site / "one.key", "--replace", data="keys")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it is the content of secrets.key", done.stderr)

    def test_the_key_of_a_running_site_is_not_replaced(self):
        exported = self.site / "again.key"
        exported.write_text(self.run_parley("key", "export").stdout)
        done = self.run_parley("key", "import", exported)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Another parley uses the data folder", done.stderr)


if __name__ == "__main__":
    unittest.main()
