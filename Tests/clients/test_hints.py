"""Log lines about mistakes of the settings: one each, with the setting to write."""

import json
import os
import subprocess
import unittest

from servers import PARLEY, settings_free_environment
from serving import ServingTest, parley
from test_tls import certificate_files, make_certificate

PASSWORD = "wool and needles"
FORWARDED = ("X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: chat.example.org")


class Hints(ServingTest):
    def setUp(self):
        self.data = os.path.join(self.folder, self.id().rsplit(".", 1)[-1])

    def serve(self, *arguments, **settings):
        return self.start(*parley(self.data, *arguments), **settings)

    def cookie(self, server):
        """Signs in a new owner and returns the cookie."""
        subprocess.run(
            [PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", os.path.join(self.data, "data")],
            input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        answer = self.curl("--json", json.dumps({"name": "ada", "password": PASSWORD}), "--header", f"Origin: {server.url}",
                           f"{server.url}/api/v1/sessions")
        return f"Cookie: parley={json.loads(answer)['token']}"

    def test_an_untrusted_proxy(self):
        # Each field alone: a proxy may set any of them.
        for field in FORWARDED:
            with self.subTest(field=field), self.serve() as server:
                self.curl(f"{server.url}/api/v1/server")
                self.assertNotIn("PARLEY_TRUSTED_PROXY", server.output())
                for _ in range(3):
                    self.curl("--header", field, f"{server.url}/api/v1/server")
                self.assertEqual(server.output().count("--trusted-proxy 127.0.0.1 (PARLEY_TRUSTED_PROXY)"), 1)

    def test_a_trusted_proxy_is_no_mistake(self):
        with self.serve("--trusted-proxy", "127.0.0.1/32") as server:
            for field in FORWARDED:
                self.curl("--header", field, f"{server.url}/api/v1/server")
            self.assertNotIn("PARLEY_TRUSTED_PROXY", server.output())

    def test_pages_of_the_site_at_another_origin(self):
        with self.serve() as server:
            cookie = self.cookie(server)

            def change(*fields):
                headers = [part for field in (cookie, "Origin: https://chat.example.org", *fields) for part in ("--header", field)]
                status, _ = self.curl_headers("--request", "PATCH", "--data", "{}", *headers, f"{server.url}/api/v1/me")
                self.assertEqual(status, 403)

            change("Sec-Fetch-Site: cross-site")  # the page of an attacker
            self.assertNotIn("PARLEY_PUBLIC_URL", server.output())
            for _ in range(3):
                change("Sec-Fetch-Site: same-origin")
            self.assertEqual(server.output().count("--public-url https://chat.example.org (PARLEY_PUBLIC_URL)"), 1)

    def test_unknown_variables(self):
        for command in (["serve", "--listen", "127.0.0.1:0", "--data", self.data], ["config"]):
            for name, advice in (("PARLEY_PUBLIC_URLL", "Did you mean PARLEY_PUBLIC_URL?"),
                                 ("PARLEY_SOMETHING_ELSE", "parley serve --help lists all settings.")):
                done = subprocess.run([PARLEY, *command], env={**settings_free_environment(), name: "https://chat.example.org"},
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr, f"parley: The variable {name} is not a setting. {advice}\n")
        self.assertFalse(os.path.exists(self.data))
        with self.serve(env={"PARLEY_PROFILE": "x", "PARLEY_LOOPS": "1"}):
            pass

    def test_an_unknown_flag_names_the_nearest(self):
        done = subprocess.run([PARLEY, "serve", "--listn", "x"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Did you mean --listen?", done.stderr)

    def hints(self, server, words):
        """The lines with these words, besides the alert that follows."""
        return sum(words in line and "event=alert" not in line for line in server.output().split("\n"))

    def test_a_certificate_that_ends_soon(self):
        os.makedirs(self.data)
        make_certificate(self.data, "soon")  # for two days
        with self.serve(*certificate_files(self.data)) as server:
            self.assertEqual(self.hints(server, "is valid only until"), 1)

    def test_an_expired_certificate(self):
        os.makedirs(self.data)
        make_certificate(self.data, "late")
        with self.serve(*certificate_files(self.data)) as server:
            self.assertNotIn("expired on", server.output())
        subprocess.run(
            ["openssl", "x509", "-in", os.path.join(self.data, "certificate.pem"), "-days", "-1",
             "-signkey", os.path.join(self.data, "key.pem"), "-out", os.path.join(self.data, "certificate.pem")],
            check=True, capture_output=True)
        with self.serve(*certificate_files(self.data)) as server:
            self.assertEqual(self.hints(server, "expired on"), 1)

    def test_a_self_signed_certificate_without_the_public_name(self):
        with self.serve("--self-signed") as server:
            self.assertNotIn("does not contain", server.output())
        with self.serve("--self-signed", "--public-url", "https://chat.example.org") as server:
            self.assertEqual(self.hints(server, "does not contain chat.example.org"), 1)


if __name__ == "__main__":
    unittest.main()
