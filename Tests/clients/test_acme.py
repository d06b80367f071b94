"""Certificates of a certificate authority: ordered, renewed and refused, against Pebble of Debian, an authority for tests."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from servers import PARLEY, TOP, Server, accepts, free_port
from serving import ServingTest, parley
from test_tls import make_certificate

NAMES = ("chat.parley.test", "talk.parley.test")


class Authority:
    """Pebble, and a name server that leads all names to this machine."""

    def __init__(self, folder, name, lifetime, refused_nonces=0):
        tools = Path(subprocess.run([TOP / "Tests/tools/unpacked", "pebble", "pebble"], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout.strip()) / "usr/bin"
        self.folder = Path(folder)
        self.port, self.management, self.checked = free_port(), free_port(), free_port()
        names, self.control = free_port(), free_port()
        self.root = self.folder / "authority.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", self.folder / "authority.key", "-out", self.root], check=True, capture_output=True)
        settings = self.folder / "pebble.json"
        settings.write_text(json.dumps({"pebble": {
            "listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}",
            "certificate": str(self.root), "privateKey": str(self.folder / "authority.key"),
            "httpPort": self.checked, "tlsPort": free_port(), "certificateValidityPeriod": lifetime}}))
        self.names = Server(
            f"acme-names-{name}", tools / "pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "",
            "-dns01", f"127.0.0.1:{names}", "-http01", "", "-https01", "", "-tlsalpn01", "",
            "-management", f"127.0.0.1:{self.control}", port=self.control)
        self.pebble = Server(
            f"acme-pebble-{name}", tools / "pebble", "-config", settings, "-dnsserver", f"127.0.0.1:{names}",
            port=self.port, env={"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": str(refused_nonces)})
        wait_for_port(self.management)

    @property
    def directory(self):
        return f"https://localhost:{self.port}/dir"

    @property
    def arguments(self):
        """The settings of a daemon that gets its certificates here."""
        return ("--acme", "--acme-directory", self.directory, "--acme-ca", self.root, "--acme-email", "owner@parley.test")

    def trust(self):
        """A context that trusts the certificates of this authority."""
        plain = ssl.create_default_context(cafile=self.root)
        with urllib.request.urlopen(f"https://localhost:{self.management}/roots/0", context=plain) as answer:
            return ssl.create_default_context(cadata=answer.read().decode())

    def lead(self, name, address):
        """Another address of a name."""
        body = json.dumps({"host": name, "addresses": [address]}).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.control}/add-a", body).close()

    def orders(self):
        return self.pebble.output().count("There are now")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.pebble.stop()
        self.names.stop()


def presented(server, name, trust):
    """The certificate for a name, checked as a browser does."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        with trust.wrap_socket(connection, server_hostname=name) as secure:
            return secure.getpeercert()


def wait_for_port(port, seconds=60):
    deadline = time.monotonic() + seconds
    while not accepts(port):
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing listens on port {port}")
        time.sleep(0.01)


def wait_for(server, pattern, seconds=60, count=1):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = re.findall(pattern, server.output())
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{pattern} is missing in:\n{server.output()}")


def public_urls(port=443):
    return [part for name in NAMES for part in ("--public-url", f"https://{name}" + ("" if port == 443 else f":{port}"))]


