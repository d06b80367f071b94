"""HTTP/1.1 and HTTP/1.0 with curl."""

import hashlib
import json
import os

from serving import ServingTest, bench_server, parley


class Daemon(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder)))

    def test_health_is_ok(self):
        status, _ = self.curl_headers(f"{self.server.url}/healthz")
        self.assertEqual(status, 200)

    def test_head_has_the_length_and_no_body(self):
        body = self.curl(f"{self.server.url}/")
        head = self.curl("--head", f"{self.server.url}/").decode()
        self.assertTrue(head.startswith("HTTP/1.1 200"), head)
        self.assertTrue(head.endswith("\r\n\r\n"))
        self.assertIn(f"content-length: {len(body)}\r\n", head.lower())

    def test_an_unchanged_file_is_304(self):
        _, headers = self.curl_headers(f"{self.server.url}/icon.svg")
        for question in (f"If-None-Match: {headers['etag']}", f"If-Modified-Since: {headers['last-modified']}"):
            with self.subTest(question):
                status, again = self.curl_headers("--header", question, f"{self.server.url}/icon.svg")
                self.assertEqual(status, 304)
                self.assertEqual(again.get("content-length", "0"), "0")

    def test_curl_stores_an_etag_between_runs(self):
        etag = os.path.join(self.folder, "etag")
        keep = ("--etag-save", etag, "--etag-compare", etag)
        self.assertNotEqual(self.curl(*keep, f"{self.server.url}/icon.svg"), b"")
        self.assertEqual(self.curl(*keep, f"{self.server.url}/icon.svg"), b"")

    def test_a_range_returns_that_part_of_the_file(self):
        whole = self.curl(f"{self.server.url}/icon.svg")
        self.assertEqual(self.curl("--range", "3-11", f"{self.server.url}/icon.svg"), whole[3:12])
        self.assertEqual(self.curl("--range", "-5", f"{self.server.url}/icon.svg"), whole[-5:])
        status, headers = self.curl_headers("--range", "3-11", f"{self.server.url}/icon.svg")
        self.assertEqual((status, headers["content-range"]), (206, f"bytes 3-11/{len(whole)}"))

    def test_a_range_beyond_the_end_is_refused(self):
        status, headers = self.curl_headers("--range", "99999999-", f"{self.server.url}/icon.svg")
        self.assertEqual(status, 416)
        self.assertTrue(headers["content-range"].startswith("bytes */"))

    def test_a_compressed_download_is_the_same_file(self):
        plain = self.curl(f"{self.server.url}/")
        self.assertEqual(self.curl("--compressed", f"{self.server.url}/"), plain)

    def test_not_found_is_a_problem_document(self):
        status, headers = self.curl_headers(f"{self.server.url}/no/such/page")
        self.assertEqual(status, 404)
        self.assertTrue(headers["content-type"].startswith("application/problem+json"))

    def test_no_file_outside_the_folder_is_served(self):
        for path in ("/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/.git/config"):
            with self.subTest(path):
                status, _ = self.curl_headers("--path-as-is", f"{self.server.url}{path}")
                self.assertIn(status, (400, 403, 404))

    def test_http_1_0_is_answered_and_closed(self):
        said = self.curl("--http1.0", "--include", f"{self.server.url}/healthz").decode().lower()
        self.assertIn(" 200 ", said.split("\r\n")[0])
        self.assertNotIn("transfer-encoding", said)

    def test_many_requests_share_one_connection(self):
        address = f"{self.server.url}/healthz"
        opened = self.curl("--write-out", "%{num_connects}\n", *["--output", "/dev/null", address] * 5)
        self.assertEqual(sum(map(int, opened.split())), 1)


class UnixSocket(ServingTest):
    def test_a_unix_socket_serves_http(self):
        path = os.path.join(self.folder, "parley.sock")
        with self.start(*parley(self.folder, listen=f"unix:{path}")):
            status, _ = self.curl_headers("--unix-socket", path, "http://localhost/healthz")
            self.assertEqual(status, 200)


class Uploads(ServingTest):
    arguments = bench_server()

    def upload(self, body, *arguments):
        said = json.loads(self.curl(*arguments, f"{self.server.url}/upload", given=body))
        self.assertEqual(said, {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()})

    def test_a_body_of_known_length(self):
        self.upload(os.urandom(300_000), "--data-binary", "@-")

    def test_a_chunked_body(self):
        self.upload(os.urandom(3_000_000), "--request", "POST", "--upload-file", "-")

    def test_an_empty_body(self):
        self.upload(b"", "--data-binary", "@-")

    def test_a_client_that_waits_for_100_continue(self):
        body = os.urandom(100_000)
        said = self.curl("--include", "--header", "Expect: 100-continue", "--expect100-timeout", "60", "--max-time", "120",
                         "--data-binary", "@-", f"{self.server.url}/upload", given=body)
        self.assertTrue(said.startswith(b"HTTP/1.1 100 Continue\r\n"), said[:80])
        self.assertIn(hashlib.sha256(body).hexdigest().encode(), said)
