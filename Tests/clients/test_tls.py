"""HTTPS and wss: self-signed certificates, certificate files, and renewal without a restart."""

import ctypes
import ctypes.util
import hashlib
import os
import re
import signal
import socket
import ssl
import subprocess
import time

from serving import ServingTest, bench_server, parley
from websockets.sync.client import connect


def make_certificate(folder, name):
    """Writes certificate.pem and key.pem, as a renewal does."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "certificate.pem")],
        check=True, capture_output=True)


def certificate_files(folder):
    return ("--tls-certificate", os.path.join(folder, "certificate.pem"), "--tls-key", os.path.join(folder, "key.pem"))


def presented(server):
    """SHA-256 fingerprint of the certificate that the server presents."""
    pem = ssl.get_server_certificate(("127.0.0.1", server.port))
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


class SelfSigned(ServingTest):
    def test_the_printed_fingerprint_matches_the_certificate(self):
        with self.start(*parley(self.folder, "--self-signed")) as server:
            self.assertTrue(server.url.startswith("https://"), server.url)
            printed = re.sub(r"[^0-9a-f\n]", "", server.output().lower().replace(":", ""))
            self.assertIn(presented(server), printed)
            status, _ = self.curl_headers("--insecure", f"{server.url}/healthz")
            self.assertEqual(status, 200)

    def test_the_certificate_survives_a_restart(self):
        shown = []
        for _ in range(2):
            with self.start(*parley(self.folder, "--self-signed")) as server:
                shown.append(presented(server))
        self.assertEqual(shown[0], shown[1])


class CertificateFiles(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make_certificate(cls.folder, "first")
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *certificate_files(cls.folder))))

    def trusted(self):
        return ("--cacert", os.path.join(self.folder, "certificate.pem"))

    def test_curl_trusts_the_certificate_with_both_tls_versions(self):
        for version in ("--tls-max", "1.2"), ("--tlsv1.3",):
            with self.subTest(version):
                self.assertEqual(self.curl_headers(*version, *self.trusted(), f"{self.server.url}/healthz")[0], 200)

    def test_old_versions_are_refused(self):
        done = subprocess.run(["curl", "--silent", "--insecure", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0",
                               f"{self.server.url}/healthz"], capture_output=True)
        self.assertEqual(done.returncode, 35)

    def test_http_1_1_is_negotiated(self):
        said = self.curl("--verbose", "--stderr", "-", *self.trusted(), f"{self.server.url}/healthz").decode()
        self.assertRegex(said, r"ALPN.*accepted.*http/1\.1")


class Renewal(ServingTest):
    def test_sighup_loads_the_new_certificate(self):
        make_certificate(self.folder, "first")
        with self.start(*parley(self.folder, *certificate_files(self.folder))) as server:
            before = presented(server)
            make_certificate(self.folder, "second")
            self.assertEqual(presented(server), before)
            server.signal(signal.SIGHUP)
            deadline = time.monotonic() + 100
            while presented(server) == before and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertNotEqual(presented(server), before)

    def test_an_invalid_certificate_keeps_the_old_one(self):
        make_certificate(self.folder, "first")
        with self.start(*parley(self.folder, *certificate_files(self.folder))) as server:
            before = presented(server)
            with open(os.path.join(self.folder, "certificate.pem"), "w") as file:
                file.write("not a certificate")
            server.signal(signal.SIGHUP)
            for _ in range(10):
                self.assertEqual(presented(server), before)


class Wss(ServingTest):
    def test_a_websocket_over_tls(self):
        make_certificate(self.folder, "first")
        with self.start(*bench_server(*certificate_files(self.folder))) as server:
            trust = ssl.create_default_context(cafile=os.path.join(self.folder, "certificate.pem"))
            with connect(f"{server.websocket_url}/echo", ssl=trust) as socket:
                for message in ("hello", os.urandom(300_000)):
                    socket.send(message)
                    self.assertEqual(socket.recv(timeout=60), message)


class KeyUpdates(ServingTest):
    """RFC 8446 §4.6.3: either side may request a key update at any time; each one costs the other side a response."""

    arguments = bench_server("--tls")

    def library(self):
        ssl_library = ctypes.CDLL(ctypes.util.find_library("ssl") or "libssl.so.3")
        pointer = ctypes.c_void_p
        for name, result, arguments in [
            ("TLS_client_method", pointer, []), ("SSL_CTX_new", pointer, [pointer]), ("SSL_new", pointer, [pointer]),
            ("SSL_set_fd", ctypes.c_int, [pointer, ctypes.c_int]), ("SSL_connect", ctypes.c_int, [pointer]),
            ("SSL_key_update", ctypes.c_int, [pointer, ctypes.c_int]), ("SSL_do_handshake", ctypes.c_int, [pointer]),
            ("SSL_write", ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_int]),
            ("SSL_read", ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_int]),
            ("SSL_free", None, [pointer]), ("SSL_CTX_free", None, [pointer]),
        ]:
            function = getattr(ssl_library, name)
            function.restype, function.argtypes = result, arguments
        return ssl_library

    def updates_until_cut_off(self, limit, between=b""):
        """Number of key updates until the server closed the connection, at most `limit`."""
        library = self.library()
        context = library.SSL_CTX_new(library.TLS_client_method())
        session = library.SSL_new(context)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
            connection.settimeout(None)
            library.SSL_set_fd(session, connection.fileno())
            self.assertEqual(library.SSL_connect(session), 1)
            taken = 0
            while taken < limit:
                library.SSL_key_update(session, 1)
                if library.SSL_do_handshake(session) != 1:
                    break
                if between:
                    library.SSL_write(session, between, len(between))
                    library.SSL_read(session, ctypes.create_string_buffer(65536), 65536)
                taken += 1
        library.SSL_free(session)
        library.SSL_CTX_free(context)
        return taken

    def test_a_client_that_only_updates_keys_is_disconnected(self):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self.assertLess(self.updates_until_cut_off(200_000), 200_000)
        self.assertEqual(self.curl_headers("--insecure", f"{self.server.url}/json")[0], 200)

    def test_a_client_with_requests_between_key_updates_is_served(self):
        request = b"GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertEqual(self.updates_until_cut_off(300, request), 300)