class Certificates(ServingTest):
    """A certificate of 45 seconds is renewed after 30. Nine nonces of ten are refused."""

    part = "hosting"

    waits = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.authority = cls.enterClassContext(Authority(cls.folder, "certificates", lifetime=45, refused_nonces=90))

    def start_server(self):
        return self.start(*parley(self.folder, *self.authority.arguments, *public_urls(),
                                  "--redirect-listen", f"127.0.0.1:{self.authority.checked}"))

    def test_a_certificate_is_ordered_renewed_and_kept(self):
        trust = self.authority.trust()
        with self.start_server() as server:
            # A self-signed certificate serves meanwhile.
            self.assertIn("certificate fingerprint (SHA-256)", server.output())
            wait_for(server, r"event=certificate result=ordering")
            wait_for(server, r"event=certificate result=ok")
            first = [presented(server, name, trust) for name in NAMES]
            self.assertEqual(first[0]["serialNumber"], first[1]["serialNumber"])
            self.assertEqual({name for _, name in first[0]["subjectAltName"]}, set(NAMES))
            self.redirected()
            self.assert_private()
            requests, failures = self.served_while(
                server, trust, lambda: wait_for(server, r"event=certificate result=ok", count=2))
            self.assertGreater(requests, 20)
            self.assertEqual(failures, [])
            renewed = presented(server, NAMES[0], trust)
            self.assertNotEqual(renewed["serialNumber"], first[0]["serialNumber"])
        with self.start_server() as server:
            self.assertNotIn("fingerprint", server.output())
            self.assertEqual(presented(server, NAMES[1], trust)["serialNumber"], renewed["serialNumber"])
            self.assertNotIn("result=ordering", server.output())

    def redirected(self):
        """The challenge has ended; all paths are redirected."""
        for path in ("/.well-known/acme-challenge/abc", "/.well-known/acme-challenge/", "/t/1"):
            connection = http.client.HTTPConnection("127.0.0.1", self.authority.checked, timeout=30)
            connection.request("GET", path, headers={"Host": NAMES[0]})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.getheader("Location")), (308, f"https://{NAMES[0]}{path}"))
            connection.close()

    def assert_private(self):
        for name in ("acme-account.key", "acme-certificate.pem"):
            self.assertEqual(os.stat(Path(self.folder) / "data" / name).st_mode & 0o777, 0o600, name)

    def served_while(self, server, trust, work):
        """The number of requests over new connections, and their failures, until `work` ends."""
        failures, count, ended = [], 0, threading.Event()

        def request():
            nonlocal count
            while not ended.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                        with trust.wrap_socket(connection, server_hostname=NAMES[0]) as secure:
                            secure.sendall(f"GET /healthz HTTP/1.1\r\nHost: {NAMES[0]}\r\nConnection: close\r\n\r\n".encode())
                            if not secure.recv(100).startswith(b"HTTP/1.1 200 "):
                                failures.append("status")
                except OSError as error:
                    failures.append(str(error))
                count += 1
                time.sleep(0.02)

        thread = threading.Thread(target=request)
        thread.start()
        try:
            work()
        finally:
            ended.set()
            thread.join()
        return count, failures


