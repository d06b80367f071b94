"""The commands for users, with a running daemon and with a stopped one."""

import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

from servers import PARLEY
from serving import ServingTest, parley

PASSWORD = "correct horse battery"


class Site(ServingTest):
    """Each test has its own site: `AtRest` runs without a daemon, `Running` with one."""

    serves = False

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = Path(folder) / "data"
        self.data.mkdir()
        if self.serves:
            self.enterContext(self.start(*parley(folder, "--public-url", "https://chat.example.org")))

    def parley(self, *arguments, given=None):
        return subprocess.run(
            [PARLEY, *arguments, "--data", str(self.data)], input=given, capture_output=True, text=True, timeout=60,
            env={**os.environ, "PARLEY_PUBLIC_URL": "https://chat.example.org"})

    def say(self, *arguments, given=None):
        done = self.parley(*arguments, given=given)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_refused(self, done, status, words):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr.splitlines()[-1])
        self.assertEqual(done.stdout, "")

    def add(self, name, *arguments):
        return self.say("user", "create", name, *arguments, "--password-stdin", given=PASSWORD + "\n")

    def users(self):
        lines = [json.loads(line) for line in self.say("user", "list", "--json").splitlines()]
        return {user["name"]: (user["role"], user["state"]) for user in lines}


class AtRest(Site):
    def test_users_are_added_and_listed(self):
        self.add("ada", "--role", "owner")
        self.add("grace")
        self.assertEqual(self.users(), {"ada": ("owner", "active"), "grace": ("member", "active")})
        table = self.say("user", "list").splitlines()
        self.assertEqual([line.split()[:3] for line in table],
                         [["NAME", "ROLE", "STATE"], ["ada", "owner", "active"], ["grace", "member", "active"]])

    def test_roles_and_states_change(self):
        self.add("ada", "--role", "owner")
        self.add("grace")
        self.say("user", "role", "grace", "moderator")
        self.say("user", "disable", "GRACE")
        self.assertEqual(self.users()["grace"], ("moderator", "disabled"))
        self.check_refused(self.parley("token", "grace"), 1, "may not sign in")
        self.say("user", "disable", "grace")
        self.say("user", "enable", "grace")
        self.assertEqual(self.users()["grace"], ("moderator", "active"))

    def test_a_refused_command_exits_with_1(self):
        self.check_refused(self.parley("user", "role", "ada", "member"), 1, "needs an owner")
        self.add("ada", "--role", "owner")
        for arguments, given, words in [
                (("user", "create", "Ada", "--password-stdin"), PASSWORD, "The name is taken"),
                (("user", "create", "grace", "--password-stdin"), "short", "The password is too short"),
                (("user", "create", "me", "--password-stdin"), PASSWORD, "The name is invalid"),
                (("user", "create", "grace", "--role", "queen", "--password-stdin"), PASSWORD, "The role is invalid"),
                (("user", "role", "ada", "member"), None, "needs an owner"),
                (("user", "disable", "ada"), None, "needs an owner"),
                (("user", "reset", "grace"), None, "No user"), (("user", "recover", "grace"), None, "No user"),
                (("user", "identities", "grace"), None, "No user"),
                (("token", "ada", "--scope", "everything"), None, "The scope is invalid"),
                (("invite", "--role", "owner"), None, "The role is invalid"),
                (("invite", "--forum", "99"), None, "The forum id is unknown"),
                (("invite", "--expires", "2001-01-01T00:00:00.000Z"), None, "The expires at is invalid"),
                (("setup",), None, "already has an owner")]:
            with self.subTest(arguments):
                self.check_refused(self.parley(*arguments, given=given), 1, words)
        self.assertEqual(self.users(), {"ada": ("owner", "active")})

    def test_invalid_arguments_exit_with_2(self):
        for arguments, words in [
                (("user",), "needs one of create"), (("user", "love"), "needs one of create"),
                (("user", "create", "--password-stdin"), "needs a NAME"), (("user", "create", "ada"), "--password-stdin"),
                (("user", "create", "ada", "--password", "x"), "Unknown argument --password"),
                (("user", "create", "ada", "--password-stdin"), "contains no password"),
                (("user", "role", "ada"), "needs a ROLE"), (("user", "reset", "a/b"), "is not a valid name"),
                (("invite", "--uses", "0"), "--uses"), (("invite", "--expires", "never"), "--expires"),
                (("token",), "needs a NAME"), (("bot",), "needs one of create"), (("bot", "creat"), "Did you mean parley bot create?"),
                (("bot", "create"), "needs a NAME"), (("bots", "all"), "Unknown argument all")]:
            with self.subTest(arguments):
                self.check_refused(self.parley(*arguments, given=""), 2, words)
        self.assertEqual(self.users(), {})

    def test_each_prints_only_the_credential(self):
        self.assertRegex(self.say("setup"), r"\Ahttps://chat\.example\.org/setup/[0-9a-f]{64}\n\Z")
        self.add("ada", "--role", "owner")
        self.assertRegex(self.say("user", "reset", "ada"), r"\Ahttps://chat\.example\.org/reset/[0-9a-f]{64}\n\Z")
        self.add("grace")
        self.assertRegex(self.say("user", "recover", "grace"), r"\Ahttps://chat\.example\.org/reset/[0-9a-f]{64}\n\Z")
        self.assertEqual(self.say("user", "identities", "grace").split(), ["ID", "SERVICE", "NAME", "SINCE", "LAST", "USED"])
        self.assertRegex(self.say("invite", "--uses", "3", "--expires", "7d", "--role", "guest"),
                         r"\Ahttps://chat\.example\.org/i/[0-9a-f]{32}\n\Z")
        self.assertRegex(self.say("token", "ada", "--scope", "write", "--name", "backup"), r"\Aparley_[0-9A-Za-z]{49}\n\Z")
        self.assertRegex(self.say("bot", "create", "dice"), r"\Aparley_[0-9A-Za-z]{49}\n\Z")

    def test_bots_are_created_and_listed_with_their_owner(self):
        self.assertEqual(self.parley("bot", "create", "dice").returncode, 1, "there is no owner")
        self.add("ada", "--role", "owner")
        self.say("bot", "create", "dice", "--display-name", "Dice", "--scope", "read")
        for arguments in (("dice",), ("die", "--scope", "admin"), ("die", "--forum", "7"), ("a/b",)):
            with self.subTest(arguments):
                self.assertEqual(self.parley("bot", "create", *arguments).returncode, 1)
        self.assertEqual([line.split() for line in self.say("bots").splitlines()],
                         [["NAME", "OWNER", "STATE", "TOKENS", "LAST", "USED"], ["dice", "ada", "active", "1", "never"]])
        bot = json.loads(self.say("bots", "--json"))
        self.assertEqual((bot["display_name"], bot["role"], bot["token_count"]), ("Dice", "bot", 1))


