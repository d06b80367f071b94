"""`parley import`: exports of Discord, Slack, Discourse and Parley become forums, topics and messages."""

import gzip
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import tarfile
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from urllib.request import HTTPErrorProcessor, Request, build_opener

from import_sources import discord_channel, discord_message, discourse_backup, png, slack_export
from servers import PARLEY, TOP
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"


class ImportTest(unittest.TestCase):
    """A new site with the owner ada, without a running server."""

    part = "import"

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.folder / "data"
        self.source = self.folder / "source"
        self.source.mkdir()
        self.add_owner()

    def add_owner(self):
        self.data.mkdir()
        self.run_parley("user", "create", "ada", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")

    def run_parley(self, *arguments, given=None, status=0, data=None):
        done = subprocess.run([PARLEY, *map(str, arguments), "--data", data or self.data], input=given, capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def load(self, source, program, *arguments, **options):
        return self.run_parley("import", source, "--from", program, *arguments, **options).stdout

    def refused(self, source, program, *arguments):
        """The sentence of a refused import, which changes nothing."""
        before = self.rows("select count(*) from account union all select count(*) from forum union all select count(*) from imported")
        done = self.run_parley("import", source, "--from", program, *arguments, status=2)
        self.assertEqual(
            before, self.rows("select count(*) from account union all select count(*) from forum union all select count(*) from imported"))
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.splitlines() if line != "reading"]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def rows(self, query, *values):
        with sqlite3.connect(f"file:{self.data}/parley.db?mode=ro", uri=True) as database:
            return database.execute(query, values).fetchall()

    def texts(self, title):
        """Authors and texts of a room or topic by the title of the forum or topic, in order."""
        return self.rows(
            """
            select a.name, m.text
            from message m
            join account a on a.id = m.author_id
            join conversation c on c.id = m.conversation_id
            left join forum f on f.id = c.forum_id
            where c.title = ? or c.kind = 'room' and f.title = ?
            order by m.seq
            """, title, title)

    def verify(self):
        self.run_parley("verify")


class NoRedirect(HTTPErrorProcessor):
    def http_response(self, request, response):
        return response


class Discord(ImportTest):
    def export(self):
        ada = {"id": "101", "name": "ada.l", "nickname": "Ada Lovelace", "color": "#3366cc", "isBot": False,
               "roles": [{"id": "71", "name": "Weavers", "color": "#3366cc", "position": 1}], "avatarUrl": "media/ada.png"}
        grace = {"id": "102", "name": "grace", "nickname": "Grace", "isBot": False, "roles": [], "avatarUrl": "https://cdn.example/g.png"}
        (self.source / "media").mkdir(exist_ok=True)
        (self.source / "media/ada.png").write_bytes(png(16))
        (self.source / "media/loom photo.png").write_bytes(png(32))
        (self.source / "media/wool.png").write_bytes(png(24))
        wool = {"id": "901", "name": "wool", "code": "wool", "isAnimated": False, "imageUrl": "media/wool.png"}
        general = [
            discord_message(1001, ada, "2020-01-01T10:00:00+00:00", "Hello <@102> and @Grace, see <#55> <:wool:901>",
                            mentions=[grace], inlineEmojis=[wool], isPinned=True,
                            reactions=[{"emoji": {"id": "", "name": "👍", "code": "thumbsup"}, "count": 1, "users": [grace]},
                                       {"emoji": wool, "count": 1, "users": [ada]}]),
            discord_message(1002, grace, "2020-01-01T10:01:00.250+00:00", "**Hi** back", timestampEdited="2020-01-01T10:02:00+00:00",
                            type="Reply", reference={"messageId": "1001", "channelId": "55", "guildId": "9"}),
            discord_message(1003, grace, "2020-01-01T10:03:00+00:00", "", type="ChannelPinnedMessage"),
        ]
        later = [discord_message(
            1004, ada, "2020-01-02T10:00:00+00:00", "A photo", attachments=[
                {"id": "501", "url": "media\\loom%20photo.png", "fileName": "loom.png", "fileSizeBytes": 10},
                {"id": "502", "url": "https://cdn.example/x.pdf", "fileName": "x.pdf", "fileSizeBytes": 10}],
            embeds=[{"title": "Looms", "url": "https://looms.example/", "description": "About looms", "fields": []}])]
        thread = [discord_message(2001, grace, "2020-01-01T11:00:00+00:00", "Which yarn?")]
        channel = {"id": "55", "type": "GuildTextChat", "categoryId": "5", "category": "Crafts", "name": "general", "topic": "Talk"}
        (self.source / "general.json").write_text(discord_channel(channel, general))
        (self.source / "general [part 2].json").write_text(discord_channel(channel, later))
        (self.source / "yarn.json").write_text(discord_channel(
            {"id": "56", "type": "GuildPublicThread", "categoryId": "55", "category": "general", "name": "Yarn", "topic": None}, thread))
        return ada, grace, general, later, channel

    def test_a_server_is_imported(self):
        self.export()
        said = self.load(self.source, "discord")
        self.assertIn("Read: 2 users, 1 group, 1 custom emoji, 1 forum, 1 topic, 4 messages, 1 file.", said)
        self.assertIn("New: 2 users, 1 group, 1 custom emoji, 1 forum, 1 topic, 4 messages, 1 file.", said)
        self.assertIn("general,private", said)
        self.assertIn("1 notices of joins, pins, calls and threads", said)
        self.assertIn("1 files that the export only names", said)
        self.assertEqual(self.texts("general"), [
            ("ada.l", "Hello @grace and @grace, see \\#55 :wool:"), ("grace", "**Hi** back"),
            ("ada.l", "A photo\n\n> **[Looms](https://looms.example/)**\n> About looms\n\n📎 [x.pdf](https://cdn.example/x.pdf)")])
        self.assertEqual(self.texts("Yarn"), [("grace", "Which yarn?")])
        self.assertEqual(self.rows("select title, section, visibility, description from forum"), [("general", "Crafts", "private", "Talk")])
        self.assertEqual(self.rows("select type from action order by type"), [("pin",), ("reaction::wool:",), ("reaction:👍",)])
        self.assertEqual(self.rows("select name, hue from user_group"), [("Weavers", 220)])
        self.assertEqual(self.rows("select name, imported, avatar_file_id is not null from account order by name"),
                         [("ada", 0, 0), ("ada.l", 1, 1), ("grace", 1, 0)])
        self.assertEqual(self.rows("select created_at, edited_at, reply_to is not null from message where client_id = 'discord:55:1002'"),
                         [(1577872860250, 1577872920000, 1)])
        self.assertEqual(self.rows("select count(*) from notification"), [(0,)])
        self.verify()

    def test_channels_of_one_name_are_opened_by_their_ids(self):
        ada = {"id": "101", "name": "ada.l", "nickname": "Ada", "isBot": False, "roles": [], "avatarUrl": ""}
        for number in ("55", "66"):
            channel = {"id": number, "type": "GuildTextChat", "categoryId": "5", "category": "Crafts", "name": "general", "topic": None}
            (self.source / f"{number}.json").write_text(discord_channel(
                channel, [discord_message(int(number), ada, "2020-01-01T10:00:00+00:00", f"In {number}")]))
        table = self.folder / "table.csv"
        table.write_text("general,public\n")
        self.assertIn("The source has 2 forums general. Use their ids in the table of forums: 55, 66.",
                      self.refused(self.source, "discord", "--open", table))
        table.write_text("55,public\n")
        said = self.load(self.source, "discord", "--open", table)
        self.assertIn("66,private", said)
        self.assertEqual(
            self.rows("select m.text, f.visibility from message m join conversation c on c.id = m.conversation_id join forum f on f.id = c.forum_id "
                      "order by m.id"), [("In 55", "public"), ("In 66", "private")])

    def test_a_private_thread_stays_with_its_authors(self):
        ada = {"id": "101", "name": "ada.l", "nickname": "Ada", "isBot": False, "roles": [], "avatarUrl": ""}
        self.export()
        (self.source / "secret.json").write_text(discord_channel(
            {"id": "57", "type": "GuildPrivateThread", "categoryId": "55", "category": "general", "name": "Staff", "topic": None},
            [discord_message(3001, ada, "2020-01-01T12:00:00+00:00", "A secret")]))
        self.load(self.source, "discord")
        self.assertEqual(
            self.rows("select c.kind, c.forum_id from message m join conversation c on c.id = m.conversation_id where m.text = 'A secret'"),
            [("group", None)])
        self.assertEqual(
            self.rows("select a.name from participant p join account a on a.id = p.user_id join conversation c on c.id = p.conversation_id "
                      "where c.title = 'Staff' order by a.name"), [("ada",), ("ada.l",)])

    def test_hundreds_of_members(self):
        people = [{"id": str(1_000 + number), "name": f"knitter{number % 250}", "nickname": f"Knitter {number}", "isBot": False, "avatarUrl": "",
                   "roles": [{"id": "71", "name": "Weavers", "color": "#3366cc", "position": 1}]} for number in range(400)]
        messages = [discord_message(
            10_000 + number, people[number % 400], f"2020-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}+00:00",
            f"Row {number} of <@{1_000 + number * 7 % 400}>", mentions=[people[number * 7 % 400]],
            reactions=[{"emoji": {"id": "", "name": "👍", "code": "thumbsup"}, "count": 350, "users": people[:350]}] if number == 5 else [])
            for number in range(2_000)]
        channel = {"id": "55", "type": "GuildTextChat", "categoryId": "5", "category": "Crafts", "name": "general", "topic": None}
        (self.source / "general.json").write_text(discord_channel(channel, messages))
        said = self.load(self.source, "discord")
        self.assertIn("New: 400 users, 1 group, 1 forum, 2,000 messages.", said)
        # Users of one name get names of their own.
        self.assertEqual(self.rows("select count(*), count(distinct name_key) from account where imported = 1"), [(400, 400)])
        self.assertEqual(self.rows("select count(*) from user_group_member"), [(400,)])
        self.assertEqual(self.rows("select count(*) from action"), [(350,)])
        self.verify()
        self.assertIn("New: nothing.", self.load(self.source, "discord"))

    def test_a_member_removed_by_staff_does_not_come_back(self):
        self.export()
        self.load(self.source, "discord")
        with sqlite3.connect(self.data / "parley.db") as database:
            database.execute("delete from user_group_member")
        self.load(self.source, "discord")
        self.assertEqual(self.rows("select count(*) from user_group_member"), [(0,)])

    def test_an_author_claims_the_account_by_an_invite(self):
        self.export()
        self.load(self.source, "discord")
        server = self.enterContext(ServingTest.start.__func__(type(self), *parley(self.folder)))
        code = self.run_parley("invite", "--claims", "grace").stdout.strip().split("/")[-1]
        token = call(server, "POST", "/users", {"invite": code, "password": PASSWORD})["token"]
        self.assertEqual(call(server, "GET", "/me", None, token)["name"], "grace")

    def test_a_repeated_import_adds_no_message_and_a_longer_one_the_new_ones(self):
        ada, _, _, later, channel = self.export()
        self.load(self.source, "discord")
        before = self.rows("select count(*), max(id) from event")
        self.assertIn("New: nothing.", self.load(self.source, "discord"))
        self.assertEqual(self.rows("select count(*), max(id) from event"), before)
        later.append(discord_message(1005, ada, "2020-01-03T10:00:00+00:00", "Later"))
        (self.source / "general [part 2].json").write_text(discord_channel(channel, later))
        self.assertIn("New: 1 message.", self.load(self.source, "discord"))
        self.assertEqual(self.texts("general")[-1], ("ada.l", "Later"))
        self.verify()


class Slack(ImportTest):
    USERS = [
        {"id": "U1", "name": "ada.l", "deleted": False, "is_bot": False,
         "profile": {"display_name": "Ada", "real_name": "Ada Lovelace", "email": "ada@example.org", "title": "Weaver"}},
        {"id": "U2", "name": "grace", "profile": {"display_name": "", "real_name": "Grace Hopper", "email": "grace@example.org"}},
    ]

    def files(self):
        def message(ts, user, text, **members):
            return {"type": "message", "ts": ts, "user": user, "text": text, **members}
        root = "1577872800.000100"
        return {
            "users.json": self.USERS,
            "channels.json": [{"id": "C1", "name": "general", "created": 1577800000, "creator": "U1", "is_archived": False,
                               "members": ["U1", "U2"], "topic": {"value": "Wool"}, "purpose": {"value": "All about wool"},
                               "pins": [{"id": "1577872900.000200", "type": "C"}]}],
            "groups.json": [], "mpims.json": [],
            "dms.json": [{"id": "D1", "created": 1577800000, "members": ["U1", "U2"]}],
            "general/2020-01-01.json": [
                message("1577872700.000000", "U1", "<@U1> has joined the channel", subtype="channel_join"),
                message(root, "U1", "*Which* yarn? <@U2> &amp; <!here>", thread_ts=root, reply_count=2,
                        replies=[{"user": "U2", "ts": "1577873000.000300"}]),
                message("1577872900.000200", "U2", "See <https://wool.example/a|the shop> in <#C1|general>, `a &lt; b` ~no~",
                        edited={"user": "U2", "ts": "1577872950.000000"}, reactions=[
                            {"name": "+1", "users": ["U1"], "count": 1}, {"name": "party-parrot", "users": ["U1", "U2"], "count": 2}],
                        files=[{"id": "F1", "name": "loom.pdf", "title": "Loom", "mimetype": "application/pdf",
                                "url_private": "https://files.slack.com/loom.pdf"}]),
                message("1577873000.000300", "U2", "_Merino_", thread_ts=root, parent_user_id="U1"),
                {"type": "message", "subtype": "bot_message", "ts": "1577873100.000400", "bot_id": "B1", "username": "Loom bot",
                 "text": "", "attachments": [{"title": "Build", "title_link": "https://ci.example/1", "text": "passed"}]},
            ],
            "general/2020-01-02.json": [message("1577959200.000500", "U1", "Thanks", thread_ts=root)],
            "D1/2020-01-03.json": [message("1578045600.000000", "U1", "A secret")],
        }

    def test_a_workspace_is_imported(self):
        archive = self.folder / "slack.zip"
        slack_export(archive, self.files())
        said = self.load(archive, "slack")
        self.assertIn("Read: 3 users, 1 forum, 1 topic, 1 conversation, 6 messages.", said)
        self.assertIn("New: 3 users, 1 forum, 1 topic, 1 conversation, 6 messages.", said)
        self.assertEqual(self.texts("general"), [
            ("grace", "See [the shop](https://wool.example/a) in \\#general, `a < b` ~~no~~\n\n📎 [Loom](https://files.slack.com/loom.pdf)"),
            ("Loom_bot", "> **[Build](https://ci.example/1)**\n> passed")])
        self.assertEqual(self.texts("Which yarn? @Grace Hopper & @here"), [
            ("ada.l", "**Which** yarn? @grace & @here"), ("grace", "*Merino*"), ("ada.l", "Thanks")])
        self.assertEqual(
            self.rows("select a.name from participant p join account a on a.id = p.user_id join conversation c "
                      "on c.id = p.conversation_id where c.kind = 'direct' order by a.name"), [("ada.l",), ("grace",)])
        self.assertEqual(self.rows("select type, count(*) from action group by type order by type"),
                         [("pin", 1), ("reaction::party-parrot:", 2), ("reaction:👍", 1)])
        self.assertEqual(self.rows("select email from imported where kind = 'user' and email is not null order by 1"),
                         [("ada@example.org",), ("grace@example.org",)])
        self.assertEqual(self.rows("select count(*) from participant p join conversation c on c.id = p.conversation_id "
                                   "where c.last_seq > p.joined_seq"), [(0,)])
        self.verify()
        self.assertIn("New: nothing.", self.load(archive, "slack"))

    def test_another_reader_opens_the_fixture(self):
        archive, pages = self.folder / "slack.zip", self.folder / "pages"
        slack_export(archive, self.files())
        done = subprocess.run(
            [TOP / ".build/tools/slack/bin/slack-export-viewer", "--archive", archive, "--html-only", "--output-dir", pages, "--no-browser",
             "--show-dms"], capture_output=True, text=True, timeout=60, env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        room = (pages / "channel/general/index.html").read_text()
        for text in ("Merino", "the shop", "Build", "Thanks"):
            self.assertIn(text, room)
        self.assertIn("A secret", (pages / "dm/D1/index.html").read_text())

    def test_an_unpacked_folder_is_the_same_export(self):
        for name, value in self.files().items():
            (self.source / name).parent.mkdir(exist_ok=True)
            (self.source / name).write_text(json.dumps(value))
        self.load(self.source, "slack")
        archive = self.folder / "slack.zip"
        slack_export(archive, {f"export/{name}": value for name, value in self.files().items()}, zipfile.ZIP_STORED)
        self.assertIn("New: nothing.", self.load(archive, "slack"))

    def test_users_of_the_site_stand_for_those_of_the_source(self):
        archive, table = self.folder / "slack.zip", self.folder / "users.csv"
        slack_export(archive, self.files())
        table.write_text("source,user\nada@example.org,ada\n")
        said = self.load(archive, "slack", "--map", table)
        self.assertIn("New: 2 users", said)
        self.assertEqual({name for name, _ in self.texts("Which yarn? @Grace Hopper & @here")}, {"ada", "grace"})
        self.verify()

    def test_forums_are_private_until_a_table_opens_them(self):
        archive, table = self.folder / "slack.zip", self.folder / "forums.csv"
        slack_export(archive, self.files())
        before = self.rows("select count(*) from event")
        said = self.load(archive, "slack", "--dry-run")
        self.assertIn("Nothing was changed.", said)
        self.assertEqual(self.rows("select count(*) from event"), before)
        self.load(archive, "slack")
        self.assertEqual(self.rows("select visibility from forum"), [("private",)])
        table.write_text(said[said.index("general,"):].splitlines()[0].replace("private", "public") + "\n")
        self.load(archive, "slack", "--open", table)
        self.assertEqual(self.rows("select visibility, users_from_id, anyone_from_id from forum"), [("public", 0, 0)])

    def test_no_message_is_appended_after_one_of_this_site(self):
        archive = self.folder / "slack.zip"
        files = self.files()
        slack_export(archive, files)
        self.load(archive, "slack")
        with sqlite3.connect(self.data / "parley.db") as database:
            # The state after a message of a user.
            database.execute("update conversation set import_seq = last_seq - 1 where kind = 'room'")
        files["general/2020-01-05.json"] = [{"type": "message", "ts": "1578200000.000000", "user": "U1", "text": "Later"}]
        slack_export(archive, files)
        said = self.load(archive, "slack")
        self.assertIn("New: nothing.", said)
        self.assertIn("1 later messages of conversations in which users of this site have written", said)


class Discourse(ImportTest):
    def tables(self):
        at = "2020-01-01 10:00:00.123456"
        return {
            "categories": (["id", "name", "slug", "description", "parent_category_id", "read_restricted", "created_at"], [
                (4, "Crafts", "crafts", "All <b>crafts</b>", None, False, at), (5, "Yarn", "yarn", None, 4, False, at)]),
            "group_users": (["id", "group_id", "user_id"], [(1, 41, 1)]),
            "groups": (["id", "name", "automatic"], [(1, "admins", True), (41, "weavers", False)]),
            "post_actions": (["id", "post_id", "user_id", "post_action_type_id", "deleted_at", "created_at"], [
                (1, 301, 2, 2, None, at), (2, 301, 1, 3, None, at)]),
            # In no order, as after an edit.
            "posts": (["id", "user_id", "topic_id", "post_number", "raw", "created_at", "updated_at", "reply_to_post_number",
                       "deleted_at", "post_type", "hidden", "version", "last_version_at", "user_deleted"], [
                (302, 2, 17, 2, '[quote="Ada, post:1, topic:17"]\nWhich yarn?\n[/quote]\n\nMerino, @Ada!\tTwo\\', "2020-01-01 11:00:00",
                 at, 1, None, 1, False, 2, "2020-01-01 12:00:00", False),
                (301, 1, 17, 1, "Which yarn? ![a loom|100x80](upload://r3AYqESanERjladb4vBB7VsMBm6.png)", at, at, None, None, 1, False, 1,
                 at, False),
                (303, 1, 17, 3, "closed", "2020-01-01 13:00:00", at, None, None, 3, False, 1, at, False),
                (304, 2, 18, 1, "A secret", "2020-01-02 13:00:00", at, None, None, 1, False, 1, at, False),
                (305, 2, 99, 1, "Of a deleted topic", "2020-01-02 13:00:00", at, None, None, 1, False, 1, at, False)]),
            "tags": (["id", "name"], [(1, "wool-care")]),
            "topic_allowed_users": (["id", "user_id", "topic_id"], [(1, 1, 18), (2, 2, 18)]),
            "topic_tags": (["id", "topic_id", "tag_id"], [(1, 17, 1)]),
            "topics": (["id", "title", "category_id", "user_id", "created_at", "closed", "archived", "pinned_at", "deleted_at",
                        "archetype"], [
                (17, "Yarn for socks", 5, 1, at, True, False, None, None, "regular"),
                (18, "Between us", None, 2, at, False, False, None, None, "private_message")]),
            "uploads": (["id", "url", "original_filename", "sha1"], [
                (1, "/uploads/default/original/1X/bda2c513.png", "loom.png", "bda2c513e1da04f7b4e99230851ea2aafeb8cc4e")]),
            "user_emails": (["id", "user_id", "email", "primary"], [(1, 1, "ada@example.org", True)]),
            "user_profiles": (["user_id", "bio_raw"], [(1, "I weave")]),
            "users": (["id", "username", "name", "created_at"], [
                (-1, "system", "system", at), (1, "Ada", "Ada Lovelace", at), (2, "grace", None, at)]),
        }

    def backup(self, **options):
        path = self.folder / "backup.tar.gz"
        discourse_backup(path, self.tables(), {"uploads/default/original/1X/bda2c513.png": png(16)}, **options)
        return path

    def test_a_backup_is_imported(self):
        path = self.backup()
        said = self.load(path, "discourse")
        self.assertIn("Read: 3 users, 1 group, 2 forums, 1 topic, 1 conversation, 3 messages, 1 file.", said)
        self.assertIn("New: 3 users, 1 group, 2 forums, 1 topic, 1 conversation, 3 messages, 1 file.", said)
        self.assertIn("1 posts of deleted topics", said)
        name = self.rows("select a.name from imported i join account a on a.id = i.subject where i.kind = 'user' and i.key = '1'")[0][0]
        self.assertEqual(self.texts("Yarn for socks"), [
            (name, "Which yarn? ![a loom](attachment:1)\n\n#wool_care"),
            ("grace", f"> **Ada**:\n> Which yarn?\n\n\nMerino, @{name}!\tTwo\\")])
        self.assertEqual(self.rows("select title, section from forum order by title"), [("Crafts", "Crafts"), ("Yarn", "Crafts")])
        self.assertEqual(self.rows("select locked from conversation where kind = 'topic'"), [(1,)])
        self.assertEqual(self.rows("select type, count(*) from action group by type"), [("like", 1)])
        self.assertEqual(self.rows("select edited_at from message where edited_at is not null"), [(1577880000000,)])
        self.verify()
        self.assertFalse((self.data / "import").exists())
        self.assertIn("New: nothing.", self.load(path, "discourse"))

    def test_old_addresses_lead_to_the_new_ones(self):
        self.load(self.backup(), "discourse")
        topic, = self.rows("select id from conversation where kind = 'topic'")[0]
        post, = self.rows("select subject from imported where kind = 'message' and key = '17:2'")[0]
        forum, = self.rows("select subject from imported where kind = 'forum' and key = '5'")[0]
        name, = self.rows("select a.name from imported i join account a on a.id = i.subject where i.kind = 'user' and i.key = '1'")[0]
        server = self.enterContext(ServingTest.start.__func__(type(self), *parley(self.folder)))
        for path, target in (
            ("/t/yarn-for-socks/17", f"/t/{topic}"), ("/t/yarn-for-socks/17/2", f"/m/{post}"), ("/t/yarn-for-socks/17/3", f"/t/{topic}"),
            ("/c/crafts/yarn/5", f"/f/{forum}"), ("/c/yarn/5", f"/f/{forum}"), ("/t/yarn/99", None), ("/t/yarn/17x", None),
            ("/c/crafts/99", None), ("/t/yarn/99999999999999999999", None), ("/u/Grace", None),
        ):
            for cookie in ("", "__Host-parley=x; parley=x"):
                with self.subTest(path):
                    with build_opener(NoRedirect).open(Request(server.url + path, headers={"Cookie": cookie}), timeout=60) as answer:
                        if target:
                            self.assertEqual((answer.status, answer.headers["Location"]), (301, target))
                        else:
                            self.assertNotEqual(answer.status, 301)
        # The name of a user of this site wins.
        self.assertNotEqual(name, "Ada")
        with build_opener(NoRedirect).open(f"{server.url}/u/Ada", timeout=60) as answer:
            self.assertNotEqual(answer.status, 301)

    def test_another_site_is_refused(self):
        self.load(self.backup(), "discourse")
        tables = self.tables()
        tables["users"][1][0] = (-1, "system", "system", "2021-05-05 10:00:00")
        other = self.folder / "other.tar.gz"
        discourse_backup(other, tables)
        self.assertIn("Another site of discourse was imported before", self.refused(other, "discourse"))


class Parley(ImportTest):
    """A site that is exported and imported is the same site."""

    def exported(self, data, name):
        path = self.folder / name
        self.run_parley("export", path, data=data)
        with zipfile.ZipFile(path) as archive:
            return path, {entry.removesuffix(".jsonl"): [json.loads(line) for line in archive.read(entry).decode().splitlines()]
                          for entry in archive.namelist() if entry.endswith(".jsonl")}

    def named(self, tables):
        """The rows with names in place of ids, which the second site assigns anew."""
        users = {user["id"]: user["name"] for user in tables["users"]}
        forums = {forum["id"]: forum["title"] for forum in tables["forums"]}
        files = {file["id"]: (file["name"], file["sha256"]) for file in tables["files"]}
        conversations = {c["id"]: (c["kind"], forums.get(c["forum_id"]), c["title"], users.get(c["owner_id"]), c["created_at"])
                         for c in tables["conversations"]}
        messages = {}
        for message in tables["messages"]:
            messages[message["id"]] = (conversations[message["conversation_id"]], message["created_at"], message["text"])
        names = {"user_id": users, "author_id": users, "created_by": users, "owner_id": users, "edited_by": users, "forum_id": forums,
                 "file_id": files, "conversation_id": conversations, "message_id": messages, "reply_to": messages, "solved_by": messages,
                 "repost_of": messages, "group_id": {group["id"]: group["name"] for group in tables["groups"]}}
        # Assigned anew: ids, positions, and times of joins.
        dropped = {"id", "seq", "room_id", "joined_at"}
        result = {}
        for table, rows in tables.items():
            result[table] = sorted(json.dumps({
                key: names[key].get(value) if key in names and value is not None else value for key, value in row.items()
                if key not in dropped and not (key == "created_at" and table in ("files", "actions", "forums", "forum_members",
                                                                                  "group_members"))
                and not (key == "path") and not (table == "users" and row["name"] == "ada" and key == "created_at")
            }, sort_keys=True) for row in rows)
        return result

    def test_an_import_of_an_export_exports_the_same(self):
        server = self.enterContext(ServingTest.start.__func__(type(self), *parley(self.folder)))
        token = {name: call(server, "POST", "/sessions", {"name": name, "password": PASSWORD})["token"] for name in ["ada"]}
        self.fill(server, token)
        path, before = self.exported(self.data, "first.zip")
        other = self.folder / "other"
        other.mkdir()
        self.run_parley("user", "create", "ada", "--role", "owner", "--password-stdin", given=PASSWORD + "\n", data=other)
        users = self.folder / "users.csv"
        users.write_text("ada,ada\n")
        self.load(path, "parley", "--map", users, data=other)
        self.run_parley("verify", data=other)
        _, after = self.exported(other, "second.zip")
        self.maxDiff = None
        before, after = self.named(before), self.named(after)
        # An import starts new chains.
        for table in before.keys() - {"entries", "checkpoints"}:
            with self.subTest(table):
                self.assertEqual(before[table], after[table])
        self.assertIn("New: nothing.", self.load(path, "parley", "--map", users, data=other))

    def fill(self, server, token):
        self.run_parley("user", "create", "grace", "--password-stdin", given=PASSWORD + "\n")
        token["grace"] = call(server, "POST", "/sessions", {"name": "grace", "password": PASSWORD})["token"]
        def ask(name, method, path, body=None):
            return call(server, method, path, body, token[name])
        def upload(name, file, content):
            request = Request(f"{server.url}/api/v1/files?name={file}", method="POST", data=content)
            request.add_header("Content-Type", "application/octet-stream")
            request.add_header("Authorization", f"Bearer {token[name]}")
            return json.load(build_opener().open(request, timeout=60))["id"]
        forum = ask("ada", "POST", "/forums", {"title": "Knitting", "visibility": "public", "description": "Wool"})
        ask("ada", "PUT", f"/forums/{forum['id']}/members/@grace", {"role": "moderator"})
        room = forum["room_id"]
        first = ask("grace", "POST", f"/conversations/{room}/messages", {
            "text": "Hello @ada", "attachments": [upload("grace", "notes.txt", b"a rose")], "descriptions": ["A note"]})
        ask("ada", "POST", f"/conversations/{room}/messages", {"text": "Hi", "reply_to": first["id"]})
        ask("grace", "PATCH", f"/messages/{first['id']}", {"text": "Hello again @ada"})
        ask("grace", "PATCH", f"/messages/{first['id']}", {"text": "Hello for ever @ada"})
        ask("ada", "PUT", f"/messages/{first['id']}/actions/reaction:%F0%9F%91%8D")
        ask("ada", "PUT", f"/messages/{first['id']}/actions/pin")
        topic = ask("ada", "POST", f"/forums/{forum['id']}/conversations", {
            "title": "Yarn", "text": "Which one? #wool", "poll": {"options": ["Wool", "Silk"], "choices": 1}})
        question = ask("ada", "GET", f"/conversations/{topic['id']}/messages")["data"][0]
        ask("grace", "PUT", f"/messages/{question['id']}/vote", {"options": [1]})
        gone = ask("ada", "POST", f"/conversations/{topic['id']}/messages", {"text": "Deleted"})
        ask("ada", "DELETE", f"/messages/{gone['id']}")
        ask("grace", "POST", f"/conversations/{topic['id']}/messages", {"text": "Last"})
        direct = ask("ada", "POST", "/conversations", {"kind": "direct", "participants": ["@grace"]})
        ask("ada", "POST", f"/conversations/{direct['id']}/messages", {"text": "A secret"})
        ask("ada", "POST", "/groups", {"name": "weavers", "hue": 120})


class Hostile(ImportTest):
    """Sources that can't be imported: one sentence, and nothing is changed."""

    AUTHOR = {"id": "101", "name": "ada", "nickname": "Ada", "isBot": False, "roles": [], "avatarUrl": ""}
    CHANNEL = {"id": "55", "type": "GuildTextChat", "categoryId": "5", "category": "Crafts", "name": "general", "topic": None}

    def test_files_of_discord(self):
        good = discord_channel(self.CHANNEL, [
            discord_message(1, self.AUTHOR, "2020-01-01T10:00:00+00:00", "a"), discord_message(2, self.AUTHOR, "2020-01-01T10:00:01+00:00", "b")])
        for text, sentence in (
            ("", "has no JSON file of DiscordChatExporter"), ("{}", "has no JSON file of DiscordChatExporter"),
            (good[:-400], "is cut: its JSON has no end"), (good.replace('"content": "b"', '"content": "b'), "is cut"),
            (good.replace("2020-01-01T10:00:01", "2999-01-01T10:00:01"), "which is none of the past"),
            (good.replace("2020-01-01T10:00:01", "yesterday"), "has the date “yesterday"),
            (good.replace("2020-01-01T10:00:01", "2019-01-01T10:00:01"), "is not in the order of its times"),
            (good.replace('"messageCount": 2', '"messageCount": 3'), "has 2 messages and announces 3"),
            (good + "x", "it has text after its end"),
            (good.replace('"messages": [', '"messages": {'), "a list is missing"),
            (good.replace('"id": "2",', '"id": {},'), "without an id or an author"),
        ):
            with self.subTest(sentence):
                (self.source / "a.json").write_text(text)
                if text == "":
                    (self.source / "a.json").unlink()
                self.assertIn(sentence, self.refused(self.source, "discord"))

    def test_a_reply_cycle(self):
        reference = {"messageId": "3", "channelId": "55", "guildId": "9"}
        (self.source / "a.json").write_text(discord_channel(self.CHANNEL, [
            discord_message(2, self.AUTHOR, "2020-01-01T10:00:00+00:00", "a", reference=reference),
            discord_message(3, self.AUTHOR, "2020-01-01T10:00:00+00:00", "b", reference={**reference, "messageId": "2"})]))
        self.assertIn("would be a reply cycle", self.refused(self.source, "discord"))

    def test_archives(self):
        path = self.folder / "a.zip"
        def archive(write, compression=zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(path, "w", compression) as made:
                made.writestr("users.json", "[]")
                write(made)
        for write, sentence in (
            (lambda made: made.writestr("../x.json", "[]"), "has an entry outside of the archive"),
            (lambda made: made.writestr("/etc/x.json", "[]"), "has an entry outside of the archive"),
            (lambda made: made.writestr("general/a.json", b" " * 70_000_000), "expands to far more than an export does"),
            (lambda made: None, "has no channels"),
        ):
            with self.subTest(sentence):
                archive(write)
                self.assertIn(sentence, self.refused(path, "slack"))
        archive(lambda made: made.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]) + " " * 100))
        whole = path.read_bytes()
        for content, sentence in (
            (whole[:-30], "is not a complete zip archive"), (b"PK" * 40, "is not a complete zip archive"),
            (whole.replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\x01\0"), "is encrypted"),
            (b"", "is not a complete zip archive"),
        ):
            with self.subTest(sentence):
                path.write_bytes(content)
                self.assertIn(sentence, self.refused(path, "slack"))

    def test_backups_of_discourse(self):
        path = self.folder / "backup.tar.gz"
        tables = Discourse.tables(self)
        post = tables["posts"][1]
        post[0], post[1] = (*post[0][:7], 1, *post[0][8:]), (*post[1][:7], 2, *post[1][8:])
        discourse_backup(path, tables)
        self.assertIn("are a cycle", self.refused(path, "discourse"))
        whole = path.read_bytes()
        path.write_bytes(whole[:-40])
        self.assertIn("is cut", self.refused(path, "discourse"))
        discourse_backup(path, {}, dump=b"\0" * 70_000_000)
        self.assertIn("expands to far more than an export does", self.refused(path, "discourse"))
        discourse_backup(path, Discourse.tables(self), {"uploads/../../x": b"x"})
        self.assertIn("has a file outside of the archive", self.refused(path, "discourse"))
        discourse_backup(path, {"users": Discourse.tables(self)["users"]})
        self.assertIn("is no backup of Discourse", self.refused(path, "discourse"))

    def test_arguments(self):
        for arguments, sentence in (
            ((self.source,), "--from is required: discord, slack, discourse, parley."),
            ((self.source, "--from", "slak"), "--from slak is none of discord, slack, discourse, parley. Did you mean slack?"),
            ((self.folder / "none", "--from", "slack"), "There is no "),
            ((self.source, "--from", "parley"), "has no export.json, so it is no export of Parley"),
        ):
            with self.subTest(sentence):
                self.assertIn(sentence, self.run_parley("import", *arguments, status=2).stderr)
        table = self.folder / "t.csv"
        for flag, line, sentence in (
            ("--open", "general,everyone", "t.csv:1: everyone is none of private, members, public."),
            ("--open", "general", "t.csv:1: a line of --open has two values"),
            ("--map", "1,a b", "t.csv:1: a b is no name of a user."), ("--map", "1,ada\n1,ada", "t.csv:2: 1 is there twice."),
        ):
            with self.subTest(sentence):
                table.write_text(line)
                self.assertIn(sentence, self.run_parley("import", self.source, "--from", "slack", flag, table, status=2).stderr)

    def test_links_in_a_folder_are_not_followed(self):
        secret = self.folder / "secret"
        secret.write_text("a secret")
        (self.source / "media").mkdir()
        (self.source / "media/a.txt").symlink_to(secret)
        (self.source / "a.json").write_text(discord_channel(self.CHANNEL, [discord_message(
            1, self.AUTHOR, "2020-01-01T10:00:00+00:00", "a", attachments=[
                {"id": "5", "url": "media/a.txt", "fileName": "a.txt"}, {"id": "6", "url": "../secret", "fileName": "b.txt"}])]))
        self.load(self.source, "discord")
        self.assertEqual(self.rows("select count(*) from file"), [(0,)])


class Interrupted(ImportTest):
    def write(self, count):
        author = Hostile.AUTHOR
        with open(self.source / "a.json", "w") as file:
            messages = [discord_message(index + 1, author, f"2020-01-01T{index // 3600 % 24:02}:{index // 60 % 60:02}:{index % 60:02}+00:00",
                                        f"Message {index}") for index in range(count)]
            file.write(discord_channel(Hostile.CHANNEL, messages))

    def test_an_import_continues_after_a_kill(self):
        """At five moments; `make soak` sets more."""
        count = 4_000
        self.write(count)
        rounds = int(os.environ.get("PARLEY_IMPORT_KILLS", 5))
        kills = 0
        for number in range(rounds):
            process = subprocess.Popen([PARLEY, "import", self.source, "--from", "discord", "--data", self.data],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            wanted = count * (number + 1) // (rounds + 1)
            while process.poll() is None and self.imported() < wanted:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            kills += process.returncode == -signal.SIGKILL
            self.assertEqual(self.rows("select count(*) from message where client_id like 'discord:%'")[0][0], self.imported())
        self.assertGreater(kills, 0)
        self.load(self.source, "discord")
        self.assertEqual([text for _, text in self.texts("general")], [f"Message {index}" for index in range(count)])
        self.verify()

    def imported(self):
        try:
            return self.rows("select count(*) from imported where kind = 'message'")[0][0]
        except sqlite3.OperationalError:
            return 0

    @unittest.skipUnless("PARLEY_IMPORT_MESSAGES" in os.environ, "make soak sets the number of messages")
    def test_memory_is_bounded(self):
        peaks = []
        for count in (1_000, int(os.environ["PARLEY_IMPORT_MESSAGES"])):
            self.write(count)
            done = subprocess.run(["/usr/bin/time", "-f", "%M", PARLEY, "import", self.source, "--from", "discord", "--data", self.data],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            peaks.append(int(done.stderr.splitlines()[-1]))
        print(f"peak memory in kB: {peaks}")
        self.assertLess(peaks[1], peaks[0] + 64 * 1024)


class Running(ServingTest):
    part = "import"

    def test_a_running_server_imports(self):
        site = Path(self.folder)
        data, source = site / "data", site / "source"
        source.mkdir()
        server = self.enterContext(self.start(*parley(site)))
        def run(*arguments, given=None):
            return subprocess.run([PARLEY, *map(str, arguments), "--data", data], input=given, capture_output=True, text=True, timeout=60)
        run("user", "create", "ada", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")
        token = call(server, "POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
        (source / "a.json").write_text(discord_channel(Hostile.CHANNEL, [
            discord_message(1, Hostile.AUTHOR, "2020-01-01T10:00:00+00:00", "Hello")]))
        done = run("import", source, "--from", "discord")
        self.assertEqual(done.returncode, 0, done.stderr)
        forum = call(server, "GET", "/forums", None, token)["data"][0]
        page = call(server, "GET", f"/conversations/{forum['room_id']}/messages", None, token)
        self.assertEqual([message["text"] for message in page["data"]], ["Hello"])
        self.assertEqual(page["data"][0]["created_at"], "2020-01-01T10:00:00.000Z")
        self.assertEqual(forum["unread_count"] if "unread_count" in forum else 0, 0)


if __name__ == "__main__":
    unittest.main()
