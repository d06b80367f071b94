"""The daemon and the operating system: signals, inherited sockets, readiness."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

from mounting import mounting
from servers import PARLEY, TOP, accepts, free_port
from serving import ServingTest, bench_server, call, parley
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Drain(ServingTest):
    def test_an_idle_server_exits_with_0(self):
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(server.stop(), 0)

    def test_websockets_are_closed_with_1001(self):
        with self.start(*bench_server()) as server:
            with connect(f"{server.websocket_url}/echo") as client:
                client.send("hello")
                self.assertEqual(client.recv(timeout=60), "hello")
                server.signal(signal.SIGTERM)
                with self.assertRaises(ConnectionClosed) as closed:
                    client.recv(timeout=60)
            self.assertEqual(closed.exception.rcvd.code, 1001)
            self.assertEqual(server.wait(), 0)

    def test_a_running_request_completes_and_no_new_connection_is_accepted(self):
        with self.start(*bench_server()) as server:
            client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            with client:
                client.sendall(b"POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
                               b"Expect: 100-continue\r\n\r\n")
                self.assertIn(b"100", client.recv(1000))  # the handler is running
                client.sendall(b"12345")
                server.signal(signal.SIGTERM)
                deadline = time.monotonic() + 100
                while accepts(server.port) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertFalse(accepts(server.port))
                client.sendall(b"67890")
                answer = b"".join(iter(lambda: client.recv(1000), b""))
            self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
            self.assertEqual(json.loads(re.search(rb"\{.*\}", answer)[0])["bytes"], 10)
            self.assertEqual(server.wait(), 0)

    def test_an_interrupt_stops_it_too(self):
        with self.start(*parley(self.folder)) as server:
            server.signal(signal.SIGINT)
            self.assertEqual(server.wait(), 0)


class Size(ServingTest):
    def test_the_binary_has_no_regular_expressions(self):
        """One search by characters links 0.85 MB; `TextSearch.swift` has its replacement."""
        symbols = subprocess.run(["nm", "--format=just-symbols", PARLEY], check=True, capture_output=True, text=True).stdout.split()
        self.assertGreater(len(symbols), 1_000)
        self.assertEqual([name for name in symbols if name.startswith("$s17_StringProcessing")], [])

    def test_the_stripped_binary_stays_below_the_documented_size(self):
        # In MB of 1,024 × 1,024 bytes, as `make dist-check` counts.
        documented = int(re.search(r"stripped\s+binary stays below (\d+) MB", (TOP / "Sources/README.md").read_text())[1])
        checked = re.search(r"^SIZE_LIMIT = (\d+) \* 1024 \* 1024$", (TOP / "docker/dist-check").read_text(), re.MULTILINE)
        self.assertEqual(documented, int(checked[1]))
        stripped = Path(self.folder) / "parley"
        subprocess.run(["strip", "-o", stripped, PARLEY], check=True)
        size = stripped.stat().st_size / (1 << 20)
        print(f"{self.id()}: {size:.1f} MB of {documented}")
        self.assertLess(size, documented)


class Permissions(ServingTest):
    def test_the_files_in_an_open_data_folder_are_private_and_the_log_warns(self):
        data = Path(self.folder) / "data"
        for mode, warns in ((0o755, True), (0o700, False)):
            data.mkdir(exist_ok=True)
            data.chmod(mode)
            before = os.umask(0o022)
            try:
                with self.start(*parley(self.folder)) as server:
                    self.assertEqual("Other users of this machine can open the data folder" in server.output(), warns)
                    for file in data.rglob("*"):
                        self.assertEqual(file.stat().st_mode & 0o077, 0, file)
                    self.assertTrue((data / "parley.db-wal").exists())
                    self.assertEqual(server.stop(), 0)
            finally:
                os.umask(before)

    def test_a_command_creates_private_files(self):
        for command in ("migrate", "setup"):
            data = Path(self.folder) / command
            data.mkdir()
            data.chmod(0o755)
            before = os.umask(0o022)
            try:
                subprocess.run([PARLEY, command, "--data", data], check=True, capture_output=True, timeout=60)
            finally:
                os.umask(before)
            for file in data.rglob("*"):
                self.assertEqual(file.stat().st_mode & 0o077, 0, file)
            self.assertTrue((data / "parley.db").exists())


class Systemd(ServingTest):
    def test_an_inherited_socket_is_served(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            # sd_listen_fds(3): sockets start at 3, and LISTEN_PID must be the id of the process that reads them.
            activate = f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&{listener.fileno()}'
            command = ("bash", "-c", activate, "bash", *parley(self.folder, listen=None))
            with self.start(*command, pass_fds=[listener.fileno()]) as server:
                self.assertEqual(server.port, port)
                self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)

    def test_a_socket_named_redirect_redirects_to_https(self):
        with socket.create_server(("127.0.0.1", 0)) as tls, socket.create_server(("127.0.0.1", 0)) as plain:
            activate = (f'LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=parley-https.socket:redirect '
                        f'exec "$@" 3<&{tls.fileno()} 4<&{plain.fileno()}')
            folder = os.path.join(self.folder, "tls")
            command = ("bash", "-c", activate, "bash", *parley(folder, "--self-signed", listen=None))
            with self.start(*command, pass_fds=[tls.fileno(), plain.fileno()]) as server:
                port = tls.getsockname()[1]
                self.assertEqual(self.curl_headers("--insecure", f"https://127.0.0.1:{port}/healthz")[0], 200)
                status, headers = self.curl_headers(f"http://127.0.0.1:{plain.getsockname()[1]}/forums")
                self.assertEqual((status, headers["location"]), (308, f"https://127.0.0.1:{port}/forums"))
                self.assertIn("redirecting from", server.output())

    def test_the_certificate_is_a_credential_of_the_service(self):
        credentials = Path(self.folder) / "credentials"
        credentials.mkdir()
        names = {"TLS_CERTIFICATE": credentials / "tls-certificate", "TLS_KEY": credentials / "tls-key"}
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-out", names["TLS_CERTIFICATE"], "-keyout", names["TLS_KEY"]],
            check=True, capture_output=True, timeout=60)
        drop_in = (TOP / "docker/parley-tls.conf").read_text()
        environment = {"CREDENTIALS_DIRECTORY": str(credentials)}
        for name, path in names.items():
            self.assertIn(f"PARLEY_{name}=%d/{path.name}", drop_in)
            environment[f"PARLEY_{name}"] = str(path)
        with self.start(*parley(Path(self.folder) / "credential-data"), env=environment) as server:
            self.assertEqual(self.curl_headers("--insecure", f"https://127.0.0.1:{server.port}/healthz")[0], 200)
            self.assertIn("systemd reads credentials at the start alone", server.output())

    def test_the_watchdog_is_fed(self):
        path = os.path.join(self.folder, "watchdog")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(path)
            systemd.settimeout(60)
            environment = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"}
            with self.start(*parley(self.folder), env=environment):
                for _ in range(3):
                    while b"WATCHDOG=1" not in systemd.recv(4096).split(b"\n"):
                        pass

    def test_the_units_are_valid(self):
        units = Path(self.folder) / "units"
        units.mkdir()
        for unit in [*(TOP / "docker").glob("*.service"), *(TOP / "docker").glob("*.socket")]:
            text = unit.read_text().replace("/opt/parley/bin/parley", str(PARLEY.resolve()))
            (units / unit.name).write_text(text.replace("file:///opt/parley/README.md", "https://example.org"))
        (units / "parley.service.d").mkdir()
        (units / "parley.service.d" / "tls.conf").write_text((TOP / "docker/parley-tls.conf").read_text())
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *sorted(units.glob("parley*.s*t")), units / "parley.service"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

        # A tenth of its points of exposure.
        subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15", units / "parley.service"],
                       check=True, capture_output=True, timeout=60)

    def test_three_sockets_of_systemd_serve_without_capabilities(self):
        folder = Path(self.folder) / "three"
        folder.mkdir()
        credentials = {"CREDENTIALS_DIRECTORY": folder, "PARLEY_TLS_CERTIFICATE": folder / "tls-certificate", "PARLEY_TLS_KEY": folder / "tls-key"}
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-out", folder / "tls-certificate", "-keyout", folder / "tls-key"],
            check=True, capture_output=True, timeout=60)
        ports = [free_port() for _ in range(3)]
        command = [
            "systemd-socket-activate", *(f"--listen=127.0.0.1:{port}" for port in ports),
            "--fdname=parley-https.socket:redirect:parley-https.socket", *(f"--setenv={name}={value}" for name, value in credentials.items()),
            "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", *parley(folder, listen=None)]
        with self.start(*command, port=ports[0]) as server:
            for port in (ports[0], ports[2]):
                self.assertEqual(self.curl_headers("--insecure", f"https://127.0.0.1:{port}/healthz")[0], 200)
            status, headers = self.curl_headers(f"http://127.0.0.1:{ports[1]}/forums")
            self.assertEqual((status, headers["location"]), (308, f"https://127.0.0.1:{ports[0]}/forums"))
            self.assertIn("CapEff:\t0000000000000000", Path(f"/proc/{server.pid}/status").read_text())

    def unit(self):
        """The settings of the unit, the last value of each."""
        lines = (TOP / "docker/parley.service").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    def test_the_unit_restarts_no_server_that_needs_the_operator(self):
        unit = self.unit()
        folder = Path(self.folder) / "damaged"
        with self.start(*parley(folder)) as server:
            self.assertEqual(server.stop(), 0)
        database = folder / "data" / "parley.db"
        with sqlite3.connect(database) as connection:
            connection.execute("insert into migration (number, name, hash, applied_at) values (9999, 'later', '00', 1)")
        connection.close()
        newer = subprocess.run(parley(folder), capture_output=True, text=True, timeout=60)
        database.write_bytes(b"no database" * 1_000)
        damaged = subprocess.run(parley(folder), capture_output=True, text=True, timeout=60)
        wrong = subprocess.run(parley(folder, "--limit-body", "x"), capture_output=True, text=True, timeout=60)
        for done in (newer, damaged, wrong):
            self.assertIn(str(done.returncode), unit["RestartPreventExitStatus"].split(), done.stderr)
        # A crash is restarted.
        self.assertEqual(unit["Restart"], "on-failure")
        self.assertNotIn("1", unit["RestartPreventExitStatus"].split())

    def test_the_unit_bounds_the_memory_and_watches_the_server(self):
        unit = self.unit()
        self.assertGreater(int(unit["WatchdogSec"]), 10)
        self.assertRegex(unit["MemoryMax"], r"^[1-9]\d?%$")

    def test_the_settings_of_compose_trust_no_forwarded_address(self):
        text = (TOP / "docker/compose.yaml").read_text()
        settings = dict(re.findall(r"^ +(PARLEY_\w+): \$\{\w+:-(.*)\}$", text, re.MULTILINE))
        self.assertIn("PARLEY_TRUSTED_PROXY", settings)
        with self.start(*parley(self.folder, "--rate-login", "1", "--rate-login-burst", "5"), env=settings) as server:
            statuses = [
                self.curl_headers(
                    "--header", f"X-Forwarded-For: 192.0.2.{number}", "--json", '{"name": "ada", "password": "wrong wool"}',
                    f"{server.url}/api/v1/sessions")[0]
                for number in range(1, 9)]
        self.assertEqual(statuses, [401] * 5 + [429] * 3)

    @mounting
    def test_a_command_finds_the_data_folder_of_the_unit(self):
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(server.stop(), 0)
        empty = Path(self.folder) / "empty"
        empty.mkdir()

        def run(path):
            """`parley user list` in an empty folder, with the data at `path` in a mount namespace of its own."""
            script = f'mount -t tmpfs tmpfs /var/lib && cp -a "$1" {path} && cd "$2" && exec "$3" user list'
            return subprocess.run(
                ["unshare", "--mount", "bash", "-c", script, "bash", Path(self.folder) / "data", empty, PARLEY.resolve()],
                capture_output=True, text=True, timeout=60)

        found = run("/var/lib/parley")
        self.assertEqual(found.returncode, 0, found.stderr)
        missing = run("/var/lib/other")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("./data does not exist", missing.stderr)

    def test_sockets_for_another_process_are_ignored(self):
        with self.start(*parley(self.folder), env={"LISTEN_PID": "1", "LISTEN_FDS": "1"}) as server:
            self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)

    def test_systemd_gets_ready_and_stopping(self):
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(path)
            systemd.settimeout(60)
            with self.start(*parley(self.folder), env={"NOTIFY_SOCKET": path}) as server:
                self.assertIn(b"READY=1", systemd.recv(4096).split(b"\n"))
                server.stop()
                said = [line for line in waiting_datagrams(systemd) for line in line.split(b"\n")]
                self.assertIn(b"STOPPING=1", said)


    def test_a_long_start_extends_the_limit_of_systemd(self):
        share, path = Path(self.folder) / "share", os.path.join(self.folder, "start")
        shutil.copytree(TOP / "Migrations", share / "Migrations")
        (share / "Public").symlink_to(TOP / "Public")
        # The migration waits for its text.
        first = min((share / "Migrations/sqlite").iterdir())
        text = first.read_bytes()
        first.unlink()
        os.mkfifo(first)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(path)
            systemd.settimeout(60)
            command = [PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", Path(self.folder) / "long", "--share", share]
            with subprocess.Popen(command, env={**os.environ, "NOTIFY_SOCKET": path}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                self.addCleanup(server.kill)
                self.assertRegex(systemd.recv(4096), rb"^EXTEND_TIMEOUT_USEC=\d+$")
                first.write_bytes(text)
                while b"READY=1" not in (said := systemd.recv(4096)).split(b"\n"):
                    self.assertIn(b"EXTEND_TIMEOUT_USEC=", said)
                server.terminate()
                self.assertEqual(server.wait(60), 0)


class Health(ServingTest):
    def test_the_binary_checks_the_health_of_a_server(self):
        with self.start(*parley(self.folder)) as server:
            self.assertEqual(subprocess.call([PARLEY, "health", "--url", server.url]), 0)
            server.stop()
            self.assertEqual(subprocess.call([PARLEY, "health", "--url", server.url], stderr=subprocess.DEVNULL), 1)


    def test_the_health_check_reads_the_server_s_settings(self):
        with self.start(*parley(self.folder, "--self-signed")) as server:
            settings = {"PARLEY_LISTEN": f"0.0.0.0:{server.port}", "PARLEY_SELF_SIGNED": "yes",
                        "PARLEY_DATA": os.path.join(self.folder, "data")}
            done = subprocess.run(
                [PARLEY, "health"], env={**os.environ, **settings}, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"ok"', done.stdout)
            # The same server by address; trusts only the system's root certificates.
            done = subprocess.run(
                [PARLEY, "health", "--url", server.url], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("certificate", done.stderr)


class Alone(ServingTest):
    def test_a_second_daemon_on_the_same_folder_is_rejected(self):
        with self.start(*parley(self.folder)):
            done = subprocess.run(parley(self.folder), capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn("Another parley uses the data folder", done.stderr)

    def test_a_second_signal_ends_the_drain(self):
        # Longer than the test waits for the exit.
        patient = ("--limit-drain-time", 300, "--limit-head-time", 300)
        with self.start(*parley(self.folder, *patient)) as server:
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
                client.sendall(b"GET / HTT")  # a partial head may complete until the drain ends
                self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)
                server.signal(signal.SIGTERM)
                deadline = time.monotonic() + 100
                while "Stopping" not in server.output() and time.monotonic() < deadline:
                    time.sleep(0.01)
                server.signal(signal.SIGTERM)
                self.assertEqual(server.wait(), 0)


class Quiet(ServingTest):
    """A server that no setting points elsewhere."""

    def test_it_opens_no_connection_unasked(self):
        calls = Path(self.folder) / "calls"
        with self.start("strace", "--daemonize", "--follow-forks", "--quiet=all", "--trace=connect,sendto,sendmsg", f"--output={calls}", *parley(self.folder)) as server:
            code = re.search(r"/setup/(\S+)", server.output())[1]
            call(server, "POST", f"/links/{code}", {"name": "ada", "password": "wool and needles"})
            token = call(server, "POST", "/sessions", {"name": "ada", "password": "wool and needles"})["token"]
            room = call(server, "POST", "/forums", {"title": "Knitting", "visibility": "public"}, token)["room_id"]
            call(server, "POST", f"/conversations/{room}/messages", {"text": "See https://example.org/"}, token)
            time.sleep(2)
            self.assertEqual(server.stop(), 0)
        self.assertEqual([line for line in calls.read_text().splitlines() if "AF_INET" in line], [])


class Settings(ServingTest):
    def test_an_environment_variable_sets_the_same_as_a_flag(self):
        settings = {"PARLEY_LISTEN": "127.0.0.1:0", "PARLEY_DATA": os.path.join(self.folder, "data")}
        with self.start(PARLEY, "serve", env=settings) as server:
            self.assertEqual(self.curl_headers(f"{server.url}/healthz")[0], 200)


def waiting_datagrams(receiver):
    """All unread datagrams."""
    receiver.setblocking(False)
    while True:
        try:
            yield receiver.recv(4096)
        except BlockingIOError:
            return
