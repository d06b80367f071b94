"""`parley doctor`: a finding for each seeded fault of the machine, the proxy and the settings, and none on a sound machine."""

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from nginx import nginx
from servers import PARLEY, TOP, free_port
from serving import ServingTest, parley
from successive_versions import change_version

# The machine of a test: the state of its clock, and the time that a durable write takes.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <unistd.h>

int adjtimex(struct timex *state) {
  state->status = getenv("CLOCK_IS_WRONG") ? STA_UNSYNC : 0;
  return 0;
}

int fsync(int descriptor) {
  if (getenv("SLOW_DISK")) usleep(150000);
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return real(descriptor);
}
"""

PROXY = """
proxy_pass http://127.0.0.1:{port};
proxy_http_version 1.1;
proxy_set_header Host $http_host;
proxy_set_header X-Forwarded-For $remote_addr;
proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Forwarded-Host $http_host;
proxy_set_header Upgrade $http_upgrade;
proxy_set_header Connection $http_connection;
"""


def make_certificate(folder, *, days=90, names="IP:127.0.0.1"):
    """An authority, and a certificate of it with its key."""
    folder = Path(folder)
    run = lambda *arguments: subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "90", "-subj", "/CN=authority",
        "-keyout", "authority.key", "-out", "authority.pem")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=site", "-keyout", "key.pem",
        "-out", "site.csr")
    (folder / "names").write_text(f"subjectAltName={names}\n")
    run("x509", "-req", "-in", "site.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", str(days),
        "-extfile", "names", "-out", "certificate.pem")


class Doctor(ServingTest):
    part = "hosting"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shim = Path(cls.folder) / "machine.so"
        source = Path(cls.folder) / "machine.c"
        source.write_text(SHIM)
        subprocess.run(["clang", "-shared", "-fPIC", "-o", cls.shim, source, "-ldl"], check=True, capture_output=True)

    def setUp(self):
        self.site = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.site / "data"
        self.roots = {}

    def serve(self, *arguments, variables=None, **settings):
        return self.enterContext(self.start(
            *parley(self.site, *arguments), env={"LD_PRELOAD": str(self.shim), **(variables or {})}, **settings))

    def back_up(self):
        subprocess.run([PARLEY, "backup", self.site / "copy.tar", "--data", self.data], check=True, capture_output=True, timeout=60)

    def proxy(self, daemon_port, port, block=PROXY, outside="client_max_body_size 20m;", tls=True):
        """nginx with the lines of docker/README.md, or with others."""
        listen = f"listen 127.0.0.1:{port}{' ssl' if tls else ''};"
        keys = f"ssl_certificate {self.site}/certificate.pem; ssl_certificate_key {self.site}/key.pem;" if tls else ""
        return self.enterContext(nginx(
            "clients-doctor-nginx", port,
            f"server {{ {listen} {keys} {outside} location / {{ {block.format(port=daemon_port)} }} }}"))

    def findings(self, *arguments, data=None):
        """The findings by their codes."""
        done = subprocess.run(
            [PARLEY, "doctor", "--json", "--data", data or self.data, *arguments], capture_output=True, text=True, timeout=120,
            env={**os.environ, "SSL_CERT_FILE": str(self.site / "authority.pem")})
        found = [json.loads(line) for line in done.stdout.splitlines()]
        # The disk of the machine that runs the tests may be full.
        found = [it for it in found if it["code"] != "disk"]
        levels = {it["level"] for it in found}
        if not found:
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        else:
            self.assertEqual(done.returncode, 2 if "error" in levels else 1, done.stdout)
        return {it["code"]: it["sentence"] for it in found}

    def behind_proxy(self, *arguments, block=PROXY, outside="client_max_body_size 20m;", trusted=True, variables=None, days=90,
                     names="IP:127.0.0.1", **settings):
        """A site behind nginx, with a backup. Returns its daemon."""
        make_certificate(self.site, days=days, names=names)
        port = free_port()
        trust = ("--trusted-proxy", "127.0.0.1/32") if trusted else ()
        daemon = self.serve("--public-url", f"https://127.0.0.1:{port}", *trust, *arguments, variables=variables, **settings)
        self.proxy(daemon.port, port, block, outside)
        self.back_up()
        return daemon

    # No fault

    def test_a_sound_site_behind_a_proxy(self):
        self.behind_proxy()
        self.assertEqual(self.findings(), {})
        text = subprocess.run([PARLEY, "doctor", "--data", self.data], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "SSL_CERT_FILE": str(self.site / "authority.pem")})
        self.assertTrue(text.stdout == "No problems.\n" or "disk is" in text.stdout, text.stdout)

    def test_a_sound_site_with_its_own_tls(self):
        make_certificate(self.site)
        port = free_port()
        with self.start(
                PARLEY, "serve", "--listen", f"127.0.0.1:{port}", "--data", self.data, "--public-url", f"https://127.0.0.1:{port}",
                "--tls-certificate", self.site / "certificate.pem", "--tls-key", self.site / "key.pem",
                env={"LD_PRELOAD": str(self.shim)}):
            self.back_up()
            self.assertEqual(self.findings(), {})

    # Faults of the machine

    def test_no_backup_and_no_public_address(self):
        self.serve()
        found = self.findings()
        self.assertEqual(set(found), {"backup_missing", "public_url"})
        self.assertIn("--backup-every", found["backup_missing"])
        self.assertIn("Set public-url = https://NAME.", found["public_url"])

    def test_no_server_and_no_folder(self):
        self.data.mkdir(mode=0o700)
        self.assertEqual(set(self.findings()), {"not_running"})
        done = subprocess.run([PARLEY, "doctor", "--data", self.site / "none"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not exist", done.stderr)

    def test_an_open_data_folder(self):
        self.behind_proxy()
        self.data.chmod(0o755)
        found = self.findings()
        self.assertEqual(set(found), {"data_folder"})
        self.assertIn(f"chmod 700 {self.data}", found["data_folder"])

    def test_a_wrong_clock_and_a_slow_disk(self):
        self.behind_proxy(variables={"CLOCK_IS_WRONG": "1", "SLOW_DISK": "1"})
        found = self.findings()
        self.assertEqual(set(found), {"clock", "slow_disk"})
        self.assertIn("systemd-timesyncd", found["clock"])
        self.assertRegex(found["slow_disk"], r"takes 1[5-9]\d ms")

    def test_few_descriptors(self):
        daemon = self.behind_proxy()
        subprocess.run(["prlimit", f"--pid={daemon.process.pid}", "--nofile=4096:4096"], check=True)
        found = self.findings()
        self.assertEqual(set(found), {"descriptors"})
        self.assertIn("LimitNOFILE=65536", found["descriptors"])

    def test_an_old_backup(self):
        self.serve().stop()
        old = datetime.now(timezone.utc) - timedelta(days=9)
        with contextlib.closing(sqlite3.connect(self.data / "parley.db")) as database, database:
            database.execute("insert into setting (name, value) values ('last_backup', ?)", (f"{int(old.timestamp() * 1000)} 1000",))
        self.serve("--public-url", f"https://127.0.0.1:{free_port()}")
        found = self.findings()
        self.assertEqual(set(found), {"backup_late", "port"})
        self.assertRegex(found["backup_late"], "The last backup is 9 days old. .*--backup-every 24")

    def test_a_hook_that_copies_nothing(self):
        self.data.mkdir(mode=0o700)
        old = datetime.now(timezone.utc) - timedelta(days=4)
        (self.data / "off-site").write_text(json.dumps({"backup": "2026-01-01T00-00-00Z", "at": old.strftime("%Y-%m-%dT%H:%M:%S.000Z")}))
        self.serve("--backup-every", "24", "--backup-hook", "/bin/false")
        found = self.findings()
        self.assertEqual(set(found), {"off_site_late", "public_url"})
        self.assertIn("See --backup-hook and the log", found["off_site_late"])

    def test_an_older_server_than_the_program(self):
        folder = self.site / "older/bin"
        folder.mkdir(parents=True)
        shutil.copy(PARLEY, folder)
        change_version(folder.parent, "0.0.9")
        self.enterContext(self.start(folder / "parley", "serve", "--listen", "127.0.0.1:0", "--data", self.data, "--share", TOP,
                                      env={"LD_PRELOAD": str(self.shim)}))
        self.back_up()
        found = self.findings()
        self.assertEqual(set(found), {"version", "public_url"})
        self.assertIn("The server runs version 0.0.9, and the program is ", found["version"])
        self.assertIn("systemctl restart parley.service", found["version"])

    # Faults of the settings

    def test_a_settings_file_that_was_not_read(self):
        file = self.site / "parley.conf"
        file.write_text("rate-login = 20\nloops = 1\n")
        daemon = self.behind_proxy("--config", str(file))
        self.assertEqual(self.findings(), {})
        file.write_text("rate-login = 21\nloops = 1\n")
        found = self.findings()
        self.assertEqual(set(found), {"settings_changed"})
        self.assertIn("has not read changed settings: rate-login. Run systemctl reload", found["settings_changed"])
        daemon.signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while "Applied changed settings" not in daemon.output():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(self.findings(), {})
        file.write_text("rate-login = 21\nloops = 2\n")
        self.assertIn("wait for a restart: loops. Run systemctl restart", self.findings()["settings_changed"])
        file.write_text("rate-logn = 21\n")
        found = self.findings()
        self.assertEqual(set(found), {"settings_mistake"})
        self.assertIn(f'{file}:1: "rate-logn" is not a setting. Did you mean rate-login?', found["settings_mistake"])

    # Faults of the name, the port and the certificate

    def test_a_name_without_an_address(self):
        self.serve("--public-url", "https://nowhere.invalid")
        self.back_up()
        found = self.findings()
        self.assertEqual(set(found), {"name"})
        self.assertIn("The name nowhere.invalid of --public-url has no address", found["name"])

    def test_a_closed_port(self):
        self.serve("--public-url", f"https://127.0.0.1:{free_port()}")
        self.back_up()
        self.assertEqual(set(self.findings()), {"port"})

    def test_another_site_at_the_name(self):
        other = self.enterContext(self.start(*parley(self.site / "other")))
        self.serve("--public-url", other.url)
        self.back_up()
        found = self.findings()
        self.assertEqual(set(found), {"site"})
        self.assertIn("is another server (it answers 404)", found["site"])

    def test_a_proxy_without_this_server_behind_it(self):
        self.behind_proxy(block=f"proxy_pass http://127.0.0.1:{free_port()};")
        found = self.findings()
        self.assertEqual(set(found), {"site"})
        self.assertIn("does not reach this server (it answers 502)", found["site"])

    def test_plain_http_at_a_port_for_https(self):
        make_certificate(self.site)
        port = free_port()
        daemon = self.serve("--public-url", f"https://127.0.0.1:{port}", "--trusted-proxy", "127.0.0.1/32")
        self.proxy(daemon.port, port, tls=False)
        self.back_up()
        self.assertEqual(set(self.findings()), {"tls"})

    def test_a_certificate_for_another_name(self):
        self.behind_proxy(names="DNS:wool.example")
        found = self.findings()
        self.assertEqual(set(found), {"tls"})
        self.assertIn("certbot --nginx -d 127.0.0.1", found["tls"])

    def test_an_expired_certificate(self):
        self.behind_proxy(days=-1)
        found = self.findings()
        self.assertEqual(set(found), {"tls"})
        self.assertIn("expired", found["tls"])

    def test_a_certificate_that_browsers_do_not_know(self):
        self.behind_proxy()
        make_certificate(self.site)  # another authority
        self.assertEqual(set(self.findings()), {"tls"})

    def test_a_certificate_that_ends_soon(self):
        self.behind_proxy(days=5)
        found = self.findings()
        self.assertEqual(set(found), {"certificate"})
        self.assertIn("is valid only until", found["certificate"])

    def test_an_own_certificate_that_ends_soon(self):
        make_certificate(self.site, days=5)
        port = free_port()
        with self.start(
                PARLEY, "serve", "--listen", f"127.0.0.1:{port}", "--data", self.data, "--public-url", f"https://127.0.0.1:{port}",
                "--tls-certificate", self.site / "certificate.pem", "--tls-key", self.site / "key.pem",
                env={"LD_PRELOAD": str(self.shim)}):
            self.back_up()
            found = self.findings()
            self.assertEqual(set(found), {"certificate"})
            self.assertIn("send SIGHUP", found["certificate"])

    def test_port_80_that_leads_nowhere(self):
        if os.geteuid() != 0:
            self.skipTest("only root can listen on port 443")
        # An own address: other tests may use the ports of 127.0.0.1.
        address = f"127.{random.randrange(1, 255)}.{random.randrange(255)}.1"
        make_certificate(self.site, names=f"IP:{address}")
        arguments = (PARLEY, "serve", "--listen", f"{address}:443", "--data", self.data, "--public-url", f"https://{address}",
                     "--tls-certificate", self.site / "certificate.pem", "--tls-key", self.site / "key.pem")
        shim = {"LD_PRELOAD": str(self.shim)}
        with self.start(*arguments, env=shim):
            self.back_up()
            found = self.findings()
            self.assertEqual(set(found), {"redirect"})
            self.assertIn("Set redirect-listen = 0.0.0.0:80.", found["redirect"])
        with self.start(*arguments, "--redirect-listen", f"{address}:80", env=shim):
            self.assertEqual(self.findings(), {})

    # Faults of the proxy

    def without(self, *names):
        return "".join(line + "\n" for line in PROXY.splitlines() if not any(name in line for name in names))

    def test_a_proxy_that_is_not_trusted(self):
        self.behind_proxy(trusted=False)
        found = self.findings()
        self.assertEqual(set(found), {"proxy_trust"})
        self.assertIn("Set trusted-proxy = 127.0.0.1.", found["proxy_trust"])

    def test_a_proxy_that_hides_the_client(self):
        self.behind_proxy(block=self.without("X-Forwarded-For") + 'proxy_set_header X-Forwarded-For "";')
        found = self.findings()
        self.assertEqual(set(found), {"proxy_client"})
        self.assertIn("proxy_set_header X-Forwarded-For $remote_addr;", found["proxy_client"])

    def test_a_proxy_that_believes_the_client(self):
        self.behind_proxy(block=self.without("X-Forwarded-For"))
        found = self.findings()
        self.assertEqual(set(found), {"proxy_client"})
        self.assertIn("anybody may pretend", found["proxy_client"])

    def test_a_proxy_without_websockets(self):
        self.behind_proxy(block=self.without("Upgrade", "Connection"))
        found = self.findings()
        self.assertEqual(set(found), {"websocket"})
        self.assertIn("proxy_set_header Upgrade $http_upgrade;", found["websocket"])

    def test_a_proxy_that_refuses_uploads(self):
        self.behind_proxy(outside="")
        found = self.findings()
        self.assertEqual(set(found), {"upload"})
        self.assertIn("client_max_body_size 20m;", found["upload"])

    # The addresses of the doctor

    def test_the_probes_need_a_code(self):
        daemon = self.behind_proxy()
        for code in ("", "0" * 32, "a"):
            status, _ = self.curl_headers(f"{daemon.url}/.well-known/parley-doctor/{code}")
            self.assertEqual(status, 404)


if __name__ == "__main__":
    unittest.main()
