"""Operator settings and output: the log, proxies, the public address, error messages."""

import json
import re
import subprocess
import unittest

from servers import PARLEY
from serving import ServingTest, parley


class Log(ServingTest):
    def lines(self, server, pattern):
        """The log, once it contains `pattern`."""
        for _ in range(200):
            found = re.findall(pattern, server.output(), re.MULTILINE)
            if found:
                return found
            self.curl_headers(f"{server.url}/healthz")  # the log is written asynchronously
        self.fail(f"not in the log: {pattern}\n{server.output()}")

    def test_a_line_has_the_client_and_the_request(self):
        with self.start(*parley(self.folder)) as server:
            status, headers = self.curl_headers(f"{server.url}/nothing?secret=1")
            self.assertEqual(status, 404)
            line = self.lines(server, rf"^\S+Z 127\.0\.0\.1 GET /nothing 404 \d+ \d+us {headers['x-request-id']}$")
            self.assertEqual(len(line), 1)
            self.assertNotIn("secret", server.output())

    def test_json_is_one_object_per_line(self):
        with self.start(*parley(self.folder, "--log-format", "json")) as server:
            self.curl_headers(f"{server.url}/healthz")
            entry = json.loads(self.lines(server, r'^\{.*"/healthz".*\}$')[0])
            self.assertEqual((entry["method"], entry["status"], entry["client"]), ("GET", 200, "127.0.0.1"))

    def test_a_trusted_proxy_sets_the_client_address(self):
        with self.start(*parley(self.folder, "--trusted-proxy", "127.0.0.0/8")) as server:
            self.curl_headers("--header", "X-Forwarded-For: 203.0.113.7", f"{server.url}/healthz")
            # The log has the network of the address.
            self.lines(server, r"^\S+Z 203\.0\.113\.0 GET /healthz 200 ")

    def test_full_addresses(self):
        with self.start(*parley(self.folder, "--trusted-proxy", "127.0.0.0/8", "--log-addresses", "full")) as server:
            self.curl_headers("--header", "X-Forwarded-For: 203.0.113.7", f"{server.url}/healthz")
            self.lines(server, r"^\S+Z 203\.0\.113\.7 GET /healthz 200 ")

    def test_an_untrusted_proxy_is_ignored(self):
        with self.start(*parley(self.folder)) as server:
            self.curl_headers("--header", "X-Forwarded-For: 203.0.113.7", f"{server.url}/healthz")
            self.lines(server, r"^\S+Z 127\.0\.0\.1 GET /healthz 200 ")
            self.assertNotIn("203.0.113.7", server.output())


class Redirect(ServingTest):
    def test_plain_http_redirects_to_tls(self):
        options = ("--self-signed", "--redirect-listen", "127.0.0.1:0")
        with self.start(*parley(self.folder, *options)) as server:
            plain = re.search(r"^redirecting from (\S+)$", server.output(), re.MULTILINE)[1]
            status, headers = self.curl_headers(f"{plain}/css/page.css?x=1")
            self.assertEqual(status, 308)
            self.assertEqual(headers["location"], f"https://127.0.0.1:{server.port}/css/page.css?x=1")

    def test_it_redirects_to_the_public_address(self):
        options = ("--self-signed", "--redirect-listen", "127.0.0.1:0", "--public-url", "https://chat.example.org")
        with self.start(*parley(self.folder, *options)) as server:
            plain = re.search(r"^redirecting from (\S+)$", server.output(), re.MULTILINE)[1]
            _, headers = self.curl_headers("--header", "Host: evil.example", f"{plain}/")
            self.assertEqual(headers["location"], "https://chat.example.org/")


class Mistakes(ServingTest):
    def test_each_prints_an_error_and_exits_with_2(self):
        for arguments, word in [
            (["--nonsense"], "--nonsense"), (["--listen"], "--listen"), (["--listen", "here"], "--listen"),
            (["--loops", "0"], "--loops"), (["--limit-body", "x"], "--limit-body"), (["--log-format", "xml"], "text"),
            (["--public-url", "chat.example.org"], "--public-url"), (["--cors-origin", "*"], "--cors-origin"),
            (["--rate-login", "0"], "--rate-login"), (["--trusted-proxy", "10.0.0.0/99"], "--trusted"),
            (["--tls-key", "/nowhere"], "--tls-certificate"), (["--redirect-listen", "127.0.0.1:0"], "TLS"),
            (["--data", "/proc/nowhere"], "/proc/nowhere"), (["--share", "/nowhere"], "--share"),
        ]:
            with self.subTest(arguments):
                data = () if "--data" in arguments else ("--data", self.folder)
                done = subprocess.run(
                    [PARLEY, "serve", "--listen", "127.0.0.1:0", *data, *arguments],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_an_address_in_use_is_reported(self):
        with subprocess.Popen(
                [PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder, "--log-format", "none"],
                stdout=subprocess.PIPE, text=True) as first:
            try:
                said = next(line for line in first.stdout if line.startswith("listening on"))
                address = said.split("//")[1].strip()
                done = subprocess.run(
                    [PARLEY, "serve", "--listen", address, "--data", f"{self.folder}/other"],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn("in use", done.stderr)
            finally:
                first.terminate()


if __name__ == "__main__":
    unittest.main()
