"""A site with a dialect, for the tests of one."""

import http.client
import subprocess
from contextlib import closing
from pathlib import Path

from servers import PARLEY, free_port
from serving import ServingTest, parley

PASSWORD = "wool and needles"
ENDLESS = [f"--rate-{name}={1_000_000}" for kind in ("login", "guessing", "sending", "writing", "searches") for name in (kind, f"{kind}-burst")]


class DialectSite(ServingTest):
    """A daemon with `flags`, and `tokens` of the scope `admin` of its users."""

    flags = ()
    users = (("ada", "owner"), ("grace", "member"), ("linus", "member"))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = str(Path(cls.folder) / "data")
        cls.port = free_port()
        cls.server = cls.serve()
        cls.addClassCleanup(lambda: cls.server.stop())
        cls.tokens = {}
        for name, role in cls.users:
            cls.add_user(name, role)

    @classmethod
    def serve(cls, *more):
        return cls.start(*parley(cls.folder, *cls.flags, *more, listen=f"127.0.0.1:{cls.port}"))

    @classmethod
    def say(cls, *arguments, given=None):
        done = subprocess.run([PARLEY, *arguments, "--data", cls.data], input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @classmethod
    def add_user(cls, name, role="member"):
        cls.say("user", "create", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
        cls.tokens[name] = cls.say("token", name, "--scope", "admin").strip()

    def request(self, method, path, body=None, source=None, **fields):
        """The status, the fields and the body of an answer."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=source)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
