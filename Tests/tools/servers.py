"""Starts server programs, waits until they listen, and stops them by process id."""

import os
import random
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / ".build"
LOGS = BUILD / "logs"
PARLEY = BUILD / "release" / "parley"
LOOPBACK = BUILD / "release" / "parley-loopback"
BENCH = BUILD / "release" / "parley-bench"
VENV_PYTHON = BUILD / "tools" / "venv" / "bin" / "python"


def settings_free_environment():
    """The environment without variables of the tests, such as PARLEY_SEED: `parley serve` refuses those that are no settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}


class Server:
    """`with Server("name", command…) as server:` runs the command until the block ends. Its output is in `server.log`.

    The server is ready when its output has the line `listening on ADDRESS` or `ready`; programs without such output are
    ready when `port` accepts connections.
    """

    def __init__(self, name, *command, port=None, env=None, pass_fds=(), cwd=TOP,
                 ready=r"^listening on (\S+)$", ready_within=60):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, env={**settings_free_environment(), **(env or {})}, pass_fds=pass_fds)
        self.pid = self.process.pid
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        try:
            self._wait_until_ready(ready, ready_within)
        except BaseException:
            self.kill()
            raise

    def _wait_until_ready(self, ready, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.port is None:
                said = re.search(ready, self.output(), re.MULTILINE)
                if said:
                    self.url = said[1]
                    port = re.search(r":(\d+)$", self.url)
                    self.port = int(port[1]) if port else None
                    return
            elif accepts(self.port):
                return
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.log.stem} ended with status {self.process.returncode}:\n{self.output()}")
            time.sleep(0.002)
        raise RuntimeError(f"{self.log.stem} was not ready within {seconds} s:\n{self.output()}")

    def output(self):
        return self.log.read_text(errors="replace")

    @property
    def websocket_url(self):
        return self.url.replace("http", "ws", 1)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=60):
        return self.process.wait(seconds)

    def stop(self, seconds=60):
        """Sends SIGTERM, SIGKILL after `seconds`, and returns the exit status."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                return self.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.stop()


def wait_for(condition, seconds=60):
    """Waits until a condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never holds"
        time.sleep(0.01)


def accepts(port):
    with socket.socket() as probe:
        probe.settimeout(10)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    """A free port below those that the system chooses itself: no connection of another test takes it before its server
    listens, or while its server restarts."""
    lowest, chosen = 11_000, int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(100):
        port = random.SystemRandom().randrange(lowest, chosen) if chosen > lowest + 1_000 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError("no port is free")