class Running(AtRest):
    serves = True


class Between(Site):
    def test_a_missing_folder_is_not_created(self):
        self.data = Path(self.folder) / "nowhere"
        self.check_refused(self.parley("user", "list"), 2, "does not exist")
        self.assertFalse(self.data.exists())

    def test_a_long_list_is_complete(self):
        self.add("ada", "--role", "owner")
        with sqlite3.connect(self.data / "parley.db") as database:
            database.executemany(
                "insert into account (id, name, name_key, role, state, created_at) values (?, ?, ?, 'member', 'active', 1)",
                [(1_000 + number, f"p{number}", f"p{number}") for number in range(130)])
        database.close()
        self.assertEqual(len(self.users()), 131)

    def test_credentials_created_without_a_daemon_are_valid_in_it(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            self.data = Path(folder) / "data"
            self.data.mkdir()
            self.add("ada", "--role", "owner")
            token = self.say("token", "ada", "--scope", "write").strip()
            code = self.say("invite", "--uses", "1").strip().rsplit("/", 1)[1]
            with self.start(*parley(folder)) as server:
                base = f"{server.url}/api/v1"
                ada = json.loads(self.curl("--header", f"Authorization: Bearer {token}", f"{base}/me"))
                self.assertEqual((ada["name"], ada["role"]), ("ada", "owner"))
                tokens = json.loads(self.curl("--header", f"Authorization: Bearer {token}", f"{base}/me/tokens"))
                self.assertEqual([(it["name"], it["scope"]) for it in tokens["data"]], [("parley token", "write")])
                grace = json.loads(self.curl(
                    "--json", json.dumps({"name": "grace", "password": PASSWORD, "invite": code}), f"{base}/users"))
                self.assertEqual(grace["user"]["name"], "grace")
                signed = json.loads(self.curl(
                    "--json", json.dumps({"name": "ada", "password": PASSWORD}), f"{base}/sessions"))
                self.assertEqual(signed["user"]["name"], "ada")

    def test_a_new_role_ends_the_tokens_unless_they_are_kept(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            self.data = Path(folder) / "data"
            self.data.mkdir()
            self.add("ada", "--role", "owner")
            self.add("grace")
            with self.start(*parley(folder)) as server:
                def status(token):
                    return self.curl_headers("--header", f"Authorization: Bearer {token}", f"{server.url}/api/v1/me")[0]

                token = self.say("token", "grace").strip()
                self.assertEqual(
                    self.say("user", "role", "grace", "moderator", "--keep-sessions"), "grace now has role moderator.\n")
                self.assertEqual(status(token), 200)
                self.assertIn("have ended", self.say("user", "role", "grace", "member"))
                self.assertEqual(status(token), 401)


if __name__ == "__main__":
    unittest.main()
