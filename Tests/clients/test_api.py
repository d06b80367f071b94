"""The API of the daemon: setup link, CORS, rate limits."""

import json
import re
import unittest

from serving import ServingTest, parley

PASSWORD = "correct horse battery"
SETUP = re.compile(r"^set up this site: (\S+)/setup/([0-9a-f]{64})$", re.MULTILINE)


class FirstOwner(ServingTest):
    def test_every_start_prints_the_setup_link_until_it_is_used(self):
        with self.start(*parley(self.folder)) as server:
            origin, first = SETUP.search(server.output()).groups()
            self.assertEqual(origin, server.url)
        with self.start(*parley(self.folder, "--public-url", "https://chat.example.org")) as server:
            origin, second = SETUP.search(server.output()).groups()
            self.assertEqual(origin, "https://chat.example.org")
            links = f"{server.url}/api/v1/links"
            body = json.dumps({"name": "ada", "password": PASSWORD})
            self.assertEqual(self.curl_headers("--json", body, f"{links}/{first}")[0], 404)
            ada = json.loads(self.curl("--json", body, f"{links}/{second}"))
            bearer = ("--header", f"Authorization: Bearer {ada['token']}")
            invite = json.loads(self.curl(*bearer, "--json", '{"role": "member"}', f"{server.url}/api/v1/invites"))
            grace = json.dumps({"name": "grace", "password": PASSWORD, "invite": invite["code"]})
            self.curl("--json", grace, f"{server.url}/api/v1/users")
            reset = json.loads(self.curl(
                *bearer, "--request", "POST", f"{server.url}/api/v1/users/@grace/reset"))
            self.assertRegex(reset["url"], r"\Ahttps://chat\.example\.org/reset/[0-9a-f]{64}\Z")
            self.assertEqual(self.curl_headers("--json", body, f"{links}/{second}")[0], 410)
            for _ in range(200):  # the log is written asynchronously
                if "/reset " in server.output():
                    break
                self.curl_headers(f"{server.url}/healthz")
            self.assertEqual(server.output().count(second), 1, "the log contains no secret")
            self.assertIn(f"POST /api/v1/links/{second[:4]}… 201", server.output())
        with self.start(*parley(self.folder)) as server:
            self.assertIsNone(SETUP.search(server.output()))


class Served(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(
            cls.folder, "--cors-origin", "https://app.example", "--cors-origin", "http://localhost:3000",
            "--rate-login-burst", "2", "--rate-login", "1")))
        cls.base = f"{cls.server.url}/api/v1"

    def test_not_found_is_json_for_browsers_too(self):
        for path in ("/api/v1/nothing", "/api/v1", "/api/v1/", "/api/v1/users/99"):
            with self.subTest(path):
                status, headers = self.curl_headers(
                    "--header", "Accept: text/html,application/xhtml+xml", f"{self.server.url}{path}")
                self.assertIn(status, (401, 404))
                self.assertEqual(headers["content-type"], "application/problem+json")
        status, headers = self.curl_headers("--header", "Accept: text/html", f"{self.server.url}/nothing")
        self.assertTrue(headers["content-type"].startswith("text/html"))

    def test_the_api_description_is_served(self):
        described = json.loads(self.curl(f"{self.base}/openapi.json"))
        self.assertEqual(described["openapi"], "3.1.0")
        self.assertIn("/forums/{id}", described["paths"])
        status, headers = self.curl_headers(f"{self.base}/openapi.json")
        self.assertEqual(headers["content-type"], "application/json")
        same = self.curl_headers("--header", f"If-None-Match: {headers['etag']}", f"{self.base}/openapi.json")
        self.assertEqual((status, same[0]), (200, 304))
        frames = json.loads(self.curl(f"{self.base}/asyncapi.json"))
        self.assertEqual(frames["asyncapi"], "3.0.0")
        self.assertIn("hello", frames["operations"])

    def test_configured_origins_are_allowed(self):
        for origin in ("https://app.example", "http://localhost:3000"):
            with self.subTest(origin):
                status, headers = self.curl_headers("--header", f"Origin: {origin}", f"{self.base}/server")
                self.assertEqual((status, headers["access-control-allow-origin"]), (200, origin))
                self.assertIn("ETag", headers["access-control-expose-headers"])
                self.assertNotIn("access-control-allow-credentials", headers)
                self.assertIn("Origin", headers["vary"])

    def test_preflight_requests_are_answered(self):
        status, headers = self.curl_headers(
            "--request", "OPTIONS", "--header", "Origin: https://app.example",
            "--header", "Access-Control-Request-Method: PATCH", "--header", "Access-Control-Request-Headers: authorization",
            f"{self.base}/settings")
        self.assertEqual(status, 204)
        self.assertEqual(headers["access-control-allow-origin"], "https://app.example")
        self.assertIn("PATCH", headers["access-control-allow-methods"])
        self.assertIn("Authorization", headers["access-control-allow-headers"])
        self.assertGreater(int(headers["access-control-max-age"]), 0)

    def test_errors_have_cors_headers_too(self):
        _, headers = self.curl_headers("--header", "Origin: https://app.example", f"{self.base}/sessions")
        self.assertEqual(headers["access-control-allow-origin"], "https://app.example")

    def test_other_origins_and_other_paths_are_rejected(self):
        for origin, path in [
                ("https://evil.example", "/api/v1/server"), ("https://app.example.evil", "/api/v1/server"),
                ("http://app.example", "/api/v1/server"), ("null", "/api/v1/server"),
                ("https://app.example", "/healthz"), ("https://app.example", "/api/v10")]:
            with self.subTest(origin=origin, path=path):
                _, headers = self.curl_headers("--header", f"Origin: {origin}", f"{self.server.url}{path}")
                self.assertNotIn("access-control-allow-origin", headers)

    def test_a_cookie_from_another_origin_is_rejected(self):
        status, _ = self.curl_headers(
            "--header", "Origin: https://app.example", "--header", "Cookie: parley=" + "0" * 64,
            "--json", "{}", f"{self.base}/forums")
        self.assertEqual(status, 403)

    def test_answers_of_operations_have_the_quota_and_others_have_none(self):
        for path, method, has_quota in [
            ("/api/v1/server", "GET", True), ("/api/v1/users/999999", "GET", True), ("/api/v1/nothing", "GET", False),
            ("/api/v1/server", "DELETE", False), ("/api/v1/openapi.json", "GET", False), ("/healthz", "GET", False),
        ]:
            with self.subTest(path=path, method=method):
                _, headers = self.curl_headers("--request", method, f"{self.server.url}{path}")
                for name in ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"):
                    self.assertEqual(name in headers, has_quota, name)

    def test_configured_rate_limits_apply(self):
        body = json.dumps({"name": "nobody", "password": PASSWORD})
        answers = [self.curl_headers("--json", body, f"{self.base}/sessions") for _ in range(3)]
        self.assertEqual([status for status, _ in answers], [401, 401, 429])
        headers = answers[2][1]
        self.assertEqual(headers["ratelimit-limit"], "2")
        self.assertTrue(0 < int(headers["retry-after"]) <= 60)


class Unnamed(ServingTest):
    def test_without_the_setting_no_other_origin_is_allowed(self):
        with self.start(*parley(self.folder)) as server:
            _, headers = self.curl_headers("--header", "Origin: https://app.example", f"{server.url}/api/v1/server")
            self.assertNotIn("access-control-allow-origin", headers)
            self.assertNotIn("Origin", headers.get("vary", ""))


if __name__ == "__main__":
    unittest.main()
