"""An earlier public address: its requests are redirected to the new one, with path and query."""

import json
import os
import subprocess
import unittest

from servers import PARLEY, free_port
from serving import ServingTest, parley

NEW = "https://chat.example.org"


class FormerURL(ServingTest):
    part = "hosting"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(
            cls.folder, "--public-url", NEW, "--former-url", "https://old.example.org", "--former-url", "http://older.example.org:8080",
            "--trusted-proxy", "127.0.0.1/32")))

    def ask(self, host, path="/", *arguments):
        return self.curl_headers("--header", f"Host: {host}", *arguments, f"{self.server.url}{path}")

    def assert_moved(self, host, path, *arguments):
        status, headers = self.ask(host, path, *arguments)
        self.assertEqual((status, headers.get("location")), (308, NEW + path), (host, path, headers))
        return headers

    def test_pages_files_and_the_api_move_with_path_and_query(self):
        for path in ("/", "/forums/12?sort=new&q=%C3%A9%20x", "/api/v1/forums", "/api/v1/nothing?x=1", "/css/pages.css", "/i/0123",
                     "/openapi.json", "//x//y", "/@ada"):
            for host in ("old.example.org", "OLD.example.org:80", "older.example.org:8080"):
                with self.subTest(path, host=host):
                    headers = self.assert_moved(host, path)
                    self.assertEqual(headers["cache-control"], "max-age=86400")

    def test_every_method_moves_and_changes_nothing(self):
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            body = () if method == "OPTIONS" else ("--data", json.dumps({"name": "ada", "password": "wool and needles"}))
            self.assert_moved("old.example.org", "/api/v1/users", "--request", method, *body)
        self.assert_moved("old.example.org", "/api/v1/server", "--head")

    def test_a_websocket_upgrade_moves(self):
        self.assert_moved(
            "old.example.org", "/api/v1/realtime?v=1", "--header", "Connection: Upgrade", "--header", "Upgrade: websocket",
            "--header", "Sec-WebSocket-Version: 13", "--header", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")

    def test_the_host_that_a_trusted_proxy_tells_counts(self):
        self.assert_moved("127.0.0.1", "/a?b", "--header", "X-Forwarded-Host: old.example.org", "--header", "X-Forwarded-Proto: https")
        status, _ = self.ask("old.example.org", "/healthz", "--header", "X-Forwarded-Host: chat.example.org", "--header",
                             "X-Forwarded-Proto: https")
        self.assertEqual(status, 200)

    def test_other_names_stay(self):
        for host in ("chat.example.org", "127.0.0.1", "sub.old.example.org", "old.example.org.evil.example", "old.example.org:8443",
                     "older.example.org"):
            with self.subTest(host):
                self.assertEqual(self.ask(host, "/healthz")[0], 200)

    def test_the_service_worker_removes_itself(self):
        script = self.curl("--header", "Host: old.example.org", "--header", "Service-Worker: script",
                           f"{self.server.url}/service-worker.js").decode()
        self.assertIn("registration.unregister()", script)
        subprocess.run(["node", "--check", "-"], input=script, text=True, check=True, capture_output=True)
        status, headers = self.ask("old.example.org", "/service-worker.js", "--header", "Service-Worker: script")
        self.assertEqual((status, headers["cache-control"]), (200, "no-store"))
        self.assertIn("javascript", headers["content-type"])
        self.assertNotIn("unregister()", self.curl("--header", "Host: chat.example.org", "--header", "Service-Worker: script",
                                                   f"{self.server.url}/service-worker.js").decode())

    def test_mistakes(self):
        for arguments, words in [
            (["--former-url", "https://old.example.org"], "--former-url needs --public-url"),
            (["--former-url", NEW, "--public-url", NEW], f"but {NEW} is one of --public-url"),
            (["--former-url", "old.example.org", "--public-url", NEW], "takes an address such as https://"),
        ]:
            done = subprocess.run([PARLEY, "serve", "--data", os.path.join(self.folder, "none"), "--listen", f"127.0.0.1:{free_port()}",
                                   *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