class Failures(ServingTest):
    part = "hosting"

    waits = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.authority = cls.enterClassContext(Authority(cls.folder, "failures", lifetime=3_600))

    def start_server(self, folder, *arguments, redirect=None):
        return self.start(*parley(folder, *arguments, *public_urls(), "--redirect-listen",
                                  f"127.0.0.1:{redirect or free_port()}"))

    def status(self, folder):
        return subprocess.run([PARLEY, "status", "--data", Path(folder) / "data"], capture_output=True, text=True).stdout

    def test_a_failed_check_is_explained_and_waits(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            # Another port than the one that the authority asks.
            for attempt in range(2):
                with self.start_server(folder, *self.authority.arguments) as server:
                    if attempt == 0:
                        line, = wait_for(server, r"event=certificate result=failed.*")
                        self.assertIn("The certificate authority can't check", line)
                        self.assertIn("port 80", line)
                        self.assertRegex(line, r"The next attempt is at \d{4}-")
                        self.assertIn("There is no new certificate.", self.status(folder))
                        orders = self.authority.orders()
                    else:
                        time.sleep(1)
                        # A restart does not hurry, and tells why.
                        self.assertIn("The last order of a certificate failed. The certificate authority can't check", server.output())
                        self.assertIn("There is no new certificate.", self.status(folder))
                        self.assertNotIn("result=ordering", server.output())
                        self.assertEqual(self.authority.orders(), orders)
                        server.signal(signal.SIGHUP)
                        wait_for(server, "result=ordering")

    def test_a_former_name_that_leads_elsewhere_does_not_stop_the_others(self):
        self.authority.lead("gone.parley.test", "127.0.0.9")
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            with self.start_server(folder, *self.authority.arguments, "--former-url", "https://gone.parley.test",
                                   redirect=self.authority.checked) as server:
                wait_for(server, r"event=certificate result=warning .*can't check gone\.parley\.test.* without this former name")
                wait_for(server, r"event=certificate result=ok")
                certificate = presented(server, NAMES[0], self.authority.trust())
                self.assertEqual({name for _, name in certificate["subjectAltName"]}, set(NAMES))

    def test_a_killed_order_is_not_repeated_at_once(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            silent = socket.create_server(("127.0.0.1", 0))
            with silent:
                authority = ("--acme", "--acme-directory", f"https://127.0.0.1:{silent.getsockname()[1]}/dir")
                with self.start_server(folder, *authority) as server:
                    wait_for(server, "result=ordering")
                    server.kill()
                with self.start_server(folder, *authority) as server:
                    time.sleep(1)
                    self.assertIn("The last order did not end.", server.output())
                    self.assertNotIn("result=ordering", server.output())

    def test_a_changed_authority_orders_a_new_certificate(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            for directory in (self.authority.directory, self.authority.directory.replace("localhost", "127.0.0.1")):
                with self.start_server(folder, *self.authority.arguments[:2], directory, *self.authority.arguments[3:],
                                       redirect=self.authority.checked) as server:
                    wait_for(server, r"event=certificate result=ok")

    def test_a_changed_name_orders_a_new_certificate(self):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            arguments = parley(folder, *self.authority.arguments, "--redirect-listen", f"127.0.0.1:{self.authority.checked}")
            for name in NAMES:
                with self.start(*arguments, "--public-url", f"https://{name}") as server:
                    wait_for(server, r"event=certificate result=ok")
                    self.assertEqual(presented(server, name, self.authority.trust())["subjectAltName"], (("DNS", name),))
            (Path(folder) / "data" / "acme-certificate.pem").write_text("damaged")
            with self.start(*arguments, "--public-url", f"https://{NAMES[1]}") as server:
                wait_for(server, r"event=certificate result=ok")
                presented(server, NAMES[1], self.authority.trust())

    def test_an_authority_that_limits_orders_names_the_time(self):
        class Limited(BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps({"type": "urn:ietf:params:acme:error:rateLimited", "detail": "too many orders of wool"}).encode()
                self.send_response(429)
                self.send_header("Content-Type", "application/problem+json")
                self.send_header("Retry-After", "7200")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with tempfile.TemporaryDirectory(prefix="parley-") as folder, ThreadingHTTPServer(("127.0.0.1", 0), Limited) as limited:
            make_certificate(folder, "limited")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
            limited.socket = context.wrap_socket(limited.socket, server_side=True)
            threading.Thread(target=limited.serve_forever, daemon=True).start()
            self.addCleanup(limited.shutdown)
            directory = f"https://localhost:{limited.server_address[1]}/dir"
            before = datetime.now(timezone.utc)
            with self.start_server(folder, "--acme", "--acme-directory", directory, "--acme-ca", f"{folder}/certificate.pem") as server:
                line, = wait_for(server, r"event=certificate result=failed.*")
                self.assertIn("The certificate authority refuses: too many orders of wool.", line)
                moment = datetime.fromisoformat(re.search(r"The next attempt is at (\S+)Z\.", line)[1]).replace(tzinfo=timezone.utc)
                self.assertGreaterEqual(moment, before.replace(microsecond=0) + timedelta(seconds=7_200))
                self.assertLess(moment, datetime.now(timezone.utc) + timedelta(seconds=7_201))
                # The authority has named the time, so a reload does not hurry.
                server.signal(signal.SIGHUP)
                wait_for(server, "event=certificate result=ok Reloaded")
                self.assertEqual(len(re.findall("result=ordering", server.output())), 1)

    def test_an_authority_that_cannot_be_reached_or_trusted(self):
        silent = ("--acme", "--acme-directory", f"https://localhost:{free_port()}/dir")
        unknown = ("--acme", "--acme-directory", self.authority.directory)
        for arguments, reason in ((silent, "can't connect"), (unknown, "TLS verification failed")):
            with self.subTest(reason), tempfile.TemporaryDirectory(prefix="parley-") as folder:
                with self.start_server(folder, *arguments) as server:
                    line, = wait_for(server, r"event=certificate result=failed.*")
                    self.assertIn(reason, line)
                    insecure = ssl.create_default_context()
                    insecure.check_hostname, insecure.verify_mode = False, ssl.CERT_NONE
                    with urllib.request.urlopen(f"https://127.0.0.1:{server.port}/healthz", context=insecure) as answer:
                        self.assertEqual(answer.status, 200)


class Settings(unittest.TestCase):
    part = "hosting"

    def test_settings_that_cannot_work_stop_the_start(self):
        redirect = ("--redirect-listen", "127.0.0.1:0")
        site = ("--public-url", "https://chat.example.org")
        for arguments, sentence in (
                (("--acme", *redirect), "--acme needs --public-url"),
                (("--acme", *redirect, "--public-url", "http://chat.example.org"), "--acme needs --public-url"),
                (("--acme", *site), "--acme needs --redirect-listen"),
                (("--acme", *redirect, "--public-url", "https://192.0.2.7"), "can't get a certificate for 192.0.2.7"),
                (("--acme", *redirect, "--public-url", "https://localhost"), "can't get a certificate for localhost"),
                (("--acme", *redirect, *site, "--self-signed"), "--acme excludes --self-signed"),
                (("--acme", *redirect, *site, "--acme-directory", "http://ca.example"), "--acme-directory takes an https URL"),
                (("--acme", *redirect, *site, "--acme-email", "nobody"), "--acme-email takes an address"),
                (("--acme", *redirect, *site, "--acme-ca", "/etc/hostname"), "--acme-ca names a file without a certificate"),
                (("--acme-email", "owner@example.org"), "--acme-email needs --acme")):
            with self.subTest(sentence), tempfile.TemporaryDirectory(prefix="parley-") as folder:
                done = subprocess.run(parley(folder, *arguments), capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
