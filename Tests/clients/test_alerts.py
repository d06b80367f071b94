"""Alerts: to a URL, signed and in the form of Slack and ntfy, and to a program; each once until its state ends."""

import hashlib
import itertools
import json
import signal
import sqlite3
import stat
import subprocess
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from servers import PARLEY
from serving import ServingTest, call, parley
from standardwebhooks import Webhook
from test_doctor import make_certificate

# The machine of a test: the fill level of its disk in percent, and an offset of its clock in seconds.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>

static long number(const char *variable, long otherwise) {
  const char *path = getenv(variable);
  FILE *file = path ? fopen(path, "r") : NULL;
  long value = otherwise;
  if (file) {
    if (fscanf(file, "%ld", &value) != 1) value = otherwise;
    fclose(file);
  }
  return value;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += number("CLOCK_OFFSET", 0);
  return result;
}

static void fill(struct statvfs *status) {
  long percent = number("DISK_PERCENT", 10);
  status->f_frsize = status->f_bsize = 4096;
  status->f_blocks = 25000000;
  status->f_bfree = status->f_bavail = status->f_blocks / 100 * (100 - percent);
}

int statvfs(const char *path, struct statvfs *status) { fill(status); return 0; }
int statvfs64(const char *path, struct statvfs64 *status) { fill((struct statvfs *)status); return 0; }
"""


class Receiver:
    """A web server that keeps the requests it gets. It answers with the statuses of `answers`, then with 200."""

    def __init__(self):
        self.requests, self.answers = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = outer.answers.pop(0) if outer.answers else 200
                outer.requests.append((self.path, dict(self.headers), body, status))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def codes(self):
        return [json.loads(body)["data"]["code"] for _, _, body, status in self.requests if status == 200]


class Alerts(ServingTest):
    part = "hosting"

    waits = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shim = Path(cls.folder) / "machine.so"
        source = Path(cls.folder) / "machine.c"
        source.write_text(SHIM)
        subprocess.run(["clang", "-shared", "-fPIC", "-o", cls.shim, source, "-ldl"], check=True, capture_output=True)

    def setUp(self):
        super().setUp()
        self.site = Path(self.folder) / self.id().rsplit(".", 1)[-1]
        self.site.mkdir(mode=0o700)
        self.disk, self.clock = self.site / "disk", self.site / "clock"
        self.receiver = self.enterContext(Receiver())
        self.url = f"http://127.0.0.1:{self.receiver.port}/hook"

    def serve(self, *arguments):
        return self.start(*parley(self.site, *arguments), env={
            "LD_PRELOAD": str(self.shim), "DISK_PERCENT": str(self.disk), "CLOCK_OFFSET": str(self.clock)})

    def wait(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, (self.receiver.codes(), self.receiver.requests))
            time.sleep(0.05)

    def sentences(self):
        return [json.loads(body)["message"] for _, _, body, status in self.receiver.requests if status == 200]

    # The states

    def test_each_step_of_the_disk_once_also_over_a_restart(self):
        with self.serve("--alert", self.url):
            self.disk.write_text("81")
            self.wait(lambda: self.receiver.codes() == ["disk"])
            self.disk.write_text("96")
            self.wait(lambda: len(self.receiver.codes()) == 2)
            self.assertEqual(json.loads(self.receiver.requests[1][2])["data"]["level"], "error")
            self.disk.write_text("91")
            time.sleep(11)
        with self.serve("--alert", self.url):
            time.sleep(11)
            self.assertEqual(self.sentences(), [
                f"The disk is {percent} % full. Make room, or move the data folder to a larger disk." for percent in (81, 96)])

    def test_a_step_of_the_clock(self):
        with self.serve("--alert", self.url):
            time.sleep(1.5)  # the clock is compared every second
            self.clock.write_text("7200")
            self.wait(lambda: self.receiver.codes() == ["clock_step"])
            self.assertIn("was set forward by 2 hours", self.sentences()[0])

    def test_an_unclean_stop(self):
        with self.serve("--alert", self.url) as server:
            server.signal(signal.SIGKILL)
            server.wait()
        with self.serve("--alert", self.url) as server:
            self.wait(lambda: self.receiver.codes() == ["unclean_stop"])
            self.assertEqual(server.stop(), 0)
        with self.serve("--alert", self.url):
            time.sleep(2)
            self.assertEqual(self.receiver.codes(), ["unclean_stop"])

    def test_a_late_backup(self):
        blocked = self.site / "blocked"
        blocked.write_text("")
        with self.serve("--alert", self.url) as server:
            subprocess.run([PARLEY, "backup", self.site / "a.tar", "--data", self.site / "data"], check=True, capture_output=True)
            server.stop()
        self.clock.write_text("10800")
        with self.serve("--alert", self.url, "--backup-every", "1", "--backup-to", str(blocked)):
            self.wait(lambda: self.receiver.codes() == ["backup_late"])
            self.assertIn("although they are scheduled", self.sentences()[0])

    def test_a_late_copy_of_a_backup(self):
        hook = ("--backup-every", "24", "--backup-hook")
        with self.serve(*hook, "/bin/true") as server:
            self.wait(lambda: "event=hook result=ok" in server.output())
        # A new backup whose copy fails, and the copy of four days ago.
        self.clock.write_text(str(4 * 86_400))
        with self.serve("--alert", self.url, *hook, "/bin/false") as server:
            self.wait(lambda: "off_site_late" in self.receiver.codes() and "event=hook result=failed" in server.output())
            self.assertIn("The last copy of a backup on another machine is 4 days old", " ".join(self.sentences()))

    def test_a_certificate_that_ends(self):
        make_certificate(self.site, days=5)
        with self.serve("--alert", self.url, "--tls-certificate", str(self.site / "certificate.pem"), "--tls-key",
                        str(self.site / "key.pem")):
            self.wait(lambda: self.receiver.codes() == ["certificate"])

    def post_with(self, server, token, room):
        try:
            call(server, "POST", f"/conversations/{room}/messages", {"text": "wool"}, token)
        except HTTPError as error:
            with error:
                return json.loads(error.read())["code"]
        return None

    def owner(self, server):
        subprocess.run([PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", self.site / "data"],
                       input="wool and needles\n", text=True, check=True, capture_output=True)
        return call(server, "POST", "/sessions", {"name": "ada", "password": "wool and needles"})["token"]

    def test_a_large_disk_refuses_messages_below_2_percent(self):
        with self.serve() as server:
            token = self.owner(server)
            room = call(server, "POST", "/forums", {"title": "Knitting"}, token)["room_id"]
            self.disk.write_text("97")
            self.wait(lambda: "refuses uploads until 10 %" in server.output())
            self.assertIsNone(self.post_with(server, token, room))
            self.disk.write_text("99")
            self.wait(lambda: self.post_with(server, token, room) == "disk_full")
            # The reserve is for the disk that is full.
            self.assertTrue((self.site / "data" / "reserve").exists())
            self.disk.write_text("95")
            self.wait(lambda: self.post_with(server, token, room) is None)

    def test_a_damaged_file(self):
        now = int(time.time() * 1000)
        night = (now - 3 * 3_600_000) // 86_400_000
        # The check after the start reads one file in 30.
        content = next(text for text in (f"wool {number}".encode() for number in itertools.count())
                       if int.from_bytes(hashlib.sha256(text).digest()[:2], "big") % 30 == night % 30)
        digest = hashlib.sha256(content).hexdigest()
        path = f"files/{digest[:2]}/{digest[2:4]}/{digest}"
        backups = ("--backup-every", "24", "--backup-to", self.site / "backups")
        with self.serve() as server:
            token = self.owner(server)
            request = Request(f"{server.url}/api/v1/files?name=wool.txt", method="POST", data=content,
                              headers={"Content-Type": "text/plain", "Authorization": f"Bearer {token}"})
            with urlopen(request, timeout=60):
                pass
        with self.serve(*backups) as server:
            self.wait(lambda: "event=restore_test result=passed" in server.output())
        (self.site / "data" / path).write_bytes(b"moth")
        with self.serve(*backups, "--alert", self.url) as server:
            self.wait(lambda: self.receiver.codes() == ["file_damage"])
            self.assertEqual(self.sentences(), [
                f"The uploaded file {path} is damaged or missing. Copy it from the backups: "
                f"cp {self.site}/backups/{path} {self.site}/data/{path}"])
            # The database is sound, so changes go on.
            call(server, "POST", "/forums", {"title": "Knitting"}, token)
            subprocess.run(self.sentences()[0].split(": ")[1].split(), check=True)
        with self.serve(*backups) as server:
            problems = lambda: [it["code"] for it in json.loads(subprocess.run(
                [PARLEY, "status", "--json", "--data", self.site / "data"], capture_output=True, text=True).stdout)["problems"]]
            self.wait(lambda: "file_damage" not in problems())

    def test_a_restore(self):
        with self.serve() as server:
            self.owner(server)
            subprocess.run([PARLEY, "backup", self.site / "a.tar", "--data", self.site / "data"], check=True, capture_output=True)
        subprocess.run([PARLEY, "restore", self.site / "a.tar", "--replace", "--data", self.site / "data"], check=True, capture_output=True)
        with self.serve("--alert", self.url) as server:
            self.wait(lambda: self.receiver.codes() == ["restored"])
            self.assertRegex(self.sentences()[0], r"^The site was restored from a backup\. Site as of \d{4}-.* UTC\.")
            token = call(server, "POST", "/sessions", {"name": "ada", "password": "wool and needles"})["token"]
            self.wait(lambda: [it["alert"] for it in call(server, "GET", "/inbox", token=token)["data"] if it["kind"] == "alert"] == ["restored"])

    def test_a_damaged_database(self):
        backups = ("--backup-every", "24", "--backup-to", self.site / "backups")
        with self.serve(*backups) as server:
            self.wait(lambda: "event=restore_test result=passed" in server.output())
            server.stop()
        path = self.site / "data" / "parley.db"
        with sqlite3.connect(path) as database:
            page = database.execute("select rootpage from sqlite_schema where name = 'sign_in'").fetchone()[0]
            size = database.execute("pragma page_size").fetchone()[0]
        database.close()
        with open(path, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * 8)  # the header of the page
        with self.serve("--alert", self.url, *backups):
            self.wait(lambda: "damage" in self.receiver.codes())
        sentence, = [it for it in self.sentences() if it.startswith("The server refuses changes")]
        self.assertRegex(sentence, r" Stop the server and restore the newest tested backup, of \d{4}-\d\d-\d\d \d\d:\d\d UTC: parley restore ")
        command = sentence.split(" UTC: parley ")[1].split()
        subprocess.run([PARLEY, *command], check=True, capture_output=True)
        subprocess.run([PARLEY, "verify", "--data", self.site / "data"], check=True, capture_output=True)

    # The receivers

    def test_the_inbox_of_the_staff_without_any_receiver(self):
        with self.serve() as server:
            token = self.owner(server)
            inbox = lambda: [(it["kind"], it["alert"]) for it in call(server, "GET", "/inbox", token=token)["data"]]
            self.assertEqual(inbox(), [])
            self.disk.write_text("81")
            self.wait(lambda: inbox() == [("alert", "disk")])
            self.assertIn("event=alert code=disk level=warning", server.output())

    def test_the_body_suits_slack_ntfy_and_standard_webhooks(self):
        secret = self.site / "secret"
        secret.write_text("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=" + "\n")
        secret.chmod(0o600)
        self.disk.write_text("92")
        with self.serve("--alert", f"http://127.0.0.1:{self.receiver.port}/?topic=parley", "--alert-secret-file", str(secret)):
            self.wait(lambda: self.receiver.codes() == ["disk"])
        path, headers, body, _ = self.receiver.requests[0]
        self.assertEqual(path, "/?topic=parley")
        event = Webhook(secret.read_text().strip()).verify(body, headers)
        self.assertEqual(event["type"], "alert")
        # Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
        self.assertIn("Warning of Parley (http://127.0.0.1:", event["text"])
        self.assertIn("The disk is 92 % full.", event["text"])
        # ntfy: https://docs.ntfy.sh/publish/#publish-as-json
        self.assertEqual((event["topic"], event["title"], event["priority"]), ("parley", "Warning of Parley", 4))
        self.assertEqual(event["message"], event["data"]["sentence"])
        self.assertEqual(event["tags"], ["warning"])
        other = Webhook("whsec_" + "AAAA" * 8)
        with self.assertRaises(Exception):
            other.verify(body, headers)

    def test_a_failed_attempt_is_repeated_with_the_same_id(self):
        secret = self.site / "secret"
        secret.write_text("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=" + "\n")
        secret.chmod(0o600)
        self.receiver.answers = [500]
        self.disk.write_text("92")
        with self.serve("--alert", self.url, "--alert-secret-file", str(secret)) as server:
            self.wait(lambda: self.receiver.codes() == ["disk"], 90)
            self.assertEqual(len({headers["webhook-id"] for _, headers, _, _ in self.receiver.requests}), 1)
            self.assertEqual([status for _, _, _, status in self.receiver.requests], [500, 200])
            self.assertIn("event=alert code=disk level=warning The disk is 92 % full", server.output())
            self.assertIn("event=alert code=disk result=failed", server.output())

    def program(self, text):
        path = self.site / "alert"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_a_program_gets_the_alert_without_a_shell(self):
        out = self.site / "out"
        path = self.program(f'printf "%s|" "$#" "$1" "$2" "$PARLEY_ALERT_CODE" "$PARLEY_ALERT_LEVEL" >{out}.new\ncat >>{out}.new\nmv {out}.new {out}\n')
        self.disk.write_text("96")
        with self.serve("--alert", f"{path} '$(id) *' \"a b\""):
            self.wait(out.exists)
        self.assertEqual(
            out.read_text(), "2|$(id) *|a b|disk|error|Error of Parley\n\n"
            "The disk is 96 % full. Make room, or move the data folder to a larger disk.\n")

    def test_a_program_that_fails_is_logged_with_its_output(self):
        self.disk.write_text("96")
        with self.serve("--alert", str(self.program("echo no network >&2\nexit 3\n"))) as server:
            self.wait(lambda: "result=failed" in server.output())
            self.assertIn("The alert could not be delivered and is tried again: exit status 3: no network", server.output())

    def test_a_program_that_hangs_is_killed_with_its_children(self):
        pid = self.site / "pid"
        self.disk.write_text("96")
        with self.serve("--alert", str(self.program(f"sleep 1000 & echo $! >{pid}\nwait\n"))) as server:
            self.wait(lambda: "it took too long" in server.output(), 90)
            self.wait(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists() or " Z " in Path(
                f"/proc/{pid.read_text().strip()}/stat").read_text())

    def test_mistakes_of_the_settings(self):
        open_secret = self.site / "open"
        open_secret.write_text("whsec_" + "AAAA" * 8)
        open_secret.chmod(0o644)
        short = self.site / "short"
        short.write_text("wool\n")
        short.chmod(0o600)
        for arguments, words in [
            (["--alert", "logger -t parley"], "takes a URL, or a program with its absolute path"),
            (["--alert", "/nowhere"], "can't be executed"), (["--alert", "/bin/sh 'a"], "quotation mark"),
            (["--alert", "https://a b"], "percent-encoding"),
            (["--alert-secret-file", str(short)], "needs --alert"),
            (["--alert", self.url, "--alert-secret-file", str(short)], "openssl rand -base64 32"),
            (["--alert", self.url, "--alert-secret-file", str(open_secret)], "chmod o="),
        ]:
            with self.subTest(words):
                done = subprocess.run([PARLEY, "serve", "--data", self.site / "none", *arguments], capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)

    def test_the_address_of_the_receiver_is_not_printed(self):
        done = subprocess.run([PARLEY, "config", "--alert", "https://hooks.slack.com/services/T0/B0/wool"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("wool", done.stdout)


if __name__ == "__main__":
    unittest.main()
