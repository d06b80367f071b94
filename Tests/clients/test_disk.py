"""A full disk, and the space that the data folder occupies: a real daemon on a small file system."""

import json
import os
import re
import subprocess
import time
import unittest
from urllib.error import HTTPError

from mounting import MountingTest
from restarting import ENDLESS, PASSWORD, RestartingTest
from servers import PARLEY
from serving import parley

SIZE = 24 << 20


class Disk(MountingTest, RestartingTest):
    """Each test has its data folder on a file system of 24 MB."""

    part = "hosting"

    def serve(self):
        # The first start of a test: the temporary folder is there, and not yet the data folder.
        if not self.data.exists():
            self.data.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", self.data], check=True)
            self.addCleanup(lambda: subprocess.run(["umount", "--lazy", self.data], check=True))
        return super().serve()

    def parley(self, *arguments):
        return subprocess.run([PARLEY, *map(str, arguments)], capture_output=True, text=True, timeout=60)

    def refusal(self, *request):
        """The problem that the server answers; None for a success."""
        try:
            self.ask(*request)
            return None
        except HTTPError as error:
            return error.code, json.loads(error.read())["code"]

    def post(self, text):
        return self.ask("POST", f"/conversations/{self.room}/messages", {"text": text, "client_id": text[:64]})

    def fill(self, percent=100):
        """Fills the disk with a file of its own."""
        disk = os.statvfs(self.data)
        wanted = disk.f_bfree - disk.f_blocks * (100 - percent) // 100
        with open(self.data / "fill", "ab") as file:
            os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, max(wanted, 1) * disk.f_frsize)

    def wait(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}\n{self.server.output()}")
            time.sleep(0.1)

    def readiness(self):
        status, _ = self.curl_headers(f"{self.url}/readyz")
        return status, json.loads(self.curl(f"{self.url}/readyz")).get("code")

    def check_full(self):
        """Operations that work on a full disk, and refused ones."""
        self.assertEqual(self.readiness(), (503, "disk_full"))
        self.assertEqual(self.curl_headers(f"{self.url}/healthz")[0], 200)
        health = self.parley("health", "--url", self.url)
        self.assertEqual(health.returncode, 1)
        self.assertIn("disk", health.stderr)
        self.assertEqual(self.refusal("POST", f"/conversations/{self.room}/messages", {"text": "x"}), (503, "disk_full"))
        self.assertEqual(self.refusal("POST", "/forums", {"title": "Weaving", "visibility": "public"}), (503, "disk_full"))
        for _ in range(10):
            self.assertIn("token", self.ask("POST", "/sessions", {"name": "ada", "password": PASSWORD}))
        self.assertEqual(self.parley("token", "ada", "--data", self.data).returncode, 0)
        self.assertEqual(self.parley("user", "reset", "ada", "--data", self.data).returncode, 0)

    def test_a_full_disk_lets_users_in_and_content_out(self):
        messages = [self.post(f"needle {number} " + "wool " * 1000)["id"] for number in range(20)]
        self.assertTrue((self.data / "reserve").exists())
        self.fill()
        self.wait(lambda: self.refusal("POST", f"/conversations/{self.room}/messages", {"text": "wool " * 1000}),
                  "the disk is full")
        self.check_full()
        self.assertFalse((self.data / "reserve").exists())
        self.ask("DELETE", f"/messages/{messages[0]}")
        purged = self.parley("purge", "--data", self.data)
        self.assertEqual(purged.returncode, 0, purged.stderr)
        self.assertIn("THE DISK IS FULL", self.server.output())
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(self.parley("verify", "--data", self.data).returncode, 0)

        # A start on a disk that filled up meanwhile is red at once.
        (self.data / "fill").unlink()
        self.server = self.serve()
        self.assertEqual(self.readiness()[0], 200)
        self.assertTrue((self.data / "reserve").exists())
        self.server.stop()
        self.fill()
        self.server = self.serve()
        self.check_full()

        (self.data / "fill").unlink()
        self.wait(lambda: self.readiness()[0] == 200, "the server accepts changes again")
        self.post("there is room again")
        self.wait(lambda: (self.data / "reserve").exists(), "the reserve is there again")
        self.assertEqual(self.parley("health", "--url", self.url).returncode, 0)

    def test_the_log_warns_before_the_disk_is_full(self):
        self.assertNotIn("% full", self.server.output())
        for percent, pattern in ((82, r" 8\d % full"), (91, r" 9[0-4] % full")):
            self.fill(percent)
            self.wait(lambda: re.search(pattern, self.server.output()), f"a warning at {percent} %")
            self.assertEqual(self.readiness()[0], 200)
        # The last warning comes with the full disk.
        self.fill(97)
        self.wait(lambda: re.search(r" 9[5-9] % full", self.server.output()), "a warning at 95 %")

    def test_uploads_are_refused_before_messages(self):
        upload = self.ask("POST", "/uploads", {"name": "wool.bin", "size": 1_000})["id"]
        part = ("--request", "PATCH", "--header", f"Authorization: Bearer {self.token}", "--header", "Upload-Offset: 0",
                "--header", "Content-Type: application/octet-stream", "--data-binary", "wool", f"{self.url}/api/v1/uploads/{upload}")
        self.fill(92)
        self.wait(lambda: "refuses uploads until 10 %" in self.server.output(), "uploads are refused")
        self.assertEqual(self.upload(1_000), (503, "disk_full"))
        self.assertEqual(self.curl_headers(*part)[0], 503)
        self.assertEqual(self.curl_headers("--header", f"Authorization: Bearer {self.token}", "--header", "Content-Type: text/plain",
                                           "--data-binary", "wool", f"{self.url}/api/v1/files?name=wool.txt")[0], 503)
        self.post("a message has room")
        self.assertEqual(self.readiness()[0], 200)
        (self.data / "fill").unlink()
        self.wait(lambda: self.upload(1_000) is None, "uploads are accepted again")

    def test_statistics_equal_du(self):
        self.ask("POST", "/backups", {})
        self.wait(lambda: self.ask("GET", "/backups")["data"][0]["state"] == "done", "the backup is done")
        replaced = self.data / "replaced-20261120T120000Z"
        replaced.mkdir()
        (replaced / "parley.db").write_bytes(b"x" * 1_000_000)
        storage = self.ask("GET", "/statistics")["storage"]
        du = subprocess.run(["du", "--summarize", "--block-size=1", self.data], capture_output=True, text=True, check=True)
        self.assertEqual(storage["folder_bytes"], int(du.stdout.split()[0]))
        backup = next((self.data / "backups").iterdir())
        self.assertGreaterEqual(storage["backups_bytes"], backup.stat().st_size)
        self.assertGreaterEqual(storage["replaced_bytes"], 1_000_000)

    def restart(self, *arguments):
        self.server.stop()
        self.server = self.start(*parley(self.folder, *ENDLESS, *arguments, listen=f"127.0.0.1:{self.port}"))
        return self.free()

    def free(self):
        disk = os.statvfs(self.data)
        return disk.f_bavail * disk.f_frsize

    def test_default_quotas_follow_the_free_space(self):
        # The database grows between the start and this measurement.
        free = self.restart()
        self.assertEqual(self.upload(free // 16), (413, "no_room"))
        self.assertIsNone(self.upload(free // 25))
        self.fill(50)
        self.restart()
        self.assertEqual(self.upload(free // 25), (413, "no_room"))

    def test_guests_get_a_hundredth_of_the_site(self):
        subprocess.run([PARLEY, "user", "create", "otto", "--role", "guest", "--password-stdin", "--data", self.data],
                       input=PASSWORD + "\n", text=True, capture_output=True, check=True)
        free = self.restart()
        self.token = self.ask("POST", "/sessions", {"name": "otto", "password": PASSWORD})["token"]
        self.assertEqual(self.upload(free // 160), (413, "no_room"))
        self.assertIsNone(self.upload(free // 250))

    def test_all_files_together_get_half_of_the_free_space(self):
        free = self.restart("--limit-user-files", SIZE)
        self.assertEqual(self.upload(free // 2 + 1_000_000), (413, "no_room"))
        stored = 3_000_000
        self.curl("--fail", "--header", f"Authorization: Bearer {self.token}", "--header", "Content-Type: application/octet-stream",
                  "--data-binary", "@-", f"{self.url}/api/v1/files?name=wool.bin", given=os.urandom(stored))
        # The files of the site count as free space, so the quota of before stays.
        self.restart("--limit-user-files", SIZE)
        self.assertEqual(self.upload(free // 2 - stored + 1_000_000), (413, "no_room"))
        self.assertIsNone(self.upload(free // 2 - stored - 1_000_000))

    def upload(self, size):
        return self.refusal("POST", "/uploads", {"name": "wool.bin", "size": size})


if __name__ == "__main__":
    unittest.main()
