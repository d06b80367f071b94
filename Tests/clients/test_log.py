"""Lines of the log with an `event=`, and fail2ban's own program on them."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from servers import PARLEY, TOP
from serving import ServingTest, parley
from test_tls import certificate_files, make_certificate

FILTER = TOP / "docker" / "fail2ban" / "filter.d" / "parley.conf"
JAIL = TOP / "docker" / "fail2ban" / "jail.d" / "parley.conf"
PASSWORD = "wool and needles"


class Events(ServingTest):
    part = "hosting"

    def setUp(self):
        super().setUp()
        self.data = os.path.join(self.folder, self.id().rsplit(".", 1)[-1])
        os.makedirs(self.data)

    def wait(self, server, pattern):
        deadline = time.monotonic() + 60
        while not (found := re.findall(pattern, server.output(), re.MULTILINE)):
            self.assertLess(time.monotonic(), deadline, f"{pattern}\n{server.output()}")
            time.sleep(0.02)
        return found

    def test_start_migration_certificate_backup_and_stop(self):
        make_certificate(self.data, "one")  # for two days
        with self.start(*parley(self.data, *certificate_files(self.data), "--backup-every", "1")) as server:
            self.wait(server, r"^parley: event=migration result=ok Applied migrations: 0001")
            self.wait(server, r"^parley: event=start version=\S+ data=\S+/data$")
            self.wait(server, r"^parley: event=certificate result=warning The certificate \S+ is valid only until")
            self.wait(server, r"^parley: event=backup result=ok Scheduled backup \S+: 0 messages")
            server.signal(signal.SIGHUP)
            self.wait(server, r"^parley: event=certificate result=ok Reloaded the certificate")
            with open(os.path.join(self.data, "certificate.pem"), "w") as file:
                file.write("nothing\n")
            server.signal(signal.SIGHUP)
            self.wait(server, r"^parley: event=certificate result=failed Keeping the current certificate")
            server.stop()
            self.wait(server, r"^parley: event=stop connections=\d+$")

    def test_a_failed_scheduled_backup(self):
        with open(os.path.join(self.data, "file"), "w"):
            with self.start(*parley(self.data, "--backup-every", "1", "--backup-to", os.path.join(self.data, "file"))) as server:
                self.wait(server, r"^parley: event=backup result=failed The scheduled backup failed")


class SignInFailures(ServingTest):
    """fail2ban-regex of Debian, with the filter of the archive, on the log of a real daemon."""

    part = "hosting"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fail2ban = subprocess.run(
            [TOP / "Tests/tools/unpacked", "fail2ban", "fail2ban"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def failures(self, log, name="log"):
        """The addresses and times that fail2ban finds."""
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(log)
        done = subprocess.run(
            ["/usr/bin/python3", f"{self.fail2ban}/usr/bin/fail2ban-regex", "--config", f"{self.fail2ban}/etc/fail2ban",
             "--usedns", "no", "--verbose", path, str(FILTER)],
            capture_output=True, text=True, timeout=120,
            env={**os.environ, "TZ": "UTC", "PYTHONPATH": f"{self.fail2ban}/usr/lib/python3/dist-packages"})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return re.findall(r"(?m)^\|      ([0-9a-f.:]+)  (\w+ \w+ \d+ [0-9:]+ \d+)$", done.stdout)

    def test_fail2ban_finds_each_failure_and_no_other_line(self):
        data = os.path.join(self.folder, "data")
        with self.start(*parley(
                self.folder, "--trusted-proxy", "127.0.0.0/8", "--rate-login", "1000", "--rate-login-burst", "1000",
                "--rate-guessing", "3", "--rate-guessing-burst", "3")) as server:
            subprocess.run([PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", data],
                           input=PASSWORD + "\n", text=True, check=True, capture_output=True)

            def sign_in(address, name="ada", password="wrong"):
                body = json.dumps({"name": name, "password": password})
                status, _ = self.curl_headers(
                    "--header", f"X-Forwarded-For: {address}", "--json", body, f"{server.url}/api/v1/sessions")
                return status

            self.assertEqual(sign_in("198.51.100.1", password=PASSWORD), 201)
            self.assertEqual(sign_in("203.0.113.7"), 401)
            self.assertEqual(sign_in("203.0.113.8", "nobody-here"), 401)
            self.assertEqual(sign_in("2001:db8:1:2::7", "parley: event=sign_in_failed address=192.0.2.1 known=no"), 401)
            self.assertEqual([sign_in("203.0.114.9") for _ in range(4)], [401, 401, 401, 429])
            # An attacker writes what looks like a line.
            self.curl_headers(f"{server.url}/parley:%20event=sign_in_failed%20address=192.0.2.1%20known=no%20reason=password")
            self.curl_headers("--user-agent", "parley: event=sign_in_failed address=192.0.2.1 known=no reason=password",
                              f"{server.url}/healthz")
            deadline = time.monotonic() + 30
            while server.output().count("/healthz") < 1:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            log = server.output()
        lines = re.findall(r"^parley: event=sign_in_failed address=(\S+) known=(\S+) reason=(\S+) at=\S+Z$", log, re.MULTILINE)
        self.assertEqual(lines, [
            ("203.0.113.7", "yes", "password"), ("203.0.113.8", "no", "password"), ("2001:db8:1:2::7", "no", "password"),
            *[("203.0.114.9", "yes", "password")] * 3, ("203.0.114.9", "yes", "limit")])
        # The ids of requests are hexadecimal.
        self.assertNotRegex("\n".join(line for line in log.splitlines() if "sign_in_failed" in line), r"(?<![\w-])ada(?![\w-])")
        # Addresses of other lines are short.
        self.assertNotIn(" 203.0.113.7 ", re.sub(r"(?m)^parley: .*$", "", log))
        for name, shown in (("file", log), ("compose", re.sub("(?m)^", "parley-1  | ", log)),
                            ("journal", re.sub("(?m)^", "host parley[123]: ", log))):
            with self.subTest(name):
                found = [address for address, _ in self.failures(shown, name)]
                self.assertEqual(found, [address for address, _, _ in lines])

    def test_the_time_is_that_of_the_line(self):
        line = "parley: event=sign_in_failed address=203.0.113.7 known=no reason=password at=2026-11-20T12:00:00.123Z\n"
        self.assertEqual(self.failures(line), [("203.0.113.7", "Fri Nov 20 12:00:00 2026")])

    def test_the_jail_names_the_filter(self):
        text = JAIL.read_text()
        self.assertIn("filter = parley", text)
        self.assertIn("enabled = true", text)


if __name__ == "__main__":
    unittest.main()
