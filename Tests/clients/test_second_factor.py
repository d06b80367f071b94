"""Two-step sign-in: codes of PyPI's `pyotp`, the command line, backups with and without `secrets.key`."""

import json
import sqlite3
import subprocess
import tarfile
import tempfile
import time
import unittest
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pyotp
from servers import PARLEY
from serving import ServingTest, call, parley
from test_client_commands import Home

PASSWORD = "wool and needles"


class SecondFactor(Home, ServingTest):
    part = "doors"

    def setUp(self):
        super().setUp()
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.folder / "data"
        self.log = ""
        self.server = None
        self.begin()
        self.addCleanup(lambda: self.server.stop())
        code = self.run_parley("setup").strip().split("/")[-1]
        self.token = self.ask("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
        setup = self.ask("POST", "/me/second-factor", token=self.token)
        self.secret = setup["secret"]
        self.app = pyotp.parse_uri(setup["url"])
        self.assertEqual((self.app.name, self.app.issuer, self.app.digits, self.app.interval), ("ada", "Parley", 6, 30))
        self.assertEqual(self.app.secret, self.secret)
        self.step = 0
        self.codes = self.ask("PUT", "/me/second-factor", {"code": self.code()}, self.token)["recovery_codes"]

    def begin(self):
        self.server = self.start(*parley(self.folder))

    def end(self):
        self.assertEqual(self.server.stop(), 0)
        self.log += self.server.output()

    def ask(self, method, path, body=None, token=None):
        return call(self.server, method, path, body, token)

    def refusal(self, path, body, token=None):
        with self.assertRaises(HTTPError) as caught:
            self.ask("POST", path, body, token)
        with caught.exception as error:
            return json.load(error)

    def run_parley(self, *arguments, **more):
        done = subprocess.run([PARLEY, *map(str, arguments), "--data", self.data], capture_output=True, text=True,
                              timeout=60, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def code(self):
        """A code that was not used before."""
        now = int(time.time()) // 30
        if self.step > now:
            # The next one is too far away: as if none had been used.
            with closing(sqlite3.connect(Path(self.data) / "parley.db", timeout=30)) as database, database:
                database.execute("update totp set last_step = 0")
            self.step = now - 1
        self.step = max(self.step + 1, now)
        return self.app.at(self.step * 30)

    def challenge(self):
        said = self.refusal("/sessions", {"name": "ada", "password": PASSWORD})
        self.assertEqual((said["status"], said["code"]), (403, "second_factor_required"))
        return said["params"]["challenge"]

    def confirm(self, code):
        return self.ask("POST", "/sessions/second-factor", {"challenge": self.challenge(), "code": code})["token"]

    def fault(self, code):
        said = self.refusal("/sessions/second-factor", {"challenge": self.challenge(), "code": code})
        return said["errors"][0]["code"]

    def test_codes_of_pyotp_sign_in_once(self):
        code = self.code()
        self.assertEqual(self.ask("GET", "/me", token=self.confirm(code))["name"], "ada")
        self.assertEqual(self.fault(code), "used")
        self.assertEqual(self.fault(self.app.at(int(time.time()) + 90)), "invalid")
        self.assertEqual(self.fault(self.app.at(int(time.time()) - 90)), "clock_off")

    def test_the_command_line_asks_for_the_code(self):
        self.check_refused(1, "rejected the code", "login", self.server.url, "ada", given=f"{PASSWORD}\n000000\n")
        self.check_refused(2, "no code", "login", self.server.url, "ada", given=f"{PASSWORD}\n")
        code = self.code()
        self.tell("login", self.server.url, "ada", given=f"{PASSWORD}\n{code}\n")
        self.assertIn("ada", self.tell("whoami"))
        self.check_refused(1, "before", "login", self.server.url, "ada", "--force", given=f"{PASSWORD}\n{code}\n")
        self.tell("login", self.server.url, "ada", given=f"{PASSWORD}\n{self.codes[0].lower()}\n")

    def test_the_operator_resets_the_second_factor(self):
        self.assertIn("password alone", self.run_parley("user", "reset", "ada", "--second-factor"))
        token = self.ask("POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
        audit = self.ask("GET", "/audit?kind=user.second_factor_reset", token=token)["data"]
        self.assertEqual(len(audit), 1)

    def test_a_challenge_ends_with_the_process(self):
        challenge = self.challenge()
        self.end()
        self.begin()
        said = self.refusal("/sessions/second-factor", {"challenge": challenge, "code": self.code()})
        self.assertEqual(said["errors"], [{"field": "challenge", "code": "unknown"}])

    def test_a_backup_has_no_key_and_a_restore_needs_it(self):
        token = self.confirm(self.code())
        backup = self.folder / "backup.tar"
        self.run_parley("backup", backup)
        with tarfile.open(backup) as archive:
            self.assertNotIn("secrets.key", archive.getnames())
        key = (self.data / "secrets.key").read_bytes()
        self.assertEqual((self.data / "secrets.key").stat().st_mode & 0o777, 0o600)
        self.end()
        # In place: the key stays in the folder.
        self.run_parley("restore", backup, "--replace")
        self.assertEqual((self.data / "secrets.key").read_bytes(), key)
        self.begin()
        self.confirm(self.code())
        self.end()
        # Elsewhere, without the key.
        self.data = self.folder / "other" / "data"
        self.run_parley("restore", backup)
        self.server = self.start(*parley(self.folder / "other"))
        self.assertEqual(self.fault(self.code()), "key_lost")
        self.assertEqual(self.ask("GET", "/me", token=self.confirm(self.codes[1]))["name"], "ada")
        self.assertEqual(self.fault(self.codes[1]), "used")
        self.end()
        # The operator has found the key.
        (self.data / "secrets.key").write_bytes(key)
        self.server = self.start(*parley(self.folder / "other"))
        self.confirm(self.code())
        self.end()

        # No secret is where it does not belong.
        secrets = [self.secret, *self.codes, *(it.replace("-", "") for it in self.codes), key.decode().strip(), token]
        files = {"log": self.log.encode(), "backup": backup.read_bytes()}
        for file in self.folder.rglob("*"):
            if file.is_file() and file.name != "secrets.key":
                files[str(file)] = file.read_bytes()
        raw = [pyotp.TOTP(self.secret).byte_secret(), bytes.fromhex(key.decode())]
        for name, content in files.items():
            for secret in [*(it.encode() for it in secrets), *raw]:
                self.assertNotIn(secret, content, name)
        self.server = self.start(*parley(self.folder / "other"))


if __name__ == "__main__":
    unittest.main()
