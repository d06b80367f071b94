"""A test case with one server per class, and helpers for requests."""

import inspect
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.request import Request, urlopen

from servers import BENCH, PARLEY, Server


class ServingTest(unittest.TestCase):
    """The tests of the class share `self.server`, started with `arguments`."""

    arguments = None
    # Whether the tests mostly wait for timers of the server.
    waits = False

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-"))
        if cls.arguments:
            cls.server = cls.enterClassContext(cls.start(*cls.arguments))

    @classmethod
    def start(cls, *arguments, **settings):
        # Other folders run at the same time and may have classes and files of the same names.
        file = Path(inspect.getfile(cls))
        return Server(f"{file.parent.name}-{file.stem}-{cls.__name__}", *arguments, **settings)

    def curl(self, *arguments, given=None):
        """Standard output of curl, as bytes. Fails the test if curl fails."""
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "20", *map(str, arguments)],
            input=given, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done.stdout

    def curl_headers(self, *arguments):
        """The status and the headers, names in lower case."""
        lines = self.curl("--dump-header", "-", "--output", "/dev/null", *arguments).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        return int(lines[0].split(" ")[1]), {name.lower(): value for name, value in headers.items()}


def bench_server(*arguments):
    return (BENCH, "serve", "--listen", "127.0.0.1:0", *arguments)


def parley(folder, *arguments, listen="127.0.0.1:0"):
    """With `listen=None`, the listeners are inherited sockets."""
    listener = ("--listen", listen) if listen else ()
    return (PARLEY, "serve", *listener, "--data", Path(folder) / "data", *arguments)


def call(server, method, path, body=None, token=None):
    """The JSON of the response, None without one. Raises `HTTPError` for a problem."""
    request = Request(f"{server.url}/api/v1{path}", method=method,
                      data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")
