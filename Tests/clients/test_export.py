"""`parley export` writes the site, or the data of a user, as JSON Lines, files and pages without scripts."""

import contextlib
import html
import io
import json
import re
import sqlite3
import subprocess
import tempfile
import time
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.request import Request, urlopen

import jsonschema
from PIL import Image
from servers import PARLEY
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"
# A quote before a combining mark is one character, and ends an attribute nonetheless.
DESCRIPTION = "A \"red\" rose\"\u0301 onerror=alert(4)"
HOSTILE = "<script>alert(1)</script> & \"quoted\" <img src=x onerror=alert(2)>"


class Page(HTMLParser):
    """The tags, links and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text, self.attributes = set(), [], "", set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.links += [value for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


class Export(ServingTest):
    part = "import"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = Path(cls.folder)
        cls.server = cls.enterClassContext(cls.start(*parley(cls.site)))
        code = cls.run_parley("setup").stdout.strip().split("/")[-1]
        cls.tokens = {"ada": call(cls.server, "POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]}
        for name in ("grace", "linus"):
            cls.run_parley("user", "create", name, "--password-stdin", given=PASSWORD + "\n")
            cls.tokens[name] = call(cls.server, "POST", "/sessions", {"name": name, "password": PASSWORD})["token"]
        cls.fill()

    @classmethod
    def run_parley(cls, *arguments, given=None):
        return subprocess.run([PARLEY, *map(str, arguments), "--data", cls.site / "data"], input=given, capture_output=True, text=True,
                              timeout=60)

    @classmethod
    def ask(cls, name, method, path, body=None):
        return call(cls.server, method, path, body, cls.tokens[name])

    @classmethod
    def upload(cls, name, file, kind, content):
        request = Request(f"{cls.server.url}/api/v1/files?name={file}", method="POST", data=content)
        request.add_header("Content-Type", kind)
        request.add_header("Authorization", f"Bearer {cls.tokens[name]}")
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)["id"]

    @classmethod
    def fill(cls):
        forum = cls.ask("ada", "POST", "/forums", {"title": f"Knitting {HOSTILE}", "visibility": "public"})
        cls.room = forum["room_id"]
        page = cls.upload("grace", "evil.html", "text/html", b"<script>alert(3)</script>")
        notes = cls.upload("grace", "notes.txt", "text/plain", b"a rose")
        cls.ask("grace", "POST", f"/conversations/{cls.room}/messages", {"text": f"**Bold** {HOSTILE}", "attachments": [page, notes]})
        picture = io.BytesIO()
        Image.new("RGB", (8, 8)).save(picture, "PNG")
        rose = cls.upload("ada", "rose.png", "image/png", picture.getvalue())
        cls.ask("ada", "POST", f"/conversations/{cls.room}/messages", {
            "text": "![](attachment:1) ![none](attachment:2)", "attachments": [rose], "descriptions": [DESCRIPTION]})
        wrong = cls.ask("ada", "POST", f"/conversations/{cls.room}/messages", {"text": "Misspeled"})
        cls.ask("ada", "PATCH", f"/messages/{wrong['id']}", {"text": "Misspelled"})
        file = cls.upload("ada", "gone.txt", "text/plain", b"a deleted file")
        gone = cls.ask("ada", "POST", f"/conversations/{cls.room}/messages", {"text": "a deleted text", "attachments": [file]})
        cls.ask("ada", "DELETE", f"/messages/{gone['id']}")
        cls.ask("grace", "PUT", f"/messages/{wrong['id']}/actions/like")
        cls.ask("ada", "PUT", f"/messages/{wrong['id']}/actions/star")
        cls.ask("ada", "POST", f"/forums/{forum['id']}/conversations", {
            "title": "Yarn", "text": "Which one?", "poll": {"options": ["Wool", "Silk"], "choices": 1}})
        removed = cls.upload("grace", "removed.txt", "text/plain", b"a removed file")
        sealed = cls.ask("grace", "POST", f"/conversations/{cls.room}/messages", {"text": "a removed text", "attachments": [removed]})
        cls.ask("ada", "POST", f"/messages/{sealed['id']}/remove", {"reason": "A test."})
        cls.upload("grace", "draft.txt", "text/plain", b"a draft of grace")
        deleted = cls.ask("ada", "POST", "/forums", {"title": "A deleted forum", "visibility": "public"})
        cls.ask("ada", "POST", f"/forums/{deleted['id']}/conversations", {"title": "A topic without a forum", "text": "Lost"})
        cls.ask("ada", "DELETE", f"/forums/{deleted['id']}")
        private = cls.ask("ada", "POST", "/forums", {"title": "Cellar", "description": "Dark wool", "visibility": "private"})
        cls.ask("ada", "PUT", f"/forums/{private['id']}/members/@grace", {})
        cls.private = private["room_id"]
        cls.ask("grace", "POST", f"/conversations/{cls.private}/messages", {"text": "From the cellar"})
        cls.ask("ada", "DELETE", f"/forums/{private['id']}/members/@grace")
        cls.ask("ada", "PATCH", f"/forums/{private['id']}", {"title": "Secret cellar"})
        group = cls.ask("ada", "POST", "/conversations", {"kind": "group", "title": "Surprise party", "participants": ["@grace", "@linus"]})
        cls.left = group["id"]
        cls.ask("grace", "PUT", f"/conversations/{cls.left}/request")
        cls.ask("grace", "POST", f"/conversations/{cls.left}/messages", {"text": "I bring cake"})
        cls.ask("ada", "POST", f"/conversations/{cls.left}/messages", {"text": "Not for you"})
        cls.ask("grace", "DELETE", f"/conversations/{cls.left}/participants/me")
        for other in ("grace", "linus"):
            direct = cls.ask("ada", "POST", "/conversations", {"kind": "direct", "participants": [f"@{other}"]})
            cls.ask("ada", "POST", f"/conversations/{direct['id']}/messages", {"text": f"A secret for {other}"})

    def export(self, name, *arguments):
        path = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))) / name
        done = self.run_parley("export", path, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([file.name for file in path.parent.iterdir()], [name])
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        archive = self.enterContext(zipfile.ZipFile(path))
        self.assertIsNone(archive.testzip())
        return archive, done.stdout

    def lines(self, archive, table):
        return [json.loads(line) for line in archive.read(f"{table}.jsonl").decode().splitlines()]

    def check_schema(self, archive):
        schema = json.loads(archive.read("schema.json"))
        described = json.loads(archive.read("export.json"))
        tables = {name.removesuffix(".jsonl") for name in archive.namelist() if name.endswith(".jsonl")}
        self.assertEqual(set(schema["$defs"]), tables)
        self.assertEqual(set(described["lines"]), tables)
        for table in tables:
            found = self.lines(archive, table)
            self.assertEqual(len(found), described["lines"][table])
            validator = jsonschema.Draft202012Validator({**schema["$defs"][table], "additionalProperties": False})
            for line in found:
                validator.validate(line)
        self.assertEqual((described["format"], described["version"]), ("parley-export", 1))
        return described

    def check_pages(self, archive):
        names = set(archive.namelist())
        pages = [name for name in names if name.endswith(".html")]
        for name in pages:
            text = archive.read(name).decode()
            page = Page(text)
            self.assertEqual(page.tags & {"script", "iframe", "object", "form", "base"}, set(), name)
            self.assertFalse({attribute for attribute in page.attributes if attribute.startswith("on")})
            self.assertIn("default-src 'none'", text)
            for link in page.links:
                self.assertIn(str(Path("/", name).parent.joinpath(link).resolve())[1:], names, name)
        return pages

    def test_the_site_is_exported_while_the_server_runs(self):
        archive, said = self.export("site.zip")
        self.assertRegex(said, r"site.zip: .*, 9 messages in 6 conversations and 3 files\. Open index\.html")
        self.assertEqual(self.check_schema(archive)["scope"], "site")
        texts = [line["text"] for line in self.lines(archive, "messages")]
        self.assertIn("Misspelled", texts)
        self.assertIn("A secret for linus", texts)
        everything = b"".join(archive.read(name) for name in archive.namelist())
        for secret in (b"a deleted", b"a removed", b"a draft", b"without a forum", b"Lost", b"scrypt", PASSWORD.encode(), *(token.encode() for token in self.tokens.values())):
            self.assertNotIn(secret, everything)
        self.assertEqual([line["text"] for line in self.lines(archive, "revisions")], ["Misspeled"])
        self.assertEqual([line["type"] for line in self.lines(archive, "actions")], ["like"])
        poll, = self.lines(archive, "polls")
        self.assertEqual([option["text"] for option in poll["options"]], ["Wool", "Silk"])
        page, notes, rose = self.lines(archive, "files")
        self.assertRegex(page["path"], r"^files/\d+\.bin$")
        self.assertRegex(notes["path"], r"^files/\d+\.txt$")
        self.assertEqual(archive.read(notes["path"]), b"a rose")
        self.check_pages(archive)
        index = Page(archive.read("index.html").decode())
        self.assertIn(f"Knitting {HOSTILE}", index.text)
        written = archive.read(f"conversations/{self.room}.html").decode()
        # A placed picture is not repeated below the text.
        self.assertEqual(written.count(f'<img src="../{rose["path"]}" alt="{html.escape(DESCRIPTION)}"'), 1)
        self.assertIn("![none](attachment:2)", written)
        room = Page(written)
        self.assertIn("Misspelled", room.text)
        self.assertIn("(edited)", room.text)
        self.assertIn("strong", room.tags)

    def test_a_user_gets_the_own_data_alone(self):
        archive, _ = self.export("grace.zip", "--user", "grace")
        self.assertEqual(self.check_schema(archive)["scope"], "user")
        profile, = self.lines(archive, "profile")
        self.assertEqual(profile["name"], "grace")
        texts = [line["text"] for line in self.lines(archive, "messages")]
        self.assertEqual(sorted(texts), sorted([f"**Bold** {HOSTILE}", "A secret for grace", "From the cellar", "I bring cake"]))
        everything = b"".join(archive.read(name) for name in archive.namelist())
        for other in (b"A secret for linus", b"Misspelled", b"linus", b"a removed", b"ellar", b"Dark wool", b"Not for you", b"Surprise"):
            self.assertNotIn(other, everything.replace(b"From the cellar", b""))
        # The upload for a draft is own data.
        self.assertEqual([line["name"] for line in self.lines(archive, "files")], ["evil.html", "notes.txt", "draft.txt"])
        conversations = self.lines(archive, "conversations")
        self.assertEqual(sorted((line["kind"], line["whole"]) for line in conversations), [("direct", True), ("group", False), ("room", False), ("room", False)])
        # The user was removed from the forum of one, and has left another.
        for hidden in (self.private, self.left):
            closed, = (line for line in conversations if line["id"] == hidden)
            for name in ("title", "tags", "locked", "pinned", "solved_by", "owner_id"):
                self.assertIsNone(closed[name], name)
        self.check_pages(archive)

    def wait_for_export(self, name):
        for _ in range(600):
            found = self.ask(name, "GET", "/me/export")
            if found["state"] != "running":
                return found
            time.sleep(0.1)
        self.fail("the export is still running")

    def download(self, name):
        request = Request(f"{self.server.url}/api/v1/me/export/content", headers={"Authorization": f"Bearer {self.tokens[name]}"})
        with urlopen(request, timeout=60) as answer:
            return zipfile.ZipFile(io.BytesIO(answer.read()))

    def test_a_user_downloads_the_export_of_the_operator(self):
        given, _ = self.export("given.zip", "--user", "grace")
        self.ask("grace", "POST", "/me/export")
        self.assertEqual(self.wait_for_export("grace")["state"], "done")
        folder = self.site / "data" / "exports"
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        self.assertEqual([file.stat().st_mode & 0o777 for file in folder.iterdir()], [0o600])
        own = self.download("grace")
        self.assertIsNone(own.testzip())
        self.check_schema(own)
        self.check_pages(own)
        self.assertEqual(own.namelist(), given.namelist())
        # The sign-in and the export have changed the profile. Each export is signed at its time.
        for name in set(own.namelist()) - {"export.json", "index.html", "profile.jsonl", "checkpoints.jsonl"}:
            self.assertEqual(own.read(name), given.read(name), name)
        self.assertEqual(*([(row["conversation_id"], row["position"], row["hash"]) for row in self.lines(archive, "checkpoints")]
                           for archive in (own, given)))
        for secret in (b"A secret for linus", b"Not for you", b"a deleted", b"a removed", b"scrypt"):
            self.assertFalse([name for name in own.namelist() if secret in own.read(name)])

    def test_a_killed_server_writes_the_export_after_its_start(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            folder = Path(folder)
            with self.start(*parley(folder)) as server:
                code = subprocess.run(
                    [PARLEY, "setup", "--data", folder / "data"], capture_output=True, text=True, timeout=60).stdout.strip().split("/")[-1]
                token = call(server, "POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
                call(server, "POST", "/me/export", token=token)
                server.kill()
            # The kill came while the archive was written.
            with contextlib.closing(sqlite3.connect(folder / "data" / "parley.db")) as database, database:
                database.execute("update export set finished_at = null, size = null, attempts = 1")
            exports = folder / "data" / "exports"
            exports.mkdir(exist_ok=True)
            (exports / "7.zip.part").write_bytes(b"cut")
            with self.start(*parley(folder)) as server:
                for _ in range(600):
                    found = call(server, "GET", "/me/export", token=token)
                    if found["state"] != "running" and len(list(exports.iterdir())) == 1:
                        break
                    time.sleep(0.1)
                self.assertEqual(found["state"], "done")
                self.assertEqual([file.name for file in exports.iterdir()], [f"{found['id']}.zip"])

    def test_mistakes_are_named(self):
        path = Path(self.folder) / "there.zip"
        path.write_bytes(b"mine")
        for arguments, sentence in (
                ((path,), "there.zip already exists."), ((Path(self.folder) / "site.tar",), "The name of the export ends in .zip"),
                ((Path(self.folder) / "new.zip", "--user", "nobody"), "There is no user nobody."),
                ((Path(self.folder) / "nowhere" / "new.zip",), "can't be created")):
            refused = self.run_parley("export", *arguments)
            self.assertEqual(refused.returncode, 2)
            self.assertRegex(refused.stderr, re.escape(sentence) if "." in sentence else sentence)
        self.assertEqual(path.read_bytes(), b"mine")
        self.assertFalse((Path(self.folder) / "new.zip").exists())
