"""`/metrics`, read by the parser of the Prometheus client library."""

import contextlib
import json
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from prometheus_client.parser import text_string_to_metric_families
from restarting import ENDLESS
from servers import PARLEY, TOP, Server, free_port
from serving import ServingTest, call, parley


class Metrics(ServingTest):
    part = "hosting"

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.server = self.start(*parley(self.folder, *ENDLESS, "--metrics-listen", "127.0.0.1:0"))
        self.addCleanup(self.server.stop)
        self.url = re.search(r"^metrics on (\S+)$", self.server.output(), re.MULTILINE)[1]

    def say(self, *arguments, given=None):
        done = subprocess.run(
            [PARLEY, *arguments, "--data", f"{self.folder}/data"], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def metrics(self, url=None, token=None):
        """The samples by name and labels."""
        request = Request(url or self.url, headers={"Authorization": f"Bearer {token}"} if token else {})
        with urlopen(request, timeout=20) as response:
            self.assertEqual(response.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            families = list(text_string_to_metric_families(response.read().decode()))
        names = [it.name for it in families]
        self.assertEqual(len(names), len(set(names)))
        for family in families:
            self.assertTrue(family.documentation, family.name)
            self.assertIn(family.type, ("counter", "gauge", "histogram"), family.name)
        return {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}

    def test_counts_follow_requests_and_writes(self):
        for name, role in (("ada", "owner"), ("lin", "member")):
            self.say("user", "create", name, "--role", role, "--password-stdin", given="wool and needles\n")
        token = self.say("token", "ada", "--scope", "admin")
        before = self.metrics()
        forum = call(self.server, "POST", "/forums", {"title": "Knitting"}, token)
        for number in range(20):
            call(self.server, "POST", f"/conversations/{forum['room_id']}/messages", {"text": f"row {number}"}, token)
        self.assertEqual(self.curl_headers(f"{self.server.url}/nothing")[0], 404)
        after = self.metrics()
        grown = lambda *key: after[key] - before[key]
        self.assertEqual(grown("parley_http_requests_total", "2xx"), 21)
        self.assertEqual(grown("parley_http_requests_total", "4xx"), 1)
        self.assertEqual(grown("parley_http_request_duration_seconds_count"), 22)
        self.assertEqual(grown("parley_http_request_duration_seconds_bucket", "+Inf"), 22)
        self.assertGreater(grown("parley_http_request_duration_seconds_sum"), 0)
        bounds = [key[1] for key in after if key[0] == "parley_http_request_duration_seconds_bucket"]
        counts = [after["parley_http_request_duration_seconds_bucket", it] for it in bounds]
        self.assertEqual(counts, sorted(counts))
        self.assertGreaterEqual(grown("parley_writes_total"), 21)
        self.assertGreaterEqual(grown("parley_commits_total"), 1)
        # Each commit is in the histogram of group sizes.
        self.assertEqual(after["parley_commit_writes_count",], after["parley_commits_total",])
        self.assertEqual(after["parley_commit_writes_sum",], after["parley_writes_total",])
        groups = [after["parley_commit_writes_bucket", it] for it in ("1", "2", "4", "8", "16", "32", "64", "+Inf")]
        self.assertEqual(groups, sorted(groups))
        self.assertEqual(groups[-1], after["parley_commits_total",])
        self.assertGreater(groups[0], before["parley_commit_writes_bucket", "1"])
        self.assertGreaterEqual(grown("parley_events_total"), 21)
        self.assertEqual(after["parley_ready",], 1)
        self.assertGreater(after["parley_database_bytes",], 100_000)
        self.assertGreater(after["parley_disk_bytes",], after["parley_disk_free_bytes",])
        # Compares with the numbers of the kernel for the process.
        status = open(f"/proc/{self.server.process.pid}/statm").read().split()
        self.assertAlmostEqual(after["process_resident_memory_bytes",] / (int(status[1]) * 4096), 1, delta=0.5)
        self.assertGreater(after["process_open_fds",], 5)
        self.assertGreater(after["process_cpu_seconds_total",], 0)
        version = json.loads(self.curl(f"{self.server.url}/healthz"))["version"]
        self.assertEqual(after["parley_build_info", version], 1)

    def test_prometheus_reads_them(self):
        tools = Path(subprocess.run([TOP / "Tests/tools/unpacked", "prometheus", "prometheus"], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout.strip()) / "usr/bin"
        with urlopen(self.url, timeout=20) as response:
            checked = subprocess.run([tools / "promtool", "check", "metrics"], input=response.read(), capture_output=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))
        target, port = self.url.split("/")[2], free_port()
        settings = Path(self.folder) / "prometheus.yml"
        settings.write_text("scrape_configs:\n- job_name: parley\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n"
                            f"  static_configs:\n  - targets: ['{target}']\n")
        with Server("clients-prometheus", tools / "prometheus", f"--config.file={settings}", f"--storage.tsdb.path={self.folder}/tsdb",
                    f"--web.listen-address=127.0.0.1:{port}", port=port):
            deadline = time.monotonic() + 60
            while True:
                # Prometheus answers 503 until its storage is ready.
                with contextlib.suppress(HTTPError), urlopen(
                        f"http://127.0.0.1:{port}/api/v1/query?query=parley_ready%2Bup", timeout=20) as response:
                    if found := json.load(response)["data"]["result"]:
                        break
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            self.assertEqual(found[0]["value"][1], "2")

    def test_the_site_shows_them_to_owners_and_admins_alone(self):
        for name, role in (("ada", "owner"), ("mod", "moderator")):
            self.say("user", "create", name, "--role", role, "--password-stdin", given="wool and needles\n")
        url = f"{self.server.url}/metrics"
        tokens = {
            None: 401, self.say("token", "ada", "--scope", "read"): 403, self.say("token", "mod", "--scope", "admin"): 403,
        }
        for token, status in tokens.items():
            with self.assertRaises(HTTPError) as caught:
                self.metrics(url, token)
            self.assertEqual(caught.exception.code, status)
        self.assertEqual(self.metrics(url, self.say("token", "ada", "--scope", "admin"))["parley_ready",], 1)
        # The address for Prometheus has nothing else.
        for path in ("/", "/healthz", "/api/v1/server"):
            self.assertEqual(self.curl_headers(self.url.replace("/metrics", path))[0], 404)


if __name__ == "__main__":
    unittest.main()
