"""The settings file: its precedence, its mistakes, `parley config`, and SIGHUP."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
from urllib.error import HTTPError

from servers import PARLEY, free_port
from serving import ServingTest, call, parley


def run(*arguments, **environment):
    return subprocess.run([PARLEY, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PARLEY_CONFIG": "none", **environment})


class Config(ServingTest):
    def setUp(self):
        super().setUp()
        self.data = os.path.join(self.folder, self.id().rsplit(".", 1)[-1])
        os.makedirs(self.data)
        self.file = os.path.join(self.data, "parley.conf")

    def write(self, *lines):
        with open(self.file, "w") as file:
            file.write("\n".join(lines) + "\n")

    def printed(self, *arguments, **environment):
        done = run("config", "--json", *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = map(json.loads, done.stdout.splitlines())
        return {it["name"]: (it["values"], it["source"]) for it in found}

    def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(self):
        self.write("# one", "loops = 3", "backup-every = 24", "rate-login = 7", "listen = 127.0.0.1:1", "listen = 127.0.0.1:2, [::1]:2")
        it = self.printed("--loops", "1", PARLEY_CONFIG=self.file, PARLEY_LOOPS="2", PARLEY_BACKUP_EVERY="12")
        self.assertEqual(it["config"], ([self.file], "PARLEY_CONFIG"))
        self.assertEqual(it["loops"], (["1"], "--loops"))
        self.assertEqual(it["backup-every"], (["12"], "PARLEY_BACKUP_EVERY"))
        self.assertEqual(it["rate-login"], (["7"], f"{self.file}:4"))
        self.assertEqual(it["listen"], (["127.0.0.1:1", "127.0.0.1:2", "[::1]:2"], f"{self.file}:5"))
        self.assertEqual(it["polling"], (["epoll"], "default"))
        self.assertEqual(self.printed("--config", self.file, PARLEY_CONFIG="/nowhere")["config"], ([self.file], "--config"))
        table = run("config", "--config", self.file)
        self.assertRegex(table.stdout, rf"(?m)^rate-login +7 +{re.escape(self.file)}:4$")
        self.assertEqual(len(it), len(re.findall(r"^  --", run("serve", "--help").stdout, re.MULTILINE)))

    def test_check_names_each_mistake(self):
        self.write("public-url = https://chat.example.org", "backup-every = 24")
        done = run("config", "--check", self.file)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.file}: 2 settings, no mistakes.\n"), done.stderr)
        self.write("", "limit-fil = 1", "loops = 1", "loops = 2")
        done = run("config", "--check", self.file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.splitlines(), [
            f'parley: {self.file}:2: "limit-fil" is not a setting. Did you mean limit-file?',
            f"parley: {self.file}:4: loops is already set in line 3."])
        for line, words in [
            ("limit-file = 5", "limit-file takes a number from 1024"), ("polling = quick", "polling takes epoll or sources"),
            ("redirect-listen = 127.0.0.1:80", "redirect-listen needs TLS"), ("smtp-url = x", "smtp-url can't be used"),
            ("trusted-proxy = 10.0.0.0/99", "trusted-proxy takes"), ("public-url = chat", "public-url takes an address"),
            ("tls-key = /a", "tls-key needs"), ("listen = here", "listen takes an address with a port"),
        ]:
            with self.subTest(line):
                self.write("# one", line)
                done = run("config", "--check", self.file)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith(f"parley: {self.file}:2: {words}"), done.stderr)
        self.assertEqual(run("config", "--check", "/nowhere").returncode, 2)

    def test_serve_and_the_commands_refuse_a_file_with_a_mistake(self):
        self.write("limit-fil = 1")
        for command in (["serve"], ["status"], ["config"], ["verify"], ["user", "list"], ["health"]):
            with self.subTest(command):
                done = run(*command, "--config", self.file)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(
                    done.stderr, f'parley: {self.file}:1: "limit-fil" is not a setting. Did you mean limit-file?\n')
        self.assertEqual(run("serve", "--config", "/nowhere").returncode, 2)
        self.assertFalse(os.path.exists(os.path.join(self.data, "data")))

    def test_a_secret_that_others_can_read_is_refused(self):
        secret = os.path.join(self.data, "password")
        with open(secret, "w") as file:
            file.write("wool\n")
        os.chmod(secret, 0o644)
        self.write("public-url = https://a.example", "smtp-url = smtps://ada@mail.example.org", f"smtp-password-file = {secret}")
        done = run("config", "--check", self.file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            done.stderr, f"parley: {self.file}:3: smtp-password-file names a file that all users of this machine can read. "
            f"Close it: chmod o= {secret}\n")
        os.chmod(secret, 0o640)
        self.assertEqual(run("config", "--check", self.file).returncode, 0)
        self.assertNotIn("wool", run("config", "--config", self.file).stdout)

    def test_the_commands_find_the_data_folder_of_the_file(self):
        self.write(f"data = {self.data}/site")
        with self.start(PARLEY, "serve", "--listen", "127.0.0.1:0", "--config", self.file):
            self.assertEqual(run("user", "list", "--config", self.file).returncode, 0)
            self.assertIn("Users", run("status", PARLEY_CONFIG=self.file).stdout)
        self.assertTrue(os.path.exists(f"{self.data}/site/parley.db"))

    def reload(self, server, words):
        """Sends SIGHUP and waits for a line of the log."""
        before = server.output().count(words)
        server.signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while server.output().count(words) == before:
            self.assertLess(time.monotonic(), deadline, server.output())
            time.sleep(0.02)

    def test_sighup_changes_the_quotas_of_files(self):
        self.write("limit-file = 1000000")
        with self.start(*parley(self.data, "--config", self.file)) as server:
            subprocess.run([PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", os.path.join(self.data, "data")],
                           input="wool and needles\n", text=True, check=True, capture_output=True)
            token = call(server, "POST", "/sessions", {"name": "ada", "password": "wool and needles"})["token"]
            photo = os.path.join(self.data, "photo")
            with open(photo, "wb") as file:
                file.write(os.urandom(400_000))

            def upload():
                status, _ = self.curl_headers("--header", f"Authorization: Bearer {token}", "--form", f"file=@{photo}",
                                              f"{server.url}/api/v1/files")
                return status

            self.assertEqual(upload(), 201)
            self.write("limit-file = 100000")
            self.reload(server, "Applied changed settings: limit-file.")
            self.assertEqual(upload(), 413)
            self.write("limit-file = 1000000", "limit-user-files = 500000")
            self.reload(server, "Applied changed settings: limit-file, limit-user-files.")
            self.assertEqual(upload(), 413)
            self.write("")
            self.reload(server, "Applied changed settings: limit-file, limit-user-files.")
            self.assertEqual(upload(), 201)

    def test_sighup_applies_changes_or_keeps_the_old_settings(self):
        backups = os.path.join(self.data, "backups")
        self.write("log-format = none", "rate-login = 600", "rate-login-burst = 600", "limit-body = 2048")
        with self.start(*parley(self.data, "--config", self.file)) as server:
            def sign_in():
                try:
                    call(server, "POST", "/sessions", {"name": "ada", "password": "wrong"})
                except HTTPError as problem:
                    return problem.code

            def post(size):
                status, _ = self.curl_headers("--json", json.dumps({"name": "a" * size}), f"{server.url}/api/v1/sessions")
                return status

            self.assertEqual({sign_in() for _ in range(5)}, {401})
            self.assertEqual(post(3000), 413)
            self.write("limit-bdy = 5")
            self.reload(server, "Keeping the current settings.")
            self.assertIn(f'Keeping the current settings. {self.file}:1: "limit-bdy" is not a setting. Did you mean limit-body?',
                          server.output())
            self.assertEqual(post(3000), 413)
            self.assertNotIn("POST /api", server.output())
            self.write("log-format = json", "rate-login = 1", "rate-login-burst = 1", "limit-body = 8192", "backup-every = 1",
                       f"backup-to = {backups}", "loops = 2", "limit-file = 4096")
            self.reload(server, "Applied changed settings: ")
            self.assertIn("Applied changed settings: backup-every, backup-to, log-format, limit-body, limit-file, rate-login, "
                          "rate-login-burst.", server.output().replace("keep-events, ", ""))
            self.assertIn("Changed settings that wait for a restart: loops.", server.output())
            self.assertNotEqual(post(3000), 413)
            self.assertEqual(sign_in(), 429)
            deadline = time.monotonic() + 30
            while '"path":"/api/v1/sessions"' not in server.output():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
